"""Nim against an opponent that plays at random, greedily or perfectly."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.self_play import Duel
from verigym.envs.games.step_starts import StepGame, count_steps, draw_start, say_steps
from verigym.verifiers.games.duels import DuelState, nim_move, nim_moves, restricted_move
from verigym.verifiers.games.heap_steps import open_steps, winning_steps
from verigym.verifiers.games.rules import RULES

# Opponent, heaps, and things in all heaps together: an odd number, so that the nim-sum is not 0.
LEVELS = {
    1: ("random", 2, 17),
    2: ("random", 3, 25),
    3: ("greedy", 3, 37),
    4: ("greedy", 4, 25),
    5: ("perfect", 4, 27),
    6: ("perfect", 5, 25),
    7: ("perfect", 7, 55),
    8: ("perfect", 6, 79),
    9: ("perfect", 7, 91),
    10: ("perfect", 8, 121),
}
# At level 7: how many numbers may be taken from a heap, and if each heap has its own.
RULED = {7: (4, False)}
# From level 8 on: moves that take objects from several heaps at once.
STEPPED = {
    8: StepGame(count=2, heaps=(22, 28), steps=6, most=3, tries=500, narrow=2),
    9: StepGame(count=3, heaps=(17, 21), steps=7, most=4, tries=1500, narrow=2),
    10: StepGame(count=3, heaps=(27, 32), steps=8, most=4, tries=8000, narrow=4),
}
_LARGEST = 9  # heap, with both sides played

_PROMPT = """\
Nim with {count} heaps of objects. You and your opponent take turns; each takes one or more objects from one \
heap. Whoever takes the last object wins. It is your turn.
Answer with the number of a heap and how many objects you take, such as 2 3."""
_PROMPT_RULED = """\
Nim with {count} heaps of objects. You and your opponent take turns; each takes objects from one heap, and only as \
many as the rules of this game allow: {takes}. Whoever cannot move loses, even if objects are left. It is your turn.
Answer with the number of a heap and how many objects you take, such as 2 3."""
_PROMPT_STEPPED = """\
A game with {count} heaps of objects. You and your opponent take turns; a move takes objects from the heaps as one of \
these lines says, and can only be made if all of them are there:
{steps}
Whoever cannot move {end}, even if objects are left. Your opponent never makes a mistake. It is your turn, and you can win.
Answer with the number of a line, such as 2."""
_PROMPT_SIDES = """\
Nim with {count} heaps of objects. Two players take turns; each takes one or more objects from one heap. \
Whoever takes the last object wins.
Answer with the number of a heap and how many objects you take, such as 2 3. Any other answer loses the game."""


class Nim(Duel):
    """The environment. An action is `heap many`. Every start can be won.

    The heaps decide the split, in whatever order. Against an opponent all starts of a level hold equally many
    things, so that no move leads from one to another, and no split meets the starts of another. At level 7 it is drawn
    how many objects may be taken, so that no nim-sum of the heaps helps; from level 8 on moves take from several heaps at
    once, so that no theory of single heaps does, and it is drawn if whoever cannot move loses or wins.
    """

    id: ClassVar[str] = "verigym/games/nim-v0"
    game: ClassVar[str] = "nim"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False
    chance: ClassVar[float] = 0.65  # random play wins half of the games against a random opponent

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        if level in STEPPED:
            return _draw_stepped(rng, STEPPED[level])
        opponent, count, things = LEVELS[level]
        takes: list[list[int]] = []
        while True:
            if level in RULED:
                takes = _takes(rng, count, *RULED[level])
            cuts = sorted((rng.choice(things - 1, count - 1, replace=False) + 1).tolist())
            heaps = [after - before for before, after in pairwise([0, *cuts, things])]
            if not self.wants(essence := sorted(heaps)):
                continue
            if not takes or restricted_move(tuple(heaps), tuple(map(tuple, takes))):
                break
        reference = {
            "heaps": heaps,
            "opponent": opponent,
            "seed": int(rng.integers(1 << 31)),
            "turns": things,
            "essence": essence,
        }
        if not takes:
            return _PROMPT.format(count=count), reference
        prompt = _PROMPT_RULED.format(count=count, takes=_said(takes))
        return prompt, {**reference, "takes": takes}

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
        if board.steps:
            return [str(number + 1) for number in open_steps(_heaps(board), board.steps)]
        return [f"{heap + 1} {many}" for heap, many in nim_moves(_heaps(board), board.takes)]

    @override
    def lost(self, board: DuelState) -> bool:
        return bool(RULES["nim"].lost(board))  # type: ignore[attr-defined]

    @override
    def best(self, board: DuelState) -> str | None:
        """Return the move by the nim-sum; if that is 0, by the opponent's actual replies."""
        if board.steps:
            winning = winning_steps(_heaps(board), board.steps, board.misere)
            return str(winning[0] + 1) if winning else None
        move = _winning(_heaps(board), board.takes) or _trap(board)
        return f"{move[0] + 1} {move[1]}" if move else None

    @override
    def effort(self, board: DuelState) -> int:
        """Count the steps of finding all good moves on paper (`find_moves`)."""
        if board.steps:
            return count_steps(_heaps(board), board.steps, board.misere)
        if board.takes:
            return count_values(_heaps(board), board.takes)
        return find_moves(_heaps(board))[1]


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
    for move in nim_moves(_heaps(board), board.takes):
        after = rules.apply(board, move)
        if rules.won(after):
            return move
        if not rules.lost(after) and _winning(_heaps(after), after.takes):  # type: ignore[attr-defined]
            return move
    return None


