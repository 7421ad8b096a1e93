"""Mastermind: find a hidden code from how many symbols of each guess are right."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.verifiers.games.guessing import Guesses, code_marks

# Length, symbols, guesses.
SIZES = {2: (3, 6, 8), 4: (4, 6, 10), 6: (5, 8, 12)}

_PROMPT = """\
Find a hidden code of {length} digits, each 1 to {symbols}; digits may repeat. You have {turns} guesses.
Each guess is marked with how many digits are right and in place, and how many more are right but \
elsewhere. Answer with one guess, such as {example}."""


class Mastermind(ReplayedGame):
    """The environment. An action is a code; guesses are shown in ascending order."""

    id: ClassVar[str] = "verigym/games/mastermind-v0"
    game: ClassVar[str] = "mastermind"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True
    recoverable: ClassVar[bool] = False  # the guesses are counted

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        length, symbols, turns = SIZES[level]
        secret = "".join(map(str, rng.integers(1, symbols + 1, length)))
        example = "".join(str(i % symbols + 1) for i in range(length))
        prompt = _PROMPT.format(length=length, symbols=symbols, turns=turns, example=example)
        return prompt, {"secret": secret, "symbols": symbols, "turns": turns, "max_moves": turns}

    @override
    def show(self, board: Guesses) -> str:
        lines = []
        for guess in board.made:
            placed, elsewhere = code_marks(board.secret, guess)
            lines.append(f"{guess}: {placed} in place, {elsewhere} elsewhere")
        return "\n".join(lines)

    @override
    def position(self, board: Guesses) -> JSON:
        return board.made

    @override
    def best(self, board: Guesses) -> str | None:
        """It knows the code."""
        return board.secret

    def work(self, state: Play) -> int:
        """Grows with the number of codes."""
        board: Guesses = state.board
        return len(board.secret) * board.symbols - len(state.moves)
