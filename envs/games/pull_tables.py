"""The least fuel from every state of a small sokoban room, by pulls backwards from the goals.

Dijkstra's algorithm over all places of the boxes and the player, one fuel after the other, on whole arrays: a room of
25 cells and four boxes has some 100,000 states and takes a hundredth of a second.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verigym.verifiers.games.house_rules import HouseRules
from verigym.verifiers.games.keydoor import MOVES
from verigym.verifiers.games.sokoban import SokobanState, SokobanWalls, bits

NEVER = 1 << 30
_BACK = [list(MOVES).index(move) for move in ("down", "up", "right", "left")]
"""The opposite of each direction, in the order of `MOVES`."""


class PullTable(NamedTuple):
    """The least fuel to the goal; `NEVER` where there is no way.

    `fuel_SC` is by the set of cells with boxes, in the order of `sets_S`, and the cell of the player. Cells are numbered in the
    order of their bits in the room, and sets are sums of 1 << number. A set that no way to the goal has is left out.
    """

    room: SokobanWalls
    numbers: dict[int, int]
    sets_S: NDArray[np.int64]
    fuel_SC: NDArray[np.int32]

    def fuel(self, boxes: int, at: int) -> int:
        """Return the least fuel to the goal with these boxes, as bits of the room, and the player there."""
        wanted = sum([1 << self.numbers[box] for box in bits(boxes)])
        place = int(np.searchsorted(self.sets_S, wanted))
        if place == len(self.sets_S) or self.sets_S[place] != wanted:
            return NEVER
        return int(self.fuel_SC[place, self.numbers[at]])

    def farthest(self) -> SokobanState | None:
        """Return the state whose best way to the goal takes the most fuel; None if there is only the goal."""
        reached_SC = np.where(self.fuel_SC < NEVER, self.fuel_SC, -1)
        cells = list(self.numbers)
        place, number = divmod(int(reached_SC.argmax()), len(cells))
        if reached_SC[place, number] <= 0:
            return None
        boxes = sum(1 << cells[n] for n in bits(int(self.sets_S[place])))
        return SokobanState(self.room, boxes, cells[number])

    def moves_from(self, start: SokobanState, rules: HouseRules) -> tuple[str, ...]:
        """Return the moves of a way to the goal that takes the least fuel. There has to be one."""
        boxes, at, left = start.boxes, start.at, self.fuel(start.boxes, start.at)
        moves: list[str] = []
        while left:
            for move in MOVES:
                step = self.room.step(move)
                ahead, after = at + step, boxes
                if not self.room.floor >> ahead & 1:
                    continue
                labels: tuple[str, ...] = (move,)
                if boxes >> ahead & 1:
                    labels = (move, "push", f"push {move}")
                    if not (self.room.floor & ~boxes) >> ahead + step & 1:
                        continue
                    after ^= 1 << ahead | 1 << ahead + step
                cost = rules.cost(labels)
                if rules.allows((), labels) and self.fuel(after, ahead) == left - cost:
                    moves.append(move)
                    boxes, at, left = after, ahead, left - cost
                    break
        return tuple(moves)


def find_pull_table(room: SokobanWalls, rules: HouseRules) -> PullTable:
    """Return the table of a room with as many boxes as goals, under rules of what moves and pushes cost and which are forbidden."""
    cells = list(bits(room.floor))
    numbers = {cell: number for number, cell in enumerate(cells)}
    n_cells = len(cells)
    # Neighbours by direction; `n_cells` stands for a wall.
    next_MC = np.array(
        [[numbers.get(cell + room.step(move), n_cells) for cell in cells] for move in MOVES],
        dtype=np.int32,
    )
    costs = [(rules.cost((m,)), rules.cost((m, "push", f"push {m}"))) for m in MOVES]
    may_push = [rules.allows((), (move, "push", f"push {move}")) for move in MOVES]
    goals = [numbers[goal] for goal in bits(room.goals)]
    places = sorted(_pulled_to(goals, next_MC, may_push))
    sets_S = np.sort((1 << np.array(list(combinations(places, len(goals))), dtype=np.int64)).sum(1))
    bit_C = 1 << np.arange(n_cells + 1)
    is_box_SC = (sets_S[:, None] & bit_C) != 0
    is_box_SC[:, n_cells] = True  # a wall is no place to walk to
    size = len(sets_S) * n_cells
    before: list[tuple[int, NDArray[np.int32]]] = []
    rows_S1 = np.arange(0, size, n_cells, dtype=np.int32)[:, None]
    for m, back in enumerate(_BACK):
        behind_C, ahead_C = next_MC[back], next_MC[m]
        is_free_SC = ~is_box_SC[:, :n_cells] & ~is_box_SC[:, behind_C]
        before.append(
            (costs[m][0], np.where(is_free_SC, rows_S1 + behind_C, np.int32(size)).ravel())
        )
        if may_push[m]:
            pulls = np.full(size, size, dtype=np.int32)
            row, at = np.nonzero(is_free_SC & is_box_SC[:, ahead_C] & (ahead_C < n_cells))
            pulled = sets_S[row] ^ (bit_C[ahead_C[at]] | bit_C[at])
            to = np.minimum(np.searchsorted(sets_S, pulled), len(sets_S) - 1)
            is_known = sets_S[to] == pulled
            row, at, to = row[is_known], at[is_known], to[is_known]
            pulls[row * n_cells + at] = to * n_cells + behind_C[at]
            before.append((costs[m][1], pulls))
    solved = int(np.searchsorted(sets_S, sum(1 << goal for goal in goals)))
    ends = solved * n_cells + np.flatnonzero(~is_box_SC[solved, :n_cells])
    fuel = _least(size, ends, before)
    return PullTable(room, numbers, sets_S, fuel.reshape(-1, n_cells))


def _least(
    size: int, ends: NDArray[np.int64], before: list[tuple[int, NDArray[np.int32]]]
) -> NDArray[np.int32]:
    """Return the least fuel from each state to one of `ends`; `before` has costs, and the state before each (`size`: none)."""
    fuel = np.full(size + 1, NEVER, dtype=np.int32)
    fuel[size] = -1
    fuel[ends] = 0
    by_fuel, spent = {0: [ends]}, 0
    while by_fuel:
        if waiting := by_fuel.pop(spent, None):
            now = np.concatenate(waiting)
            now = now[fuel[now] == spent]
            for cost, states in before:
                found = states[now]
                found = found[fuel[found] > spent + cost]
                if len(found):
                    fuel[found] = spent + cost
                    by_fuel.setdefault(spent + cost, []).append(found)
        spent += 1
    return fuel[:size]


def _pulled_to(goals: list[int], next_MC: NDArray[np.int32], may_push: list[bool]) -> set[int]:
    """Return the cells to which a box alone can be pulled from a goal."""
    wall, found, waiting = next_MC.shape[1], set(goals), list(goals)
    while waiting:
        cell = waiting.pop()
        for m, back in enumerate(_BACK):
            to = int(next_MC[back, cell])
            if may_push[m] and to != wall and to not in found and next_MC[back, to] != wall:
                found.add(to)
                waiting.append(to)
    return found
