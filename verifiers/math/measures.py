"""Tells which unit an answer may have from the measure that a question asks for: an area is no length and no volume.

Used where the reference shows no unit. The lengths that the question gives say which unit its own are in.
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.units import Dims, Unit, unit_of

_LENGTH: Dims = (("L", 1),)
_AREA: Dims = (("L", 2),)
_VOLUME: Dims = (("L", 3),)
_TIME: Dims = (("T", 1),)
_YEAR: Dims = (("year", 1),)
_MASS: Dims = (("M", 1),)
_FORCE: Dims = (("L", 1), ("M", 1), ("T", -2))
_SPEED: Dims = (("L", 1), ("T", -1))
MONEY = tuple(unit.dims for name in ("dollar", "euro", "€", "£", "¥") if (unit := unit_of(name)))
_MEASURES = (
    (r"(?:surface |lateral |total |cross-sectional )*areas?", (_AREA,)),
    (r"volumes?|capacity", (_VOLUME,)),
    (r"perimeters?|circumference|radius|radii|diameter|hypotenuse|heights?|altitude|widths?|depth|distance|diagonals?|(?:side|edge|arc|chord)? ?lengths?", (_LENGTH,)),
    (r"mass(?:es)?", (_MASS,)),
    (r"weights?", (_MASS, _FORCE)),
    (r"(?:average |mean |final |initial )?(?:speed|velocity)", (_SPEED,)),
    (r"(?:total |sale |selling |cost |final )*(?:price|cost|change|salary|wage|revenue|profit)", MONEY),
    (r"probability|ratio|fraction|number|sum|product|remainder|quotient|mean|slope", ()),
)  # fmt: skip
_ASKED = tuple(
    (
        lazy_pattern(
            rf"\b(?:what(?:'s| is| was| will be)|find|compute|calculate|determine|give|work out)\s+(?:(?:the|its|their|his|her|exact|approximate|maximum|minimum|possible|greatest|least|largest|smallest|new|total) )*(?:{words})\b(?! (?:of change|per|vector|ratio|in terms|function))",
            re.IGNORECASE,
        ),
        dims,
    )
    for words, dims in _MEASURES[:-1]
)
_DOLLARS = unit_of("dollars") or Unit()
_IN_DOLLARS = lazy_pattern(r"\$ ?\d|\bdollars?\b", re.IGNORECASE, needs="$|dollar")
_IN_CENTS = lazy_pattern(
    r"\bcents?\b|¢|\b(?:penn(?:y|ies)|nickels?|dimes?|quarters?|coins?)\b", re.IGNORECASE
)
_HOW = (
    (
        lazy_pattern(
            r"\bhow (?:far|tall|high|wide|deep)\b", re.IGNORECASE, needs="deep|far|high|tall|wide"
        ),
        (_LENGTH,),
    ),
    (lazy_pattern(r"\bhow (?:fast)\b", re.IGNORECASE, needs="how fast"), (_SPEED,)),
    (lazy_pattern(r"\bhow heavy\b", re.IGNORECASE, needs="how heavy"), (_MASS, _FORCE)),
)
_LENGTHS = lazy_pattern(
    r"(?<=\d)[\s\-$}]*(?:\\(?:text|mathrm)\s*\{\s*)?(cm|mm|km|m|ft|feet|foot|in|inch(?:es)?|yd|yards?|miles?|met(?:er|re)s?|centimet(?:er|re)s?|kilomet(?:er|re)s?|millimet(?:er|re)s?|dm)(?![A-Za-z/])",
    needs="feet|foot|ft|in|m|yard|yd",
)
_COUNTS = lazy_pattern(
    r"\bhow many (?!dollars|cents|euros?|pounds|coins|pennies)", re.IGNORECASE, needs="how many "
)
_PRICED = lazy_pattern(
    r"[$€£¥]|\b(?:dollars?|cents?|euros?|pounds?|costs?|prices?|pa(?:y|ys|id)|money|earn\w*|s(?:old|ells?)|spen[dt]\w*|worth|bills?|coins?)\b",
    re.IGNORECASE,
)
_ASKS_PERCENT = lazy_pattern(
    r"\b(?:what|which|by what|find the|as a|calculate the)\s+(?:\w+ ){0,2}?(?:per ?cent|percentage)\b",
    re.IGNORECASE,
    needs="cent",
)


@lru_cache(maxsize=4096)
def asked_dims(question: str) -> frozenset[Dims] | None:
    """The dimensions that an answer with a unit may have; None if the question does not say."""
    found: set[Dims] = set()
    for pattern, dims in (*_ASKED, *_HOW):
        if pattern.search(question[-2000:]):
            found |= set(dims)
    return frozenset(found) or None


@lru_cache(maxsize=4096)
def length_of(question: str) -> Unit | None:
    """The one unit in which a question gives lengths; None if there are several or none."""
    found = {unit for match in _LENGTHS.finditer(question[:4000]) if (unit := unit_of(match[1]))}
    return found.pop() if len(found) == 1 else None


def is_unfit(unit: Unit, question: str) -> bool:
    """Return True if a unit is of another measure than the question asks for."""
    if _ASKS_PERCENT.search(question) and unit.dims:
        return True
    if unit.dims in MONEY and _COUNTS.search(question) and not _PRICED.search(question):
        return True
    wanted = asked_dims(question)
    if wanted is None or (not unit.dims and not unit.degree):
        return False
    if {name for name, _ in unit.dims} == {"u"}:
        # Square units are for areas.
        powers = {dims[0][1] for dims in wanted if len(dims) == 1 and dims[0][0] == "L"}
        return bool(powers) and unit.dims[0][1] not in powers
    return unit.degree or unit.dims not in wanted


def factor_of(unit: Unit, question: str) -> Unit | None:
    """The unit in which a bare reference is: that of the lengths of the question, to the power of the answer's."""
    if (
        unit.dims == _YEAR
        and re.search(r"\d years?\b", question)
        and not re.search(r"\bmonths?\b", question)
    ):
        return unit_of("years")
    if (
        unit.dims == _DOLLARS.dims
        and _IN_DOLLARS.search(question)
        and not _IN_CENTS.search(question)
    ):
        return _DOLLARS
    if len(unit.dims) != 1 or unit.dims[0][0] != "L":
        return None
    base = length_of(question)
    return None if base is None else Unit(base.factor ** unit.dims[0][1], unit.dims)
