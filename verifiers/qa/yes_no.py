"""Reads a reply to a yes/no question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.verifiers.qa.abroad import yes_or_no_abroad
from verigym.verifiers.qa.asked import Asked, claims, short_reply
from verigym.verifiers.qa.contrast import without_concession
from verigym.verifiers.qa.leading import first_verdict
from verigym.verifiers.qa.normalise import tokens
from verigym.verifiers.qa.values import read_yes_no

_PRONOUNS = (["it"], ["they"], ["he"], ["she"])


def yes_or_no(asked: Asked, answer: str, words: Sequence[str]) -> bool | None:
    """Read a reply to a yes/no question; None if it says both or neither."""
    if (said := yes_or_no_abroad(answer)) is not None or (
        said := short_reply(words, asked)
    ) is not None:
        return said
    shorter = without_concession(answer, asked)
    if shorter != answer:
        answer, words = shorter, tokens(shorter)
    beside = [tokens(piece) for piece in re.split(r"[\n/|;]", answer)[1:]]
    short = [piece for piece in beside if len(piece) < 3 and piece[:1] not in _PRONOUNS]
    if any(not all(map(asked.knows, piece)) for piece in short):
        return None
    value = read_yes_no(words, frozenset(filter(asked.knows, words)))
    if (
        value is None
        and (first := first_verdict(answer, asked)) is not None
        and not claims(words[1:], asked)
    ):
        return first
    return None if value is False and claims(words, asked) else value
