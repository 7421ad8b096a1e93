"""`PlannedGame`: the base class of games that are played under house rules at high levels, with little fuel to spare.

The oracle searches for a way that takes the least fuel (A*, Hart et al. 1968); the fuel of a task is a small
multiple of it. What is drawn differs from task to task, so that no strategy learnt by heart fits.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar

from msgspec import Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import NOT_SOLVED, SOLVED, Play, ReplayedGame
from verigym.errors import RequestError
from verigym.verifiers.games.house_rules import HouseRules, Ruled

MOST_KNOWN = 20_000
"""Boards whose next move is remembered."""


class Way(Struct, frozen=True, gc=False):
    """Moves to make one after the other, the board they lead to, and their cost and the labels of the last one."""

    moves: tuple[str, ...]
    after: Hashable
    cost: int
    labels: tuple[str, ...]


class FuelPlan(Struct, frozen=True):
    """A way to the goal that takes the least fuel, and the number of moves that were tried to find it."""

    moves: tuple[str, ...]
    fuel: int
    tried: int


Ways = Callable[[Any, tuple[str, ...]], Iterable[Way]]


def plan(
    start: Hashable,
    last: tuple[str, ...],
    fuel: int,
    ways: Ways,
    bound: Callable[[Any], int | None],
    most: int = 1 << 30,
) -> FuelPlan | None:
    """Return the plan from `start` with the least fuel; None if there is none within `fuel`, or `most` moves were
    tried.

    `ways` gives what can be done on a board after a move with the labels `last`; `bound` a number that the fuel
    to the goal is never below, 0 at the goal alone, None where the goal is out of reach.
    """
    first = bound(start)
    if first is None or first > fuel:
        return None
    nodes: list[tuple[Any, tuple[str, ...], int, tuple[str, ...]]] = [(start, last, -1, ())]
    best, tried = {(start, last): 0}, 0
    heap = [(first, first, 0)]
    while heap:
        at_least, left, number = heapq.heappop(heap)
        board, last, _, _ = nodes[number]
        spent = at_least - left
        if spent > best[board, last]:
            continue
        if not left:
            return FuelPlan(_moves(nodes, number), spent, tried)
        if tried > most:
            return None
        for way in ways(board, last):
            tried += 1
            cost, key = spent + way.cost, (way.after, way.labels)
            if cost >= best.get(key, 1 << 60):
                continue
            left_after = bound(way.after)
            if left_after is None or cost + left_after > fuel:
                continue
            best[key] = cost
            nodes.append((way.after, way.labels, number, way.moves))
            heapq.heappush(heap, (cost + left_after, left_after, len(nodes) - 1))
    return None


def _moves(
    nodes: list[tuple[Any, tuple[str, ...], int, tuple[str, ...]]], number: int
) -> tuple[str, ...]:
    parts = []
    while number > 0:
        parts.append(nodes[number][3])
        number = nodes[number][2]
    return tuple(move for part in reversed(parts) for move in part)


def say(rules: HouseRules, fuel: int) -> str:
    """Return house rules in words."""
    lines = ["Every move takes 1 unit of fuel."]
    if rules.extra:
        extra = "".join(f", plus {more} for {_said(label)}" for label, more in rules.extra)
        lines = [f"Every move takes 1 unit of fuel{extra}; all that apply add up."]
    lines.append(
        f"You have {fuel} units, all of which you may use. A move that takes more than is left is not allowed; if no move is allowed "
        "any more, you have lost."
    )
    if rules.forbidden:
        lines.append(f"Forbidden: {', '.join(sorted(rules.forbidden))}.")
    if rules.not_after:
        pairs = "; ".join(f"{one}, then {other}" for one, other in sorted(rules.not_after))
        lines.append(
            f"Forbidden one directly after the other, in this order: {pairs}; a move that was refused does not count."
        )
    lines.append(
        "A move that is not allowed changes nothing and takes no fuel, but uses up a turn."
    )
    return " ".join(lines)


def _said(label: str) -> str:
    """Return a label in words."""
    if label in ("up", "down", "left", "right") or "->" in label:
        return f"a move {label}"
    return f"a {label}" if label.startswith("push") else label


def written(rules: HouseRules, fuel: int) -> dict[str, Any]:
    """Return house rules as a reference holds them."""
    return {
        "forbidden": sorted(rules.forbidden),
        "not_after": [list(pair) for pair in sorted(rules.not_after)],
        "extra": dict(rules.extra),
        "fuel": fuel,
    }


class PlannedGame(ReplayedGame):
    """Base class of games with house rules: an author adds `plan_on`, and draws `house_rules` at some levels.

    Boards without house rules are those of the plain game. Under house rules a state tells the fuel that is
    left; the game is lost if no move can be made.
    """

    recoverable: ClassVar[bool] = False  # fuel is short

    @abstractmethod
    def plan_on(
        self, board: Any, rules: HouseRules, fuel: int, last: tuple[str, ...]
    ) -> FuelPlan | None:
        """Return a plan with the least fuel from a plain board; None if there is none within `fuel`."""

    @override
    def observe(self, state: Play) -> str:
        board = state.board
        if not isinstance(board, Ruled):
            return super().observe(state)
        lines = [self.show(board.board), f"Fuel left: {board.fuel}."]
        if board.last and board.rules.not_after:
            lines.append(f"Last move: {', '.join(board.last)}.")
        if self.rules.won(board):
            lines.append(SOLVED)
        elif self.lost(board):
            lines.append(NOT_SOLVED)
        return "\n".join(lines)

    @override
    def lost(self, board: Any) -> bool:
        if not isinstance(board, Ruled) or self.rules.won(board):
            return False
        return not any(self._can(board, move) for move in self.moves(board.board) or ())

    @override
    def key(self, state: Play) -> JSON:
        board = state.board
        if not isinstance(board, Ruled):
            return super().key(state)
        last = list(board.last) if board.rules.not_after else []
        return [self.position(board.board), board.fuel, last]

    @override
    def legal_actions(self, state: Play) -> list[str] | None:
        board = state.board
        if not isinstance(board, Ruled):
            return super().legal_actions(state)
        return [move for move in self.moves(board.board) or () if self._can(board, move)]

    @override
    def work(self, state: Play) -> int:
        board = state.board
        if not isinstance(board, Ruled):
            return super().work(state)
        if state.moves:
            return 1
        found = self.plan_on(board.board, board.rules, board.fuel, board.last)
        return found.tried if found else 1

    @override
    def solve(self, state: Play) -> str:
        board = state.board
        if not isinstance(board, Ruled):
            return super().solve(state)
        if board not in _KNOWN:
            self._learn(board)
        if (move := _KNOWN[board]) is None:
            raise RequestError("the goal cannot be reached with the fuel that is left")
        return move

    def _learn(self, board: Ruled) -> None:
        """Remember the next move for all boards on the plan."""
        if len(_KNOWN) > MOST_KNOWN:
            _KNOWN.clear()
        found = None
        if not self.rules.won(board):
            found = self.plan_on(board.board, board.rules, board.fuel, board.last)
        if found is None:
            _KNOWN[board] = None
            return
        for move in found.moves:
            _KNOWN[board] = move
            board = self.rules.apply(board, self.rules.read(move))

    def _can(self, board: Ruled, move: str) -> bool:
        return self.rules.legal(board, self.rules.read(move))


_KNOWN: dict[Ruled, str | None] = {}
