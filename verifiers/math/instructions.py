"""Instructions of a question that its answer must follow: places after the point, full factors, intervals.

A dataset's reference follows them already, so an answer of another form is not the reference.
"""

from __future__ import annotations

import re

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
    r"\bfactor(?:i[sz]e)? (?:completely|fully)\b|\bcompletely factor(?:ed)?\b|\bprime factori[sz]ation\b",
    re.IGNORECASE,
)
_INEQUALITY = re.compile(r"[<>≤≥]|\\(?:leq?|geq?|lt|gt)(?![a-z])|\binequalit")
_INTERVAL = re.compile(r"(?:\\left)? ?[\[(][^()\[\]]{1,40},[^()\[\]]{1,40}(?:\\right)? ?[\])]")
_TWO_NUMBERS = re.compile(r"\W*-?[\d./]+\W*(?:,|and|;)\W*-?[\d./]+\W*")
_CRITERIA = frozenset({"SAS", "SSS", "ASA", "AAS", "SSA", "RHS", "HL", "AA"})


def asks_factors(question: str) -> bool:
    """Return True if a question asks for all factors, so that the answer's form counts."""
    return bool(_FACTORS.search(question))


def disobeys(gold: str, answer: str, question: str) -> bool:
    """Return True if an answer breaks an instruction that the reference follows.

    A number with fewer places than asked for and another value than the reference, or with more if it
    is the very number to be rounded; two bare numbers for
    the interval that solves an inequality; another criterion of congruence with the same letters.
    """
    plain, said = gold.strip(" $"), answer.strip(" $*")
    places = _PLACES.search(question)
    if places:
        wanted = _DECIMAL.fullmatch(plain)
        n = int(places["n"] if places["n"].isdigit() else number_of(places["n"]) or 0)
        given = _NUMBER.fullmatch(said)
        if wanted and given and len(wanted["places"] or "") == n:
            digits = len(given["value"].partition(".")[2])
            if digits > n and not _ROUND_IT.search(question):
                return False  # more precise than it was asked for
            return "%" not in said and float(given["value"]) != float(plain)
    if _INTERVAL.fullmatch(plain) and _INEQUALITY.search(question):
        return bool(_TWO_NUMBERS.fullmatch(said)) and not set(said) & set("()[]")
    return plain in _CRITERIA and said in _CRITERIA and plain != said
