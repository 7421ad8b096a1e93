"""Cuts a sentence into clauses and weighs each: a conclusion, a statement, a reason or a step on the way."""

from __future__ import annotations

import re

from msgspec import Struct

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.values_in_prose import Value

_OPENERS = (
    r"so|thus|hence|therefore|then|donc|folglich|somit|daher|quindi|which|giving|leaving|making|yielding|bringing|meaning|resulting|because|since|as(?= (?:it|they|the|we|he|she|this|there|each|all|both|its|required|expected)\b)|while|whereas|where|although|though|"
    r"being|i\.e\.|that is|that's|for a (?:grand )?total|totall?ing|but|when|whenever|who|whose|given|using|after|before|during|from which|compared|namely|and (?:so|thus|hence|therefore|then)|equivalently|consequently|exactly"
)
_CUT = lazy_pattern(
    rf";\s+|\s[–—-]\s+|:\s+(?=\S)|,\s+(?=(?P<word>[A-Za-z$\d(\\√−+-]))|\s+(?=(?:{_OPENERS})(?![a-z]))|\s*(?:→|⇒|⟹|=>|\\implies|\\Rightarrow)\s*|\s+(?:and|et|und|y|e)\s+(?=[a-zà-ü]{{2,}}|[A-Z])",
)
_CONCLUDES = lazy_pattern(
    r"^\W*(?:and |but )?(?:donc|folglich|somit|daher|por (?:lo )?tanto|luego|entonces|quindi|so|thus|hence|therefore|then|which (?:tends|goes|converges|approaches|becomes|reduces|evaluates|leads|works|gives?|means|makes|leaves|is|equals|yields|comes|brings|corresponds|simplifies|amounts)|giving|leaving|making|yielding|bringing|meaning|resulting|i\.e|that is|that's|for a (?:grand )?total|totall?ing|namely|equivalently|consequently|in total|altogether|exactly)\b",
    re.IGNORECASE,
)
REASONS = lazy_pattern(
    r"^\W*(?:because|porque|weil|denn|parce que|puisque|since|as|while|whereas|where|although|though|being|when|whenever|who|whose|given|using|compared|during|after|before|versus|down from|up from|out of)\b",
    re.IGNORECASE,
)
_WORK = lazy_pattern(
    r"^\W*(?:[A-Za-z]+ing\b|(?:by|with|for|at|on|in|of|from|per|to|under|over|let|if) (?!total\b|all\b|other words\b|short\b|conclusion\b|summary\b|the end\b))",
    re.IGNORECASE,
)
_SO = lazy_pattern(
    r"\W*(?:so|thus|hence|therefore)\b", re.IGNORECASE, needs="hence|so|therefore|thus"
)


class Clause(Struct, frozen=True):
    """A clause and where it stands; its weight is above 0 for a conclusion and below for a reason."""

    text: str
    start: int
    end: int
    weight: float
    is_last: bool
    is_passed: bool


def clauses_of(sentence: str, values: list[Value] | None = None) -> list[Clause]:
    """The clauses of a sentence; no cut goes through one of the `values`."""
    values = [] if values is None else values
    starts = [0]
    for cut in _CUT.finditer(sentence):
        if any(value.start <= cut.start() and cut.end() <= value.end for value in values):
            continue
        if cut.end() >= len(sentence) or _is_joint(cut, sentence, values):
            continue
        starts.append(cut.end())
    ends = [*starts[1:], len(sentence)]
    last = sentence[starts[-1] :]
    idle = len(starts) > 1 and _SO.match(last) and not any(v.start >= starts[-1] for v in values)
    found = []
    for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
        text = sentence[start:end]
        found.append(
            Clause(
                text,
                start,
                end,
                _clause_weight(text, k, len(starts)),
                k == len(starts) - 1,
                bool(idle),
            )
        )
    return found


def _is_joint(cut: re.Match[str], sentence: str, values: list[Value]) -> bool:
    """Return True for an "and" that joins words of one clause: no value stands before it."""
    return cut[0].strip() in ("and", "et", "und", "y", "e") and not any(
        value.end <= cut.start() for value in values
    )


def _clause_weight(text: str, k: int, count: int) -> float:
    if _CONCLUDES.match(text):
        return 2.0 + min(0.2 * k, 0.8)
    if REASONS.match(text) or "by the way" in text or "incidentally" in text:
        return -4.0
    later = min(0.5 * k, 1.5)
    if k < count - 1 and _WORK.match(text):
        return -3.0
    if k and _WORK.match(text):
        return -2.0
    return later
