"""Rules of lights out, and of lights with more shades whose presses turn other cells."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.keydoor import MOVES

MAX_CELLS = 10_000


class Lamps(Struct, frozen=True):
    """Lights with shades from 0, which is off. A press turns the lights at `flips`, steps down and to the right."""

    rows: tuple[tuple[int, ...], ...]
    shades: int
    flips: tuple[tuple[int, int], ...]
    wraps: bool

    def turned(self, row: int, column: int) -> list[tuple[int, int]]:
        """Return the lights that a press turns."""
        height, width = len(self.rows), len(self.rows[0])
        cells = [(row + down, column + right) for down, right in self.flips]
        if self.wraps:
            return [(r % height, c % width) for r, c in cells]
        return [(r, c) for r, c in cells if 0 <= r < height and 0 <= c < width]


class LightsRules:
    """`{"rows": ["#.", ".#"]}`, `#` lit: a press `[row, column]` (from 1) turns it and its neighbours.

    Or `{"rows": ["02", "10"], "shades": 3, "flips": [[0, 0], [1, 2]], "wraps": true}`: a press raises the shade of
    the lights at `flips` by one, the last back to 0; beyond the edge lies the other side, or nothing.
    Won if all are out.
    """

    def start(self, reference: Mapping[str, JSON]) -> tuple[str, ...] | Lamps:
        rows = reference.get("rows")
        if (
            not isinstance(rows, list | tuple)
            or not rows
            or not all(isinstance(r, str) for r in rows)
        ):
            raise TaskError("rows must be a list of texts")
        lines = tuple(map(str, rows))
        if not lines[0] or sum(map(len, lines)) > MAX_CELLS:
            raise TaskError(f"rows must have 1 to {MAX_CELLS} cells")
        if "shades" in reference:
            return _lamps(lines, reference)
        if len({len(row) for row in lines}) != 1 or set("".join(lines)) - set("#."):
            raise TaskError("lights: rows of one width of # and .")
        return lines

    def read(self, move: JSON) -> tuple[int, int] | None:
        if isinstance(move, str) and len(move) <= 20:
            words = move.replace(",", " ").strip(" ()[]").split()
            move = [int(w) for w in words if w.isdecimal()] if all(map(str.isdecimal, words)) else 0
        if isinstance(move, list | tuple) and len(move) == 2 and all(type(n) is int for n in move):
            return move[0] - 1, move[1] - 1
        return None

    def legal(self, state: tuple[str, ...] | Lamps, move: tuple[int, int]) -> bool:
        if isinstance(state, Lamps):
            state = ("." * len(state.rows[0]),) * len(state.rows)
        return 0 <= move[0] < len(state) and 0 <= move[1] < len(state[0])

    def apply(
        self, state: tuple[str, ...] | Lamps, move: tuple[int, int]
    ) -> tuple[str, ...] | Lamps:
        if isinstance(state, Lamps):
            return press(state, *move)
        grid = [list(row) for row in state]
        for down, right in ((0, 0), *MOVES.values()):
            row, column = move[0] + down, move[1] + right
            if 0 <= row < len(grid) and 0 <= column < len(grid[0]):
                grid[row][column] = "." if grid[row][column] == "#" else "#"
        return tuple("".join(row) for row in grid)

    def won(self, state: tuple[str, ...] | Lamps) -> bool:
        if isinstance(state, Lamps):
            return not any(map(any, state.rows))
        return all("#" not in row for row in state)


def press(lamps: Lamps, row: int, column: int) -> Lamps:
    """Return the lights after a press."""
    grid = [list(line) for line in lamps.rows]
    for r, c in lamps.turned(row, column):
        grid[r][c] = (grid[r][c] + 1) % lamps.shades
    return Lamps(tuple(map(tuple, grid)), lamps.shades, lamps.flips, lamps.wraps)


def _lamps(lines: tuple[str, ...], reference: Mapping[str, JSON]) -> Lamps:
    shades, flips, wraps = (reference.get(name) for name in ("shades", "flips", "wraps"))
    if type(shades) is not int or not 2 <= shades <= 9 or type(wraps) is not bool:
        raise TaskError(
            f"lights: shades must be 2 to 9, and wraps true or false, got {shades!r} and {wraps!r}"
        )
    if len({len(row) for row in lines}) != 1 or set("".join(lines)) - set("012345678"[:shades]):
        raise TaskError(f"lights: rows of one width of digits below {shades}")
    if not isinstance(flips, list | tuple) or not flips or not all(map(_is_step, flips)):
        raise TaskError(f"lights: flips must be a list of pairs of whole numbers, got {flips!r}")
    rows = tuple(tuple(map(int, line)) for line in lines)
    return Lamps(rows, shades, tuple((step[0], step[1]) for step in flips), wraps)


def _is_step(step: JSON) -> bool:
    return isinstance(step, list | tuple) and len(step) == 2 and all(type(n) is int for n in step)
