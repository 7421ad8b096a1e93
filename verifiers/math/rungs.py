"""Finds the rung on which an answer agrees with one of several references, also at the end of a chain of equal values."""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.chains import end_of_chain, end_of_matrix_chain, ends_of_chains
from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.compare import equivalent
from verigym.verifiers.math.context import Context, context_of
from verigym.verifiers.math.faults import FAULTS
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import TooBig

# 1 ÷ 7 is a division left to do, so that the value is what it is said to be about.
_DIVIDED = lazy_pattern(
    r"[^=<>]{0,80}(?:÷|\\div(?![a-z]))[^=<>≈]{1,80}?(?:≈|\\approx)(.{1,60})",
    re.DOTALL,
    needs="\\div|÷",
)
# "... with arbitrary constants C_1, C_2" says what letters of the answer are.
_CONSTANTS = lazy_pattern(
    r",?\s+(?:with|where|for) (?:any |all |arbitrary |real |some )*"
    r"(?:constants\b.{0,60}|\$?[A-Zc]_\{?\w\}?.{0,40}\bconstants\b.{0,30})$",
    re.DOTALL,
    needs="constants",
)


# Several readers of one reply find the same text, and many replies to one question give the same answer.
@lru_cache(maxsize=64)
def rung_of(golds: tuple[str, ...], answer: str, ctx: Context) -> str:
    """Return the first rung on which an answer agrees with one of `golds`, or a fault; empty if it agrees with none."""
    fault = ""
    divided = _DIVIDED.fullmatch(answer)
    answer = _CONSTANTS.sub("", divided[1] if divided else answer)
    for gold in golds:
        try:
            rung = equivalent(gold, clean(answer), ctx)
        except TooBig:
            continue
        if rung and rung not in FAULTS:
            return rung
        fault = fault or rung
    end = end_of_chain(answer) or end_of_matrix_chain(answer)
    if end is not None and all(_is_equal(member, end[1][-1]) for member in end[1]):
        return rung_of(golds, end[0], ctx) or fault
    ends = ends_of_chains(answer) if end is None and not fault else None
    if ends is None or not all(_is_equal(one, same[-1]) for same in ends[1] for one in same):
        return fault
    return rung_of(golds, ends[0], ctx)


def _is_equal(one: str, other: str) -> bool:
    try:
        plain = context_of("", units="optional", tolerance=0.0, digits=0)
        return bool(equivalent(clean(one), clean(other), plain))
    except TooBig:
        return False
