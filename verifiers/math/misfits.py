"""Finds where the sentence of a value makes it another one: 12 hours for 12 minutes, 4/3 of an area for 4/3."""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.measures import MONEY
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.units import Unit, split_unit, unit_of

_PLAIN = lazy_pattern(r"-?\d[\d,]*(?:\.\d+)?")
_UNIT_WORD = lazy_pattern(
    r"\s?([A-Za-z]+)(?! ?[/^·²³]| (?:per|pro|par|por|an?|each|every|squared|cubed|of)\b)"
)
_SHARE = lazy_pattern(
    r"\b(?:is|are|was|equals) [$(*\s]*(?:\d+ ?/ ?\d+|\\frac ?\{\d+\} ?\{\d+\}|(?<![\d.])0?\.\d+|\d ?\\?%)[$)*\s]*of (?:the|its|an?|his|her|their|that|this) [a-z]+(?!.*(?:\d|,))",
    re.IGNORECASE,
    needs="of ",
)
_ASKS_SHARE = lazy_pattern(
    r"\b(?:fractions?|parts?|shares?|portions?|proportions?|per ?cent(?:age)?s?|probabilit\w+|chances?|odds|likely|ratios?|rates?|times|how much)\b",
    re.IGNORECASE,
)


def has_other_unit(gold: str, sentence: str) -> bool:
    """Return True if a sentence last gives the number of a reference with a unit in place of the reference's."""
    wanted = _measure(gold)
    if wanted is None or not sentence:
        return False
    number, unit = wanted
    shown = sentence.replace(",", "")
    places = [
        match.end() for match in re.finditer(rf"(?<![\w.]){re.escape(number)}(?![\d.]\d|\d)", shown)
    ]
    said = _UNIT_WORD.match(shown, places[-1]) if places else None
    found = unit_of(said[1]) if said is not None else None
    return (
        found is not None
        and _is_plain(found)
        and found != unit
        and ((found.dims, found.factor) != (unit.dims, unit.factor))
    )


def _is_plain(unit: Unit) -> bool:
    """Return True for a unit of one measure, such as hours, that is no money."""
    return len(unit.dims) == 1 and unit.dims[0][1] == 1 and (unit.dims not in MONEY)


@lru_cache(maxsize=4096)
def _measure(gold: str) -> tuple[str, Unit] | None:
    """The number and unit of a reference that is a plain number with a unit of measure; None for another."""
    for body, unit in split_unit(gold):
        if _is_plain(unit) and _PLAIN.fullmatch(body):
            return body.replace(",", ""), unit
    return None


def is_share(sentence: str, question: str) -> bool:
    """Return True if a sentence gives a share of a whole, "4/3 of the area", where a question asks for an amount."""
    found = _SHARE.search(sentence)
    return found is not None and bool(question) and not _ASKS_SHARE.search(question)
