"""`Mixing`: numbers that are changed in a chain before the functions of `code/tests` get them.

A wrong version shows only on certain numbers, and those have to be what comes out of the chain: who wants them has to
go back through it, number by number and round by round. The chain maps the numbers within a bound to each other one
to one, so each wrong version that shows without it shows with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from verigym.envs.code.family import whole
from verigym.envs.code.mutated import Bound
from verigym.envs.code.program_files import filled, program

Look = Callable[[], None]
_LOOKS = 6
"""Operations that take one number back by one round: its carry, its difference and its factor, each with a remainder."""


@dataclass(frozen=True)
class Mixing:
    """One chain; programs/mixing/mix.py says what its numbers do. `rounds` is even, so that the order stays."""

    rounds: int
    start: int
    odd: int
    even: int
    times: int

    def source(self, bounds: Sequence[Bound]) -> str:
        """Return the function `mix`, and the one for pairs if one of the bounds needs it."""
        values = {name.upper(): value for name, value in asdict(self).items()}
        mix, gap, pairs = filled(program("mixing/mix.py").strip(), values).partition("\n\n\n")
        return (
            f"{mix}{gap}{pairs}\n" if any(_is_of_pairs(bound) for bound in bounds) else f"{mix}\n"
        )

    def expression(self, name: str, bound: Bound) -> str:
        """Return the expression of what a function gets for the argument `name`."""
        if bound["kind"] == "bool":
            return name
        if bound["kind"] == "int":
            return f"mix([{name}], {_range_of(bound)})[0]"
        if _is_of_pairs(bound):
            return f"mix_pairs({name}, {_range_of(bound['of']['of'])})"
        return f"mix({name}, {_range_of(bound['of'])})"

    def undo(self, value: Any, bound: Bound, look: Look) -> Any:
        """Return the argument for which a function gets `value`; calls `look` for each operation."""
        if bound["kind"] == "bool":
            return value
        if bound["kind"] == "int":
            return self._back([value], bound, look)[0]
        if not _is_of_pairs(bound):
            return self._back(value, bound["of"], look)
        flat = self._back([one for pair in value for one in pair], bound["of"]["of"], look)
        return [flat[at : at + 2] for at in range(0, len(flat), 2)]

    def _back(self, values: list[int], bound: Bound, look: Look) -> list[int]:
        low, size = bound["low"], bound["high"] - bound["low"] + 1
        inverse = {odd: pow(self.odd if odd else self.even, -1, size) for odd in (True, False)}
        xs = [value - low for value in values]
        for turn in reversed(range(self.rounds)):
            xs = xs[::-1]
            carry = self.start + turn
            for at, x in enumerate(xs):
                is_odd = carry % 2 == 1
                xs[at] = (x - carry if is_odd else x + carry) * inverse[is_odd] % size
                carry = (self.times * carry + x) % size
                for _ in range(_LOOKS):
                    look()
        return [x + low for x in xs]


def draw_mixing(rng: np.random.Generator, rounds: int, bounds: Sequence[Bound]) -> Mixing:
    """Draw the numbers of a chain that can be undone within each of the bounds."""
    sizes = [size for bound in bounds for size in _sizes(bound)]

    def factor() -> int:
        while True:
            drawn = whole(rng, 101, 997)
            if all(math.gcd(drawn, size) == 1 for size in sizes):
                return drawn

    odd = even = factor()
    while even == odd:
        even = factor()
    return Mixing(rounds, whole(rng, 100, 999), odd, even, whole(rng, 11, 99))


def _sizes(bound: Bound) -> list[int]:
    if bound["kind"] == "list":
        return _sizes(bound["of"])
    return [bound["high"] - bound["low"] + 1] if bound["kind"] == "int" else []


def _range_of(bound: Bound) -> str:
    return f"{bound['low']}, {bound['high'] - bound['low'] + 1}"


def _is_of_pairs(bound: Bound) -> bool:
    return bool(bound["kind"] == "list" and bound["of"]["kind"] == "list")
