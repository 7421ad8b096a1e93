"""Rules of 2048, with new tiles that the seed and the board decide."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.directions import read_direction

SIDE = 4
Tiles = tuple[int, ...]


class MergingBoard(Struct, frozen=True, gc=False):
    """Sixteen tiles row by row, 0 for none; the tile to reach; what decides the new ones."""

    tiles: Tiles
    target: int
    seed: int


@lru_cache(maxsize=1 << 16)
def _merged(line: tuple[int, ...]) -> tuple[int, ...]:
    """A line pushed to its front; each tile merges once."""
    out: list[int] = []
    last = 0
    for tile in line:
        if not tile:
            continue
        if tile == last:
            out[-1] += tile
            last = 0
        else:
            out.append(tile)
            last = tile
    return (*out, *(0,) * (SIDE - len(out)))


_LINES = {
    "left": tuple(tuple(4 * i + j for j in range(4)) for i in range(4)),
    "right": tuple(tuple(4 * i + 3 - j for j in range(4)) for i in range(4)),
    "up": tuple(tuple(4 * j + i for j in range(4)) for i in range(4)),
    "down": tuple(tuple(4 * (3 - j) + i for j in range(4)) for i in range(4)),
}
"""Return, for each direction, the places of each line, starting at the side that tiles move to."""


# Whether a push is legal and what it does are asked one after the other.
@lru_cache(maxsize=1 << 10)
def pushed(tiles: Tiles, move: str) -> Tiles:
    """Return the tiles after a push, before the new one comes."""
    out = [0] * 16
    for a, b, c, d in _LINES[move]:
        out[a], out[b], out[c], out[d] = _merged((tiles[a], tiles[b], tiles[c], tiles[d]))
    return tuple(out)


def pushes(tiles: Tiles) -> list[str]:
    """Return the directions in which a push moves something."""
    rows = _ways(tiles[:4]) | _ways(tiles[4:8]) | _ways(tiles[8:12]) | _ways(tiles[12:])
    columns = _ways(tiles[::4]) | _ways(tiles[1::4]) | _ways(tiles[2::4]) | _ways(tiles[3::4])
    return _PUSHES[columns << 2 | rows].copy()


@lru_cache(maxsize=1 << 16)
def _ways(line: tuple[int, ...]) -> int:
    """Return 1 if a push to the front of a line moves something, plus 2 if one to its end does."""
    back = line[::-1]
    return (_merged(line) != line) | (_merged(back) != back) << 1


_PUSHES = [
    [move for move, bit in (("up", 4), ("down", 8), ("left", 1), ("right", 2)) if ways & bit]
    for ways in range(16)
]


def with_new_tile(tiles: Tiles, seed: int) -> Tiles:
    """Return the tiles with a 2, or one time in ten a 4, on an empty place; SHA-256 of seed and
    tiles decides."""
    empty = [i for i, tile in enumerate(tiles) if not tile]
    drawn = hashlib.sha256(repr((seed, tiles)).encode()).digest()
    place = empty[int.from_bytes(drawn[:4]) % len(empty)]
    tile = 4 if drawn[4] % 10 == 0 else 2
    return (*tiles[:place], tile, *tiles[place + 1 :])


class MergingRules:
    """`{"tiles": [16 numbers], "target": 128, "seed": 7}`: a move is a direction that moves something.

    Where `tiles` are left out, two new ones stand on the grid.
    """

    def start(self, reference: Mapping[str, JSON]) -> MergingBoard:
        tiles, target, seed = (reference.get(name) for name in ("tiles", "target", "seed"))
        if "tiles" in reference and (
            not isinstance(tiles, list | tuple)
            or len(tiles) != 16
            or not all(
                type(t) is int and (t == 0 or (2 <= t <= 1 << 17 and t & (t - 1) == 0))
                for t in tiles
            )
        ):
            raise TaskError("2048: tiles must be 16 powers of two, or 0")
        if type(target) is not int or not 4 <= target <= 1 << 17 or type(seed) is not int:
            raise TaskError("2048: target must be a power of two from 4, seed a whole number")
        if not isinstance(tiles, list | tuple):
            return MergingBoard(with_new_tile(with_new_tile((0,) * 16, seed), seed), target, seed)
        return MergingBoard(tuple(int(str(t)) for t in tiles), target, seed)

    def read(self, move: JSON) -> str | None:
        return read_direction(move)

    def legal(self, state: MergingBoard, move: str) -> bool:
        return pushed(state.tiles, move) != state.tiles

    def apply(self, state: MergingBoard, move: str) -> MergingBoard:
        return MergingBoard(
            with_new_tile(pushed(state.tiles, move), state.seed), state.target, state.seed
        )

    def won(self, state: MergingBoard) -> bool:
        return max(state.tiles) >= state.target
