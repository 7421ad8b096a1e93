"""Reads a question: the words, kinds and candidates that it offers to replies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from verigym.verifiers.qa.normalise import plain, tokens
from verigym.verifiers.qa.sentence_words import (
    FUNCTION,
    JOINING,
    PIECE,
    SAYS,
    TURNING,
    WHETHER,
    is_word,
    negates,
    stands_in,
    stem,
)

_TOLD = re.compile(
    r"^\W*(?:please\s+)?(?:do\s+not|don['’]?t|never|no|without|if|use\s+no|with\s+no)\b",
    re.IGNORECASE,
)
# Before Python 3.11.5 a possessive group with alternatives, (?:a|b)*+, never ends or matches wrongly.
_SENTENCES = re.compile(
    r"(?:[^.!?\n。？！]++|(?<=\b[A-Z])\.|(?<=\b[DMS]r)\.|(?<=\bSt)\.|\.(?=[^\s\"”’)]))*[.!?\n。？！]?"
)
_MOST_PROMPT = 20_000
_MOST_WORDS = 60


@dataclass(frozen=True)
class QuestionWords:
    """The words that a question offers to replies: in order, as stems, and those in small letters."""

    row: tuple[str, ...]
    stems: frozenset[str]
    small: frozenset[str]
    capital: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    counted: frozenset[str]
    options: frozenset[str]
    is_negated: bool
    kinds: frozenset[str]
    tokens: frozenset[str]

    def knows(self, word: str) -> bool:
        """Return True if the question has a word, in this form or another."""
        return word in self.row or stem(word) in self.stems


@lru_cache(maxsize=256)
def read_question(prompt: str) -> QuestionWords:
    """Read the sentences of a prompt that ask, or all of a short one, or its last line."""
    prompt = plain(prompt[:_MOST_PROMPT])
    asking = " ".join(
        found[0] for found in _SENTENCES.finditer(prompt) if found[0].endswith(("?", "？"))
    )
    if not asking.strip():
        short = len(prompt.split()) <= _MOST_WORDS
        asking = prompt if short else (prompt.strip().splitlines() or [""])[-1]
    raw = [piece for piece in PIECE.findall(asking) if is_word(piece)]
    row = tuple(piece.lower().replace("’", "'") for piece in raw)
    known = set(row)
    for word in row:
        known.update(word.split("-"))
        known.update(SAYS.get(word, "").split())
    stems = {stem(word) for word in known - TURNING - JOINING}
    first = {raw[0].lower()} if raw else set()
    counted = re.search(r"how (?:many|much) ((?:[^\W\d_]+ ?){1,3})", asking.lower())
    return QuestionWords(
        row=row,
        stems=frozenset(stems),
        small=frozenset(piece for piece in raw if piece == piece.lower()) | first,
        capital=frozenset(piece.lower() for piece in raw[1:] if piece != piece.lower()),
        pairs=frozenset(pairwise(row)),
        counted=frozenset(map(stem, counted[1].split())) - frozenset(map(stem, FUNCTION))
        if counted
        else frozenset(),
        options=_options(asking.lower()),
        is_negated=_is_negated(asking),
        kinds=frozenset(b for a, b in pairwise(row) if a in ("which", "what")),
        tokens=frozenset(tokens(" ".join(row))),
    )


def _is_negated(asking: str) -> bool:
    """Return True if a question asks what is not so; "Do not explain." and a "No" in a title do not count."""
    for sentence in re.split(r"[.!?\n,;]", asking):
        if _TOLD.match(sentence):
            continue
        for n, piece in enumerate(filter(is_word, PIECE.findall(sentence))):
            if (piece.islower() or piece.isupper() or not n) and negates(piece.lower()):
                return True
    return False


def asks_whether(asked: QuestionWords) -> bool:
    """Return True if a question wants yes or no: it begins with a verb and offers nothing else."""
    return bool(asked.row) and asked.row[0] in WHETHER and "or" not in asked.row


def claims(words: Sequence[str], asked: QuestionWords) -> bool:
    """Return True if a reply turns a question into a statement: "dogs can read books" for "Can dogs read?"."""
    if not asks_whether(asked):
        return False
    verb, *rest = tokens(" ".join(asked.row))[:30] or [""]
    if verb in ("do", "does") and stands_in(rest, words):
        return True
    return any(stands_in([*rest[:k], verb, *rest[k:]], words) for k in range(1, len(rest)))


_PRONOUNS = frozenset("he she it they we you i there this that these those".split())  # noqa: SIM905


def short_reply(words: Sequence[str], asked: QuestionWords) -> bool | None:
    """Return the yes or no of a reply such as "He did not": a pronoun and the question's own verb; else None."""
    if not asks_whether(asked) or not 2 <= len(words) <= 3 or words[0] not in _PRONOUNS:
        return None
    verb = asked.row[0]
    if tuple(words[1:]) == (verb,):
        return True
    return False if tuple(words[1:]) in ((verb, "not"), (f"{verb}nt",)) else None


def asks_when(asked: QuestionWords) -> bool:
    """Return True if a question wants a year or a date."""
    return not {"when", "year", "date"}.isdisjoint(asked.row)


def _options(asking: str) -> frozenset[str]:
    """The words beside "or", and beside commas where there is an "or"."""
    beside = re.findall(r"(?:^|\s)\(?(?:[a-h]|\d)[).:]\s*(?:(?:the|an?)\s+)?()([^\W_]+)", asking)
    if re.search(r"\bor\b", asking) or asking.count(",") > 1 or re.search(":.*,", asking):
        separator = r"(?:,|\bor\b|[^\W]:)"
        beside += re.findall(rf"(?<![^\W_])([^\W_]+)[\"')]*\s*{separator}", asking + ",")
        behind = rf"{separator}\s*(?:or\s+)?(?:(?:the|an?)\s+)?[\"'(]*([^\W_]+)"
        beside += re.findall(behind, asking)
    words = {"".join(word) for word in beside}
    return frozenset(word for word in words if not word.endswith(("er", "est"))) - FUNCTION


def repeats_question(answer: str, asked: QuestionWords) -> bool:
    """Return True if a reply of several words is a part of the question."""
    words = tuple(
        piece.lower().replace("’", "'") for piece in PIECE.findall(plain(answer)) if is_word(piece)
    )
    return len(words) > 3 and stands_in(words, asked.row)


def has_words(asked: QuestionWords, words: Sequence[str]) -> bool:
    """Return True if the question has all of an answer's tokens."""
    return asked.tokens.issuperset(words)
