"""Subgoals in replies, for hierarchical estimators: `<switch>SWITCH</switch><subgoal>find a key</subgoal>up`.

A reply that says SWITCH, or has no such word and names a subgoal, opens a segment of the episode.
Source: HiPER, arXiv 2602.16165, whose prompts ask for these tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from verigym.trainers.credit.segments import Ints

ACTION, SUBGOAL, SWITCH = 0, 1, 2
"""Kinds of tokens in a reply: all others, those within `<subgoal>`, those within `<switch>`."""

_TAGS = {
    SUBGOAL: re.compile(r"<subgoal>.*?(?:</subgoal>|\Z)", re.DOTALL | re.IGNORECASE),
    SWITCH: re.compile(r"<switch>.*?(?:</switch>|\Z)", re.DOTALL | re.IGNORECASE),
}
_DECISION = re.compile(r"<switch>\s*(switch|keep)\s*</switch>", re.IGNORECASE)


def opens_subgoal(reply: str) -> bool:
    """Return True if the reply sets a new subgoal."""
    said = _DECISION.search(reply)
    if said:
        return said[1].lower() == "switch"
    return bool(_TAGS[SUBGOAL].search(reply))


def token_kinds(ids: Sequence[int], decode: Callable[[Sequence[int]], str]) -> Ints:
    """Return the kind of each token, [n], from the tags that its text lies in."""
    ends = np.cumsum([0, *(len(decode([token])) for token in ids)])
    text = "".join(decode([token]) for token in ids)
    kinds = np.zeros(len(ids), dtype=np.intp)
    for kind, pattern in _TAGS.items():
        for found in pattern.finditer(text):
            kinds[(ends[:-1] < found.end()) & (ends[1:] > found.start())] = kind
    return kinds
