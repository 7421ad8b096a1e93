"""Directions as policies write them."""

from __future__ import annotations

from verigym.canonical import JSON
from verigym.verifiers.games.keydoor import MOVES

_SHORT = {"u": "up", "d": "down", "l": "left", "r": "right", "n": "up", "s": "down", "w": "left"}
_SHORT |= {"e": "right", "north": "up", "south": "down", "west": "left", "east": "right"}


def read_direction(move: JSON) -> str | None:
    """Return up, down, left or right, read from these words, their first letters or compass points.

    None if `move` names no direction.
    """
    if not isinstance(move, str) or len(move) > 10:
        return None
    word = move.strip().lower()
    word = _SHORT.get(word, word)
    return word if word in MOVES else None
