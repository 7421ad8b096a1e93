"""Instructions of a question that its answer must follow: places after the point, full factors, intervals.

A dataset's reference follows them already, so an answer of another form is not the reference.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from verigym.verifiers.math.spelled import number_of

_PLACES = re.compile(
    r"\bto (?:exactly )?(?P<n>\d|one|two|three|four|five|six) (?:decimals?(?: places?)?|d\.p\.)",
    re.IGNORECASE,
)
_ROUND_IT = re.compile(r"(?:^|[.:]\s+)round (?:off )?\$?-?\d", re.IGNORECASE)
_DECIMAL = re.compile(r"-?\d+(?:\.(?P<places>\d+))?")
_NUMBER = re.compile(
    r"(?:\\?\$|≈|\\approx|[a-zA-Z] ?=)? ?(?P<value>-?\d+(?:\.\d+)?)(?: ?[a-zA-Z°%\\{}/^²³]{0,12})?\.?"
)
_FACTORS = re.compile(
    r"\bfactor(?:i[sz]e)? (?:completely|fully)\b|\bcompletely factor(?:ed)?\b|\bprime factori[sz]ation\b"
    r"|(?:^|[.:?!]\s+|\bplease )factor(?:i[sz]e)?\b(?! of| tree)",
    re.IGNORECASE,
)
_SCIENTIFIC = re.compile(r"\b(?:scientific notation|standard form)\b", re.IGNORECASE)
_POWER_OF_TEN = re.compile(r"(\d+(?:\.\d+)?) ?(?:\\times|\\cdot|[×·*x]) ?10 ?(?:\^|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])")
_SQUARE = re.compile(r"\bcomplet\w+ the square|\bvertex form\b", re.IGNORECASE)
_SQUARED = re.compile(r"\) ?(?:\\right ?\) ?)?(?:\^ ?\{? ?2|²|\*\*2)")
_LOWEST = re.compile(
    r"\b(?:in|to) (?:its |the )?(?:lowest|simplest|most reduced) (?:terms|form)\b|\bas an? (?:simplified|reduced|fully reduced|irreducible) (?:common )?fraction\b"
    r"|\b(?:reduce|simplify) (?:the|this) fraction\b|\bsimplified fraction\b",
    re.IGNORECASE,
)
_INEQUALITY = re.compile(r"[<>≤≥]|\\(?:leq?|geq?|lt|gt)(?![a-z])|\binequalit")
_INTERVAL = re.compile(r"(?:\\left)? ?[\[(][^()\[\]]{1,40},[^()\[\]]{1,40}(?:\\right)? ?[\])]")
_TWO_NUMBERS = re.compile(r"\W*-?[\d./]+\W*(?:,|and|;)\W*-?[\d./]+\W*")
_CRITERIA = frozenset({"SAS", "SSS", "ASA", "AAS", "SSA", "RHS", "HL", "AA"})


_SPELLED_CRITERION = re.compile(
    r"(?:the )?((?:(?:side|angle|hypotenuse|leg)[- –,]{1,3}){1,2}(?:side|angle|leg))(?: (?:\([A-Z]{2,3}\) ?)?(?:congruence|similarity)?(?: ?criterion| ?postulate| ?theorem| ?rule| ?test)?)?(?: ?\([A-Z]{2,3}\))?",
    re.IGNORECASE,
)


def criterion_of(text: str) -> str:
    """The initials of "side-angle-side"; empty for other text."""
    match = _SPELLED_CRITERION.fullmatch(text.strip(" ."))
    return (
        ""
        if match is None
        else "".join(word[0] for word in re.findall("[a-z]+", match[1].lower())).upper()
    )


@lru_cache(maxsize=512)
def asks_factors(question: str) -> bool:
    """Return True if a question asks for all factors, so that the answer's form counts."""
    return bool(_FACTORS.search(question))


@lru_cache(maxsize=512)
def asks_lowest(question: str) -> bool:
    """Return True if a question asks for a fraction in lowest terms."""
    return bool(_LOWEST.search(question))


class _Instructed(NamedTuple):
    """Instructions of a question: scientific notation, decimal places, a completed square."""

    scientific: bool
    places: int | None
    square: bool


@lru_cache(maxsize=512)
def _instructed(question: str) -> _Instructed:
    places = _PLACES.search(question)
    n = None
    if places is not None:
        n = int(places["n"] if places["n"].isdigit() else number_of(places["n"]) or 0)
    return _Instructed(bool(_SCIENTIFIC.search(question)), n, bool(_SQUARE.search(question)))


def disobeys(gold: str, answer: str, question: str) -> bool:
    """Return True if an answer breaks an instruction that the reference follows.

    A number with fewer places than asked for and another value than the reference, or with more if it
    is the very number to be rounded; two bare numbers for
    the interval that solves an inequality; another criterion of congruence with the same letters.
    """
    plain, said = gold.strip(" $"), answer.strip(" $*")
    asked = _instructed(question)
    if asked.scientific and (power := _POWER_OF_TEN.search(said)) is not None:
        return _POWER_OF_TEN.search(plain) is not None and not 1 <= float(power[1]) < 10
    n = asked.places
    if n is not None:
        wanted = _DECIMAL.fullmatch(plain)
        given = _NUMBER.fullmatch(said)
        if wanted and given and len(wanted["places"] or "") == n:
            digits = len(given["value"].partition(".")[2])
            if digits > n and not _ROUND_IT.search(question):
                return False  # more precise than it was asked for
            return "%" not in said and float(given["value"]) != float(plain)
    if asked.square and _SQUARED.search(plain):
        return _SQUARED.search(said) is None
    if _INTERVAL.fullmatch(plain) and _INEQUALITY.search(question):
        return bool(_TWO_NUMBERS.fullmatch(said)) and not set(said) & set("()[]")
    said = criterion_of(said) or said
    return plain in _CRITERIA and said in _CRITERIA and plain != said
