"""Games that two play, seen from both sides, so that a policy can play against itself.

A contest is a value, as rules are: boards are plain hashable values, side 0 moves first, and the sides
take turns. `judged` replays the moves of both. A move that is none or cannot be made forfeits the game:
so no side can hold the other up, and every turn belongs to whose it was.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verdict import Verdict, scored, unusable
from verigym.verifiers.games.connect_four import ConnectFourRules
from verigym.verifiers.games.connect_four_boards import board_of, four, open_cells
from verigym.verifiers.games.duels import NimRules, TicTacToeRules, heaps_of, line_of, taken
from verigym.verifiers.games.liars_dice import DiceContest

SELF = "self"
"""Value of a reference's `opponent` if both sides are played."""


class Contest(Protocol):
    """One game, from both sides."""

    def start(self, reference: Mapping[str, JSON]) -> Any:
        """Return the first board. Raises TaskError if the reference does not draw one."""

    def read(self, move: JSON) -> Hashable | None:
        """Return a policy's move in canonical form; None if it is not a move."""

    def moves(self, board: Any, side: int) -> Mapping[Any, str]:
        """Return the moves that `side` can make, in that form, and how they are written."""

    def play(self, board: Any, side: int, move: Any) -> Any:
        """Return the board after a move."""

    def outcome(self, board: Any) -> float | None:
        """Return 1 if side 0 has won, 1/2 for a draw, 0 if side 1 has won; None while the game
        goes on."""


@dataclass(frozen=True, slots=True)
class Sides:
    """A game under way: whose turn it is, and who has forfeited it."""

    board: Any
    turn: int = 0
    forfeited: int | None = None


def moved(contest: Contest, sides: Sides, written: JSON) -> Sides:
    """Apply a move, as the side to play wrote it; one that is illegal or unreadable forfeits the
    game."""
    move = contest.read(written)
    if move is None or move not in contest.moves(sides.board, sides.turn):
        return replace(sides, forfeited=sides.turn)
    return Sides(contest.play(sides.board, sides.turn, move), 1 - sides.turn)


def outcome(contest: Contest, sides: Sides) -> float | None:
    """Return `Contest.outcome`, forfeits included."""
    if sides.forfeited is not None:
        return float(sides.forfeited)
    return contest.outcome(sides.board)


def judged(contest: Contest, reference: Mapping[str, JSON], written: Sequence[JSON]) -> Verdict:
    """Return the score of side 0 after the moves of both: `first_wins`, `draw` or `second_wins`, also by
    `first_forfeits` and `second_forfeits`. A game that is not over, or was before the last move, is 0."""
    sides = Sides(contest.start(reference))
    if outcome(contest, sides) is not None:
        raise TaskError("the game is over before it has begun")
    for number, move in enumerate(written, 1):
        if outcome(contest, sides) is not None:
            return unusable("moves_after_end", f"the game was over before move {number}")
        sides = moved(contest, sides, move)
    score = outcome(contest, sides)
    if score is None:
        return scored(0.0, "not_over", f"the game goes on after {len(written)} moves")
    if sides.forfeited is not None:
        who = ("first", "second")[sides.forfeited]
        return scored(score, f"{who}_forfeits", f"move {len(written)} cannot be made")
    reason = {1.0: "first_wins", 0.5: "draw", 0.0: "second_wins"}[score]
    return scored(score, reason, f"after {len(written)} moves")


class NimContest:
    """`{"heaps": [3, 5]}`; moves as in `NimRules`. A board is the heaps and who moved last."""

    read = NimRules().read

    def start(self, reference: Mapping[str, JSON]) -> tuple[tuple[int, ...], int]:
        return heaps_of(reference), 1

    def moves(self, board: tuple[tuple[int, ...], int], side: int) -> dict[tuple[int, int], str]:
        return {
            (heap, many): f"{heap + 1} {many}"
            for heap, n in enumerate(board[0])
            for many in range(1, n + 1)
        }

    def play(
        self, board: tuple[tuple[int, ...], int], side: int, move: tuple[int, int]
    ) -> tuple[tuple[int, ...], int]:
        return taken(board[0], *move), side

    def outcome(self, board: tuple[tuple[int, ...], int]) -> float | None:
        heaps, last = board
        return None if any(heaps) else float(last == 0)


class TicTacToeContest:
    """`{"board": "........."}`; moves as in `TicTacToeRules`. X moves first."""

    read = TicTacToeRules().read

    def start(self, reference: Mapping[str, JSON]) -> str:
        board = reference.get("board")
        if not isinstance(board, str) or len(board) != 9 or set(board) - set(".XO"):
            raise TaskError("tic-tac-toe: the board must be nine of . X O")
        if board.count("X") != board.count("O"):
            raise TaskError("tic-tac-toe: it must be X's turn")
        return board

    def moves(self, board: str, side: int) -> dict[int, str]:
        return {place: str(place + 1) for place, sign in enumerate(board) if sign == "."}

    def play(self, board: str, side: int, move: int) -> str:
        return f"{board[:move]}{'XO'[side]}{board[move + 1 :]}"

    def outcome(self, board: str) -> float | None:
        line = line_of(board)
        if line:
            return float(line == "X")
        return None if "." in board else 0.5


class ConnectFourContest:
    """`{"rows": [...]}` and moves as in `ConnectFourRules`. X moves first."""

    read = ConnectFourRules().read

    def start(self, reference: Mapping[str, JSON]) -> tuple[int, int]:
        board = board_of(reference.get("rows"))
        if board[0].bit_count() != board[1].bit_count():
            raise TaskError("connect-four: it must be X's turn")
        return board

    def moves(self, board: tuple[int, int], side: int) -> dict[int, str]:
        cells = open_cells(board[0] | board[1])
        return {column: str(column + 1) for column in range(7) if cells >> 7 * column & 63}

    def play(self, board: tuple[int, int], side: int, move: int) -> tuple[int, int]:
        cell = open_cells(board[0] | board[1]) & 63 << 7 * move
        return (board[0] | cell, board[1]) if side == 0 else (board[0], board[1] | cell)

    def outcome(self, board: tuple[int, int]) -> float | None:
        if four(board[0]) or four(board[1]):
            return float(four(board[0]))
        return None if open_cells(board[0] | board[1]) else 0.5


CONTESTS: Mapping[str, Contest] = {
    "connect-four": ConnectFourContest(),
    "liars-dice": DiceContest(),
    "nim": NimContest(),
    "tic-tac-toe": TicTacToeContest(),
}
