"""Instructions of a question that its answer must follow: places after the point, full factors, intervals.

A dataset's reference follows them already, so an answer of another form is not the reference.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import number_of

_PLACES = lazy_pattern(
    r"\bto (?:exactly )?(?P<n>\d|one|two|three|four|five|six) (?:decimals?(?: places?)?|d\.p\.)",
    re.IGNORECASE,
    needs=".p.|ecimal",
)
_ROUND_IT = lazy_pattern(r"(?:^|[.:]\s+)round (?:off )?\$?-?\d", re.IGNORECASE, needs="round ")
_DECIMAL = lazy_pattern(r"-?\d+(?:\.(?P<places>\d+))?")
_NUMBER = lazy_pattern(
    r"(?:\\?\$|≈|\\approx|[a-zA-Z] ?=)? ?(?P<value>-?\d+(?:\.\d+)?)(?: ?[a-zA-Z°%\\{}/^²³]{0,12})?\.?"
)
_FACTORS = lazy_pattern(
    r"\bfactor(?:i[sz]e)? (?:completely|fully)\b|\bcompletely factor(?:ed)?\b|\bprime factori[sz]ation\b"
    r"|(?:^|[.:?!]\s+|\bplease )factor(?:i[sz]e)?\b(?! of| tree)",
    re.IGNORECASE,
    needs="factor",
)
_SCIENTIFIC = lazy_pattern(
    r"\b(?:scientific notation|standard form)\b",
    re.IGNORECASE,
    needs="cientific notation|tandard form",
)
_POWER_OF_TEN = lazy_pattern(
    r"(\d+(?:\.\d+)?) ?(?:\\times|\\cdot|[×·*x]) ?10 ?(?:\^|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])"
)
_EXPONENT = lazy_pattern(r"(?<![\w.])(-?\d+(?:\.\d+)?)[eE]([-+]?\d{1,3})(?![\w.]*\w)")
_SQUARE = lazy_pattern(
    r"\bcomplet\w+ the square|\bvertex form\b", re.IGNORECASE, needs="complet|vertex form"
)
_SQUARED = lazy_pattern(r"\) ?(?:\\right ?\) ?)?(?:\^ ?\{? ?2|²|\*\*2)")
_LOWEST = lazy_pattern(
    r"\b(?:in|to) (?:its |the )?(?:lowest|simplest|most reduced) (?:terms|form)\b|\bas an? (?:simplified|reduced|fully reduced|irreducible) (?:common )?fraction\b"
    r"|\b(?:reduce|simplify) (?:the|this) fraction\b|\bsimplified fraction\b",
    re.IGNORECASE,
    needs=" fraction|as a|form|terms",
)
_INEQUALITY = lazy_pattern(
    r"[<>≤≥]|\\(?:leq?|geq?|lt|gt)(?![a-z])|\binequalit", needs="<|>|\\|inequalit|≤|≥"
)
_INTERVAL = lazy_pattern(
    r"(?:\\left)? ?[\[(][^()\[\]]{1,40},[^()\[\]]{1,40}(?:\\right)? ?[\])]", needs="(|["
)
_TWO_NUMBERS = lazy_pattern(
    r"\W*(?:[a-z] ?= ?)?-?[\d./]+\W*(?:,|and|;)\W*(?:[a-z] ?= ?)?-?[\d./]+\W*", needs=",|;|and"
)
_BARE_NUMBER = lazy_pattern(r"\W{0,3}\d[\d,. ]*\W{0,3}")
_AS_PERCENT = lazy_pattern(r"\bas a percent(?:age)?\b", re.IGNORECASE, needs="as a percent")
_AS_DECIMAL = lazy_pattern(
    r"\b(?:as an? (?:exact |terminating )?decimal|in decimal (?:form|notation))\b",
    re.IGNORECASE,
    needs="decimal",
)
_FRACTION = lazy_pattern(r"\W{0,3}-?(?:\d+ ?/ ?\d+|\\[dt]?frac ?\{?\d+\}? ?\{?\d+\}?)\W{0,3}")
_SLOPE_INTERCEPT = lazy_pattern(r"\bslope[- –]intercept\b", re.IGNORECASE, needs="lope")
_DEGREES_OF_PI = lazy_pattern(
    r"(?:\\pi|π|\bpi)\b\}?[ \d/{}$]{0,10}(?:°|\bdegrees?\b|\^?\{?\\circ)", needs="°|degree|circ"
)
_CRITERIA = frozenset({"SAS", "SSS", "ASA", "AAS", "SSA", "RHS", "HL", "AA"})


_SPELLED_CRITERION = lazy_pattern(
    r"(?:the )?((?:(?:side|angle|hypotenuse|leg)[- –,]{1,3}){1,2}(?:side|angle|leg))(?: (?:\([A-Z]{2,3}\) ?)?(?:congruence|similarity)?(?: ?criterion| ?postulate| ?theorem| ?rule| ?test)?)?(?: ?\([A-Z]{2,3}\))?",
    re.IGNORECASE,
    needs="angle|leg|side",
)


def criterion_of(text: str) -> str:
    """The initials of "side-angle-side"; empty for other text."""
    match = _SPELLED_CRITERION.fullmatch(text.strip(" ."))
    return (
        ""
        if match is None
        else "".join(word[0] for word in re.findall("[a-z]+", match[1].lower())).upper()
    )


@lru_cache(maxsize=4096)
def asks_factors(question: str) -> bool:
    """Return True if a question asks for all factors, so that the answer's form counts."""
    return bool(_FACTORS.search(question))


