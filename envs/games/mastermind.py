"""Mastermind: find a hidden code from how many symbols of each guess are right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.remainder_marks import Remaining, find_by_halves, tells_little
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
# From level 7 on: length, symbols and guesses; marked guesses are given that leave one code.
DEDUCED = {7: (7, 8, 3), 8: (7, 9, 2), 9: (6, 7, 2), 10: (7, 7, 2)}
# From level 9 on a mark is a remainder of so much.
MODULI = {9: 3, 10: 2}

_PROMPT = """\
Find a hidden code of {length} digits, each 1 to {symbols}; digits may repeat. You have {turns} guesses.
After each guess you learn how many of its digits are right and in the right place, and how many more are in the \
code, but in another place. Answer with one guess, such as {example}."""
_PROMPT_DEDUCED = """\
Find a hidden code of {length} digits, each 1 to {symbols}; digits may repeat. Some guesses have been made already and are \
shown with their marks: how many of the digits are right and in the right place, and how many more are in the code, but in \
another place. Only one code fits all of them.
You have {turns}. Answer with a code, such as {example}."""
_PROMPT_REMAINDERS = """\
Find a hidden code of {length} digits, each 1 to {symbols}; digits may repeat. A guess earns points: two for each digit that is \
right and in the right place, and one for each further digit that is in the code, but in another place. A digit that occurs \
several times in a guess counts at most as often as in the code. {mark}
For example, if the code were 1123, the guess 1411 would earn three points: two for the 1 in the first place, and one for one \
of the other 1s, since the code has only two. Its mark would be {shown}.
Some guesses have been made already and are shown with their marks. Only one code fits all of them.
You have {turns}, which are marked in the same way. Answer with a code, such as {example}."""
_ODD_OR_EVEN = (
    "The mark of a guess says only if the number of its points is odd or even; 0 is even."
)
_REMAINDER = """\
The mark of a guess is only the remainder when the number of its points is divided by {modulus}."""


class Mastermind(ReplayedGame):
    """The environment. An action is a code; guesses are shown in ascending order.

    From level 7 on guesses are given that leave a single code, and luck has no part in it; from level 9 on each mark is only
    a remainder, so that no guess tells much and no code can be ruled out before its last digit.
    """

    id: ClassVar[str] = "verigym/games/mastermind-v0"
    game: ClassVar[str] = "mastermind"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False  # the guesses are counted

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        if level in MODULI:
            return _draw_remainders(rng, *DEDUCED[level], MODULI[level])
        if level in DEDUCED:
            return _draw_deduced(rng, *DEDUCED[level])
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
            if board.modulus:
                shown = _remainder((2 * placed + elsewhere) % board.modulus, board.modulus)
            else:
                shown = f"{placed} in place, {elsewhere} elsewhere"
            lines.append(f"{guess}: {shown}")
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
        put a digit and compare it with an earlier guess; with remainders, those of `find_by_halves`."""
        board: Guesses = state.board
        marked = [(guess, code_marks(board.secret, guess)) for guess in board.made]
        if board.modulus:
            remainders = {
                guess: (2 * placed + elsewhere) % board.modulus
                for guess, (placed, elsewhere) in marked
            }
            length = len(board.secret)
            return find_by_halves(length, board.symbols, board.modulus, remainders)[1]
        symbols = [str(n) for n in range(1, board.symbols + 1)]
        operations = 0

        def fits(code: str) -> bool:
            nonlocal operations
            rest = len(board.secret) - len(code)
            for guess, (placed, elsewhere) in marked:
                operations += 1
                here = sum(map(str.__eq__, code, guess))
                common = sum(min(code.count(s), guess.count(s)) for s in set(code))
                if not _may_fit(here, common, placed, placed + elsewhere, rest):
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


def _draw_deduced(
    rng: np.random.Generator, length: int, symbols: int, turns: int
) -> tuple[str, dict[str, Any]]:
    """Draw a code, and guesses until no other code fits their marks."""
    secret, marked = _code(rng, length, symbols), dict[str, tuple[int, int]]()
    other: str | None = None
    while len(marked) < length or other:
        guess = _code(rng, length, symbols)
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
        example=_example(length, symbols),
    )
    return prompt, _reference(secret, symbols, turns, list(marked))


def _draw_remainders(
    rng: np.random.Generator, length: int, symbols: int, turns: int, modulus: int
) -> tuple[str, dict[str, Any]]:
    """Draw a code, and guesses that each tell little until no other code fits their remainders."""
    secret, given = _code(rng, length, symbols), list[str]()
    left = Remaining(length, symbols, modulus)
    while len(left) > 1:
        guess, before = _code(rng, length, symbols), len(left)
        if guess == secret or guess in given or not tells_little(guess, symbols, modulus):
            continue
        placed, elsewhere = code_marks(secret, guess)
        left.keep(guess, (2 * placed + elsewhere) % modulus)
        if len(left) < before:
            given.append(guess)
    prompt = _PROMPT_REMAINDERS.format(
        length=length,
        symbols=symbols,
        mark=_ODD_OR_EVEN if modulus == 2 else _REMAINDER.format(modulus=modulus),
        shown=_remainder(3 % modulus, modulus),
        turns=f"{turns} guesses",
        example=_example(length, symbols),
    )
    return prompt, {**_reference(secret, symbols, turns, given), "modulus": modulus}


def _reference(secret: str, symbols: int, turns: int, given: list[str]) -> dict[str, Any]:
    return {
        "secret": secret,
        "symbols": symbols,
        "given": given,
        "turns": turns,
        "max_moves": turns,
    }


def _code(rng: np.random.Generator, length: int, symbols: int) -> str:
    return "".join(map(str, rng.integers(1, symbols + 1, length)))


def _example(length: int, symbols: int) -> str:
    return "".join(str(i % symbols + 1) for i in range(length))


def _remainder(number: int, modulus: int) -> str:
    if modulus == 2:
        return "odd" if number else "even"
    return str(number)


def fitting(marked: Mapping[str, tuple[int, int]], length: int, symbols: int) -> Iterator[str]:
    """Yield all codes that fit the marks of the guesses, in ascending order.

    A place is filled only as long as the marks can still be met. What each mark still lacks is a byte of one number: 64 more
    than it, so that bit 6 tells if it is negative, and bit 7, after an addition, if the places left cannot bring as much.
    """
    # Of each mark: the guess, if digits in place count or else those in common, and what it lacks.
    lacking: list[tuple[str, bool, int]] = []
    for guess, (placed, elsewhere) in marked.items():
        lacking += [(guess, True, placed), (guess, False, placed + elsewhere)]

    def packed(values: Iterable[int]) -> int:
        return sum(value << 8 * lane for lane, value in enumerate(values))

    digits = [str(n) for n in range(1, symbols + 1)]
    gains = {
        (place, digit, count): packed(
            guess[place] == digit if is_here else count < guess.count(digit)
            for guess, is_here, _ in lacking
        )
        for place in range(length)
        for digit in digits
        for count in range(place + 1)
    }
    not_negative = packed(64 for _ in lacking)
    too_much = packed(128 for _ in lacking)
    room = [packed(63 - rest for _ in lacking) for rest in range(length)]
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
