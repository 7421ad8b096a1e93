"""Takes the result from workings that lead to it: "48/6 = 8 boxes, 8 * 2 = 16", "3x = 15, so x = 5".

Each equation of numbers must be true; the last one gives the answer.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.exact import exact
from verigym.verifiers.math.mentions import labels
from verigym.verifiers.math.parser import parse
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import TooBig, Unreadable

_MOST_CHARS = 300
_CLAUSE = lazy_pattern(
    r"\s*(?:[;,]\s*(?:and |then |so |thus |hence |next )*|\.\s+|\\to\b|\\implies\b|\band(?: then)?\b|\bthen\b|\bso\b|\n)\s*",
    needs="\n|,|.|;|\\implies|\\to|and|so|then",
)
_NOUN = lazy_pattern(r"(?<=[\d)])\s+[a-z]{2,20}(?: [a-z]{2,20}){0,2}(?=\s*(?:[-+*/)=]|$))")
_CURRENCY = lazy_pattern(r"\\dollar\s*|[€£]", needs="\\dollar|£|€")
_NUMERIC = lazy_pattern(r"(?:[\d\s.,+\-*/()^%!]|\\u?sqrt ?(?:\{ ?\d+ ?\}|(?=[\d(])))+")
_CONCLUSION = lazy_pattern(
    r"^(?P<work>[^A-Za-z]*[a-z]?.*[=<>].*?),? (?:so|therefore|thus|hence|which gives|giving|i\.e\.,?|that is,?|which means)(?: that)?,? (?P<end>(?P<name>[a-z]) ?(?:=|<=|>=|<|>|\\in) ?[^=<>]+?(?:(?:,| or| and) (?P=name) ?= ?[^=<>]+)*)$",
    re.DOTALL,
    needs="giving|hence|i.e.|so|that is|therefore|thus|which gives|which means",
)
_SAME_NAME = lazy_pattern(r"\bor ([a-z]) ?=(?=[^=]*$)")
_MOD = lazy_pattern(
    r"(?P<number>-?\d{1,30}) ?(?:\\pmod|%) ?\{?(?P<modulus>\d{1,30})\}? ?= ?(?P<value>-?\d{1,30})",
    needs="%|\\pmod",
)
_POWER_MOD = lazy_pattern(
    r"(\d{1,9}) ?\^ ?\{?(\d{1,9})\}? ?(?:\\pmod|%) ?\{?(\d{1,9})\}? ?= ?(\d{1,9})", needs="%|\\pmod"
)
_APPROXIMATED = lazy_pattern(r"(-?\d[\d,.]*) ?\\approx ?(-?\d[\d,.]*)")
_ROUNDS = lazy_pattern(r"\bround|\bnearest\b|\bapproximat|\bestimate", re.IGNORECASE)
_PAIRS = lazy_pattern(r"\(([\d\s.+\-*/^(),]+)\) ?= ?\(([^()=]+)\)")
_CONGRUENT = lazy_pattern(
    r"\\equiv ?(?P<value>-?\d{1,30}) ?\\pmod ?\{?(?P<modulus>\d{1,30})\}?", needs="\\equiv"
)
_CONGRUENT_CHAIN = lazy_pattern(
    r"(?P<name>[a-z]) ?(?:\\equiv|=) ?(?P<way>[^=<>]{1,80}?) ?(?:\\equiv|=) ?(?P<value>-?\d{1,30}) ?\\pmod ?\{?(?P<modulus>\d{1,30})\}?",
    needs="\\pmod",
)
_CHECK = lazy_pattern(
    r"^(?P<value>[a-z] ?= ?[^,;()=]{1,30}?)[,;]? \(?check:? (?P<work>[^()]*(?:\([^()]*\)[^()]*)*)\)?$",
    re.IGNORECASE,
    needs="check",
)
_ALSO = lazy_pattern(
    r"\b(?:or|not|never|maybe|perhaps)\b", re.IGNORECASE, needs="maybe|never|not|or|perhaps"
)


_RELATES = lazy_pattern(r"[=<>]|\\equiv|\\approx", needs="=|<|>|\\equiv|\\approx")


def result_of(answer: str, question: str = "", *, equation: bool = False) -> str:
    """The result at the end of workings; other text as it is."""
    if len(answer) > _MOST_CHARS or not _RELATES.search(answer):
        return answer
    modulo = _MOD.fullmatch(answer)
    if modulo is not None:
        modulus = int(modulo["modulus"])
        same = modulus and (int(modulo["number"]) - int(modulo["value"])) % modulus == 0
        return modulo["value"] if same else answer
    power = _POWER_MOD.fullmatch(answer)
    if power is not None and 0 < int(power[3]) < 10**9:
        same = pow(int(power[1]), int(power[2]), int(power[3])) == int(power[4]) % int(power[3])
        return power[4] if same else answer
    rounded = _APPROXIMATED.fullmatch(answer)
    if (
        rounded is not None
        and _ROUNDS.search(question)
        and rounded[1].replace(",", "") in question.replace(",", "")
    ):
        return rounded[2]
    pair = _PAIRS.fullmatch(answer)
    if pair is not None and not equation:
        sides = [re.split(r",(?![^()]*\))", side) for side in (pair[1], pair[2])]
        if len(sides[0]) == len(sides[1]) and all(
            is_true(f"{a}={b}") for a, b in zip(*sides, strict=True)
        ):
            return f"({pair[2]})"
    chained = _CONGRUENT_CHAIN.fullmatch(answer)
    if chained is not None and _agree_modulo(
        chained["way"], chained["value"], int(chained["modulus"])
    ):
        return f"{chained['name']} \\equiv {chained['value']} \\pmod {chained['modulus']}"
    congruent = _CONGRUENT.fullmatch(answer)
    if congruent is not None:
        return f"{congruent['value']} \\pmod {congruent['modulus']}"
    checked = _CHECK.match(answer)
    if checked is not None and not _ALSO.search(answer):
        work = re.sub(r"(?<=\d)\*?\(", "*(", checked["work"]).strip(" .)")
        if is_true(work) or is_true(f"{work})"):
            return checked["value"]
    concluded = _CONCLUSION.match(answer)
    if (
        concluded is not None
        and not _ALSO.search(concluded["work"])
        and not _ALSO.search(_SAME_NAME.sub("", concluded["end"]))
    ):
        work = concluded["work"]
        # Work of numbers alone must be true, and lead nowhere else.
        if not _NUMERIC.fullmatch(work.replace("=", "")) or is_true(work):
            return concluded["end"]
    return (None if equation else _end_of_chain(answer, question)) or _last_of(answer)


def _agree_modulo(way: str, value: str, modulus: int) -> bool:
    """Return True if all whole numbers on the way to a residue are congruent to it."""
    for member in re.split(r"\\equiv|=", way):
        try:
            found = exact(parse(member.strip()))
        except (Unreadable, TooBig, ZeroDivisionError):
            return False
        if found is None or found.denominator != 1 or not modulus or (found - int(value)) % modulus:
            return False
    return True


_COMPOUND = lazy_pattern(r"\d+ [a-z]{1,8}(?:(?:,? and|,)? \d+ [a-z]{1,8}){1,2}", needs=" ")
_MEASURED = lazy_pattern(r"(?:\d[\d.,]* ?[a-z]{0,8} ?[-+*/] ?)*\d[\d.,]* ?[a-z]{0,8}")
_LITERAL = lazy_pattern(
    r"(?:\\dollar ?|€ ?|£ ?)?-?(?:\d+ \d+/\d+|\d[\d.,]*|\\frac ?\{-?\d+\} ?\{\d+\}|\d+/\d+)(?: ?(?:%|\^ ?\{?\\circ ?\}?|[a-zA-Z/^\d ]{1,20}))?"
)
_EVALUATED = lazy_pattern(
    r"\bevaluated\b|[\])] ?_ ?\{?-?\w+\}? ?\^|\\(?:int|sum|prod|lim)(?![a-z])|\| ?_"
)
_WORDS = lazy_pattern(r"(?<![\\A-Za-z])[A-Za-z]{3,}")


def _end_of_chain(answer: str, question: str) -> str | None:
    """The end of "speed = distance/time = 180/2.5 = 72 km/h", where the numbers on the way agree; else None."""
    if re.search(r"[<>;]|\b(?:or|and)\b|!=|,(?!\d{3})", answer):
        return None
    *way, end = (side.strip() for side in answer.split("="))
    if way and _COMPOUND.fullmatch(end) and all(map(_MEASURED.fullmatch, way)):
        return end
    if not way or not _LITERAL.fullmatch(end):
        return None
    bare = _bare(end)
    for k, side in enumerate(way):
        if _NUMERIC.fullmatch(_bare(side)):
            if not is_true(f"{_bare(side)} = {bare}"):
                return None
        elif _EVALUATED.search(side):
            continue
        elif len(way) > 1 and (words := _WORDS.findall(re.sub(r"\\[a-z]+", " ", side))):
            if not labels([word.lower() for word in words], frozenset()):
                return None
        elif (
            k == 0 and len(way) > 1 and re.fullmatch(r"[A-Za-z](?:_\{?\w+\}?)?", side)
        ) or _is_known_formula(side, question):
            continue
        else:
            return None
    return end


def _is_known_formula(side: str, question: str) -> bool:
    """Return True for n(n-3)/2, the letters of which the question does not use."""
    letters = set(re.findall(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])", side))
    shown = set(re.findall(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", question)) - {"a", "A", "I"}
    return (
        bool(letters)
        and bool(question)
        and not letters & shown
        and len(re.findall(r"[-+*/()^]", side)) > 1
    )


def _bare(text: str) -> str:
    """Numbers without their degrees, units and currencies."""
    text = re.sub(r"\^ ?\{?\\circ ?\}?|\\dollar ?|[€£]", "", text)
    return re.sub(
        r"(?<=[\d)]) ?(?:[A-Za-z]{1,12}(?:/[a-z]{1,6})?(?:\^\{?\d\}?)?)(?: [a-z]{1,12}){0,2}$",
        "",
        text,
    ).strip()


def _last_of(answer: str) -> str:
    clauses = [clause.strip(" .") for clause in _CLAUSE.split(answer) if clause.strip(" .")]
    if len(clauses) < 2 or not all("=" in clause for clause in clauses):
        return answer
    for clause in clauses:
        if not re.search(r"[-+*/^]", clause.partition("=")[0]) or not is_true(clause):
            return answer
    return clauses[-1].rpartition("=")[2].strip()


def is_true(clause: str) -> bool:
    """Return True if an equation of numbers with nouns and currencies is true."""
    sides = _NOUN.sub("", _CURRENCY.sub("", clause)).split("=")
    if len(sides) < 2 or not all(_NUMERIC.fullmatch(side) for side in sides):
        return False
    try:
        values = [exact(parse(side.strip())) for side in sides]
    except (Unreadable, TooBig, ZeroDivisionError):
        return False
    return values[0] is not None and all(value == values[0] for value in values)
