"""References that are lists written as one text, "Spain and France", and the order that a question may want."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from verigym.verifiers.qa.asked import QuestionWords
from verigym.verifiers.qa.normalise import plain
from verigym.verifiers.qa.values import words_value

_BETWEEN = re.compile(r"\s*(?:[,;\n]\s*(?:and\s+|&\s*)?|\s(?:and|&)\s)\s*")
_ITEM_MARK = re.compile(r"(?m)^\s*(?:[-*•]\s+|\(?\d{1,2}[.)]\s+)")
_COUNTS = frozenset(
    [
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "both",
        "are",
        "were",
        "all",
        "names",
        "list",
    ]
)
_IN_ORDER = re.compile(
    r"\bin (?!any\b|no\b)(?:[a-z]+ ){0,2}order\b|\b(?:rank|sort|arrange) (?:the|them|these|all)\b"
    r"|\b(?:ranked|sorted|ordered|arranged) (?:by|from|in)\b|\bin sequence\b|chronological|alphabetical|\brespectively\b"
    r"|\bfrom (?:the )?(?:\w+est|first|last|top|bottom|left|right|north|south|east|west|most|least|inner\w*|outer\w*) to\b"
)
_DIRECTION = re.compile(
    r"\s(?:to|in|on|from)\s(?:the|its)\s(?:far\s)?(?:north|south|east|west)(?:-?(?:east|west))?(?=[\s.,;]|$)",
    re.IGNORECASE,
)
TALE = re.compile(
    r"(?P<count>\b(?:\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)(?P<noun>(?:\s[a-z]+){0,3})\s*(?::|,?\s+(?:namely|called|named|which\s+are|i\.e\.)\s|[(]|\s[-–]|—|,)\s*"
    r"(?P<items>[^:()?!]+?)\)?(?P<end>[.!]?\s*)$",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?:the\s)?[^\W\d_][\w'’.-]*(?:\s[^\W\d_][\w'’.-]*){0,3}")
_DATED = re.compile(
    r",?\s+(?:(?:which|that)\s+(?:was|were)\s+|both\s+|all\s+)?(?:first\s+)?[a-z]+(?:ed|wn|lt|en|nd)\s+"
    r"(?:by\s+[A-Z][\w.'’]*(?:\s[A-Z][\w.'’]*){0,3}\s+)?(?:in|since|around)\s+[12]\d{3}(?P<end>[.!]?\s*)$"
)
_CENSUS = re.compile(
    r"\s*\((?:as of (?:the )?)?(?:[12]\d{3} (?:census|estimate|data|figures?|count)|(?:as of|census of|in) [12]\d{3})\)"
)


@lru_cache(maxsize=1024)
def members(alias: str, asked: QuestionWords) -> tuple[str, ...]:
    """Return the members of a text that is a list; none if it is one name, as "Crosby, Stills and Nash" or "Romeo
    and Juliet"."""
    parts = [part.strip() for part in _BETWEEN.split(plain(alias).strip(" .")) if part.strip()]
    plural = any(
        word.endswith("s") and not word.endswith(("ss", "us", "is")) for word in asked.kinds
    )
    if len(parts) < 2 or not (plural or _COUNTS.intersection(asked.row)):
        return ()
    return tuple(parts) if all(len(part.split()) < 5 for part in parts) else ()


def wants_order(prompt: str) -> bool:
    """Return True if a question wants a list in a certain order."""
    return _IN_ORDER.search(prompt[:20_000].lower()) is not None


def stand_in_order(words: Sequence[str], items: Sequence[AbstractSet[tuple[str, ...]]]) -> bool:
    """Return True if every item stands in `words`, the next behind the one before."""
    at = 0
    for item in items:
        ends = [
            i + len(form)
            for form in item
            for i in range(at, len(words) - len(form) + 1)
            if tuple(words[i : i + len(form)]) == form
        ]
        if not ends:
            return False
        at = min(ends)
    return True


def without_item_marks(text: str) -> str:
    """Return `text` without bullets, and numbers of items, at the starts of its lines."""
    return _ITEM_MARK.sub("", text) if "\n" in text else text


def without_directions(text: str, prompt: str) -> str:
    """Return `text` without "to the south", unless the question has a direction."""
    asked = re.search(r"\b(?:north|south|east|west)", prompt[:20_000].lower())
    return text if asked else _DIRECTION.sub("", text)


def split_items(text: str) -> list[str]:
    """Return the items of a list in a reply, in their order."""
    return [part for part in _BETWEEN.split(without_item_marks(text)) if part.strip(" .\n")]


def without_tale(answer: str, asked: QuestionWords) -> str:
    """A reply that counts, without what it counts ("two moons: Phobos and Deimos") and without the year of a deed.

    The names must be as many as the number says.
    """
    if len(answer) > 300:
        return answer
    text = _CENSUS.sub("", answer)
    if not {"when", "year", "date"}.intersection(asked.row):
        text = _DATED.sub(r"\g<end>", text)
    for found in TALE.finditer(text):
        items = split_items(found["items"])
        count = int(found["count"]) if found["count"].isdecimal() else _count(found["count"])
        named = all(_NAMED.fullmatch(item.strip()) for item in items)
        if (
            count is not None
            and len(items) == count > 1
            and named
            and not re.search(
                r"\b(?:or|not|maybe|and/or|others?|more|another|two|three|four|five|six|seven|eight|nine|ten|possibly|etc)\b",
                found["items"],
            )
        ):
            return text[: found.end("noun")] + found["end"]
    return text


def _count(word: str) -> int | None:
    try:
        value = words_value([word.lower()])
    except KeyError:
        return None
    return None if value is None else int(value)
