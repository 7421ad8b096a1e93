"""Reads a reply to a yes/no question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.verifiers.qa.abroad import yes_or_no_abroad
from verigym.verifiers.qa.asked import Asked, asks_whether, claims, short_reply
from verigym.verifiers.qa.contrast import without_concession
from verigym.verifiers.qa.leading import first_verdict
from verigym.verifiers.qa.normalise import tokens
from verigym.verifiers.qa.sentence_words import FUNCTION, negates
from verigym.verifiers.qa.values import read_yes_no

_DENIED = frozenset(
    [
        "cant",
        "cannot",
        "dont",
        "doesnt",
        "didnt",
        "isnt",
        "arent",
        "wasnt",
        "werent",
        "couldnt",
        "wont",
        "wouldnt",
        "hasnt",
        "havent",
    ]
)
_PRONOUNS = (["it"], ["they"], ["he"], ["she"])


def yes_or_no(asked: Asked, answer: str, words: Sequence[str]) -> bool | None:
    """Read a reply to a yes/no question; None if it says both or neither."""
    if (said := yes_or_no_abroad(answer)) is not None or (
        said := short_reply(words, asked)
    ) is not None:
        return said
    if (said := _repeated(words, asked)) is not None:
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


def _repeated(words: Sequence[str], asked: Asked) -> bool | None:
    """The yes or no of "They cannot fly." or "It is larger.": a pronoun, and words of the question or a denial."""
    if (
        not asks_whether(asked)
        or asked.is_negated
        or not 3 <= len(words) <= 8
        or [words[0]] not in _PRONOUNS
    ):
        return None
    denied = [word for word in words[1:] if negates(word) or word in _DENIED]
    rest = [word for word in words[1:] if word not in denied and word not in FUNCTION]
    told = [word for word in rest if asked.knows(word)]
    if not told or len(told) < len(rest) or len(denied) > 1 or "or" in words:
        return None
    return not denied
