"""Wordle: find a hidden word from marks on each guess."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.envs.games.words import words
from verigym.verifiers.games.guessing import Guesses, word_marks

# Letters, and guesses.
SIZES = {2: (4, 8), 4: (5, 6), 6: (6, 6)}

_PROMPT = """\
Find a hidden English word of {letters} letters in {turns} guesses. A guess is any {letters} letters a to z.
Each guess is marked letter by letter: + right and in place, ? in the word but elsewhere, - not in the \
word (or not once more). Answer with one guess."""


class Wordle(ReplayedGame):
    """The environment. An action is a word; guesses are shown in alphabetical order.

    The hidden word is a common one; a guess need not be a word at all. Guessing a word again changes
    nothing and is invalid.
    """

    id: ClassVar[str] = "verigym/games/wordle-v0"
    game: ClassVar[str] = "wordle"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True
    recoverable: ClassVar[bool] = False  # the guesses are counted

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        letters, turns = SIZES[level]
        known = words(letters)
        while not self.wants(secret := known[int(rng.random() * len(known))]):
            pass
        prompt = _PROMPT.format(letters=letters, turns=turns)
        return prompt, {"secret": secret, "turns": turns, "max_moves": turns, "essence": secret}

    @override
    def show(self, board: Guesses) -> str:
        return "\n".join([f"{guess} {word_marks(board.secret, guess)}" for guess in board.made])

    @override
    def position(self, board: Guesses) -> JSON:
        return board.made

    @override
    def best(self, board: Guesses) -> str | None:
        """It knows the word."""
        return board.secret

    def work(self, state: Play) -> int:
        """Bits to find: how many words there are, and how long each is."""
        length = len(state.board.secret)
        return len(words(length)).bit_length() + 2 * length - len(state.moves)
