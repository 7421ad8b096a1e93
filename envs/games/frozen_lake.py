"""Frozen lake: walk from start to goal without falling into a hole. The ice does not slip."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.paths import count_tried, shortest
from verigym.envs.games.planned import FuelPlan, PlannedGame, Way, plan, say, written
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
    8: (14, 0.3, range(17, 80)),
    9: (18, 0.3, range(22, 99)),
    10: (22, 0.3, range(27, 120)),
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
# From level 7 on: directions that cost more, turns that are forbidden, moves that a search for the least fuel tries at
# least, and fuel to spare in percent.
RULED = {7: (2, 1, 250, 15), 8: (3, 2, 450, 10), 9: (3, 2, 800, 5), 10: (3, 3, 1300, 0)}


class FrozenLake(PlannedGame):
    """The environment. An action is `up`, `down`, `left` or `right`; a move off the edge is invalid.

    From level 7 on directions differ in the fuel that they take, some turns are forbidden, and there is next to none
    to spare.
    """

    id: ClassVar[str] = "verigym/games/frozen-lake-v0"
    game: ClassVar[str] = "lake"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw until the shortest way has the length of the level."""
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
        return "\n".join(map("".join, rows))

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
            found.append((name, LakeState(board.rows, row, column)))
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
    costly = [list(MOVES)[i] for i in sorted(rng.permutation(4)[:heavy].tolist())]
    upright = ("up", "down")
    pairs = [(a, b) for a in MOVES for b in MOVES if (a in upright) != (b in upright)]
    barred = frozenset(pairs[i] for i in rng.permutation(len(pairs))[:turns])
    rules = HouseRules(not_after=barred, extra=tuple((m, int(rng.integers(1, 4))) for m in costly))
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


def _plan(start: LakeState, rules: HouseRules, fuel: int, last: tuple[str, ...]) -> FuelPlan | None:
    """A plan with the least fuel. The bound is the cheapest way with ice everywhere."""
    costs = {move: rules.cost((move,)) for move in MOVES}
    goal = next((r, row.index("G")) for r, row in enumerate(start.rows) if "G" in row)
    remembered = {one for one, _ in rules.not_after}

    def ways(at: tuple[int, int], last: tuple[str, ...]) -> list[Way]:
        found = []
        for move, there in _steps(LakeState(start.rows, *at)):
            if start.rows[there.row][there.column] == "H" or (
                last and (last[0], move) in rules.not_after
            ):
                continue
            labels = (move,) if move in remembered else ()
            found.append(Way((move,), (there.row, there.column), costs[move], labels))
        return found

    def bound(at: tuple[int, int]) -> int:
        down, right = goal[0] - at[0], goal[1] - at[1]
        return (
            abs(down) * costs["down" if down > 0 else "up"]
            + abs(right) * costs["right" if right > 0 else "left"]
        )

    kept = tuple(label for label in last if label in remembered)
    return plan((start.row, start.column), kept, fuel, ways, bound)
