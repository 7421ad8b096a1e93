"""Takes the result from workings that lead to it: "48/6 = 8 boxes, 8 * 2 = 16", "3x = 15, so x = 5".

Each equation of numbers must be true; the last one gives the answer.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.exact import exact
from verigym.verifiers.math.parser import parse
from verigym.verifiers.math.trees import TooBig, Unreadable

_MOST_CHARS = 300
_CLAUSE = re.compile(
    r"\s*(?:[;,]\s*(?:and |then |so |thus |hence |next )*|\.\s+|\\to\b|\\implies\b|\band(?: then)?\b|\bthen\b|\bso\b|\n)\s*"
)
_NOUN = re.compile(r"(?<=[\d)])\s+[a-z]{2,20}(?: [a-z]{2,20}){0,2}(?=\s*(?:[-+*/)=]|$))")
_CURRENCY = re.compile(r"\\dollar\s*|[€£]")
_NUMERIC = re.compile(r"[\d\s.,+\-*/()^%!]+")
_CONCLUSION = re.compile(
    r"^(?P<work>[^A-Za-z]*[a-z]?.*[=<>].*?),? (?:so|therefore|thus|hence|which gives|giving|i\.e\.,?|that is,?|which means)(?: that)?,? (?P<end>(?P<name>[a-z]) ?(?:=|<=|>=|<|>|\\in) ?[^=<>]+)$",
    re.DOTALL,
)
_MOD = re.compile(
    r"(?P<number>-?\d{1,30}) ?(?:\\pmod|%) ?\{?(?P<modulus>\d{1,30})\}? ?= ?(?P<value>-?\d{1,30})"
)
_CONGRUENT = re.compile(r"\\equiv ?(?P<value>-?\d{1,30}) ?\\pmod ?\{?(?P<modulus>\d{1,30})\}?")
_CHECK = re.compile(
    r"^(?P<value>[a-z] ?= ?[^,;()=]{1,30}?)[,;]? \(?check:? (?P<work>[^()]*(?:\([^()]*\)[^()]*)*)\)?$",
    re.IGNORECASE,
)
_ALSO = re.compile(r"\b(?:or|not|never|maybe|perhaps)\b", re.IGNORECASE)


def result_of(answer: str) -> str:
    """The result at the end of workings; other text as it is."""
    if len(answer) > _MOST_CHARS or not re.search(r"[=<>]|\\equiv", answer):
        return answer
    modulo = _MOD.fullmatch(answer)
    if modulo is not None:
        modulus = int(modulo["modulus"])
        same = modulus and (int(modulo["number"]) - int(modulo["value"])) % modulus == 0
        return modulo["value"] if same else answer
    congruent = _CONGRUENT.fullmatch(answer)
    if congruent is not None:
        return f"{congruent['value']} \\pmod {congruent['modulus']}"
    checked = _CHECK.match(answer)
    if checked is not None and not _ALSO.search(answer):
        work = re.sub(r"(?<=\d)\*?\(", "*(", checked["work"]).strip(" .)")
        if _is_true(work) or _is_true(f"{work})"):
            return checked["value"]
    concluded = _CONCLUSION.match(answer)
    if (
        concluded is not None
        and not _ALSO.search(concluded["work"])
        and not _ALSO.search(concluded["end"])
    ):
        work = concluded["work"]
        # Work of numbers alone must be true, and lead nowhere else.
        if not _NUMERIC.fullmatch(work.replace("=", "")) or _is_true(work):
            return concluded["end"]
    return _last_of(answer)


def _last_of(answer: str) -> str:
    clauses = [clause.strip(" .") for clause in _CLAUSE.split(answer) if clause.strip(" .")]
    if len(clauses) < 2 or not all("=" in clause for clause in clauses):
        return answer
    for clause in clauses:
        if not re.search(r"[-+*/^]", clause.partition("=")[0]) or not _is_true(clause):
            return answer
    return clauses[-1].rpartition("=")[2].strip()


def _is_true(clause: str) -> bool:
    """Return True if an equation of numbers with nouns and currencies is true."""
    sides = _NOUN.sub("", _CURRENCY.sub("", clause)).split("=")
    if len(sides) < 2 or not all(_NUMERIC.fullmatch(side) for side in sides):
        return False
    try:
        values = [exact(parse(side.strip())) for side in sides]
    except (Unreadable, TooBig, ZeroDivisionError):
        return False
    return values[0] is not None and all(value == values[0] for value in values)
