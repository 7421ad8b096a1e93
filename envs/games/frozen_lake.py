"""Frozen lake: walk from start to goal without falling into a hole. The ice does not slip."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.fog import seen_from, walk_in_fog
from verigym.envs.games.paths import count_tried, shortest
from verigym.envs.games.planned import FuelPlan, PlannedGame, Way, plan, say, written
from verigym.envs.games.replayed import Play
from verigym.verifiers.games.house_rules import MAX_FUEL, HouseRules, Ruled
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.rules import LakeState

# Width and height, the share of holes, the shortest way.
SIZES = {
    1: (3, 0.2, range(2, 5)),
    2: (4, 0.2, range(4, 7)),
    3: (5, 0.25, range(6, 10)),
    4: (6, 0.3, range(8, 14)),
    5: (8, 0.3, range(10, 25)),
    6: (9, 0.3, range(13, 41)),
    7: (11, 0.3, range(13, 60)),
}

_PROMPT = """\
You walk on a frozen lake. @ is you, F is ice, H is a hole, G is the goal, S is where you began. You do not \
slip; a move off the edge leaves you where you are.
A step into a hole ends the game. Reach the goal within {turns} moves. Answer with one move: up, down, \
left or right."""
_PROMPT_RULED = """\
You walk on a frozen lake. @ is you, F is ice, H is a hole, G is the goal, S is where you began. You do not \
slip; a move off the edge is not allowed. A step into a hole ends the game.
Further rules, for this game alone: {rules}
Reach the goal. You have {turns} turns. Answer with one move: up, down, left or right."""
# At level 7: directions that cost more, turns that are forbidden, moves that a search for the least fuel tries at
# least, and fuel to spare in percent.
RULED = {7: (2, 1, 250, 15)}
# From level 8 on there is fog: width and height, directions that cost more, turns that are forbidden, moves that a walker in
# the fog tries in all its plans at least, by how many percent the fog leads it astray, and fuel to spare in percent.
FOGGY = {
    8: (15, 3, 2, 400, range(20, 100), 30),
    9: (20, 3, 2, 800, range(25, 100), 15),
    10: (26, 3, 3, 1600, range(30, 100), 5),
}
HOLES = 0.27
SIGHT = 2
_PROMPT_FOGGY = """\
You walk on a frozen lake of {size} rows and {size} columns, counted from 1. @ is you, F is ice, H is a hole, G is the goal, \
S is where you began. You do not slip; a move off the edge is not allowed. A step into a hole ends the game. The goal is in \
row {row}, column {column}.
There is fog: you are shown only the cells up to {sight} rows and {sight} columns away from you. Remember what you have seen.
Further rules, for this game alone: {rules}
The fuel is {spare} % more than a certain walker needed, to whom the same rules apply: it took every cell not yet seen for ice, \
always followed a cheapest way that could still exist, and looked for another when a hole on it came into sight.
Reach the goal. You have {turns} turns. Answer with one move: up, down, left or right."""


class FrozenLake(PlannedGame):
    """The environment. An action is `up`, `down`, `left` or `right`; a move off the edge is invalid.

    From level 7 on directions differ in the fuel that they take, some turns are forbidden, and there is next to none
    to spare. From level 8 on only the cells nearby are seen, and states do not remember what was seen.
    """

    id: ClassVar[str] = "verigym/games/frozen-lake-v0"
    game: ClassVar[str] = "lake"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw until the shortest way has the length of the level."""
        if level in FOGGY:
            while (drawn := _foggy(rng, *FOGGY[level])) is None:
                pass
            return drawn
        size, holes, lengths = SIZES[level]
        while True:
            cells = np.where(rng.random((size, size)) < holes, "H", "F")
            if level > 6:  # from the first row to the last, so that the way is long
                start, goal = (int(i) for i in rng.integers(size, size=2))
                goal += size * (size - 1)
            else:
                start, goal = (int(i) for i in rng.permutation(size * size)[:2])
            cells.flat[start], cells.flat[goal] = "S", "G"
            rows = tuple("".join(row) for row in cells)
            path = _way(LakeState(rows, *divmod(start, size)))
            if path is not None and len(path) in lengths:
                if level in RULED:
                    if drawn := _ruled(rng, rows, divmod(start, size), *RULED[level]):
                        return drawn
                    continue
                turns = len(path) + size
                return _PROMPT.format(turns=turns), {"rows": list(rows), "turns": turns}

    @override
    def show(self, board: LakeState) -> str:
        rows = [list(row) for row in board.rows]
        rows[board.row][board.column] = "@"
        if not board.sight:
            return "\n".join(map("".join, rows))
        in_rows, in_columns = seen_from(board)
        shown = ["".join(rows[row][column] for column in in_columns) for row in in_rows]
        return (
            f"You are in row {board.row + 1}, column {board.column + 1}. "
            f"Rows {in_rows[0] + 1} to {in_rows[-1] + 1}, columns {in_columns[0] + 1} to {in_columns[-1] + 1}:\n"
            + "\n".join(shown)
        )

    @override
    def observe(self, state: Play) -> str:
        """Say at the end if it was a hole."""
        board = state.board.board if isinstance(state.board, Ruled) else state.board
        shown = super().observe(state)
        if board.rows[board.row][board.column] != "H":
            return shown
        return f"You fell into a hole.\n{shown}"

    @override
    def position(self, board: LakeState) -> JSON:
        return [board.row, board.column]

    @override
    def moves(self, board: LakeState) -> list[str]:
        """Return the moves that stay on the lake."""
        return [name for name, _ in _steps(board)]

    @override
    def plan_on(
        self, board: LakeState, rules: HouseRules, fuel: int, last: tuple[str, ...]
    ) -> FuelPlan | None:
        return _plan(board, rules, fuel, last)

    @override
    def work(self, state: Play) -> int:
        """Count the moves that a search for the way tries, or in fog all searches of a walker who sees as much as the
        policy."""
        board = state.board
        if not isinstance(board, Ruled) or not board.board.sight or state.moves:
            return super().work(state)
        walk = walk_in_fog(board.board, board.rules, MAX_FUEL, _plan)
        assert walk is not None, "the task was drawn with it"
        return walk.tried

    @override
    def lost(self, board: LakeState | Ruled) -> bool:
        """Return True in a hole, or without fuel for a move."""
        if isinstance(board, Ruled):
            return self.lost(board.board) or super().lost(board)
        return board.rows[board.row][board.column] == "H"

    @override
    def best(self, board: LakeState) -> str | None:
        return _next_move(board)

    @override
    def operations(self, board: LakeState) -> int:
        """Count the cells that a search from the start looks at."""
        return count_tried(board, _legs, _at_goal)


