"""Nim against an opponent that plays at random, greedily or perfectly."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from verigym.canonical import JSON
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.verifiers.games.duels import Match, nim_move
from verigym.verifiers.games.rules import RULES

# Opponent, heaps, and how large they are at most.
LEVELS = {"easy": ("random", 3, 5), "medium": ("greedy", 3, 7), "hard": ("perfect", 4, 9)}

_PROMPT = """\
Nim. There are {count} heaps; whoever takes the last thing wins. You and your opponent take turns, each \
taking one or more things from one heap. It is your turn.
Answer with the heap, counted from 1, and how many you take, such as 2 3."""


class Nim(ReplayedGame):
    """The environment. An action is `heap many`. Every start can be won."""

    id: ClassVar[str] = "verigym/games/nim-v0"
    game: ClassVar[str] = "nim"
    difficulties: ClassVar[tuple[str, ...]] = tuple(LEVELS)
    recoverable: ClassVar[bool] = False
    chance: ClassVar[float] = 0.65  # random play wins half of the games against a random opponent

    def draw(self, rng: np.random.Generator, difficulty: str) -> tuple[str, dict[str, Any]]:
        """See `ReplayedGame`. Drawn until the nim-sum is not 0."""
        opponent, count, largest = LEVELS[difficulty]
        while True:
            heaps = [int(n) for n in rng.integers(1, largest + 1, count)]
            if nim_move(tuple(heaps)) is not None:
                reference = {
                    "heaps": heaps,
                    "opponent": opponent,
                    "seed": int(rng.integers(1 << 31)),
                    "turns": sum(heaps),
                }
                return _PROMPT.format(count=count), reference

    def show(self, board: Match) -> str:
        """See `ReplayedGame`."""
        return "\n".join(f"heap {i}: {n}" for i, n in enumerate(board.board, 1))

    def position(self, board: Match) -> JSON:
        """See `ReplayedGame`."""
        return [*map(int, board.board), board.last]

    def moves(self, board: Match) -> list[str]:
        """See `ReplayedGame`."""
        return [
            f"{heap} {many}"
            for heap, n in enumerate(map(int, board.board), 1)
            for many in range(1, n + 1)
        ]

    def lost(self, board: Match) -> bool:
        """See `ReplayedGame`."""
        return board.last == "opponent"

    def best(self, board: Match) -> str | None:
        """See `ReplayedGame`. By the nim-sum; where that is 0, by the replies as they will come."""
        move = nim_move(tuple(map(int, board.board))) or _trap(board)
        return f"{move[0] + 1} {move[1]}" if move else None

    def work(self, state: Play) -> int:
        """Grows with the opponent's strength and the heaps."""
        board: Match = state.board
        strength = {"random": 1, "greedy": 3, "perfect": 6}[board.strength]
        return strength * len(board.board)


@lru_cache(maxsize=4096)
def _trap(board: Match) -> tuple[int, int] | None:
    """A move to which the opponent's reply is a mistake."""
    rules = RULES["nim"]
    for heap, n in enumerate(map(int, board.board)):
        for many in range(1, n + 1):
            after = rules.apply(board, (heap, many))
            heaps = tuple(map(int, after.board))
            if rules.won(after) or (not rules.lost(after) and nim_move(heaps) is not None):  # type: ignore[attr-defined]
                return heap, many
    return None