@lru_cache(maxsize=4096)
def asks_lowest(question: str) -> bool:
    """Return True if a question asks for a fraction in lowest terms."""
    return bool(_LOWEST.search(question))


class _Instructed(NamedTuple):
    """Instructions of a question: scientific notation, decimal places, a completed square, a decimal, y alone."""

    scientific: bool
    places: int | None
    square: bool
    decimal: bool
    slope_intercept: bool


@lru_cache(maxsize=4096)
def _instructed(question: str) -> _Instructed:
    places = _PLACES.search(question)
    n = None
    if places is not None:
        n = int(places["n"] if places["n"].isdigit() else number_of(places["n"]) or 0)
    return _Instructed(
        bool(_SCIENTIFIC.search(question)),
        n,
        bool(_SQUARE.search(question)),
        bool(_AS_DECIMAL.search(question)),
        bool(_SLOPE_INTERCEPT.search(question)),
    )


def as_power_of_ten(answer: str, question: str) -> str:
    """4.5e-4 as 4.5 * 10^{-4} where a question asks for scientific notation; other text as it is."""
    if "e" not in answer.lower() or not _instructed(question).scientific:
        return answer
    return _EXPONENT.sub(r"\1 * 10^{\2}", answer)


def disobeys(gold: str, answer: str, question: str) -> bool:
    """Return True if an answer breaks an instruction that the reference follows.

    A number with fewer places than asked for and another value than the reference, or with more if it
    is the very number to be rounded; two bare numbers for
    the interval that solves an inequality; another criterion of congruence with the same letters; a number in
    digits for scientific notation, a fraction for a decimal, a line that is not solved for y; π in degrees.
    """
    plain, said = gold.strip(" $"), answer.strip(" $*")
    asked = _instructed(question)
    if _is_of_another_form(plain, said, question) or (
        _DEGREES_OF_PI.search(said) and not _DEGREES_OF_PI.search(plain)
    ):
        return True
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
    if plain not in _CRITERIA:
        return False
    said = criterion_of(said) or said
    return said in _CRITERIA and plain != said


def _is_of_another_form(gold: str, said: str, question: str) -> bool:
    asked = _instructed(question)
    if asked.scientific and _POWER_OF_TEN.search(gold):
        return _BARE_NUMBER.fullmatch(said) is not None
    if asked.decimal and _DECIMAL.fullmatch(gold):
        return _FRACTION.fullmatch(said) is not None and said.strip(" .") not in question
    if gold.endswith("%") and _AS_PERCENT.search(question) and _DECIMAL.fullmatch(said):
        wanted = gold.rstrip("\\% ")
        return _DECIMAL.fullmatch(wanted) is not None and float(said) != float(wanted)
    if asked.slope_intercept and gold.replace(" ", "").startswith("y="):
        left, equals, _ = said.partition("=")
        return bool(equals) and "y" in left and left.strip(" $*\\(") != "y"
    return False
