"""Shortest ways through the states of a game, breadth first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

State = TypeVar("State", bound=Hashable)


def shortest(
    start: State,
    moves: Callable[[State], Iterable[tuple[str, State]]],
    won: Callable[[State], bool],
    most: int = 200_000,
) -> list[str] | None:
    """Return the moves of a shortest way from `start` to a won state; None if there is none.

    Gives up, with None, after meeting `most` states.
    """
    came: dict[State, tuple[State, str] | None] = {start: None}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if won(state):
            path = []
            step = came[state]
            while step is not None:
                path.append(step[1])
                step = came[step[0]]
            return path[::-1]
        if len(came) > most:
            return None
        for move, after in moves(state):
            if after not in came:
                came[after] = (state, move)
                queue.append(after)
    return None


def count_tried(
    start: State,
    moves: Callable[[State], Iterable[tuple[str, State]]],
    won: Callable[[State], bool],
) -> int:
    """Search as `shortest` does, and count the moves that are tried."""
    operations, seen, queue = 0, {start}, deque([start])
    while queue:
        state = queue.popleft()
        if won(state):
            break
        for _, after in moves(state):
            operations += 1
            if after not in seen:
                seen.add(after)
                queue.append(after)
    return operations
