"""Words around a number that make it another one, or deny it: "twice 7", "7 squared", "anything but 7".

A reader of numbers drops the words beside them. These may not be dropped: operations, negations, bounds,
and what stands before an "of" and is no name of a value ("the reciprocal of 7"). Words of the reference
are no concern, and neither is what stands before "=" or "is".
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.context import Context
from verigym.verifiers.math.dates import names_month
from verigym.verifiers.math.mentions import labels, leads_to
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.statements import VALUES
from verigym.verifiers.math.trees import names

_ANYWHERE = frozenset(
    names(
        "twice thrice double doubled triple tripled quadruple quadrupled halve halved squared cubed square cube root reciprocal inverse inverted "
        "opposite negation negated factorial successor predecessor modulo modulus log logarithm ln sine cosine "
        "tangent but except excepting excluding not never nowhere near nearly almost hardly barely scarcely unlike anything besides "
        "wrong incorrect false untrue impossible tenths hundredths thousandths tenth hundredth thousandth "
        "halves thirds quarters fifths sixths sevenths eighths ninths isn't wasn't aren't cannot without"
    )
)
_BEFORE = _ANYWHERE | frozenset(
    names(
        "half third quarter times under over above below beyond beneath within after before past from until than by between far "
        "close up like next something least most more less fewer other plus another minus divided multiplied raised beside against "
        "nicht kein keine keinen non pas nie niet geen inte ikke ej bukan tidak nem nunca jamais vielleicht forse  quizas talvez mungkin "
        "mindestens errada errado falsche falscher misschien kanske kanskje belki"
    )
)
_AFTER = _ANYWHERE | frozenset(
    names(
        "below above plus minus divided multiplied raised reduced increased decreased off too short away ago"
    )
)
# Of the words behind a number, those that a question may ask for: "how many more".
_ASKED = frozenset(
    names(
        "more less fewer below above off too short away square cube double half over halves thirds quarters fifths tenths"
    )
)
_HEDGES = frozenset(
    names(
        "probably perhaps maybe possibly presumably supposedly allegedly likely somewhere guess guesstimate neighborhood neighbourhood vicinity ish region ballpark"
    )
)
_OR_SO = lazy_pattern(
    r"\d\s*-?ish\b|\bor so\b|\bgive or take\b|\bmore or less\b|\bthereabouts\b",
    re.I,
    needs="give or take|ish|more or less|or so|thereabouts",
)
_EXPLAINS = lazy_pattern(
    r"\s*(?:(?:since|because|as|assuming|given|note|that|the|where|so) )*(?:order|ordering|repetitions?|repeats?|rotations?|reflections?|arrangements?|replacement|with(?:out)?"
    r"|leading zeros?|ties|people|seats|digits|letters|balls|boxes|cards|cannot|no two|not all|neither)\b(?!.*\b(?:wrong|incorrect|sure|certain|answer|correct|maybe|perhaps|if)\b)",
    re.I,
)
_NEARLY = lazy_pattern(r"(?:approximately|approx|about|around|roughly|circa|environ|etwa|sekitar|ongeveer|some|nearly|almost)\b|\\approx", re.I, needs="about|almost|approx|around|circa|environ|etwa|nearly|ongeveer|roughly|sekitar|some")  # fmt: skip
_VALUES = VALUES | frozenset(
    names(
        "number out consists consist set list pair exactly all kind type profit loss gain salary interest percentage fraction estimate "
        "coefficient discriminant norm magnitude output input share tally sample group bag box stack least most"
    )
)
_LABELLED = lazy_pattern(r".*(?:=|:|\b(?:is|are|equals|was|were|be|being|gives|get|yields|makes)\b(?! not\b))", re.S, needs=":|=|are|be|equals|get|gives|is|makes|was|were|yields")  # fmt: skip
_VERBS = frozenset(names("is are equals was were be being gives get yields makes"))
_TIMES = frozenset(
    names(
        "spring summer autumn fall winter early late mid christmas easter circa since monday tuesday wednesday thursday friday saturday sunday"
    )
)
_RESIDUES = lazy_pattern(
    r"\b(?:units|ones|last) digit|\bmod|congruen|residue|remainder|\\equiv|≡|clock", re.IGNORECASE
)
_WORD = lazy_pattern(r"[A-Za-z]+(?:'[a-z]+)?")


def alters(gold: str, answer: str, tail: str, ctx: Context) -> bool:
    """Return True if words beside the number of an answer, the value of which is the reference's, change it."""
    if not re.search(
        r"[A-Za-z]{3}|^(?:[Bb]y|[Ii]n|[Oo]n|[Aa]t|[Aa]s|[Ii]f|[Ww]e) ", answer
    ) or _is_set(gold):
        return False
    if (
        re.search(r"\d", gold)
        and "pmod" not in gold
        and "\\pmod" in answer
        and not _RESIDUES.search(ctx.question)
    ):
        return True
    if not ctx.base and re.search(r"\bin base\b", answer) and "base" not in gold:
        return True
    aside = re.search(r"\(([^()]*[A-Za-z]{2}[^()]*)\)\s*$", answer)
    if aside is not None:
        words = set(map(str.lower, _WORD.findall(aside[1])))
        if (
            words & _ANYWHERE
            and "root" not in words
            and not re.search(r"\d", aside[1])
            and not _EXPLAINS.match(aside[1])
        ):
            return True
        answer = answer[: aside.start()]
    body = answer.removesuffix(tail.strip()) if tail else answer
    if number_of(body.strip(" .")) is not None:
        return False
    label = _LABELLED.match(body)
    said = body[label.end() :] if label else body
    said = said if re.search(r"\d|[A-Za-z]{2}", said) else body
    mine = set(map(str.lower, _WORD.findall(gold)))
    shown = re.sub(r"\\[A-Za-z]+", lambda match: match[0] if match[0] in ("\\approx", "\\pmod") else "\\", said).strip()  # fmt: skip
    if _NEARLY.match(shown) and not _may_be_near(gold, ctx):
        return True
    if _OR_SO.search(answer):
        return True
    place = re.search(r"\d", shown)
    if place is None:
        words = set(map(str.lower, _WORD.findall(shown)))
        if re.search(r"\btimes\s+\w", shown):
            return True
        return bool((words & (_ANYWHERE | {"half", "too"})) - mine)
    before = list(map(str.lower, _WORD.findall(shown[: place.start()])))
    after = [
        word.lower()
        for word in _WORD.findall(re.sub(r"^[\d.,\s\\{}]+", "", shown[place.start() :]))
    ]
    asked = _words_of(ctx.question) | mine
    if re.search(r"[=<>^+*/]|\\pmod", shown[place.start() :]):
        after = []
    if set(before) & (_BEFORE - mine) or set(before) & (_HEDGES - asked):
        return True
    if before and shown[0].isalpha() and not leads_to(before, frozenset(asked)):
        return True
    if label and not ctx.options and not re.search(r"[\d\\=]", label[0][:-1]):
        named = list(map(str.lower, _WORD.findall(label[0])))
        if not labels([word for word in named if word not in _VERBS], frozenset(asked)):
            return True
    if (
        re.fullmatch(r"\d{1,4}", gold)
        and names_month(shown)
        and not asked & {"year", "day", "date"}
    ):
        return True
    if before and before[-1] in _TIMES and "year" not in asked:
        return True
    if after[:1] == ["o'clock"] and not asked & {"time", "clock", "hour", "when"}:
        return True
    if len(before) > 1 and before[-1] == "of":
        of = before[-2]
        if of not in _VALUES and of not in asked and of.removesuffix("s") not in asked:
            return True
    units = bool(
        re.search(r"(?:square|cubic|cube|sq) [a-z]|[a-z] (?:squared|cubed)", " ".join(after))
    )
    altering = set(after[:4]) & _AFTER - mine - (asked & _ASKED)
    if units:
        altering -= {"square", "squared", "cube", "cubed"}
    if altering:
        return True
    if before and before[-1] == "point" and "point" not in asked:
        return True
    return (
        bool(after)
        and "%" not in shown
        and after[0] in ("more", "less", "fewer", "th")
        and after[0] not in asked
    )


@lru_cache(maxsize=4096)
def _words_of(question: str) -> frozenset[str]:
    return frozenset(map(str.lower, _WORD.findall(question)))


def _is_set(gold: str) -> bool:
    """Return True if a reference is a set or a relation, which words may well describe."""
    if re.search(
        r"[<>]|\\(?:in|ge|le|ne|[RZNQC]{2}|mathbb|setminus|cup|equiv|pmod)(?![a-z])", gold
    ):
        return True
    return "=" in gold and re.search(r"[A-Za-z]", gold.rpartition("=")[2]) is not None


def _may_be_near(gold: str, ctx: Context) -> bool:
    """Return True if an answer may be called approximate: the question rounds, or the reference is a decimal."""
    if ctx.rounded or ctx.tolerance or ctx.digits:
        return True
    return not re.fullmatch(r"-?[\d,\s]+", gold)
