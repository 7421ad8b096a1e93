"""Fog on a frozen lake: what is seen from a cell, and a walker who plans by what it has seen.

The walker takes everything that it has not seen for ice, follows a way with the least fuel, and plans anew when a hole on
that way comes into sight (Koenig and Likhachev, "D* Lite", 2002, call this the freespace assumption).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from verigym.envs.games.planned import FuelPlan
from verigym.verifiers.games.house_rules import HouseRules
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.rules import LakeState

Planner = Callable[[LakeState, HouseRules, int, tuple[str, ...]], FuelPlan | None]


class WalkInFog(Struct, frozen=True, gc=False):
    """Moves and fuel that a walker in the fog takes, and the moves that it tries in planning."""

    moves: int
    fuel: int
    tried: int


def seen_from(board: LakeState) -> tuple[range, range]:
    """Return the rows and columns that are in sight, counted from 0."""
    sight, height, width = board.sight, len(board.rows), len(board.rows[0])
    return (
        range(max(board.row - sight, 0), min(board.row + sight + 1, height)),
        range(max(board.column - sight, 0), min(board.column + sight + 1, width)),
    )


def walk_in_fog(
    start: LakeState, rules: HouseRules, fuel: int, planner: Planner
) -> WalkInFog | None:
    """Return the walk of a walker to the goal, which it knows; None if it runs out of fuel or ways."""
    rows = start.rows
    known = [["G" if cell == "G" else "F" for cell in row] for row in rows]
    at = (start.row, start.column)
    last: tuple[str, ...] = ()
    ahead: list[str] = []
    moves = spent = tried = 0
    while rows[at[0]][at[1]] != "G":
        holes = _look(rows, at, start.sight, known)
        if not ahead or any(cell in holes for cell in _cells(at, ahead)):
            board = LakeState(tuple("".join(row) for row in known), *at, start.sight)
            found = planner(board, rules, fuel - spent, last)
            if found is None:
                return None
            ahead, tried = list(found.moves), tried + found.tried
        move = ahead.pop(0)
        at, last = _cells(at, [move])[0], (move,)
        moves, spent = moves + 1, spent + rules.cost(last)
    return WalkInFog(moves, spent, tried)


def _look(
    rows: tuple[str, ...], at: tuple[int, int], sight: int, known: list[list[str]]
) -> set[tuple[int, int]]:
    """Note what is in sight; return the holes that are new."""
    found = set()
    in_rows, in_columns = seen_from(LakeState(rows, *at, sight))
    for row in in_rows:
        for column in in_columns:
            if rows[row][column] == "H" and known[row][column] != "H":
                known[row][column] = "H"
                found.add((row, column))
    return found


def _cells(at: tuple[int, int], moves: list[str]) -> list[tuple[int, int]]:
    found = []
    for move in moves:
        at = (at[0] + MOVES[move][0], at[1] + MOVES[move][1])
        found.append(at)
    return found
