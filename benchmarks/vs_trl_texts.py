"""Texts and rewards of `trainer_vs_trl.py`, the same on both sides; needs nothing but Python."""

from __future__ import annotations

import random
import string
import zlib
from collections.abc import Sequence


def letters(seed: object, count: int) -> str:
    """Return `count` letters, each a token of the tiny tokenizer."""
    return "".join(random.Random(str(seed)).choices(string.ascii_lowercase, k=count))


def shown(said: Sequence[str], count: int) -> str:
    """Return the observation after the answers `said`: nearly always another for each member of a group."""
    return letters(zlib.crc32("\0".join(said).encode()), count)


def reward(said: Sequence[str]) -> float:
    """Return a number between 0 and 1 that nearly always differs between members of a group."""
    return zlib.crc32("\0".join(said).encode()) % 9973 / 9973
