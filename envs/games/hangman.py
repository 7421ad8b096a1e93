"""Hangman: find a word letter by letter."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.envs.games.words import words
from verigym.verifiers.games.guessing import Guesses

# Lengths of words, and lives.
SIZES = {2: ((6,), 8), 4: ((5, 6), 6), 6: ((4,), 4)}

_PROMPT = """\
Find a hidden English word letter by letter. Letters that are found stand in their places. The game is \
lost with wrong letter number {lives}. Answer with one letter."""

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


class Hangman(ReplayedGame):
    """The environment. An action is a letter; one that was tried is invalid."""

    id: ClassVar[str] = "verigym/games/hangman-v0"
    game: ClassVar[str] = "hangman"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True
    recoverable: ClassVar[bool] = False

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Short words give fewer hints."""
        lengths, lives = SIZES[level]
        known = words(lengths[int(rng.integers(len(lengths)))])
        secret = known[int(rng.integers(len(known)))]
        turns = len(set(secret)) + lives + 4
        return _PROMPT.format(lives=lives), {"secret": secret, "lives": lives, "turns": turns}

    @override
    def show(self, board: Guesses) -> str:
        word = " ".join(letter if letter in board.made else "_" for letter in board.secret)
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
        """It knows the word."""
        if self.lost(board):
            return None
        return next((letter for letter in board.secret if letter not in board.made), None)

    def work(self, state: Play) -> int:
        """Fewer lives and fewer letters to go by make each guess harder."""
        board: Guesses = state.board
        return max(1, 30 - 2 * board.lives - 2 * len(board.secret))
