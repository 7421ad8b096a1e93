"""`Draws`: many small choices out of a few large vectors of one generator, some twenty times faster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")

_AT_ONCE = 256


class Draws:
    """Choices drawn from `rng`, the same for the same seed anywhere."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._left: list[float] = []

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1."""
        try:
            return int(self._left.pop() * n)
        except IndexError:
            self._left = self._rng.random(_AT_ONCE).tolist()
            return int(self._left.pop() * n)

    def between(self, least: int, most: int) -> int:
        """Return a whole number from `least` to `most`, both included."""
        return least + self.below(most - least + 1)

    def pick(self, items: Sequence[T]) -> T:
        """Return one of `items`."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[T], n: int) -> list[T]:
        """Return `n` different ones of `items`, or all, in random order."""
        pool = list(items)
        taken = []
        for _ in range(min(n, len(pool))):
            place = self.below(len(pool))
            pool[place], pool[-1] = pool[-1], pool[place]
            taken.append(pool.pop())
        return taken

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return all of `items` in random order."""
        return self.some(items, len(items))
