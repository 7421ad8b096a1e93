"""Mastermind: find a hidden code from how many symbols of each guess are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
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
}
# From level 7 on: length, symbols, and guesses; marked guesses are given that leave one code.
DEDUCED = {7: (7, 8, 3), 8: (7, 9, 2), 9: (8, 8, 1), 10: (8, 9, 1)}

_PROMPT = """\
Find a hidden code of {length} digits, each 1 to {symbols}; digits may repeat. You have {turns} guesses.
After each guess you learn how many of its digits are right and in the right place, and how many more are in the \
code, but in another place. Answer with one guess, such as {example}."""
_PROMPT_DEDUCED = """\
Find a hidden code of {length} digits, each 1 to {symbols}; digits may repeat. Some guesses have been made already and are \
shown with their marks: how many of the digits are right and in the right place, and how many more are in the code, but in \
another place. Only one code fits all of them.
You have {turns}. Answer with a code, such as {example}."""


class Mastermind(ReplayedGame):
    """The environment. An action is a code; guesses are shown in ascending order.

    From level 7 on guesses are given that leave a single code, and luck has no part in it.
    """

    id: ClassVar[str] = "verigym/games/mastermind-v0"
    game: ClassVar[str] = "mastermind"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False  # the guesses are counted

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        if level in DEDUCED:
            return _draw_deduced(rng, level)
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


def _draw_deduced(rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
    """Draw a code, and guesses until no other code fits their marks."""
    length, symbols, turns = DEDUCED[level]

    def draw() -> str:
        return "".join(map(str, rng.integers(1, symbols + 1, length)))

    secret, marked = draw(), dict[str, tuple[int, int]]()
    other: str | None = None
    while len(marked) < length or other:
        guess = draw()
        marks = code_marks(secret, guess)
        # A guess that does not tell the secret from the other code would be of no use.
        if guess == secret or (other and code_marks(other, guess) == marks):
            continue
        marked[guess] = marks
        if len(marked) >= length:
            other = next((one for one in fitting(marked, length, symbols) if one != secret), None)
    prompt = _PROMPT_DEDUCED.format(
        length=length,
        symbols=symbols,
        turns="one guess" if turns == 1 else f"{turns} guesses",
        example="".join(str(i % symbols + 1) for i in range(length)),
    )
    return prompt, {
        "secret": secret,
        "symbols": symbols,
        "given": list(marked),
        "turns": turns,
        "max_moves": turns,
    }


def fitting(marked: Mapping[str, tuple[int, int]], length: int, symbols: int) -> Iterator[str]:
    """Yield all codes that fit the marks of the guesses, in ascending order.

    A place is filled only as long as the marks can still be met.
    """
    clues = [
        (guess, Counter(guess), placed, placed + elsewhere)
        for guess, (placed, elsewhere) in marked.items()
    ]
    digits = [str(n) for n in range(1, symbols + 1)]
    counts = dict.fromkeys(digits, 0)

    def fill(code: str, met: list[tuple[int, int]]) -> Iterator[str]:
        place, rest = len(code), length - len(code) - 1
        if rest < 0:
            yield code
            return
        for digit in digits:
            count, after = counts[digit], []
            for (guess, many, placed, common), (here, both) in zip(clues, met, strict=True):
                here += guess[place] == digit
                both += count < many[digit]
                if not (here <= placed <= here + rest and both <= common <= both + rest):
                    break
                after.append((here, both))
            else:
                counts[digit] = count + 1
                yield from fill(code + digit, after)
                counts[digit] = count

    yield from fill("", [(0, 0)] * len(clues))
