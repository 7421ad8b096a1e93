"""Rules of twenty questions: a hidden thing is found by questions with yes or no, and one guess."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from verigym.canonical import JSON
from verigym.errors import TaskError

_MOVE = re.compile(r"(ask|guess)\s*:\s*([a-z][a-z '-]{0,80}?)\s*[.?]?")


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The hidden thing and what holds of it; what was asked, without order; the guess, if made."""

    secret: str
    things: tuple[str, ...]
    asks: tuple[str, ...]
    facts: frozenset[str]
    asked: frozenset[str] = frozenset()
    guess: str = ""


class TwentyQuestionsRules:
    """`{"secret": "dog", "things": [...], "asks": [...], "facts": [...], "max_moves": 12}`.

    `facts` are those of the `asks` to which the answer is yes. A move is `ask: can fly`, one of `asks`, or
    `guess: dog`, one of `things`; the first guess ends the game.
    """

    def start(self, reference: Mapping[str, JSON]) -> Inquiry:
        if reference.get("max_moves") is None:
            raise TaskError("twenty-questions: max_moves is missing; questions must be counted")
        things, asks = _texts(reference, "things"), _texts(reference, "asks")
        facts, secret = _texts(reference, "facts"), reference.get("secret")
        if secret not in things or len(things) < 2:
            raise TaskError("twenty-questions: the secret must be one of at least two things")
        if not set(facts) <= set(asks):
            raise TaskError("twenty-questions: facts must be among asks")
        return Inquiry(str(secret), things, asks, frozenset(facts))

    def read(self, move: JSON) -> tuple[str, str] | None:
        text = move.strip().lower() if isinstance(move, str) and len(move) < 120 else ""
        found = _MOVE.fullmatch(text)
        if not found:
            return None
        kind, words = found.groups()
        if kind == "guess":
            words = re.sub(r"^(an?|the)\s+", "", words)
        return kind, words

    def legal(self, state: Inquiry, move: tuple[str, str]) -> bool:
        kind, words = move
        known = state.asks if kind == "ask" else state.things
        return not state.guess and _named(known, words) is not None

    def apply(self, state: Inquiry, move: tuple[str, str]) -> Inquiry:
        kind, words = move
        named = _named(state.asks if kind == "ask" else state.things, words)
        if named is None:
            raise ValueError(f"{words!r} cannot be asked or guessed")
        if kind == "ask":
            return replace(state, asked=state.asked | {named})
        return replace(state, guess=named)

    def won(self, state: Inquiry) -> bool:
        return state.guess == state.secret

    def lost(self, state: Inquiry) -> bool:
        """Return True if the guess was wrong."""
        return bool(state.guess) and state.guess != state.secret


def _named(known: tuple[str, ...], words: str) -> str | None:
    """Return the known text that is meant, ignoring letter case."""
    return next((text for text in known if text.lower() == words), None)


def _texts(reference: Mapping[str, JSON], name: str) -> tuple[str, ...]:
    raw = reference.get(name)
    if not isinstance(raw, list | tuple) or len(raw) > 1000:
        raise TaskError(f"twenty-questions: {name} must be a list of at most 1000 texts")
    texts = tuple(text for text in raw if isinstance(text, str))
    if len(set(texts)) != len(raw):
        raise TaskError(f"twenty-questions: {name} must be different texts")
    return texts
