"""Reads a reply to a yes/no question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.verifiers.qa.abroad import yes_or_no_abroad
from verigym.verifiers.qa.asked import Asked, asks_whether, claims, short_reply
from verigym.verifiers.qa.contrast import without_concession
from verigym.verifiers.qa.leading import Reader
from verigym.verifiers.qa.leading_words import PRONOUNS, VERDICT, WITHDRAWING
from verigym.verifiers.qa.normalise import plain, tokens
from verigym.verifiers.qa.sentence_words import DENYING, FUNCTION, PIECE, TURNING, negates
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
_MOST_CHARS = 400
_GRANTED = frozenset(
    [
        "but",
        "although",
        "though",
        "also",
        "another",
        "other",
        "others",
        "same",
        "second",
        "not",
        "never",
        "only",
        "too",
        "both",
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


def first_verdict(answer: str, asked: Asked) -> bool | None:
    """The yes or no that a reply begins with, where the sentence behind it explains it: "No. The clarinet is a woodwind."

    None if it explains nothing, takes it back, or says yes and denies something.
    """
    found = VERDICT.match(plain(answer).strip())
    if found is None or len(found["rest"]) > _MOST_CHARS:
        return None
    said = found["said"].lower() == "yes"
    reader = Reader(asked, (), number=True)
    words = [piece.lower().replace("’", "'") for piece in PIECE.findall(found["rest"])]
    allowed = _GRANTED - ({"not", "never"} if said else frozenset())
    taken = [
        word
        for word in words
        if (word in WITHDRAWING | TURNING or DENYING.search(word)) and word not in asked.row
    ]
    if (
        any(word not in allowed and not (not said and DENYING.search(word)) for word in taken)
        or "yes" in words
        or "no" in words
    ):
        return None
    if (
        not said
        and words[:1]
        and words[0] in PRONOUNS | {"you", "we", "i"}
        and not any(map(negates, words))
    ):
        return None  # "No. They fly very well."
    known = sum(asked.knows(word) for word in words if word not in FUNCTION)
    return said if known and reader.strange(found["rest"]) else None
