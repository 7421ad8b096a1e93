"""Seeds: what may be one, and the generator that it gives."""

from __future__ import annotations

import hashlib
import operator
import sys
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISpawnableSeedSequence

from verigym.errors import RequestError


def checked_seed(seed: int) -> int:
    """A seed as Python's own whole number; numpy's are welcome. RequestError for what is none."""
    whole = -1 if isinstance(seed, bool) or not hasattr(seed, "__index__") else operator.index(seed)
    if whole < 0:
        raise RequestError(f"a seed is a whole number of at least 0, got {seed!r}")
    return whole


def generator_of(seed: int) -> np.random.Generator:
    """A fresh generator, the same on any machine: PCG-64 (O'Neill 2014), its state drawn from the seed by
    SHAKE-128 (FIPS 202). Numpy's own SeedSequence takes longer than most games take to begin."""
    # The stubs name SeedSequence alone. In hex, which knows no limit of digits.
    words: Any = _Hashed(b"%x" % seed)
    return np.random.Generator(np.random.PCG64(words))


class _Hashed(ISpawnableSeedSequence):
    """What a name gives; the third that `spawn` makes of `7` is called `7/2`."""

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.spawned = 0

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray[Any, Any]:
        drawn = hashlib.shake_128(self.name).digest(n_words * np.dtype(dtype).itemsize)
        words = np.frombuffer(drawn, dtype)
        return words if sys.byteorder == "little" else words.byteswap()

    def spawn(self, n_children: int) -> list[_Hashed]:
        first, self.spawned = self.spawned, self.spawned + n_children
        return [_Hashed(b"%b/%d" % (self.name, n)) for n in range(first, self.spawned)]