def _steps(board: LakeState) -> list[tuple[str, LakeState]]:
    found = []
    for name, (down, right) in MOVES.items():
        row, column = board.row + down, board.column + right
        if 0 <= row < len(board.rows) and 0 <= column < len(board.rows[0]):
            found.append((name, LakeState(board.rows, row, column, board.sight)))
    return found


def _legs(at: LakeState) -> list[tuple[str, LakeState]]:
    return [] if at.rows[at.row][at.column] == "H" else _steps(at)


def _at_goal(at: LakeState) -> bool:
    return at.rows[at.row][at.column] == "G"


@lru_cache(maxsize=4096)
def _next_move(board: LakeState) -> str | None:
    path = _way(board)
    return path[0] if path else None


def _way(board: LakeState) -> list[str] | None:
    return shortest(board, _legs, _at_goal)


def _ruled(
    rng: np.random.Generator,
    rows: tuple[str, ...],
    start: tuple[int, int],
    heavy: int,
    turns: int,
    least: int,
    spare: int,
) -> tuple[str, dict[str, Any]] | None:
    """Draw house rules for a lake; None if the goal is out of reach by them, or
    soon found."""
    rules = _house_rules(rng, heavy, turns)
    found = _plan(LakeState(rows, *start), rules, MAX_FUEL, ())
    if found is None or found.tried < least:
        return None
    fuel = found.fuel + found.fuel * spare // 100
    allowed = len(found.moves) * (110 + spare) // 100 + 3
    return _PROMPT_RULED.format(rules=say(rules, fuel), turns=allowed), {
        "rows": list(rows),
        "turns": allowed,
        "house_rules": written(rules, fuel),
    }


