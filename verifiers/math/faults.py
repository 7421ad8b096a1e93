"""Finds the fault in how a right answer is written: left unworked, copied from the question, or not in the form that is asked for."""

from __future__ import annotations

import re

from verigym.verifiers.math.cancelling import is_cancelled, is_split
from verigym.verifiers.math.context import Context
from verigym.verifiers.math.forms import has_form, has_simple_roots, is_collected
from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.reading import Reading
from verigym.verifiers.math.restating import (
    leaves_operator,
    leaves_work,
    restates,
    with_imaginary_unit,
)
from verigym.verifiers.math.trees import Node

WRONG_FORM = "wrong form"
RESTATED = "restated"
FAULTS = (WRONG_FORM, RESTATED)
_NEGATIVE_ROOT = lazy_pattern(r"(?:\\sqrt *\{? *\(?|√ *[({]?|sqrt *\(?) *[-−]", needs="sqrt|√")
_SIMPLIFIES = lazy_pattern(
    r"\bsimplif|\bsimplest\b|\bradical form\b", re.IGNORECASE, needs="radical form|simplest|simplif"
)
_CANCELS = lazy_pattern(
    r"\bsimplif|\bsimplest\b|\blowest terms\b|\bcancel\b|\breduced? (?:form|fraction|to)\b",
    re.IGNORECASE,
    needs="cancel|lowest terms|reduce|simplest|simplif",
)
_SPLITS = lazy_pattern(
    r"\b(?:into|as|sum of|in terms of|decompos\w+|resol\w+|find|give|the) (?:(?:an?|the|its|sum|of|terms) )*partial[- ]fractions?\b",
    re.IGNORECASE,
)


def fault_of(gold: Reading, answer: Reading, ctx: Context) -> str:
    """Return the fault in how a right answer is written; empty if there is none."""
    wanted, found = (
        Node("tuple", tuple(item.node for item in reading.items if item.node is not None), "()")
        for reading in (gold, answer)
    )
    if not has_form(found, wanted, ctx.form):
        copied = ctx.form == "factored" and restates(found, wanted, ctx.asked)
        return RESTATED if copied else WRONG_FORM
    if ctx.options:
        return ""
    if not is_in(_NEGATIVE_ROOT, ctx.asked):
        found = with_imaginary_unit(found)
    undone = bool(ctx.question) and (
        leaves_work(found, wanted, ctx.question) or leaves_operator(found, wanted, ctx.question)
    )
    if undone or restates(found, wanted, ctx.asked):
        return RESTATED
    simple = not is_in(_SIMPLIFIES, ctx.question) or (
        has_simple_roots(found, wanted) and is_collected(found, wanted)
    )
    if is_in(_CANCELS, ctx.question) and not is_cancelled(found, wanted):
        return WRONG_FORM
    if "artial" in ctx.question and _SPLITS.search(ctx.question) and not is_split(found, wanted):
        return WRONG_FORM
    return "" if simple else WRONG_FORM
