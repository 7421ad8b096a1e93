"""Rules of games in which a hidden word or code is guessed: wordle, mastermind, hangman."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from verigym.canonical import JSON
from verigym.errors import TaskError

_WORD = re.compile(r"[a-z]{2,20}")
_WORDS = re.compile(r"[a-z]{2,20}( [a-z]{2,20}){0,9}")
_CODE = re.compile(r"[1-9]{2,12}")


class Guesses(Struct, frozen=True, gc=False):
    """The secret, a code or words separated by spaces, and what was guessed, in alphabetical order: what
    one knows. `counted` is True if the marks of words are shown as numbers, `modulus` 2 or more if the marks of codes
    are shown as remainders."""

    secret: str
    made: tuple[str, ...] = ()
    symbols: int = 0
    lives: int = 0
    counted: bool = False
    modulus: int = 0


@lru_cache(maxsize=1 << 12)
def word_marks(secret: str, guess: str) -> str:
    """Return a mark a letter: `+` in place, `?` elsewhere in the word, `-` not (or not once more)."""
    left = "".join([s for s, g in zip(secret, guess, strict=True) if s != g])
    if not left:
        return "+" * len(secret)
    marks = ""
    for s, g in zip(secret, guess, strict=True):
        if s == g:
            marks += "+"
        elif g in left:
            left = left.replace(g, "", 1)
            marks += "?"
        else:
            marks += "-"
    return marks


def code_marks(secret: str, guess: str) -> tuple[int, int]:
    """Return the number of symbols in the right place, and of further symbols that are right but
    misplaced."""
    placed = sum(s == g for s, g in zip(secret, guess, strict=True))
    common = sum((Counter(secret) & Counter(guess)).values())
    return placed, common - placed


class WordleRules:
    """`{"secret": "crane", "max_moves": 6}`: a guess is any word of that many letters a to z.

    The secret may be up to ten words of one length, separated by spaces; each of them must be guessed. With
    `"marks": "counts"` marks are shown as numbers, which changes no rule.
    """

    def start(self, reference: Mapping[str, JSON]) -> Guesses:
        _bounded(reference, "wordle")
        secret = _secret(reference, _WORDS, "wordle")
        if len(set(map(len, secret.split()))) > 1:
            raise TaskError(f"wordle: the words must be of one length, got {secret!r}")
        if (marks := reference.get("marks", "letters")) not in ("letters", "counts"):
            raise TaskError(f"wordle: marks must be letters or counts, got {marks!r}")
        return Guesses(secret, counted=marks == "counts")

    def read(self, move: JSON) -> str | None:
        return _text(move, _WORD)

    def legal(self, state: Guesses, move: str) -> bool:
        return len(move) == len(state.secret.split()[0])

    def apply(self, state: Guesses, move: str) -> Guesses:
        return Guesses(state.secret, _with(state.made, move), counted=state.counted)

    def won(self, state: Guesses) -> bool:
        return all(_holds(state.made, word) for word in state.secret.split())


class MastermindRules:
    """`{"secret": "1352", "symbols": 6, "max_moves": 9}`: a guess is a code of the same length over 1 to `symbols`.

    `given` is a list of guesses that are marked at the start. With a `modulus`, 2 to 9, a mark is shown as one number, two
    for each digit in place and one for each elsewhere, modulo that; this changes no rule.
    """

    def start(self, reference: Mapping[str, JSON]) -> Guesses:
        _bounded(reference, "mastermind")
        secret, symbols = _secret(reference, _CODE, "mastermind"), reference.get("symbols")
        if type(symbols) is not int or not 2 <= symbols <= 9 or int(max(secret)) > symbols:
            raise TaskError("mastermind: symbols must be 2 to 9, and the secret of them")
        given = reference.get("given", [])
        if not isinstance(given, list | tuple):
            raise TaskError(f"mastermind: given must be a list of codes, got {given!r}")
        modulus = reference.get("modulus", 0)
        if type(modulus) is not int or (modulus != 0 and not 2 <= modulus <= 9):
            raise TaskError(f"mastermind: modulus must be 2 to 9, or left out, got {modulus!r}")
        state = Guesses(secret, symbols=symbols, modulus=modulus)
        for raw in given:
            code = self.read(raw)
            if code is None or not self.legal(state, code) or code == secret:
                raise TaskError(
                    f"mastermind: a given guess must be another code of that form, got {raw!r}"
                )
            state = self.apply(state, code)
        return state

    def read(self, move: JSON) -> str | None:
        text = re.sub(r"[\s,]", "", move) if isinstance(move, str) and len(move) < 60 else None
        return _text(text, _CODE)

    def legal(self, state: Guesses, move: str) -> bool:
        return len(move) == len(state.secret) and int(max(move)) <= state.symbols

    def apply(self, state: Guesses, move: str) -> Guesses:
        made = _with(state.made, move)
        return Guesses(state.secret, made, state.symbols, modulus=state.modulus)

    def won(self, state: Guesses) -> bool:
        return _holds(state.made, state.secret)


class HangmanRules:
    """`{"secret": "window", "lives": 6}`: a guess is a letter; wrong ones cost a life.

    The secret may be up to ten words, separated by spaces; a letter is tried in all of them.
    """

    def start(self, reference: Mapping[str, JSON]) -> Guesses:
        lives = reference.get("lives")
        if type(lives) is not int or not 1 <= lives <= 26:
            raise TaskError(f"hangman: lives must be 1 to 26, got {lives!r}")
        return Guesses(_secret(reference, _WORDS, "hangman"), lives=lives)

    def read(self, move: JSON) -> str | None:
        text = move.strip().lower() if isinstance(move, str) and len(move) < 10 else ""
        return text if len(text) == 1 and "a" <= text <= "z" else None

    def legal(self, state: Guesses, move: str) -> bool:
        return move not in state.made and not self.lost(state)

    def apply(self, state: Guesses, move: str) -> Guesses:
        return Guesses(state.secret, _with(state.made, move), lives=state.lives)

    def won(self, state: Guesses) -> bool:
        return set(state.secret).issubset((*state.made, " ")) and not self.lost(state)

    def lost(self, state: Guesses) -> bool:
        """Return True if no life is left."""
        return sum(letter not in state.secret for letter in state.made) >= state.lives


# By halving, since a submission may hold masses of guesses.


def _holds(made: tuple[str, ...], guess: str) -> bool:
    at = bisect_left(made, guess)
    return at < len(made) and made[at] == guess


def _with(made: tuple[str, ...], guess: str) -> tuple[str, ...]:
    at = bisect_left(made, guess)
    if at < len(made) and made[at] == guess:
        return made
    return (*made[:at], guess, *made[at:])


def _text(move: JSON, form: re.Pattern[str]) -> str | None:
    return _in_form(move, form) if isinstance(move, str) and len(move) < 60 else None


@lru_cache(maxsize=1 << 12)
def _in_form(move: str, form: re.Pattern[str]) -> str | None:
    text = move.strip().lower()
    return text if form.fullmatch(text) else None


def _bounded(reference: Mapping[str, JSON], game: str) -> None:
    if reference.get("max_moves") is None:
        raise TaskError(f"{game}: max_moves is missing; without it a list of all guesses would win")


def _secret(reference: Mapping[str, JSON], form: re.Pattern[str], game: str) -> str:
    secret = reference.get("secret")
    if not isinstance(secret, str) or not form.fullmatch(secret):
        raise TaskError(f"{game}: the secret must fit {form.pattern}, got {secret!r}")
    return secret
