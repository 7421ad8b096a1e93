"""Many small draws from one generator, taken a block at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from verigym.envs.tools.draws import Draws

T = TypeVar("T")


class BlockDraws:
    """Whole numbers and choices; a block of 64 costs as much as two single draws."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._left: list[int] = []

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1; even to within n in 2**62."""
        if not self._left:
            self._left = self._rng.integers(1 << 62, size=64).tolist()
        return self._left.pop() % n

    def spawn(self) -> Draws:
        """Return choices of other kinds from the same generator."""
        return Draws(self._rng)

    def one(self, items: Sequence[T]) -> T:
        """Return one of `items`."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[T], n: int) -> list[T]:
        """Return `n` of `items` at different places, in the order drawn."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(n)]
