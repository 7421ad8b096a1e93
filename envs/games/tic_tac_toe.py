"""Tic-tac-toe against an opponent that plays at random, greedily or perfectly."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.line_starts import (
    LineLevel,
    count_search,
    draw_lines,
    say_rules,
    show_lines,
)
from verigym.envs.games.self_play import Duel
from verigym.verifiers.games.drawn_lines import LineState, iter_good_moves, moves_of
from verigym.verifiers.games.duels import DuelState, best_places, line_of
from verigym.verifiers.games.rules import RULES

# Turning and mirroring: the cell that comes into each place. Together they make the eight symmetries.
_TURN, _MIRROR = (6, 3, 0, 7, 4, 1, 8, 5, 2), (2, 1, 0, 5, 4, 3, 8, 7, 6)

# Opponent and goal. At odd levels four moves have been made, else three or four.
LEVELS = {
    1: ("random", "win"),
    2: ("random", "win"),
    3: ("greedy", "win"),
    4: ("greedy", "win"),
    5: ("perfect", "draw"),
    6: ("perfect", "draw"),
}
# From level 7 on: games whose rules are drawn, one of these kinds each.
LINES = {
    7: (
        LineLevel(("misere",), (4, 4), 10, 1, 3, range(1_000, 4_000), 2),
        LineLevel(("falls", "wild"), (4, 4), 10, 2, 4, range(1_000, 4_000), 2),
    ),
    8: (
        LineLevel(("misere",), (4, 5), 11, 1, 3, range(2_500, 8_000), 2),
        LineLevel(("joined", "wild"), (4, 4), 10, 2, 4, range(2_500, 8_000), 2),
    ),
    9: (
        LineLevel(("misere",), (4, 5), 11, 1, 3, range(5_000, 16_000), 3),
        LineLevel(("falls", "wild"), (4, 5), 13, 2, 4, range(5_000, 16_000), 3),
    ),
    10: (
        LineLevel(("joined", "misere"), (4, 5), 12, 1, 3, range(9_000, 40_000), 3),
        LineLevel(("falls", "wild"), (4, 5), 13, 2, 4, range(9_000, 40_000), 3),
    ),
}
# Moves that a player looks ahead: to take a win and stop a loss, to make two threats at once, to the end.
_AHEAD = {"random": 2, "greedy": 3, "perfect": 9}

_PROMPT = """\
Tic-tac-toe: three in a row, a column or a diagonal win. You play X; your opponent plays O and answers each move. \
Some moves have been made. {goal}
Cells are numbered 1 to 9, row by row. Answer with the number of an empty cell."""
_PROMPT_SIDES = """\
Tic-tac-toe: three in a row, a column or a diagonal win. Two players, X and O, take turns. Some moves have been \
made. Win or hold a draw.
Cells are numbered 1 to 9, row by row. Answer with the number of an empty cell. Any other answer loses the game."""


class TicTacToe(Duel):
    """The environment. An action is a cell, 1 to 9.

    Against `random` and `greedy` the goal is to win, against `perfect` not to lose. The start is a position
    after three or four moves, in which X cannot win at once. It decides the split, whichever way it
    is turned or mirrored; as no move leads from one start to another, no split meets those of another.
    From level 7 on boards are larger, and it is drawn what counts as a line, if completing one wins or loses, and
    who places which sign; on several turns one move alone keeps the win or the draw.
    """

    id: ClassVar[str] = "verigym/games/tic-tac-toe-v0"
    game: ClassVar[str] = "tic-tac-toe"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False
    names: ClassVar[tuple[str, str]] = ("X", "O")
    chance: ClassVar[float] = 0.6  # random play often beats a random opponent

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw until there is a way to the goal against this opponent."""
        if level in LINES:
            rules, reference = draw_lines(rng, LINES[level], self.wants)
            prompt = say_rules(rules, reference["goal"], reference["turns"])
            return prompt, {**reference, "opponent": "perfect"}
        opponent, goal = LEVELS[level]
        while True:
            board = _some_moves(rng, 4 if level % 2 else 3 + int(rng.integers(2)), "OX")
            if not self.wants(essence := _same(board)) or _wins_at_once(board):
                continue
            reference = {
                "board": board,
                "opponent": opponent,
                "seed": int(rng.integers(1 << 31)),
                "goal": goal,
                "turns": 4,
                "essence": essence,
            }
            if _way(RULES["tic-tac-toe"].start(reference)) is not None:
                return _PROMPT.format(
                    goal="Win." if goal == "win" else "Win or hold a draw."
                ), reference

    @override
    def draw_sides(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Each side has made two moves, at random, so that games differ."""
        board = _some_moves(rng, 4, "XO")
        return _PROMPT_SIDES, {"board": board, "turns": 5, "essence": _same(board)}

    @override
    def show(self, board: DuelState | LineState) -> str:
        if isinstance(board, LineState):
            return show_lines(board)
        return _shown(str(board.board))

    @override
    def show_sides(self, board: Any, side: int) -> str:
        return _shown(board)

    @override
    def position_of_sides(self, board: Any) -> JSON:
        position: JSON = board
        return position

    @override
    def strong(self, board: Any, side: int) -> str:
        """Return the best move by searching all continuations."""
        return str(best_places(board, "XO"[side])[0] + 1)

    @override
    def position(self, board: DuelState | LineState) -> JSON:
        if isinstance(board, LineState):
            return show_lines(board)
        return str(board.board)

    @override
    def moves(self, board: DuelState | LineState) -> list[str]:
        if isinstance(board, LineState):
            return [f"{sign}{cell + 1}" for cell, sign in moves_of(board)]
        if line_of(str(board.board)):
            return []
        return [str(i + 1) for i, sign in enumerate(str(board.board)) if sign == "."]

    @override
    def lost(self, board: DuelState | LineState) -> bool:
        return RULES["tic-tac-toe"].lost(board)  # type: ignore[attr-defined,no-any-return]

    @override
    def best(self, board: DuelState | LineState) -> str | None:
        """It knows the opponent's replies; where rules are drawn, it keeps the goal whatever they are."""
        if isinstance(board, LineState):
            good = next(iter_good_moves(board), None)
            return f"{good[1]}{good[0] + 1}" if good else None
        found = _way(board)
        return str(found + 1) if found is not None else None

    @override
    def effort(self, board: DuelState | LineState) -> int:
        """Count the moves that a search of depth `look_ahead` tries; the depth depends on the opponent. Where rules are
        drawn, it searches to the end."""
        if isinstance(board, LineState):
            return count_search(board)
        return look_ahead(str(board.board), _AHEAD[board.strength])[1]


def look_ahead(board: str, moves: int) -> tuple[dict[int, int], int]:
    """Return the value of each of X's moves, and the moves that were tried: 1 wins within `moves`, -1 loses."""
    operations = 0

    def tried(cells: str, place: int, sign: str, left: int) -> int:
        nonlocal operations
        operations += 1
        after = f"{cells[:place]}{sign}{cells[place + 1 :]}"
        if line_of(after):
            return 1
        if "." not in after or left == 1:
            return 0
        other = "XO"[sign == "X"]
        return -max(tried(after, i, other, left - 1) for i, cell in enumerate(after) if cell == ".")

    return {
        i: tried(board, i, "X", moves) for i, cell in enumerate(board) if cell == "."
    }, operations


def _shown(cells: str) -> str:
    return "\n".join(" ".join(cells[i : i + 3]) for i in (0, 3, 6))


def _some_moves(rng: np.random.Generator, count: int, signs: str) -> str:
    cells = ["."] * 9
    for number, place in enumerate(rng.permutation(9)[:count].tolist()):
        cells[place] = signs[number % 2]
    return "".join(cells)


@lru_cache(maxsize=10_000)
def _same(board: str) -> str:
    """The board, the same whichever way it is turned or mirrored."""
    seen = []
    for _ in range(4):
        board = "".join(board[i] for i in _TURN)
        seen += [board, "".join(board[i] for i in _MIRROR)]
    return min(seen)


def _wins_at_once(board: str) -> bool:
    return any(line_of(f"{board[:i]}X{board[i + 1 :]}") == "X" for i in range(9) if board[i] == ".")


def _way(board: DuelState) -> int | None:
    """A move after which the goal can be reached, against the replies as they will come."""
    rules = RULES["tic-tac-toe"]
    for place, sign in enumerate(str(board.board)):
        if sign == "." and rules.legal(board, place):
            after = rules.apply(board, place)
            if rules.won(after) or _way(after) is not None:
                return place
    return None
