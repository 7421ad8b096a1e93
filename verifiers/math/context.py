"""Reads from a question how its answer may be written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from verigym.verifiers.math.choice import options_of
from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.letters import asks_measure, letters_of
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.units import Dims, Unit, unit_of

_PERCENT = lazy_pattern(r"per ?cent|\\?%", re.IGNORECASE, needs="%|cent")
_BASE = lazy_pattern(
    r"\b(?:base|binary|octal|hexadecimal|ternary)\b",
    re.IGNORECASE,
    needs="base|binary|hexadecimal|octal|ternary",
)
_ROUND = lazy_pattern(
    r"round|nearest|decimal places?|significant (?:figures?|digits?)|approximat|estimate|\bto \w+ decimals?",
    re.IGNORECASE,
    needs=" decimal|approximat|decimal place|estimate|nearest|round|significant ",
)
_ORDER = lazy_pattern(r"\(\s*([a-z](?:_\d)?(?:\s*,\s*[a-z](?:_\d)?){1,4})\s*\)", needs=",")
_UNIT = lazy_pattern(
    r"\b(?i:in|how many|number of)\s+((?:square |cubic |sq )?[a-z]+(?:/[a-z]+| per [a-z]+)?(?:\^?[23])?)\b"
)
_POINT = lazy_pattern(
    r"\b(?:point|vector|coordinates?|ordered pair|gradient|vertex|centre|center|list)\b",
    re.IGNORECASE,
    needs="center|centre|coordinate|gradient|list|ordered pair|point|vector|vertex",
)
_GENERAL = lazy_pattern(
    r"\b(?:find|determine) all\b|\ball (?:pairs|triples|solutions|functions|polynomials|sequences)\b|"
    r"\bgeneral solution\b|\bdifferential equation\b",
    re.IGNORECASE,
    needs=" all|all |differential equation|general solution",
)
_POSITIVE = lazy_pattern(r"\bpositive\b|>\s*0", re.IGNORECASE, needs=">|positive")


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """Facts about the question, and the rules that the task sets."""

    question: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    percent: bool = False
    base: bool = False
    rounded: bool = False
    exact: bool = False
    places: int | None = None
    """Decimal places that the question asks for."""
    positive: bool = False
    point: bool = False
    general: bool = False
    order: tuple[str, ...] = ()
    unit: Unit | None = None
    dims: frozenset[Dims] = frozenset()
    """Dimensions of the units that the question names for the answer: how many meters, in seconds."""
    units: str = "optional"
    tolerance: float = 0.0
    digits: int = 0
    temperature: Unit | None = None
    """The scale of temperature that the question asks for."""
    sorted: bool = False
    """True if a question asks for things in an order."""
    gap: bool = False
    """True if a difference of temperatures is asked for."""
    angle: str = ""
    """`degrees` or `radians`, if the question asks for an angle in them."""
    letters: frozenset[str] = frozenset()
    measure: bool = False
    form: str = "any"
    asked: str = ""
    """The text that the policy was asked; an answer must not be a copy of it."""


_SCALE = lazy_pattern(
    r"(?P<to>\b(?:in|to|into)\s+)?(?:the\s+)?\$?(?:(?:°|º|˚|\^?\s*\{?\\circ\s*\}?|\\degree|\bdegrees?)\s*(?:\\(?:text|mathrm)\s*\{\s*)?(?P<letter>[CF])\b|(?P<sign>[℃℉])"
    r"|(?:degrees?\s+)?(?P<name>celsius|fahrenheit|centigrade)\b)",
    re.IGNORECASE,
)
_SORTS = lazy_pattern(
    r"\b(?:order|arrange|sort|rank|list|put|write)\b(?:[^.?]|\.\d)*\b(?:(?:from )?(?:the )?(?:least|smallest|lowest|greatest|largest|highest|shortest|longest|lightest|heaviest|youngest|oldest|biggest) to (?:the )?(?:least|smallest|lowest|greatest|largest|highest|shortest|longest|lightest|heaviest|youngest|oldest|biggest)|(?:ascending|descending|increasing|decreasing|chronological) order|in order of)\b",
    re.IGNORECASE,
    needs=" order| to ",
)
_GAP = lazy_pattern(
    r"\b(?:temperature (?:difference|change|rise|drop|range|increase|decrease)|(?:difference|change|increase|decrease|rise|drop|range) (?:in|of|between) (?:the )?(?:\w+ ){0,2}temperatures?"
    r"|(?:by )?how many degrees\b.{0,40}\b(?:rise|rose|risen|fall|fell|fallen|drop|dropped|change|changed|increase|increased|decrease|decreased|warmer|colder|cooler|hotter)"
    r"|how (?:large|big|great) (?:is|was) the (?:\w+ )?(?:drop|rise|change|difference|fall|increase|decrease)|how much (?:warmer|colder|cooler|hotter))",
    re.IGNORECASE,
    needs="how |temperature",
)
_ANGLE = lazy_pattern(
    r"\b(?:in|to|into) (degrees|radians)\b(?! (?:of )?(?:celsius|fahrenheit|[CF]\b))",
    re.IGNORECASE,
    needs="degrees|radians",
)
_EXACT = lazy_pattern(r"\bexact(?:ly)?\b", re.IGNORECASE, needs="exact")
_PLACES = lazy_pattern(
    r"\b(one|two|three|four|five|six|[1-9])(?: \(\d\))? (?:decimal|d\.?p\b)|\bnearest (tenth|hundredth|thousandth|ten-thousandth)",
    re.IGNORECASE,
    needs=" d|nearest ",
)
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six")
_NEAREST = ("", "tenth", "hundredth", "thousandth", "ten-thousandth")


def _places(question: str) -> int | None:
    """The decimal places that a question asks for; None if it names none."""
    match = _PLACES.search(question)
    if match is None:
        return None
    if match[2]:
        return _NEAREST.index(match[2].lower())
    shown = match[1].lower()
    return int(shown) if shown.isdecimal() else _COUNTED.index(shown)


def _temperature(question: str) -> Unit | None:
    """The scale that a question asks for: the last one behind "in" or "to", else the only one that it names."""
    found = [
        (match["to"], (match["letter"] or match["name"] or "cf"[match["sign"] == "℉"])[0].lower())
        for match in _SCALE.finditer(question)
    ]
    wanted = [scale for to, scale in found if to][-1:] or list({scale for _, scale in found})
    return unit_of("degF" if wanted[0] == "f" else "degC") if len(wanted) == 1 else None


@lru_cache(maxsize=4096)
def context_of(
    question: str,
    *,
    units: str,
    tolerance: float,
    digits: int,
    form: str = "any",
    asked: str = "",
) -> Context:
    """Return what a question and the settings of a task ask for; an empty question leaves the defaults."""
    question = question[:20_000]
    order = _ORDER.findall(question.replace("\\left", "").replace("\\right", ""))
    named = [found for match in _UNIT.finditer(question) if (found := unit_of(match[1]))]
    unit = named[0] if named else None
    return Context(
        question=question,
        options={} if not question else options_of(question),
        percent=bool(_PERCENT.search(question)),
        base=bool(_BASE.search(question)),
        rounded=bool(_ROUND.search(question)),
        exact=bool(_EXACT.search(question)),
        places=_places(question),
        point=bool(_POINT.search(question)),
        general=bool(_GENERAL.search(question)),
        positive=bool(_POSITIVE.search(question)),
        order=tuple(re.split(r"\s*,\s*", clean(order[-1]))) if order else (),
        unit=None if unit is None or unit.degree or not unit.dims else unit,
        dims=frozenset(found.dims for found in named),
        units=units,
        tolerance=tolerance,
        digits=digits,
        temperature=_temperature(question),
        sorted=bool(_SORTS.search(question)),
        gap=bool(_GAP.search(question)),
        angle=(_ANGLE.findall(question) or [""])[-1].lower(),
        letters=letters_of(question),
        measure=asks_measure(question),
        form=form,
        asked=asked[:20_000],
    )
