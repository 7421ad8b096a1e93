"""Nim against an opponent that plays at random, greedily or perfectly."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.self_play import Duel
from verigym.verifiers.games.duels import DuelState, nim_move
from verigym.verifiers.games.rules import RULES

# Opponent, heaps, and things in all heaps together: an odd number, so that the nim-sum is not 0.
LEVELS = {
    1: ("random", 2, 17),
    2: ("random", 3, 25),
    3: ("greedy", 3, 37),
    4: ("greedy", 4, 25),
    5: ("perfect", 4, 27),
    6: ("perfect", 5, 25),
    7: ("perfect", 6, 35),
    8: ("perfect", 6, 79),
    9: ("perfect", 7, 91),
    10: ("perfect", 8, 121),
}
_LARGEST = 9  # heap, with both sides played

_PROMPT = """\
Nim with {count} heaps of objects. You and your opponent take turns; each takes one or more objects from one \
heap. Whoever takes the last object wins. It is your turn.
Answer with the number of a heap and how many objects you take, such as 2 3."""
_PROMPT_SIDES = """\
Nim with {count} heaps of objects. Two players take turns; each takes one or more objects from one heap. \
Whoever takes the last object wins.
Answer with the number of a heap and how many objects you take, such as 2 3. Any other answer loses the game."""


class Nim(Duel):
    """The environment. An action is `heap many`. Every start can be won.

    The heaps decide the split, in whatever order. Against an opponent all starts of a level hold equally many
    things, so that no move leads from one to another, and no split meets the starts of another.
    """

    id: ClassVar[str] = "verigym/games/nim-v0"
    game: ClassVar[str] = "nim"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False
    chance: ClassVar[float] = 0.65  # random play wins half of the games against a random opponent

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        opponent, count, things = LEVELS[level]
        while True:
            cuts = sorted((rng.choice(things - 1, count - 1, replace=False) + 1).tolist())
            heaps = [after - before for before, after in pairwise([0, *cuts, things])]
            if self.wants(essence := sorted(heaps)):
                break
        reference = {
            "heaps": heaps,
            "opponent": opponent,
            "seed": int(rng.integers(1 << 31)),
            "turns": things,
            "essence": essence,
        }
        return _PROMPT.format(count=count), reference

    @override
    def draw_sides(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Either side may have the won position."""
        _, count, _ = LEVELS[level]
        heaps = [int(n) for n in rng.integers(1, _LARGEST + 1, count)]
        reference = {"heaps": heaps, "turns": sum(heaps), "essence": sorted(heaps)}
        return _PROMPT_SIDES.format(count=count), reference

    @override
    def show(self, board: DuelState) -> str:
        return _shown(tuple(map(int, board.board)))

    @override
    def show_sides(self, board: Any, side: int) -> str:
        return _shown(board[0])

    @override
    def position_of_sides(self, board: Any) -> JSON:
        position: JSON = board
        return position

    @override
    def strong(self, board: Any, side: int) -> str:
        """Return the move by the nim-sum, else take one object of the largest heap."""
        heaps = board[0]
        heap, many = nim_move(heaps) or (heaps.index(max(heaps)), 1)
        return f"{heap + 1} {many}"

    @override
    def position(self, board: DuelState) -> JSON:
        return [*map(int, board.board), board.last]

    @override
    def moves(self, board: DuelState) -> list[str]:
        return [
            f"{heap} {many}"
            for heap, n in enumerate(map(int, board.board), 1)
            for many in range(1, n + 1)
        ]

    @override
    def lost(self, board: DuelState) -> bool:
        return board.last == "opponent"

    @override
    def best(self, board: DuelState) -> str | None:
        """Return the move by the nim-sum; if that is 0, by the opponent's actual replies."""
        move = nim_move(tuple(map(int, board.board))) or _trap(board)
        return f"{move[0] + 1} {move[1]}" if move else None

    @override
    def effort(self, board: DuelState) -> int:
        """Count the steps of finding all good moves on paper (`find_moves`)."""
        return find_moves(tuple(map(int, board.board)))[1]


def find_moves(heaps: tuple[int, ...]) -> tuple[list[tuple[int, int]], int]:
    """Return every move that leaves a nim-sum of 0, and the operations that it takes.

    A heap has to become the nim-sum of all others: their binary digits are added column by column, and the sum
    is compared with the heap. Each digit that is added and each comparison is one operation.
    """
    operations, moves = 0, []
    for heap, n in enumerate(heaps):
        operations += 1
        if not n:
            continue
        others = [m for other, m in enumerate(heaps) if m and other != heap]
        nim_sum, digit = 0, 1
        while digit <= max(heaps):
            for m in others:
                operations += 1
                nim_sum ^= m & digit
            digit <<= 1
        operations += 1
        if nim_sum < n:
            moves.append((heap, n - nim_sum))
    return moves, operations


def _shown(heaps: tuple[int, ...]) -> str:
    return "\n".join(f"heap {i}: {n}" for i, n in enumerate(heaps, 1))


@lru_cache(maxsize=4096)
def _trap(board: DuelState) -> tuple[int, int] | None:
    """A move to which the opponent's reply is a mistake."""
    rules = RULES["nim"]
    for heap, n in enumerate(map(int, board.board)):
        for many in range(1, n + 1):
            after = rules.apply(board, (heap, many))
            heaps = tuple(map(int, after.board))
            if rules.won(after) or (not rules.lost(after) and nim_move(heaps) is not None):  # type: ignore[attr-defined]
                return heap, many
    return None
