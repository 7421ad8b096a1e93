"""Rules of Sokoban."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.directions import read_direction
from verigym.verifiers.games.keydoor import MOVES

MAX_CELLS = 2500
_SIGNS = "#@$.*+ "
_SETS = [
    bytes.maketrans(_SIGNS.encode(), bytes(b"01"[sign in some] for sign in _SIGNS))
    for some in (_SIGNS[1:], ".*+", "$*", "@+")
]
"""Translation tables from a plan to the binary digits of each set: floor, goals, boxes, player."""


class SokobanWalls(Struct, frozen=True, gc=False):
    """Parts of the level that do not move. Sets of cells are bit masks: cell (r, c) is bit `(r +
    1) * stride + c`, so the bits around the rows are never floor."""

    height: int
    width: int
    floor: int
    goals: int

    @property
    def stride(self) -> int:
        """Distance in bits from a cell to the one below."""
        return self.width + 1

    def step(self, move: str) -> int:
        """Return the distance in bits from a cell to the next one in a direction."""
        down, right = MOVES[move]
        return down * (self.width + 1) + right


class SokobanState(Struct, frozen=True, gc=False):
    """A room, the boxes in it as bits, and the bit of the square that the player stands on."""

    room: SokobanWalls
    boxes: int
    at: int


def bits(cells: int) -> Iterator[int]:
    """Yield the bits of a set, from the lowest."""
    while cells:
        low = cells & -cells
        yield low.bit_length() - 1
        cells ^= low


class SokobanRules:
    """`{"rows": [...]}`: # wall, @ you, $ box, . goal, * box on a goal, + you on a goal, space floor.

    A move is a direction; a box before you is pushed where the cell behind it is free. What lies
    outside the rows is wall. Won if every box stands on a goal.
    """

    def start(self, reference: Mapping[str, JSON]) -> SokobanState:
        rows = reference.get("rows")
        if not isinstance(rows, list | tuple) or not all(isinstance(row, str) for row in rows):
            raise TaskError("sokoban: rows must be a list of texts")
        text = "".join(rows)
        if not rows or len(text) > MAX_CELLS or set(text) - set(_SIGNS):
            raise TaskError(f"sokoban: at most {MAX_CELLS} cells of #@$.*+ and space")
        width = max(map(len, rows))
        # A column of walls on the right and a row of them above.
        plan = "#" * (width + 1) + "".join([row.ljust(width + 1, "#") for row in rows])
        signs = plan[::-1].encode()
        floor, goals, boxes, you = (int(signs.translate(digits), 2) for digits in _SETS)
        if you.bit_count() != 1 or not boxes or boxes.bit_count() > goals.bit_count():
            raise TaskError("sokoban: one of you, and boxes, each with a goal")
        return SokobanState(
            SokobanWalls(len(rows), width, floor, goals), boxes, you.bit_length() - 1
        )

    def read(self, move: JSON) -> str | None:
        return read_direction(move)

    def legal(self, state: SokobanState, move: str) -> bool:
        step = state.room.step(move)
        ahead = 1 << state.at + step
        if not state.room.floor & ahead:
            return False
        free = state.room.floor & ~state.boxes
        return bool(free & ahead or free >> state.at + 2 * step & 1)

    def apply(self, state: SokobanState, move: str) -> SokobanState:
        step = state.room.step(move)
        at, boxes = state.at + step, state.boxes
        if boxes >> at & 1:
            boxes ^= 1 << at | 1 << at + step
        return SokobanState(state.room, boxes, at)

    def won(self, state: SokobanState) -> bool:
        return not state.boxes & ~state.room.goals

    def labels(self, state: SokobanState, move: str) -> tuple[str, ...]:
        pushes = state.boxes >> state.at + state.room.step(move) & 1
        return (move, "push", f"push {move}") if pushes else (move,)
