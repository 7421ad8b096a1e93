"""Connect four from positions that are won, against an opponent of graded strength."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.late_wins import LateWin, count_search, essence_of, late_win
from verigym.envs.games.self_play import Duel
from verigym.verifiers.games.connect_four import FAR, pair, reply, winning_cell, wins_in
from verigym.verifiers.games.connect_four_boards import (
    bits,
    completing,
    four,
    open_cells,
    rows_of,
    safe_cells,
)
from verigym.verifiers.games.connect_four_values import best_cells
from verigym.verifiers.games.duels import DuelState
from verigym.verifiers.games.rules import RULES

# Opponent, in how many moves the win can be forced, moves to spare, and the fewest signs on the board: a fuller one has
# fewer cells to think of.
LEVELS = {
    1: ("random", 2, 2, 24),
    2: ("greedy", 2, 0, 10),
    3: ("greedy", 3, 1, 22),
    4: ("greedy", 3, 0, 10),
    5: ("search", 4, 1, 22),
    6: ("search", 4, 0, 10),
}
# From level 7 on the opponent plays perfectly.
LATE = {
    7: LateWin(empty=14, moves=5, narrow=1, tries=150, spare=1),
    8: LateWin(empty=16, moves=6, narrow=1, tries=200, spare=0),
    9: LateWin(empty=18, moves=8, narrow=2, tries=300, spare=0),
    10: LateWin(empty=18, moves=9, narrow=3, tries=800, spare=0),
}

_BOARD = """\
Connect four on a board of 7 columns and 6 rows. A piece falls to the lowest empty cell of its column; four \
pieces of one player in a row, a column or a diagonal win."""
_PROMPT = """\
{board} You play X; your opponent plays O and answers each move. Win within {turns} moves.
Answer with the number of a column, 1 to 7."""
_PROMPT_SIDES = """\
{board} Two players, X and O, take turns. Win the game; a full board is a draw.
Answer with the number of a column, 1 to 7. Any other answer loses the game."""


class ConnectFour(Duel):
    """The environment. An action is a column, 1 to 7.

    The start is a position in the midst of a game in which X can force the win in the moves that are
    given, whatever the opponent plays, and not in fewer. Up to level 6 threats alone force it. From level 7 on
    the board is half full and a full search finds it: on several turns one move alone keeps the win.
    """

    id: ClassVar[str] = "verigym/games/connect-four-v0"
    game: ClassVar[str] = "connect-four"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    names: ClassVar[tuple[str, str]] = ("X", "O")
    recoverable: ClassVar[bool] = False

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Play games of random but not careless moves, until a position fits."""
        if level in LATE:
            late = LATE[level]
            opponent, turns = "perfect", late.moves + late.spare
            board = late_win(rng, late, self.wants)
        else:
            opponent, moves, spare, least = LEVELS[level]
            turns = moves + spare
            board = _won_position(rng, moves, least)
        reference = {
            "rows": rows_of(board),
            "opponent": opponent,
            "seed": int(rng.integers(1 << 31)),
            "max_moves": turns,
            "turns": turns,
            "essence": essence_of(board),  # its mirror image is the same
        }
        return _PROMPT.format(board=_BOARD, turns=turns), reference

    @override
    def draw_sides(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """A few moves of each side have been made, at random; no line of three is open."""
        while True:
            me = you = 0
            for draw in rng.integers(1 << 30, size=2 * int(rng.integers(1, 5))).tolist():
                cells = bits(open_cells(me | you))
                me, you = you, me | cells[draw % len(cells)]
            both = me | you
            if not (completing(me, both) or completing(you, both) or four(me) or four(you)):
                reference = {"rows": rows_of((me, you)), "turns": 42 - both.bit_count()}
                return _PROMPT_SIDES.format(board=_BOARD), reference

    @override
    def show(self, board: DuelState) -> str:
        return _drawn(pair(board))

    @override
    def show_sides(self, board: Any, side: int) -> str:
        return _drawn(board)

    @override
    def position(self, board: DuelState) -> JSON:
        return rows_of(pair(board))

    @override
    def position_of_sides(self, board: Any) -> JSON:
        return rows_of(board)

    @override
    def moves(self, board: DuelState) -> list[str]:
        rules = RULES[self.game]
        return [str(column + 1) for column in range(7) if rules.legal(board, column)]

    @override
    def lost(self, board: DuelState) -> bool:
        return RULES[self.game].lost(board)  # type: ignore[attr-defined,no-any-return]

    @override
    def best(self, board: DuelState) -> str | None:
        """Return the shortest win that can be forced."""
        if board.strength == "perfect":
            value, cells = best_cells(*pair(board))
            return _column(bits(cells)[0]) if value > 0 else None
        cell = winning_cell(*pair(board), FAR)
        return _column(cell) if cell else None

    @override
    def strong(self, board: Any, side: int) -> str:
        """Return the move of the `search` opponent."""
        return _column(reply(board[side], board[1 - side], "search", 0))

    @override
    def effort(self, board: DuelState) -> int:
        """Count the cells that are looked at, and the moves that are tried, until a win is found that threats
        force; deeper step by step. Against perfect play count the moves that a full search tries."""
        me, you = pair(board)
        if board.strength == "perfect":
            return max(1, count_search(me, you))
        operations = 0

        def forced(me: int, you: int, moves: int) -> bool:
            nonlocal operations
            for cell in bits(open_cells(me | you)):
                operations += 1
                if completing(me, me | you) & cell:
                    return True
            for cell in bits(safe_cells(me, you)) if moves > 1 else ():
                operations += 1
                both = me | you | cell
                threats = completing(me | cell, both) & open_cells(both)
                several = threats & (threats - 1)
                if several or (threats and forced(me | cell, you | threats, moves - 1)):
                    return True
            return False

        for moves in range(1, FAR + 1):
            if forced(me, you, moves):
                break
        return operations


def _won_position(rng: np.random.Generator, moves: int, least: int) -> tuple[int, int]:
    """A position in which the side to move forces four in `moves` of its own, and not in fewer, with
    at least so many signs on the board."""
    while True:
        me = you = 0
        for ply, draw in enumerate(rng.integers(1 << 30, size=42).tolist()):
            both = me | you
            if completing(me, both) & open_cells(both):
                break
            if (
                ply >= least
                and _forcing(me, you, moves)
                and not wins_in(me, you, moves - 1)
                and not (moves == 2 and _by_one_column(me, you))
            ):
                return me, you
            cells = bits(safe_cells(me, you))
            if not cells:
                break
            me, you = you, me | cells[draw % len(cells)]


def _forcing(me: int, you: int, moves: int) -> bool:
    """Return True if `me` wins in `moves` by threats alone: cheap to check, and often so if there
    is a win."""
    for cell in bits(safe_cells(me, you)):
        mine = completing(me | cell, me | you | cell)
        threats = mine & open_cells(me | you | cell)
        if threats & (threats - 1) or threats << 1 & mine:
            return True
        if threats and moves > 2 and _forcing(me | cell, you | threats, moves - 1):
            return True
    return False


def _by_one_column(me: int, you: int) -> bool:
    """Return True if `me` forces four by moves in one column alone, which takes no thought."""
    both = me | you
    for cell in bits(open_cells(both)):
        mine = completing(me | cell, both | cell)
        if mine & cell << 1 and mine & cell << 2:
            return True
    return False


def _column(cell: int) -> str:
    return str((cell.bit_length() - 1) // 7 + 1)


def _drawn(board: tuple[int, int]) -> str:
    return "\n".join([*(" ".join(row) for row in rows_of(board)), "1 2 3 4 5 6 7"])
