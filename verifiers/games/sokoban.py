"""Rules of Sokoban."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.keydoor import MOVES

Cell = tuple[int, int]
MAX_CELLS = 2500


@dataclass(frozen=True)
class Room:
    """What does not move."""

    height: int
    width: int
    walls: frozenset[Cell]
    goals: frozenset[Cell]


@dataclass(frozen=True)
class Store:
    """A room, the boxes in it, and where one stands."""

    room: Room
    boxes: frozenset[Cell]
    at: Cell


class Sokoban:
    """`{"rows": [...]}`: # wall, @ you, $ box, . goal, * box on a goal, + you on a goal, space floor.

    A move is a direction; a box before you is pushed where the cell behind it is free. What lies
    outside the rows is wall. Won where every box stands on a goal.
    """

    def start(self, reference: Mapping[str, JSON]) -> Store:
        rows = reference.get("rows")
        if not isinstance(rows, list | tuple) or not all(isinstance(row, str) for row in rows):
            raise TaskError("sokoban: rows must be a list of texts")
        text = "".join(rows)
        if not rows or len(text) > MAX_CELLS or set(text) - set("#@$.*+ "):
            raise TaskError(f"sokoban: at most {MAX_CELLS} cells of #@$.*+ and space")
        cells = {(r, c): s for r, row in enumerate(rows) for c, s in enumerate(row)}
        width = max(map(len, rows))
        room = Room(
            len(rows),
            width,
            frozenset(
                (r, c)
                for r in range(len(rows))
                for c in range(width)
                if cells.get((r, c), "#") == "#"
            ),
            frozenset(cell for cell, s in cells.items() if s in ".*+"),
        )
        boxes = frozenset(cell for cell, s in cells.items() if s in "$*")
        at = [cell for cell, s in cells.items() if s in "@+"]
        if len(at) != 1 or not boxes or len(boxes) > len(room.goals):
            raise TaskError("sokoban: one of you, and boxes, each with a goal")
        return Store(room, boxes, at[0])

    def read(self, move: JSON) -> str | None:
        from verigym.verifiers.games.rules import read_direction  # rules names this class

        return read_direction(move)

    def legal(self, state: Store, move: str) -> bool:
        down, right = MOVES[move]
        ahead = (state.at[0] + down, state.at[1] + right)
        if not _free(state.room, ahead):
            return False
        behind = (ahead[0] + down, ahead[1] + right)
        return ahead not in state.boxes or (_free(state.room, behind) and behind not in state.boxes)

    def apply(self, state: Store, move: str) -> Store:
        down, right = MOVES[move]
        ahead = (state.at[0] + down, state.at[1] + right)
        boxes = state.boxes
        if ahead in boxes:
            boxes = boxes - {ahead} | {(ahead[0] + down, ahead[1] + right)}
        return Store(state.room, boxes, ahead)

    def won(self, state: Store) -> bool:
        return state.boxes <= state.room.goals


def _free(room: Room, cell: Cell) -> bool:
    return 0 <= cell[0] < room.height and 0 <= cell[1] < room.width and cell not in room.walls
