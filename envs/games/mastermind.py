"""Mastermind: find a hidden code from how many symbols of each guess are right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
# From level 7 on: length, symbols, guesses, and True if a mark is one number; marked guesses are given that leave one code.
DEDUCED = {7: (7, 8, 3, False), 8: (7, 9, 2, False), 9: (7, 7, 1, True), 10: (8, 8, 1, True)}

_PROMPT = """\
Find a hidden code of {length} digits, each 1 to {symbols}; digits may repeat. You have {turns} guesses.
After each guess you learn how many of its digits are right and in the right place, and how many more are in the \
code, but in another place. Answer with one guess, such as {example}."""
_PROMPT_DEDUCED = """\
Find a hidden code of {length} digits, each 1 to {symbols}; digits may repeat. Some guesses have been made already and are \
shown with their {marks}. Only one code fits all of them.
You have {turns}. Answer with a code, such as {example}."""
_MARKS = "marks: how many of the digits are right and in the right place, and how many more are in the code, but in another place"
_SUMS = """\
points: two for each digit that is right and in the right place, and one for each further digit that is in the code, but in \
another place. A digit that occurs several times in a guess counts at most as often as in the code"""


class Mastermind(ReplayedGame):
    """The environment. An action is a code; guesses are shown in ascending order.

    From level 7 on guesses are given that leave a single code, and luck has no part in it; from level 9 on each has one
    number for a mark, which leaves open how many digits are in place.
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
            told = f"{placed} in place, {elsewhere} elsewhere"
            lines.append(f"{guess}: {2 * placed + elsewhere if board.counted else told}")
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
        fits_mark = _may_fit_sum if board.counted else _may_fit
        symbols = [str(n) for n in range(1, board.symbols + 1)]
        operations = 0

        def fits(code: str) -> bool:
            nonlocal operations
            rest = len(board.secret) - len(code)
            for guess, (placed, elsewhere) in marked:
                operations += 1
                here = sum(map(str.__eq__, code, guess))
                common = sum(min(code.count(s), guess.count(s)) for s in set(code))
                if not fits_mark(here, common, placed, placed + elsewhere, rest):
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
    length, symbols, turns, summed = DEDUCED[level]

    def draw() -> str:
        return "".join(map(str, rng.integers(1, symbols + 1, length)))

    secret, marked = draw(), dict[str, tuple[int, int]]()
    other: str | None = None
    while len(marked) < length or other:
        guess = draw()
        marks = code_marks(secret, guess)
        # A guess that does not tell the secret from the other code would be of no use.
        if guess == secret or (other and _alike(code_marks(other, guess), marks, summed)):
            continue
        marked[guess] = marks
        if len(marked) >= length:
            other = next(
                (one for one in fitting(marked, length, symbols, summed) if one != secret), None
            )
    prompt = _PROMPT_DEDUCED.format(
        length=length,
        symbols=symbols,
        marks=_SUMS if summed else _MARKS,
        turns="one guess" if turns == 1 else f"{turns} guesses",
        example="".join(str(i % symbols + 1) for i in range(length)),
    )
    reference: dict[str, Any] = {
        "secret": secret,
        "symbols": symbols,
        "given": list(marked),
        "turns": turns,
        "max_moves": turns,
    }
    return prompt, {**reference, "marks": "sum"} if summed else reference


def fitting(
    marked: Mapping[str, tuple[int, int]], length: int, symbols: int, summed: bool = False
) -> Iterator[str]:
    """Yield all codes that fit the marks of the guesses, in ascending order; if `summed`, the sum of both marks.

    A place is filled only as long as the marks can still be met. What each mark still lacks is a byte of one number: 64 more
    than it, so that bit 6 tells if it is negative, and bit 7, after an addition, if the places left cannot bring as much.
    """
    # Of each mark: the guess, if digits in place and in common count, and what it lacks.
    lacking: list[tuple[str, bool, bool, int]] = []
    for guess, (placed, elsewhere) in marked.items():
        if summed:
            lacking.append((guess, True, True, 2 * placed + elsewhere))
        else:
            lacking += [(guess, True, False, placed), (guess, False, True, placed + elsewhere)]

    def packed(values: Iterable[int]) -> int:
        return sum(value << 8 * lane for lane, value in enumerate(values))

    digits = [str(n) for n in range(1, symbols + 1)]
    gains = {
        (place, digit, count): packed(
            (is_here and guess[place] == digit) + (is_common and count < guess.count(digit))
            for guess, is_here, is_common, _ in lacking
        )
        for place in range(length)
        for digit in digits
        for count in range(place + 1)
    }
    not_negative = packed(64 for _ in lacking)
    too_much = packed(128 for _ in lacking)
    room = [packed(63 - (h + c) * rest for _, h, c, _ in lacking) for rest in range(length)]
    counts = dict.fromkeys(digits, 0)

    def fill(code: str, lacks: int) -> Iterator[str]:
        place = len(code)
        if place == length:
            yield code
            return
        beyond = room[length - place - 1]
        for digit in digits:
            count = counts[digit]
            after = lacks - gains[place, digit, count]
            if after & not_negative == not_negative and not (after + beyond) & too_much:
                counts[digit] = count + 1
                yield from fill(code + digit, after)
                counts[digit] = count

    yield from fill("", packed(64 + lack for *_, lack in lacking))


def _may_fit(here: int, both: int, placed: int, common: int, rest: int) -> bool:
    """Return True if `rest` further places can bring the digits in place and in common to those of a mark."""
    return here <= placed <= here + rest and both <= common <= both + rest


def _may_fit_sum(here: int, both: int, placed: int, common: int, rest: int) -> bool:
    """The same where the mark is the sum alone: a digit in place counts as in common, too."""
    return here + both <= placed + common <= here + both + 2 * rest


def _alike(one: tuple[int, int], other: tuple[int, int], summed: bool) -> bool:
    return 2 * one[0] + one[1] == 2 * other[0] + other[1] if summed else one == other
