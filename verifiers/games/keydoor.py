"""Keydoor: the rules of the grid, and the verifier that replays moves under them.

A level is rows of one width: `.` floor, `#` wall, `@` start, `*` goal, `$` a gem, a small letter a key, the
capital letter the door it opens, an arrow floor that is entered in its direction alone. Walking onto a key or a gem takes it; walking into a door
with its key opens the door and steps in. A move into a wall, a door without its key, an arrow that points elsewhere or the edge leaves the walker where it is.
The goal counts only with all gems; before that it is floor. A double arrow is an arrow that makes a quarter turn clockwise after every move,
a blocked one too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier

MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
MAX_MOVES = 10_000
ARROWS = {"↑": "up", "↓": "down", "←": "left", "→": "right"}
TURNING = {"⇑": "up", "⇒": "right", "⇓": "down", "⇐": "left"}
"""Double arrows and where they point at first, in the order in which they turn."""
QUARTERS = len(TURNING)
GEM = "$"
_CELLS = frozenset(".#@*") | {GEM} | ARROWS.keys() | TURNING.keys()
_CLOCKWISE = "".join(TURNING)


def turned(cell: str, quarters: int) -> str:
    """Return a cell after so many quarter turns; only double arrows change."""
    at = _CLOCKWISE.find(cell)
    return cell if at < 0 else _CLOCKWISE[(at + quarters) % QUARTERS]


def points(cell: str, quarters: int, otherwise: str) -> str:
    """Return the direction in which an arrow points after so many quarter turns; `otherwise` if `cell` is none."""
    if cell in TURNING:
        return TURNING[turned(cell, quarters)]
    return ARROWS.get(cell, otherwise)


@dataclass(frozen=True, slots=True)
class KeydoorPlace:
    """State that moves change: position, keys held, doors opened, places of the gems held, and quarter turns of the double
    arrows (0 to 3; 0 if there are none). Everything else is the level."""

    row: int
    column: int
    keys: frozenset[str] = frozenset()
    opened: frozenset[str] = frozenset()
    gems: frozenset[tuple[int, int]] = frozenset()
    quarters: int = 0


class KeydoorLevel:
    """A parsed level, a value: equal rows are equal levels. TaskError if they are not a level."""

    def __init__(self, rows: tuple[str, ...]) -> None:
        if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
            raise TaskError(f"the rows of a keydoor level must have the same width, got {rows!r}")
        text = "".join(rows)
        if text.count("@") != 1 or text.count("*") != 1:
            raise TaskError("a keydoor level has one start '@' and one goal '*'")
        for cell in set(text) - _CELLS:
            if not (cell.isascii() and cell.isalpha()) or text.count(cell) != 1:
                raise TaskError(
                    f"cell {cell!r} must be a letter that stands once, or one of .#@*$↑↓←→⇑⇓⇐⇒"
                )
        self.rows = rows
        self.height = len(rows)
        self.width = len(rows[0])
        self.start = KeydoorPlace(*self.find("@"))
        self.goal = self.find("*")
        self.is_turning = not TURNING.keys().isdisjoint(text)
        self.gems = frozenset(
            (row, column)
            for row, line in enumerate(rows)
            for column, cell in enumerate(line)
            if cell == GEM
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeydoorLevel) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash(self.rows)

    def find(self, cell: str) -> tuple[int, int]:
        """Return the row and column of a cell that stands once."""
        for row, line in enumerate(self.rows):
            if cell in line:
                return row, line.index(cell)
        raise TaskError(f"cell {cell!r} is not in the level")

    def at_goal(self, place: KeydoorPlace) -> bool:
        """Return True if the game is won."""
        return (place.row, place.column) == self.goal and len(place.gems) == len(self.gems)

    def move(self, place: KeydoorPlace, direction: str) -> KeydoorPlace:
        """Return the place that `direction` leads to; `place` itself if the way is blocked, but for double arrows, which turn."""
        there = self._move(place, direction)
        if self.is_turning:
            return replace(there, quarters=(place.quarters + 1) % QUARTERS)
        return there

    def _move(self, place: KeydoorPlace, direction: str) -> KeydoorPlace:
        step = MOVES[direction]
        row, column = place.row + step[0], place.column + step[1]
        if not (0 <= row < self.height and 0 <= column < self.width):
            return place
        cell = self.rows[row][column]
        if cell == "#" or points(cell, place.quarters, direction) != direction:
            return place
        if cell.isupper() and cell not in place.opened:
            if cell.lower() not in place.keys:
                return place
            return replace(place, row=row, column=column, opened=place.opened | {cell})
        if cell.islower() and cell not in place.keys:
            return replace(place, row=row, column=column, keys=place.keys | {cell})
        if cell == GEM and (row, column) not in place.gems:
            return replace(place, row=row, column=column, gems=place.gems | {(row, column)})
        return replace(place, row=row, column=column)

    def shortest(self, place: KeydoorPlace) -> list[str] | None:
        """Return the fewest moves from `place` to the goal, by breadth-first search; None if there is no way."""
        came: dict[KeydoorPlace, tuple[KeydoorPlace, str] | None] = {place: None}
        queue = deque([place])
        while queue:
            here = queue.popleft()
            if self.at_goal(here):
                path: list[str] = []
                link = came[here]
                while link is not None:
                    here, direction = link
                    path.append(direction)
                    link = came[here]
                return path[::-1]
            for direction in MOVES:
                there = self.move(here, direction)
                if there not in came:
                    came[there] = (here, direction)
                    queue.append(there)
        return None


@lru_cache(maxsize=4096)
def parse_level(rows: tuple[str, ...]) -> KeydoorLevel:
    """Return the level that `rows` draw; parsed once."""
    return KeydoorLevel(rows)


def read_reference(task: Task) -> tuple[KeydoorLevel, int]:
    """Return the level and turn limit from a task's reference. Raises TaskError if they are not there.

    The limit is for the environment to keep, where a user may change it; verdicts ignore it, but keep to `max_moves`.
    """
    reference = task.reference
    if not isinstance(reference, Mapping):
        raise TaskError("a keydoor reference is an object with rows and max_turns")
    rows, max_turns = reference.get("rows"), reference.get("max_turns")
    if not isinstance(rows, list | tuple) or not all(isinstance(row, str) for row in rows):
        raise TaskError(f"reference.rows must be a list of strings, got {rows!r}")
    if not isinstance(max_turns, int) or max_turns < 1:
        raise TaskError(f"reference.max_turns must be a whole number above 0, got {max_turns!r}")
    return parse_level(tuple(rows)), max_turns


def read_max_moves(task: Task) -> int | None:
    """Return the most moves that are paid, `max_moves` of a task's reference; None if it sets none."""
    most = task.reference.get("max_moves") if isinstance(task.reference, Mapping) else None
    if most is not None and (type(most) is not int or most < 1):
        raise TaskError(f"reference.max_moves must be a whole number above 0, got {most!r}")
    return most


