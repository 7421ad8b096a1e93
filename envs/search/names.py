"""Made-up names, by syllables: nothing that a model could have read before."""

from __future__ import annotations

import numpy as np

_ONSETS = "b br c d dr f g gr h j k kl l m n p pr r s sk st t th tr v w z"
_VOWELS = "a e i o u ae ou"
_CODAS = ("", "", "", "l", "n", "r", "s", "th", "m", "nd", "rk")
_SYLLABLES = [o + v + c for o in _ONSETS.split() for v in _VOWELS.split() for c in _CODAS]


def made_up(rng: np.random.Generator, n: int, shortest: int, longest: int) -> list[str]:
    """Return `n` different capitalised words of `shortest` to `longest` syllables, in the order drawn.

    Two at least, or English words would come up.
    """
    found: dict[str, None] = {}
    while len(found) < n:
        wanted = n - len(found) + 16
        parts = rng.integers(len(_SYLLABLES), size=(wanted, longest)).tolist()
        lengths = rng.integers(shortest, longest + 1, size=wanted).tolist()
        for row, length in zip(parts, lengths, strict=True):
            found["".join([_SYLLABLES[s] for s in row[:length]]).capitalize()] = None
    return list(found)[:n]