def count_values(heaps: tuple[int, ...], takes: tuple[tuple[int, ...], ...]) -> int:
    """Count the steps of finding a good move: to look up the value after taking, and to compare sums of values."""
    operations, total, tables = 0, 0, []
    for n, some in zip(heaps, takes, strict=True):
        values: list[int] = []
        for size in range(n + 1):
            reached = set()
            for many in some:
                operations += 1
                if many <= size:
                    reached.add(values[size - many])
            value = 0
            while value in reached:
                value += 1
            values.append(value)
        tables.append(values)
        total ^= values[-1]
        operations += 1
    for heap, many in nim_moves(heaps, takes):
        operations += 1
        if tables[heap][heaps[heap] - many] == tables[heap][-1] ^ total:
            break
    return operations


def _heaps(board: DuelState) -> tuple[int, ...]:
    return tuple(map(int, board.board))


def _winning(heaps: tuple[int, ...], takes: tuple[tuple[int, ...], ...]) -> tuple[int, int] | None:
    return restricted_move(heaps, takes) if takes else nim_move(heaps)


def _draw_stepped(rng: np.random.Generator, game: StepGame) -> tuple[str, dict[str, Any]]:
    heaps, steps, misere = draw_start(rng, game)
    prompt = _PROMPT_STEPPED.format(
        count=game.count, steps=say_steps(steps), end="wins" if misere else "loses"
    )
    return prompt, {
        "heaps": list(heaps),
        "steps": [list(step) for step in steps],
        "misere": misere,
        "opponent": "perfect",
        "seed": int(rng.integers(1 << 31)),
        "turns": sum(heaps),
        "essence": [list(heaps), sorted(map(list, steps)), misere],
    }


def _takes(rng: np.random.Generator, count: int, size: int, own: bool) -> list[list[int]]:
    """Draw how many objects may be taken from each heap; 1 is seldom among the numbers."""
    drawn = [
        sorted((rng.choice(12, size, replace=False) + 1).tolist())
        for _ in range(count if own else 1)
    ]
    return drawn if own else drawn * count


def _said(takes: list[list[int]]) -> str:
    """The numbers in words."""
    said = [", ".join(map(str, some[:-1])) + f" or {some[-1]}" for some in takes]
    if len(set(said)) == 1:
        return f"{said[0]} from any heap"
    return "; ".join(f"{some} from heap {heap}" for heap, some in enumerate(said, 1))
