"""Compares conventional words: yes and no, "no solution", "all real numbers", "infinitely many", "convergent"."""

from __future__ import annotations

import re

from verigym.verifiers.math.affirming import contradicts, states
from verigym.verifiers.math.context import Context
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.words import begins_with_verdict, kind_of

_EMPTY_SETS = frozenset(("\\emptyset", "\\{\\}", "{}", "set()", "[]", "\\phi", "()"))
_ASKS_EXISTENCE = lazy_pattern(
    r"\b(?:does|do|is there|are there)\b[^?]*\b(?:exists?|have|has|any|a|an)\b[^?]*\?",
    re.IGNORECASE,
)
_DENIED = lazy_pattern(r"no[,;:.]\s+(?=[a-z])", re.IGNORECASE, needs=",|.|:|;")
_ASKS_TENDING = lazy_pattern(
    r"(?:^|[.,:;!] |\n)\W*(?:does|do|is|are|will) (?!not\b)(?:(?!\b(?:or|not|if|absolutely|conditionally|uniformly)\b)[^?.]){1,200}?\b(?P<tends>con|di)verg(?:e|ent)\b\s*\?",
    re.IGNORECASE,
    needs="verge",
)
_VERDICT = lazy_pattern(r"(?P<verdict>yes|no)[,;:.]\s+(?=[a-z])", re.IGNORECASE, needs=",|.|:|;")
_TENDING = frozenset(("convergent", "divergent"))
_KINDS = lazy_pattern(r"\b(?:absolute|conditional)", re.IGNORECASE)
_COUNT = lazy_pattern(r"\b(?:how many|number of)\b", re.IGNORECASE)


def same_conventional(gold: str, answer: str, ctx: Context) -> bool | None:
    """Return True if two answers are the same in conventional words; None if the reference is none of them."""
    if gold.replace(" ", "") in _EMPTY_SETS and answer.replace(" ", "") in _EMPTY_SETS:
        return True
    wanted, found = kind_of(gold), kind_of(answer)
    if wanted in _TENDING and (tending := _tending(answer, found, ctx.question)):
        return wanted == tending
    if wanted in ("yes", "no"):
        if found in _TENDING:
            found = None
        if found in ("yes", "no") and answer.rstrip().endswith("?"):
            return False
        if found is None:
            begun = begins_with_verdict(gold, answer)
            if begun is None and ctx.question and (stated := states(answer, ctx.question)):
                return stated == wanted
            return begun and not (ctx.question and contradicts(wanted, answer, ctx.question))
        return wanted == found
    if (
        wanted in ("none", "undefined")
        and found in ("yes", "no")
        and _ASKS_EXISTENCE.search(ctx.question)
    ):
        return found == "no"
    if wanted == "convergent" and found in ("absolute", "conditional"):
        return not _KINDS.search(ctx.question)
    if wanted is not None and found is not None:
        asks = answer.rstrip().endswith("?")
        return not asks and (wanted == found or {wanted, found} == {"none", "undefined"})
    if (
        wanted in ("none", "undefined")
        and found is None
        and (denied := _DENIED.match(answer)) is not None
    ):
        return kind_of(answer[denied.end() :]) in ("none", "undefined")
    if wanted == "none" or found == "none":
        other = gold if found == "none" else answer
        if other == "0" and _COUNT.search(ctx.question):
            return True
        return other.replace(" ", "") in ("\\emptyset", "\\{\\}", "{}")
    if wanted == "reals" or found == "reals":
        other = gold if found == "reals" else answer
        plain = re.sub(r"^[a-z]\s*\\in", "", other).replace(" ", "")
        return plain in (
            "\\RR",
            "(-\\infty,\\infty)",
            "(-\\infty,+\\infty)",
            "R",
            "(-inf,inf)",
            "(-oo,oo)",
        )
    if wanted is None and found == "infinite" and not re.search(r"\bmany\b|\bnumber\b", answer):
        return gold.replace(" ", "") in ("\\infty", "+\\infty") or None
    if wanted == "infinite":
        return answer.replace(" ", "") in ("\\infty", "+\\infty", "oo", "inf")
    return None


def _tending(answer: str, kind: str | None, question: str) -> str:
    """Return the meaning of "no" and "No, it does not converge" if the question asks whether something converges.

    Empty if it does not ask that, or if the two halves of an answer contradict each other.
    """
    asked = _ASKS_TENDING.search(question)
    if asked is None:
        return ""
    begun = _VERDICT.match(answer) if kind is None else None
    verdict = kind if begun is None else begun["verdict"].lower()
    if verdict not in ("yes", "no"):
        return ""
    asks_convergence = asked["tends"].lower() == "con"
    said = "convergent" if (verdict == "yes") == asks_convergence else "divergent"
    return said if begun is None or kind_of(answer[begun.end() :]) == said else ""
