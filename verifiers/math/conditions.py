"""Judges what stands behind an answer: a remark, the same value again, a condition, or another candidate.

The reader drops such a tail to read the value ("7 where n is an integer"). It may be dropped only if it
says nothing that the reference does not say: a reason, a declaration of a letter, the condition of the
question or of the reference, the place of an extremum. "7 (or 8)", "7 where x = 8" and "7 for even n" are
no answers for 7.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from verigym.verifiers.math.context import Context
from verigym.verifiers.math.measures import is_unfit
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.reading import Reading
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.trees import names
from verigym.verifiers.math.units import unit_of

_OTHER = lazy_pattern(
    r"\b(?:or|but|maybe|perhaps|possibly|otherwise|else|could|might|either|unless|also|alternatively|sometimes|cases?|not sure)\b"
)
_REMARK = lazy_pattern(
    r"as required|(?:by|using|via|from|see) (?!\w+ing\b)[A-Za-z' -]{3,40}$|(?:with )?(?:no|zero) remainder|respectively|in total|in (?:its )?(?:simplest|lowest|reduced) (?:form|terms)|inclusive|units?\b|exact|simplified"
    r"|in (?:degrees|radians|interval notation|standard form)"
)
_RULED_OUT = lazy_pattern(
    r"rounded|correct to|(?:correct )?(?:to )?(?:\w+ )?(?:decimal|significant|d\.? ?p\b|s\.? ?f\b|sig)|(?:after )?(?:reject|discard|disregard|ignor|exclud)\w*|not\b|rather than\b",
    needs="correct to|d|ignor|not|rather than|reject|s",
)
_REASON = lazy_pattern(r"(?:because|since|as (?=.*[=<>]))\s*", needs="as |because|since")
_AGAIN = lazy_pattern(
    r"(?:or|i\.e\.|that is|which (?:is|equals|means|simplifies to)|also|in decimals?|in \w+(?= )|=|approx\w*\.?|about|roughly|\\approx|exactly)\s*,?\s*"
    r"(?:also |about |approximately |approx\.? |roughly |\\approx |equivalently |equal to |i\.e\. |as a (?:decimal|fraction|percentage|mixed number):? |simply |= )*"
)
_NOT_THAT = lazy_pattern(r",? (?:and |but )?not [^,;()]{1,20}$", needs="not ")
_APPROXIMATE = lazy_pattern(
    r"approx|about|roughly|rounded|decimal", needs="about|approx|decimal|roughly|rounded"
)
_CONDITION = lazy_pattern(
    r"(?:(?:and |with )?(?:equality|attained|achieved|reached|occurring|occurs|it occurs)(?: holds| occurs| is attained| is reached)? )?(?:if and only if|iff|exactly when|only when|for|where|with|when|whenever|provided(?: that)?|such that|if|at)\b\s*",
    needs="at|for|if|provided|when|where|with",
)
_EXTREMUM = lazy_pattern(
    r"\b(?:minim|maxim|largest|smallest|greatest|least|most|optim|highest|lowest|best|extrem)\w*",
    re.IGNORECASE,
    needs="best|extrem|greatest|highest|largest|least|lowest|maxim|minim|most|optim|smallest",
)
_DECLARING = frozenset(
    names(
        "all any every each some a an the is are be being both and real reals integer integers natural naturals positive negative "
        "nonnegative nonpositive nonzero non zero constant constants arbitrary parameter parameters number numbers value values "
        "function functions in of rational complex fixed given variable variables unknown denotes represents integration "
        "whole vector scalar set choice valid"
    )
)
_QUANTIFIED = lazy_pattern(r"\b(?:all|any|every|each)\b", needs="all|any|each|every")
_WEAK = frozenset(names("real reals complex rational"))
_STRONG = {
    "integer": "integer", "integers": "integer", "whole": "integer", "natural": "natural", "naturals": "natural",
    "positive": "positive", "negative": "negative", "nonnegative": "nonnegative", "nonpositive": "nonpositive",
    "nonzero": "nonzero", "even": "even", "odd": "odd", "prime": "prime", "primes": "prime", "ZZ": "integer", "NN": "natural",
}  # fmt: skip
_PLACES = lazy_pattern(r"(?:[a-z] ?= ?[^=<>,;]{1,40}(?:,? and |, |$)){2,4}")
_RELATION = lazy_pattern(
    r"!=|<=|>=|[<>=]|\\equiv|\\in\b|\\notin|\\mid", needs="<|=|>|\\equiv|\\in|\\mid|\\notin"
)


def allows(
    wanted: str, gold: Reading, answer: Reading, ctx: Context, same: Callable[[str, bool], bool]
) -> bool:
    """Return True if the tail that `answer` was read without leaves it an answer for `gold`, the text `wanted`.

    `same(text, rounded)` says whether a text has the value of the reference.
    """
    tail = answer.tail.strip(" ,;").removeprefix("(").removesuffix(")").strip(" ,;")
    if not tail or tail == gold.tail.strip(" ,;()"):
        return True
    if _REMARK.match(tail):
        if (
            re.fullmatch("units?", tail)
            and (unit := unit_of(tail))
            and is_unfit(unit, ctx.question)
        ):
            return False
        return not _OTHER.search(tail) and not re.search(r"\d", tail)
    if _RULED_OUT.match(tail) or re.search(
        r"\b(?:rejected|extraneous|invalid|discarded|inadmissible)$", tail
    ):
        return not _OTHER.search(tail)
    if (counted := number_of(tail)) is not None:
        return same(counted, False)
    if tail.endswith("%"):
        return same(tail, True)
    if re.fullmatch(r"(?:with )?remainder (?:of )?0", tail):
        return True
    if re.fullmatch(r"[\d\s.+\-*/^()!]*[-+*/^!][\d\s.+\-*/^()!]*", tail):
        return same(tail, False)
    reason = _REASON.match(tail)
    if reason:
        said = tail[reason.end() :]
        return not _OTHER.search(said) and (bool(_RELATION.search(said)) or not re.match(r"[-\d\\.\s]+$", said))  # fmt: skip
    again = _AGAIN.match(tail)
    if again:
        said = _NOT_THAT.sub("", tail[again.end() :])
        return not re.search(r"\d|\\", said) if not said or said[:1].isalpha() else same(
            said, bool(_APPROXIMATE.search(again[0]))
        )  # fmt: skip
    condition = _CONDITION.match(tail)
    said = tail[condition.end() :] if condition else tail
    limits = _domains(wanted)[0]
    if limits and not gold.tail and limits != _domains(said)[0] and _domains(said)[0]:
        return False
    return _conditions_agree(gold, answer, said, ctx)


def _conditions_agree(gold: Reading, answer: Reading, said: str, ctx: Context) -> bool:
    shown = _compact(said)
    condition = _CONDITION.match(gold.tail.strip(" ,;()"))
    if condition:
        wanted = gold.tail.strip(" ,;()")[condition.end() :]
        return _compact(wanted) == shown or _same_domains(wanted, said)
    if _OTHER.search(said):
        return False
    assigns = re.search(r"(?<![<>!])=", said)
    if assigns:
        if re.search(r"\band\b.*\d.*\b(?:at|when|for|if)\b", said):
            return False
        if (
            "," in said
            and not re.match(r"\(?[a-z](?:\s*,\s*[a-z])+", said)
            and not (_PLACES.fullmatch(said) and _EXTREMUM.search(ctx.question))
        ):
            return False
        return shown in _compact(ctx.question) or bool(_EXTREMUM.search(ctx.question))
    letters = set().union(*(item.node.variables() for item in answer.items if item.node is not None))  # fmt: skip
    if _RELATION.search(said):
        if re.search(r"\b(?:for|if|when)\b", said):
            return False
        named = set(re.findall(r"(?<![A-Za-z\\])[A-Za-z](?:_\d)?(?![A-Za-z])", said)) - {"a"}
        return (bool(named) and named <= letters | {"C", "c"}) or shown in _compact(ctx.question)
    if re.search(r"\d", said):
        return False
    words = re.findall(r"[A-Za-z]+", re.sub(r"\\[A-Za-z]+", " ", said))
    if all(word.lower() in _DECLARING or len(word) == 1 for word in words):
        named = {word for word in words if len(word) == 1} - {"a"}
        return bool(_QUANTIFIED.search(said)) or named <= letters
    return not re.search(r"\b(?:even|odd|prime|only|some|if|unless)\b", said)


def _compact(text: str) -> str:
    return re.sub(r"[\s${}\\]|\b(?:is|are|that|the)\b", "", text).lower()


def _same_domains(wanted: str, said: str) -> bool:
    """Return True if two conditions put the same limits on the letters that they name, whatever the letters."""
    first, second = _domains(wanted), _domains(said)
    if first[1] != second[1]:
        return False
    if first[0] == second[0]:
        return True
    return not second[0] and not _WEAK & set(re.findall(r"[a-z]+|[RQC]{2}", said.lower()))


def _domains(text: str) -> tuple[frozenset[str], frozenset[str]]:
    words = {_STRONG[word] for word in re.findall(r"[A-Za-z]+", text) if word in _STRONG}
    if "integer" in words and words & {"positive", "nonnegative"}:
        words = words - {"integer", "positive", "nonnegative"} | {"natural"}
    limits = frozenset(
        re.sub(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])", "?", part.replace(" ", ""))
        for part in re.split(r",|;|\band\b", text)
        if re.search(r"!=|<|>|=|\\equiv", part)
    )
    return frozenset(words), limits
