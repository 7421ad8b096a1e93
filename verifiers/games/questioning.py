"""Rules of twenty questions: hidden things are found by questions, which are counted, and one guess."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from verigym.canonical import JSON
from verigym.errors import TaskError

_MOVE = re.compile(r"(ask|guess)\s*:\s*([a-z][a-z '-]{0,80}?)\s*[.?]?")

_MODULI = {"counts": 0, "parity": 2, "modulo 3": 3}
"""Divisor of the answers if several things are hidden; 0 if they are the numbers themselves."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The hidden thing and what holds of it; what was asked, without order; the guess, if made.

    Several hidden things are joined by " and ", in alphabetical order; `counts` then has the answers to `asks`, which are
    remainders if there is a `modulus`.
    """

    secret: str
    things: tuple[str, ...]
    asks: tuple[str, ...]
    facts: frozenset[str]
    asked: frozenset[str] = frozenset()
    guess: str = ""
    counts: tuple[int, ...] = ()
    modulus: int = 0


class TwentyQuestionsRules:
    """`{"secret": "dog", "things": [...], "asks": [...], "facts": [...], "max_moves": 12}`.

    `facts` are those of the `asks` to which the answer is yes. A move is `ask: can fly`, one of `asks`, or
    `guess: dog`, one of `things`; the first guess ends the game.

    With several hidden things, `"secret": ["dog", "cat"]`, `facts` is an object such as `{"can fly": 1}`: the number of
    hidden things of which each fact holds, if it is not 0; with `"answers": "modulo 3"` its remainder, with `"parity"` 1 if it is odd. All must be guessed at once, `guess: dog and cat`, in any order.
    """

    def start(self, reference: Mapping[str, JSON]) -> Inquiry:
        if reference.get("max_moves") is None:
            raise TaskError("twenty-questions: max_moves is missing; questions must be counted")
        things, asks = _texts(reference, "things"), _texts(reference, "asks")
        if isinstance(reference.get("secret"), list | tuple):
            return _several(reference, things, asks)
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
        return not state.guess and _meant(state, move) is not None

    def apply(self, state: Inquiry, move: tuple[str, str]) -> Inquiry:
        named = _meant(state, move)
        if named is None:
            raise ValueError(f"{move[1]!r} cannot be asked or guessed")
        if move[0] == "ask":
            return replace(state, asked=state.asked | {named})
        return replace(state, guess=named)

    def won(self, state: Inquiry) -> bool:
        return state.guess == state.secret

    def lost(self, state: Inquiry) -> bool:
        """Return True if the guess was wrong."""
        return bool(state.guess) and state.guess != state.secret


def _several(
    reference: Mapping[str, JSON], things: tuple[str, ...], asks: tuple[str, ...]
) -> Inquiry:
    secret, facts = _texts(reference, "secret"), reference.get("facts")
    if len(secret) < 2 or not set(secret) <= set(things) or any(" and " in one for one in things):
        raise TaskError("twenty-questions: several secrets must be among things, none with 'and'")
    if not isinstance(facts, Mapping) or not set(facts) <= set(asks):
        raise TaskError(
            f"twenty-questions: facts must be an object with keys of asks, got {facts!r}"
        )
    counts = tuple(facts.get(ask, 0) for ask in asks)
    answers = reference.get("answers", "counts")
    if not isinstance(answers, str) or answers not in _MODULI:
        raise TaskError(
            f"twenty-questions: answers must be one of {', '.join(_MODULI)}, got {answers!r}"
        )
    modulus = _MODULI[answers]
    most = modulus - 1 if modulus else len(secret)
    if not all(type(count) is int and 0 <= count <= most for count in counts):
        raise TaskError(f"twenty-questions: facts must be numbers up to {most}")
    held = frozenset(ask for ask in asks if facts.get(ask))
    numbers = tuple(int(str(count)) for count in counts)
    return Inquiry(_joined(secret), things, asks, held, counts=numbers, modulus=modulus)


def _joined(things: Iterable[str]) -> str:
    return " and ".join(sorted(things))


def _meant(state: Inquiry, move: tuple[str, str]) -> str | None:
    """Return the question or the guess that is meant, in the form in which states hold it; None if there is none."""
    kind, words = move
    if kind == "ask" or not state.counts:
        return _named(state.asks if kind == "ask" else state.things, words)
    named = [
        _named(state.things, re.sub(r"^(an?|the)\s+", "", one)) for one in words.split(" and ")
    ]
    found = {one for one in named if one}
    if len(found) != len(named) or len(found) != len(state.secret.split(" and ")):
        return None
    return _joined(found)


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
