"""Weighs a value of a sentence by its clause, the words around it, its unit and noun, and the numbers of the question."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from verigym.verifiers.math.clauses import REASONS, Clause
from verigym.verifiers.math.mentions import (
    counts_work,
    is_label,
    words_of,
)
from verigym.verifiers.math.other_quantity import (
    affirms_denied,
    is_other_subject,
    names_other_quantity,
    opposes,
)
from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.question_focus import WORD, Focus, focus_of, root, roots
from verigym.verifiers.math.rivals import is_rival
from verigym.verifiers.math.statements import BOUNDS, is_doubtful
from verigym.verifiers.math.trees import names
from verigym.verifiers.math.units import unit_of
from verigym.verifiers.math.values_in_prose import Value, plain_sentence

_DENIES = lazy_pattern(
    r"\b(?:not|never|neither|nor|cannot|without|except|no (?:es|son)|nicht|kein\w*|pas|ni|nunca|other than|rather than|instead|is out|out,|excluded|ruled out|rejected|extraneous|discard\w*)\b|n't\b",
    re.IGNORECASE,
)
_PREPOSITIONS = frozenset(
    names(
        "in at for from through with by to when below above between after before on of within until per into past under over since during "
        "out around about dans en nach von bei mit für für zu"
    )
)
_REACHES = lazy_pattern(
    r"\b(?:sells?|sold|goes|bought|paid|pays?) for$|\bends? (?:in|with)$|\bleft with$|(?<!\bas [a-z] )\bapproaches$|\b(?:arrives?|arrived|ends? up|lands?) (?:at|with)$|\b(?:brings?|leads?|takes?|gets?) (?:us|you|me|it|him|her|them) to$|\b(?:equal|equals|comes?|came|amounts?|up|down|out|simplif\w+|reduces?|sums?|adds?|evaluates?|rounds?|rounded|corresponds?|leads?|brings? \w+ \w+|brings? \w+ \w+ \w+|works? out|turns out|drops?|falls?|rises?|increases?|decreases?|converges?|tends?|goes|shortens?|converts?|equivalent|breaks down|factors?|expands?|changes?|translates?|boils down|points?|r[io]sen?|fall\w*|fell|dropped|grown|grew|went|climbed|warmed|cooled|takes? (?:us|you|it)|brings? (?:us|you|it)|gets? (?:us|you|it)) (?:to|at|into|as|is)(?: be)?(?: (?:the|a))?$"
)
_BOUNDS = lazy_pattern(
    r"\b(?:than|at least|at most|(?<!round )(?<!rounds )(?<!add )(?<!adds )(?<!sum )(?<!sums )(?<!rounded )(?<!rounding )up to|no more|fewer|under|over|nearly|almost|exceeds?|beyond|(?:supérieure?s?|inférieure?s?) à|(?:größer|kleiner|mehr|weniger) als|(?:mayor|menor|más|menos) (?:que|de))\W*(?:[$€£])?$",
    re.IGNORECASE,
)
_AMOUNTS = frozenset(names("total value average mean width length height area radius number probability price cost speed sum rate depth volume distance slope remainder rest perimeter diameter balance profit loss discount age time duration ratio angle amount chance score weight mass result answer temperature median size"))  # fmt: skip
_STATES = frozenset(
    names(
        "is are was were be equals equal gives give yields makes leaves becomes totals needs takes get gets have has = : totaling giving leaving making yielding exactly only"
    )
)
_EACH = lazy_pattern(
    r"\b(?:each|every|per|apiece|a (?:day|week|hour|month|year|piece))\b",
    re.IGNORECASE,
    needs="a |apiece|each|every|per",
)
_MORE = lazy_pattern(
    r"^\W*(?:[a-z]+ )?(?P<word>more|less|fewer|times|extra|additional|out of|greater|larger|smaller|higher|lower)\b",
    needs="additional|extra|fewer|greater|higher|larger|less|lower|more|out of|smaller|times",
)
_NUMBER = lazy_pattern(r"-?\d[\d,]*(?:\.\d+)?(?: ?%)?")
_YIELDS = lazy_pattern(
    r"\b(?:shows?|gives?|yields?|leads to|leaves|makes|brings?|results in|comes? to|produces|means|turns|gets?|is|are|equals|we|you|it|he|she|they)\b",
    re.IGNORECASE,
)
_OTHER_TIME = lazy_pattern(
    r"^\W*(?:in|after|within) (?:\d+|a|an|one|another \d+) [a-z]+|\b(?:ago|originally|initially|at first|yesterday|previously|last (?:year|week|month)|next (?:year|week|month))\b",
    re.IGNORECASE,
)
_IS_SUBJECT = lazy_pattern(r" (?:is|are|equals?|[a-z]+s)\b", needs="are|equal|s")
_NOT_ALONE = lazy_pattern(
    r"\+(?!\s?[\d(])|ish\b|,?\s+(?:or|to)\s+(?:any\w*|other|so|more|less|something|#|\S*\d|[a-z]\b)|[^()]{0,20}\((?:or|and|also|maybe)?[^()]*\b(?:or|also|too|possibly|\d+ works)\b|[^.;]{0,25}\bor \S*\d|[^.;]{0,25}\bgive or take\b|[^.;]{0,20}\bat (?:most|least)\b| (?:score|dozen|hundred|thousand|million|billion|trillion)\b"
)
_NEITHER = lazy_pattern(
    r"^(?: [a-z]+)? (?:likes?|plays?|has|have|takes?|drinks?|owns?|do|speaks?|reads?|passed|studies|study|eats?|in|chose|prefer|own)? ?neither\b",
    needs="neither",
)
_PART_OF = lazy_pattern(
    r"\b(?:root|squares?|cubes?|half|third|quarter|twice|times|double|triple|multiples?|factors?|divisors?|powers?|logarithm|number)(?: of)? \W*$|~\s?$|\bno $|\broom for $",
    re.IGNORECASE,
)
_TOO = lazy_pattern(
    r"\b(?:too|violates?|contradicts?|impossible|is out)\b|\bdoes\s*n[o']t\b",
    needs="contradict|does|impossible|is out|too|violate",
)
_RANGE = lazy_pattern(
    r"\b(?:from|between|divided by|division by|modulo|mod|below|under|up to|less than) (-?\d[\d,]*)(?: (?:to|and|through) (-?\d[\d,]*))?",
    needs="below|between|divided by|division by|from|less than|mod|under|up to",
)
_BY_HOW_MUCH = lazy_pattern(
    r"\bby (?:how (?:much|many)|what)\b|\bhow (?:many|much) (?:more|fewer|less)\b", re.IGNORECASE
)
_DIFFERS = lazy_pattern(
    r"(?:^|,? )(?:with )?an? (?:difference|gap|excess|surplus) of $", needs=" of "
)
_WEAK = frozenset(names("as in but more less fewer above below over than either or between no"))
_ARTICLES = frozenset(names("the a an about exactly only just all total average least most is are"))
_NAME = lazy_pattern(
    r"^(?:(?:so|and|but|while|then|thus|hence|therefore)[, ]+)?(?P<name>[A-Z][a-z]+)\b(?!,)"
)
IS_SUPPOSED = lazy_pattern(
    r"\b(?:if|would|at th(?:is|at) (?:rate|pace|speed))\b", re.IGNORECASE, needs="at th|if|would"
)
ASKS_EARLIER = lazy_pattern(
    r"\b(?:before|original(?:ly)?|initial(?:ly)?|at first|start(?:ed)?|begin(?:ning)?|began|regular|previous(?:ly)?)\b",
    re.IGNORECASE,
    needs="at first|before|began|begin|initial|original|previous|regular|start",
)
_EARLIER = frozenset(
    names("originally initially used first before once start started starts began begin previously")
)
_NEEDS = lazy_pattern(
    r"\b(?:added|add|needed|needs?|missing|still|more|extra|additional|fill|another)\b",
    re.IGNORECASE,
    needs="add|another|extra|fill|missing|more|need|still",
)
_FURTHER = frozenset(names("another additional extra further more"))
_HOW_LONG = lazy_pattern(
    r"\bhow long\b.*\b(?:takes?|needs?|lasts?|until|before|for|require|does it|will it)\b",
    re.IGNORECASE,
    needs="how long",
)
_TIME = (("T", 1),)
_ADJUNCT = lazy_pattern(
    r"\W*(?:after|before|during|given|using)\b",
    re.IGNORECASE,
    needs="after|before|during|given|using",
)
_THEN_SAYS = lazy_pattern(
    r"\d.* (?:[a-z]{3,}(?:s|ed)|is|are|was|has|have|we get|you get)\b",
    needs="are|ed|have|s|we get|you get",
)
_IS_LEFT = lazy_pattern(
    r"\W*(?:[a-z]+ )?(?:left|remaining|to spare)\b", needs="left|remaining|to spare"
)


class Weighed(Struct, frozen=True):
    """A value of a sentence with its weight; `is_other`: the sentence gives it to another quantity or person."""

    weight: float
    value: Value
    is_other: bool
    concludes: bool = False
    """True in the last clause of a sentence if that is a conclusion."""


def weigh(
    value: Value, clause: Clause, values: list[Value], sentence: str, question: str
) -> Weighed:
    """Return a value with its weight, which is -20 if the words around it deny, doubt or bound it."""
    focus = focus_of(question)
    before = clause.text[: value.start - clause.start]
    after = clause.text[value.end - clause.start :]
    following = [other for other in values if value.end <= other.start < clause.end]
    near = after[: following[0].start - value.end] if following else after
    if _is_no_claim(before, near, sentence[value.end :], question):
        return Weighed(-20.0, value, False)
    weight = _of_clause(clause, before, near, focus)
    if following and not before.strip(" $(") and _IS_SUBJECT.match(near):
        weight -= 2
    if re.sub(r"[,$€£ °]", "", value.text) in _given(question):
        weight -= 2
    fit = _fit(value, focus)
    bound = re.search(r"[<>≤≥]", value.text) is not None
    weight += max(_lead(before, near, focus), 0 if bound else -9, -0.5 if fit > 0 else -9)
    weight += _behind(near, focus) + fit
    is_other = _is_other(clause.text, before, near, focus, question)
    concludes = clause.is_last and clause.weight >= 2
    return Weighed(weight - 6 * is_other, value, is_other, concludes)


def _is_no_claim(before: str, near: str, rest: str, question: str) -> bool:
    """Return True if the words around a value deny, doubt or bound it, or make it a part of another value or a label."""
    if _DENIES.search(before) or _BOUNDS.search(before):
        return True
    if _DENIES.search(_NEITHER.sub("", near) if "neither" in question else near):
        return True
    if _NOT_ALONE.match(rest) or _PART_OF.search(before) or _TOO.search(near):
        return True
    asked = words_of(question)
    said = list(map(str.lower, WORD.findall(before)))
    behind = list(map(str.lower, WORD.findall(near)))
    if is_in(IS_SUPPOSED, question) or is_in(ASKS_EARLIER, question):
        said = [
            word
            for word in said
            if word not in _EARLIER and word != "would" and not word.endswith("'d")
        ]
    if said[-2:-1] == ["would"] and said[0] in ("one", "you", "it", "we", "that", "this"):
        said.remove("would")
    if said and (is_label(said[-1], asked) or is_doubtful(said, behind, asked)):
        return True
    bounds = BOUNDS - _WEAK - asked
    if is_in(_NEEDS, question):
        bounds -= _FURTHER
    if not bounds.isdisjoint(said[-2:]) or (
        said and said[-1] == "by" and not is_in(_BY_HOW_MUCH, question)
    ):
        return True
    if (
        len(said) > 1
        and said[-2] in ("in", "on", "at")
        and said[-1] not in _AMOUNTS | asked | _ARTICLES
    ):
        return True
    if said[-1:] == ["to"] and is_in(_BY_HOW_MUCH, question):
        return True
    return counts_work(" ".join(behind[:2]), asked) or _names_other_range(rest, question)


def _names_other_range(rest: str, question: str) -> bool:
    """Return True if a range or divisor behind a value has a number that the question does not show."""
    given = _given(question)
    return any(
        number.replace(",", "") not in given
        for found in _RANGE.findall(rest)
        for number in found
        if number
    )


def _of_clause(clause: Clause, before: str, near: str, focus: Focus) -> float:
    """The weight of a clause for the value between `before` and `near`, with that of the words of the question."""
    weight = clause.weight
    if _ADJUNCT.match(clause.text) and _THEN_SAYS.search(before):
        weight = 0.5
    if clause.is_passed and not clause.is_last:
        weight -= 3
    elif weight < 0 and not REASONS.match(clause.text) and _YIELDS.search(before):
        weight = 1.5 if clause.is_last else 0.0
    weight += 0.6 * min(len((roots(before) | roots(near)) & focus.words), 3)
    if _EACH.search(f"{before} {near}") and not is_in(_EACH, focus.clause):
        weight -= 3
    name = _NAME.match(clause.text)
    if name is not None and focus.asked_people:
        own = name["name"] in focus.asked_people
        weight += 1.5 if own else 0.0
    other_time = _OTHER_TIME.search(clause.text)
    if other_time is not None and not roots(other_time[0]) <= focus.words:
        weight -= 3
    return weight


def _is_other(clause: str, before: str, near: str, focus: Focus, question: str) -> bool:
    lead = re.sub(
        r"^\W*(?:(?:so|thus|hence|therefore|then|and|but|which|that)\b[, ]*)+", "", before
    )
    behind = re.match(r"\W*(?:is|are) ((?:the|its|an?) [a-z -]{3,40})", near)
    subject = (
        behind[1]
        if behind is not None
        else re.split(r"\b(?:is|are|was|equals?|of|will be)\b|=|:", lead)[0]
    )
    if subject.strip() and is_other_subject(subject.strip(" ,"), question):
        return True
    if opposes(f"{before} {near}", focus.clause) or affirms_denied(near, focus.clause):
        return True
    noun = re.match(r" ([a-z]{4,}s)\b", near)
    if noun is not None and focus.counted and is_rival(noun[1], _plurals(focus)):
        return True
    return names_other_quantity(clause.strip(" ,;"), question)


def _plurals(focus: Focus) -> frozenset[str]:
    """The words of the asking clause whose root is that of the noun that is counted."""
    return frozenset(
        word.lower() for word in WORD.findall(focus.clause) if root(word) in focus.counted
    )


def _lead(before: str, after: str, focus: Focus) -> float:
    """The weight of the words in front of a value: right behind a verb or a name of an amount, or behind a preposition."""
    stripped = before.rstrip(" $€£(*").lower()
    words = re.findall(r"[a-z'-]+|[=:]", stripped)
    if not words:
        return 0.5 if not stripped else 0.0
    if words[-1] in _STATES or _REACHES.search(stripped):
        return 1.0
    if _DIFFERS.search(f"{stripped} "):
        return 3.0
    if (
        words[-1] == "of"
        and len(words) > 1
        and (words[-2] in _AMOUNTS or root(words[-2]) in focus.words)
    ):
        return 1.0
    if words[-1] == "by" and is_in(_BY_HOW_MUCH, focus.clause):
        return 1.0
    if words[-1] in _PREPOSITIONS and not _IS_LEFT.match(after):
        return -2.0
    if words[-1] in ("the", "these", "those", "all"):
        return -2.0
    return 0.3


def _behind(after: str, focus: Focus) -> float:
    """The weight of the words behind a value: the noun that is counted, another noun of the question, "more"."""
    more = _MORE.match(after)
    if (
        more is not None
        and root(more["word"]) not in focus.words
        and more["word"] not in focus.clause
    ):
        return -4.0
    words = re.findall(r"[A-Za-z-]+", after)[:4]
    found = [root(word) for word in words]
    if focus.counted and not focus.counted.isdisjoint(found[:3]):
        return 1.5
    if (
        focus.counted
        and words
        and words[0].endswith("s")
        and found[0] in focus.known
        and found[0] not in focus.words
    ):
        return -3.0
    return 0.0


def _fit(value: Value, focus: Focus) -> float:
    """The weight of a unit: one that the question asks for, or another."""
    unit = unit_of(value.unit) if value.unit else None
    if unit is not None and is_in(_HOW_LONG, focus.clause) and unit.dims == _TIME:
        return 2.0
    if "%" in value.text:
        return 1.0 if {"percent", "percentage"} & set(focus.clause.lower().split()) else 0.0
    if re.match(r"[$€£]", value.text):
        return (
            1.0
            if re.search(
                r"\bhow much\b|\b(?:cost|price|pay|spend|earn|money)", focus.clause, re.IGNORECASE
            )
            else 0.0
        )
    if unit is None or not unit.dims or not focus.dims:
        return 0.0
    return 2.0 if unit.dims in focus.dims else -4.0


@lru_cache(maxsize=4096)
def _given(question: str) -> frozenset[str]:
    shown = plain_sentence(question[-2000:])
    return frozenset(number.replace(",", "").replace(" ", "") for number in _NUMBER.findall(shown))
