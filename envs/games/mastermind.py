"""Mastermind: find a hidden code from how many symbols of each guess are right."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.verifiers.games.guessing import Guesses, code_marks

# Length, symbols, guesses.
SIZES = {
    1: (2, 6, 8),
    2: (3, 6, 8),
    3: (3, 7, 9),
    4: (4, 6, 10),
    5: (4, 9, 12),
    6: (5, 8, 12),
    7: (6, 7, 13),
}

_PROMPT = """\
Find a hidden code of {length} digits, each 1 to {symbols}; digits may repeat. You have {turns} guesses.
After each guess you learn how many of its digits are right and in the right place, and how many more are in the \
code, but in another place. Answer with one guess, such as {example}."""


class Mastermind(ReplayedGame):
    """The environment. An action is a code; guesses are shown in ascending order.

    Level 7 is the highest: to find longer codes takes a solver seconds, and hundreds of thousands of operations.
    """

    id: ClassVar[str] = "verigym/games/mastermind-v0"
    game: ClassVar[str] = "mastermind"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    levels: ClassVar[int] = 7
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
        """Return the hidden code."""
        return board.secret

    def work(self, state: Play) -> int:
        """Count what a player does who always guesses the first code that fits all marks so far: to
        put a digit and compare it with an earlier guess."""
        board: Guesses = state.board
        marked = [(guess, code_marks(board.secret, guess)) for guess in board.made]
        symbols = [str(n) for n in range(1, board.symbols + 1)]
        operations = 0

        def fits(code: str) -> bool:
            nonlocal operations
            rest = len(board.secret) - len(code)
            for guess, (placed, elsewhere) in marked:
                operations += 1
                here = sum(map(str.__eq__, code, guess))
                common = sum(min(code.count(s), guess.count(s)) for s in set(code))
                if not (here <= placed <= here + rest):
                    return False
                if not (common <= placed + elsewhere <= common + rest):
                    return False
            return True

        def first(code: str) -> str:
            nonlocal operations
            if len(code) == len(board.secret):
                return code
            for symbol in symbols:
                operations += 1
                if fits(code + symbol) and (found := first(code + symbol)):
                    return found
            return ""

        while not marked or marked[-1][0] != board.secret:
            guess = first("")
            marked.append((guess, code_marks(board.secret, guess)))
        return operations
