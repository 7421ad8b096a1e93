"""Random numbers of a request: equal keys draw equal numbers in any batch and process."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def generator(key: Sequence[int]) -> np.random.Generator:
    """Return a generator that depends on `key` only.

    The key is hashed, since numpy's SeedSequence gives (1,) and (1, 0) the same stream.
    """
    name = ",".join(str(int(part)) for part in key).encode()
    words = np.frombuffer(hashlib.blake2b(name, digest_size=16).digest(), dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=words))


def uniforms(keys: Sequence[Sequence[int]], n: int) -> NDArray[np.float64]:
    """Return numbers in [0, 1), [len(keys), n], row by row from `generator`."""
    out = np.empty((len(keys), n), dtype=np.float64)
    for row, key in enumerate(keys):
        generator(key).random(out=out[row])
    return out
