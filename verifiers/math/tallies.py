"""Reads counts of several things in one sentence: "8 glasses can be filled and 60 mL is left over", "12 bags with 3 left over".

Each number goes with its noun; that of the rest is marked by a word such as "left". Sentences that deny or doubt
give no counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.trees import names
from verigym.verifiers.math.units import unit_of

_MOST_CHARS = 300
_COUNT = lazy_pattern(
    r"(?<![\w.,])(?P<number>\d[\d,]*(?:\.\d+)?|[a-z]+(?:-[a-z]+)?)(?: (?:full|whole|complete|more|extra|such|of the))? ?(?P<noun>[a-zA-Z]{1,20})?(?![\w.,]\d)",
)
_REST = lazy_pattern(
    r"\b(?:left|remain\w*|over|spare|extra|unused|surplus)\b",
    needs="extra|left|over|remain|spare|surplus|unused",
)
_NOT_SAID = lazy_pattern(
    r"\b(?:not|never|cannot|neither|nor|no|none|without|except|but|hardly|if|unless|maybe|perhaps|might|may|could|would|should|probably|"
    r"possibly|or|either|guess|suppose|assum\w+|wrong|false|almost|nearly|about|than|least|most|each|per|says?|said|claims?|thinks?)\b|n't\b|[?=<>+*/×·÷()\[\]^_\\-]"
)
_PARTS = lazy_pattern(r"\s*(?:[,;]\s*(?:and\s+|with\s+)?|\b(?:and|with|while|leaving)\b)\s*")
_BOLD = lazy_pattern(r"\*\*|\\(?:text|mathrm|textbf)\s*|[{}$]|\\(?=[ ,;])", needs="$|**|\\|{|}")
_LEAD = lazy_pattern(r"^(?:so|thus|hence|therefore|since|because|as)\b[^,;]*[,;]\s*", re.IGNORECASE)
_SENTENCE = lazy_pattern(r"(?<=[A-Za-z\d)*])[.!]\**\s+(?=[A-Z\d*])|\n+")
_EMPTY = frozenset(
    names("is are was were can be will remain remains left over filled of a the an in to")
)


@dataclass(frozen=True)
class Count:
    """One number with its noun in the singular, empty for the rest of what was named before."""

    number: str
    noun: str
    is_rest: bool


def counts_of(text: str) -> list[Count] | None:
    """The counts of a text, one for each of its clauses; None if it has fewer than two, or a clause without one."""
    plain = " ".join(_BOLD.sub("", text).split()).strip(" .!")
    if len(plain) > _MOST_CHARS or _NOT_SAID.search(plain.lower()):
        return None
    found: list[Count] = []
    for clause in filter(None, _PARTS.split(plain)):
        each = [match for match in _COUNT.finditer(clause) if _number(match["number"])]
        if not each and not re.search(r"\d", clause) and found and _REST.search(clause):
            return None
        if len(each) != 1:
            return None
        noun = each[0]["noun"] or ""
        noun = "" if noun in _EMPTY else noun
        is_rest = _REST.search(clause) is not None
        if (len(noun) == 1 and unit_of(noun) is None) or not (noun or is_rest):
            return None
        found.append(Count(*_measured(_number(each[0]["number"]), noun), is_rest))
    return found if len(found) > 1 else None


def same_counts(gold: str, reply: str, question: str) -> bool:
    """Return True if the last sentence of a reply gives the counts of the reference, and no others."""
    wanted = counts_of(gold) if question and re.search(r"\d.*[a-z].*\d", gold) else None
    if wanted is None or len({count.noun for count in wanted}) < len(wanted):
        return False
    said = _SENTENCE.split(reply.strip())[-1]
    found = counts_of(said) or counts_of(_LEAD.sub("", said)) or counts_of(said.rpartition(": ")[2])
    if found is None or len(found) != len(wanted):
        return False
    rests = any(count.is_rest for count in found)
    for count in wanted:
        own = [one for one in found if one.noun == count.noun]
        own = own or [
            one for one in found if one.is_rest and count.is_rest and not (one.noun and count.noun)
        ]
        if len(own) != 1 or own[0].number != count.number:
            return False
        if rests and own[0].is_rest != count.is_rest and any(one.is_rest for one in wanted):
            return False
    return True


def _number(word: str) -> str:
    """A number in digits; empty for another word."""
    if word[:1].isdigit():
        return word.replace(",", "")
    return number_of(word) or ""


def _measured(number: str, noun: str) -> tuple[str, str]:
    """A number with its noun in the singular; a measure in the base unit."""
    unit = unit_of(noun) if noun else None
    if unit is not None and unit.dims:
        return str(Fraction(number) * unit.factor), str(unit.dims)
    return number, noun[:-1].lower() if len(noun) > 3 and noun.endswith("s") else noun.lower()
