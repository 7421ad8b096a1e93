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
    words = np.frombuffer(_digest(key), dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=words))


def seed_of(key: Sequence[int]) -> int:
    """Return 31 bits that depend on `key` only, for a server's own generator."""
    return int.from_bytes(_digest(key)[:4], "big") >> 1


def _digest(key: Sequence[int]) -> bytes:
    return hashlib.blake2b(
        ",".join(str(int(part)) for part in key).encode(), digest_size=16
    ).digest()


def uniforms(keys: Sequence[Sequence[int]], n: int) -> NDArray[np.float64]:
    """Return numbers in [0, 1), [len(keys), n], row by row from `generator`."""
    out = np.empty((len(keys), n), dtype=np.float64)
    for row, key in enumerate(keys):
        generator(key).random(out=out[row])
    return out
