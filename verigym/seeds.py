"""Seeds: what may be one, and the generator that it gives."""

from __future__ import annotations

import operator

import numpy as np

from verigym.errors import RequestError


def checked_seed(seed: int) -> int:
    """A seed as Python's own whole number; numpy's are welcome. RequestError for what is none."""
    whole = -1 if isinstance(seed, bool) or not hasattr(seed, "__index__") else operator.index(seed)
    if whole < 0:
        raise RequestError(f"a seed is a whole number of at least 0, got {seed!r}")
    return whole


def generator_of(seed: int) -> np.random.Generator:
    """A fresh generator, the same on any machine: PCG-64 (O'Neill 2014) behind numpy's SeedSequence."""
    return np.random.Generator(np.random.PCG64(seed))
