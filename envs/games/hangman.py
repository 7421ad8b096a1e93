"""Hangman: find a word letter by letter."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import ReplayedGame
from verigym.envs.games.words import words
from verigym.verifiers.games.guessing import Guesses

# Lengths of words, lives, and how many words are hidden.
SIZES = {
    1: ((6,), 12, 1),
    2: ((6,), 8, 1),
    3: ((6,), 7, 1),
    4: ((5, 6), 6, 1),
    5: ((5,), 5, 1),
    6: ((4,), 4, 1),
    7: ((4,), 4, 2),
    8: ((4,), 3, 3),
    9: ((4,), 3, 4),
    10: ((4,), 2, 6),
}

_PROMPT = """\
Find {what} letter by letter. A letter that you find is shown in all its places. Each wrong letter costs one of \
your {lives} lives, and the game is lost when none is left. Trying a letter again only uses up a turn. Answer with one \
letter."""

_WORD, _WORDS = (
    "a hidden English word",
    "{count} hidden English words at once, of {length} letters each,",
)

_FREQUENT = "etaoinsrhldcumfpgwybvkxjqz"
_SPARE = 4
"""Lives down to which a player may try frequent letters without a look at the words that fit."""
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


class Hangman(ReplayedGame):
    """The environment. An action is a letter; one that was tried is invalid."""

    id: ClassVar[str] = "verigym/games/hangman-v0"
    game: ClassVar[str] = "hangman"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Short words give fewer hints."""
        lengths, lives, count = SIZES[level]
        known = words(lengths[int(rng.integers(len(lengths)))])
        secret = known[int(rng.integers(len(known)))]
        for _ in range(count - 1):
            secret += f" {known[int(rng.integers(len(known)))]}"
        turns = len(set(secret)) + lives + 4
        what = _WORD if count == 1 else _WORDS.format(count=count, length=len(known[0]))
        return _PROMPT.format(what=what, lives=lives), {
            "secret": secret,
            "lives": lives,
            "turns": turns,
        }

    @override
    def show(self, board: Guesses) -> str:
        made = (*board.made, " ")
        hidden = ["_" if letter not in made else letter for letter in board.secret]
        word = " ".join(hidden).replace("   ", " / ")
        wrong = "".join(letter for letter in board.made if letter not in board.secret)
        return f"{word}\nwrong: {wrong or 'none'}; lives left: {board.lives - len(wrong)}"

    @override
    def position(self, board: Guesses) -> JSON:
        return board.made

    @override
    def moves(self, board: Guesses) -> list[str]:
        return [letter for letter in _ALPHABET if letter not in board.made]

    @override
    def lost(self, board: Guesses) -> bool:
        return sum(letter not in board.secret for letter in board.made) >= board.lives

    @override
    def best(self, board: Guesses) -> str | None:
        """Return the first hidden letter that has not been tried."""
        if self.lost(board):
            return None
        return next((letter for letter in board.secret if letter not in (*board.made, " ")), None)

    @override
    def operations(self, board: Guesses) -> int:
        """Count what a player does who tries frequent letters as long as lives can be spared, and then the
        letter that is in most of the words that fit."""
        return find_words(board.secret, board.lives)[1]


def find_words(secret: str, lives: int) -> tuple[list[str], int]:
    """Return the letters that a player tries until all are found, and the operations that it takes.

    An operation looks at a letter: to choose it, to write it down, or to see if a word fits.
    """
    operations, tried = 0, []
    hidden = secret.split()
    shown = [["_"] * len(word) for word in hidden]
    fitting: list[list[str]] = []

    def fits(word: str, here: list[str]) -> bool:
        nonlocal operations
        for letter, sign in zip(word, here, strict=True):
            operations += 1
            if letter != sign and (sign != "_" or letter in tried):
                return False
        return True

    while any("_" in here for here in shown):
        if lives > _SPARE:
            operations += 1
            letter = next(letter for letter in _FREQUENT if letter not in tried)
        else:
            fitting = fitting or [list(words(len(word))) for word in hidden]
            fitting = [
                [word for word in some if fits(word, here)]
                for some, here in zip(fitting, shown, strict=True)
            ]
            votes: dict[str, float] = {}
            for some in fitting:
                for word in some:
                    for letter in word:
                        operations += 1
                        if letter not in tried:
                            votes[letter] = votes.get(letter, 0.0) + 1 / len(some)
            letter = max(votes, key=lambda one: (votes[one], one))
        tried.append(letter)
        lives -= letter not in secret
        for word, here in zip(hidden, shown, strict=True):
            for place, right in enumerate(word):
                operations += 1
                if right == letter:
                    here[place] = letter
    return tried, operations
