"""Seeds: valid values, and the random generator of a seed."""

from __future__ import annotations

import hashlib
import operator
import sys
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISpawnableSeedSequence

from verigym.errors import RequestError


def checked_seed(seed: int) -> int:
    """Return a seed as a Python int; numpy integers are accepted. Raises RequestError for anything else."""
    whole = -1 if isinstance(seed, bool) or not hasattr(seed, "__index__") else operator.index(seed)
    if whole < 0:
        raise RequestError(f"a seed is a whole number of at least 0, got {seed!r}")
    return whole


def generator_of(seed: int) -> np.random.Generator:
    """Return a fresh generator, the same on any machine: PCG-64 (O'Neill 2014), its state derived from the
    seed by SHAKE-128 (FIPS 202). Numpy's own SeedSequence is slower than the reset of most games."""
    # The stubs name SeedSequence alone. In hex, which knows no limit of digits.
    words: Any = _Hashed(b"%x" % seed)
    return np.random.Generator(np.random.PCG64(words))


class _Hashed(ISpawnableSeedSequence):
    """A seed sequence derived from a name; the third that `spawn` makes from `7` is named `7/2`."""

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
