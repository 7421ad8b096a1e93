"""Common English words by length, for games of words. The list is our own."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def words(length: int) -> tuple[str, ...]:
    """Return every word of this length in the built-in list, sorted; empty if there is none."""
    text = (files("verigym.envs.games") / "words.txt").read_text(encoding="ascii")
    return tuple(sorted({word for word in text.split() if len(word) == length}))
