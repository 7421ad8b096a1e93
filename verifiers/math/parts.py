"""Finds the part of a reply that answers the part of the question that is asked: "(a) ... (b) ..."."""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_ASKED = lazy_pattern(
    r"\b(?:part|question|subpart|item)\s*\(?([a-h]|i{1,3}|iv|vi?)\b\)?|\b(?:answer|value|result)\s+(?:to|of|for|in)\s+\(([a-h])\)",
    re.IGNORECASE,
)
_LABEL = lazy_pattern(
    r"\b(?:part|question)\s*\(?([a-h]|i{1,3}|iv|vi?)\b\)?|(?<![\w)}])\(([a-h]|i{1,3}|iv|vi?)\)(?=[\s:.*])|(?:^|\n)\W{0,6}([a-h])[).:]\s",
    re.IGNORECASE,
)
_MAX_LABELS = 200


def asked_part(question: str) -> str | None:
    """The one part that a question asks for, in small letters; None if it names none or several."""
    if "(" not in question and "part" not in question.lower():
        return None
    named = {
        next(filter(None, match.groups())).lower() for match in _ASKED.finditer(question[-4000:])
    }
    return named.pop() if len(named) == 1 else None


def sections(reply: str, part: str) -> list[str] | None:
    """The stretches of `reply` under the label of `part`; None if the reply does not tell parts apart."""
    found: list[tuple[int, int, str]] = []
    for match in _LABEL.finditer(reply):
        found.append((match.start(), match.end(), next(filter(None, match.groups())).lower()))
        if len(found) > _MAX_LABELS:
            return None
    if len({name for _, _, name in found}) < 2:
        return None
    ends = [start for start, _, _ in found[1:]] + [len(reply)]
    return [
        reply[begins:ends[k]] for k, (_, begins, name) in enumerate(found) if name == part
    ] or None  # fmt: skip