def _foggy(
    rng: np.random.Generator,
    size: int,
    heavy: int,
    turns: int,
    least: int,
    astray: range,
    spare: int,
) -> tuple[str, dict[str, Any]] | None:
    """Draw a lake in fog and its house rules; None if the goal is out of reach, or the fog leads hardly astray or far."""
    cells = np.where(rng.random((size, size)) < HOLES, "H", "F")
    start, goal = rng.integers(size, size=2).tolist()
    cells[0, start], cells[-1, goal] = "S", "G"
    rows = tuple("".join(row) for row in cells)
    rules = _house_rules(rng, heavy, turns)
    lake = LakeState(rows, 0, start, SIGHT)
    best = _plan(lake, rules, MAX_FUEL, ())
    walk = best and walk_in_fog(lake, rules, MAX_FUEL, _plan)
    if not best or not walk or walk.tried < least:
        return None
    if walk.fuel * 100 // best.fuel - 100 not in astray:
        return None
    fuel = walk.fuel + walk.fuel * spare // 100
    allowed = walk.moves * (110 + spare) // 100 + 3
    prompt = _PROMPT_FOGGY.format(
        size=size,
        row=size,
        column=goal + 1,
        sight=SIGHT,
        rules=say(rules, fuel),
        spare=spare,
        turns=allowed,
    )
    return prompt, {
        "rows": list(rows),
        "sight": SIGHT,
        "turns": allowed,
        "house_rules": written(rules, fuel),
    }


def _house_rules(rng: np.random.Generator, heavy: int, turns: int) -> HouseRules:
    costly = [list(MOVES)[i] for i in sorted(rng.permutation(4)[:heavy].tolist())]
    upright = ("up", "down")
    pairs = [(a, b) for a in MOVES for b in MOVES if (a in upright) != (b in upright)]
    barred = frozenset(pairs[i] for i in rng.permutation(len(pairs))[:turns])
    return HouseRules(not_after=barred, extra=tuple((m, int(rng.integers(1, 4))) for m in costly))


def _plan(start: LakeState, rules: HouseRules, fuel: int, last: tuple[str, ...]) -> FuelPlan | None:
    """A plan with the least fuel. The bound is the cheapest way with ice everywhere."""
    costs = {move: rules.cost((move,)) for move in MOVES}
    goal = next((r, row.index("G")) for r, row in enumerate(start.rows) if "G" in row)
    remembered = {one for one, _ in rules.not_after}
    height, width = len(start.rows), len(start.rows[0])

    def ways(at: tuple[int, int], last: tuple[str, ...]) -> list[Way]:
        found = []
        for move, (down, right) in MOVES.items():
            row, column = at[0] + down, at[1] + right
            if not (0 <= row < height and 0 <= column < width) or start.rows[row][column] == "H":
                continue
            if last and (last[0], move) in rules.not_after:
                continue
            labels = (move,) if move in remembered else ()
            found.append(Way((move,), (row, column), costs[move], labels))
        return found

    def bound(at: tuple[int, int]) -> int:
        down, right = goal[0] - at[0], goal[1] - at[1]
        return (
            abs(down) * costs["down" if down > 0 else "up"]
            + abs(right) * costs["right" if right > 0 else "left"]
        )

    kept = tuple(label for label in last if label in remembered)
    return plan((start.row, start.column), kept, fuel, ways, bound)