class KeyDoorVerifier(Verifier):
    """1.0 if the submitted moves, replayed from the start, reach the goal with all gems; else 0.0."""

    id: ClassVar[str] = "games/keydoor"
    version: ClassVar[int] = 1
    evidence: ClassVar[str] = (
        "The moves, replayed by the rules; what is said of them counts for nothing."
    )
    about: ClassVar[str] = "Replays moves (a list of up, down, left, right) in a key-and-door grid."

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """Judge a list of move names, in order."""
        level, _ = read_reference(task)
        most = read_max_moves(task)
        if not isinstance(submission, list | tuple):
            return unusable("not_moves", "the submission must be a list of moves")
        if len(submission) > MAX_MOVES:
            return unusable("too_many_moves", f"{len(submission)} moves, {MAX_MOVES} are replayed")
        place = level.start
        for number, direction in enumerate(submission):
            if not isinstance(direction, str) or direction not in MOVES:
                return unusable("unknown_move", f"move {number} is none of {', '.join(MOVES)}")
            if level.at_goal(place):
                return unusable("moves_after_goal", f"the goal was reached before move {number}")
            place = level.move(place, direction)
        if most is not None and len(submission) > most:
            return scored(0.0, "over_budget", f"{len(submission)} moves, {most} are allowed")
        if level.at_goal(place):
            return scored(1.0, "goal_reached", f"in {len(submission)} moves")
        if (place.row, place.column) == level.goal:
            held = f"{len(place.gems)} of {len(level.gems)} gems"
            return scored(0.0, "gems_missing", f"ended at the goal with {held}")
        where = f"row {place.row + 1}, column {place.column + 1}"
        return scored(0.0, "goal_not_reached", f"ended at {where} after {len(submission)} moves")
