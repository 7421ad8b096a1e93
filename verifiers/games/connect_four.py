"""Rules of connect four on bitboards, forced wins by search, and opponents of graded strength."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.connect_four_boards import (
    COLUMN,
    COLUMNS,
    Board,
    bits,
    board_of,
    completing,
    four,
    open_cells,
    safe_cells,
)
from verigym.verifiers.games.connect_four_values import MOST_EMPTY, best_cells
from verigym.verifiers.games.duels import DuelState, seeded

STRENGTHS = ("random", "greedy", "search", "perfect")
FAR = 4
"""More moves than the search opponent looks ahead."""


class ConnectFourRules:
    """`{"rows": [six rows of . X O from the top], "opponent": "greedy", "seed": 7}`; a move is a column, 1 to 7.

    The player is X and to move; the opponent, O, answers each move. A draw is no win.
    """

    def start(self, reference: Mapping[str, JSON]) -> DuelState:
        board = board_of(reference.get("rows"))
        if board[0].bit_count() - board[1].bit_count() not in (0, -1):
            raise TaskError("connect-four: it must be X's turn")
        strength, seed = reference.get("opponent"), reference.get("seed")
        if strength not in STRENGTHS or type(seed) is not int:
            raise TaskError(
                f"opponent must be one of {', '.join(STRENGTHS)}, seed a whole number, got "
                f"{strength!r} and {seed!r}"
            )
        if strength == "perfect" and 42 - sum(board).bit_count() > MOST_EMPTY:
            raise TaskError(f"connect-four: perfect play needs at most {MOST_EMPTY} empty cells")
        return DuelState(board, str(strength), int(str(seed)))

    def read(self, move: JSON) -> int | None:
        if isinstance(move, str) and move.strip() in ("1", "2", "3", "4", "5", "6", "7"):
            move = int(move)
        return move - 1 if type(move) is int and 1 <= move <= COLUMNS else None

    def legal(self, state: DuelState, move: int) -> bool:
        xs, os = pair(state)
        return not four(xs) and not four(os) and bool(open_cells(xs | os) & COLUMN << 7 * move)

    def apply(self, state: DuelState, move: int) -> DuelState:
        xs, os = pair(state)
        xs |= open_cells(xs | os) & COLUMN << 7 * move
        if not four(xs) and open_cells(xs | os):
            os |= reply(os, xs, state.strength, state.seed)
        return replace(state, board=(xs, os))

    def won(self, state: DuelState) -> bool:
        return four(pair(state)[0])

    def lost(self, state: DuelState) -> bool:
        """Return True if the game is over without a win."""
        xs, os = pair(state)
        return four(os) or (not open_cells(xs | os) and not four(xs))


def pair(state: DuelState) -> Board:
    """Return the board of a match."""
    assert isinstance(state.board, tuple)
    xs, os = state.board
    return xs, os


def wins_in(me: int, you: int, moves: int) -> bool:
    """Return True if `me`, to move, can force four within this many own moves, whatever `you`
    play."""
    both = me | you
    if completing(me, both) & open_cells(both):
        return True
    if moves < 2:
        return False
    return any(keeps(me, you, cell, moves) for cell in bits(safe_cells(me, you)))


def keeps(me: int, you: int, cell: int, moves: int) -> bool:
    """Return True if `me`, having just played the safe `cell`, forces four within `moves` moves
    including that one."""
    me |= cell
    both = me | you
    replies = open_cells(both)
    mine = completing(me, both)
    threats = mine & replies
    if threats & (threats - 1):
        return True  # two at once, and one reply
    if threats:
        replies = threats
    elif moves == 2:  # each reply must be the step up to a cell that completes four
        return bool(replies) and not replies & ~(mine >> 1)
    return bool(replies) and all(wins_in(me, you | r, moves - 1) for r in bits(replies))


def distance(me: int, you: int, most: int) -> int | None:
    """Return the smallest number of own moves in which `me`, to move, can force four; None if more
    than `most`."""
    return next((n for n in range(1, most + 1) if wins_in(me, you, n)), None)


@lru_cache(maxsize=4096)
def winning_cell(me: int, you: int, most: int) -> int | None:
    """Return a cell with which `me`, to move, forces four in as few moves as can be; None if not in `most`."""
    both = me | you
    at_once = completing(me, both) & open_cells(both)
    if at_once:
        return at_once & -at_once
    for moves in range(2, most + 1):
        for cell in bits(safe_cells(me, you)):
            if keeps(me, you, cell, moves):
                return cell
    return None


@lru_cache(maxsize=4096)
def reply(me: int, you: int, strength: str, seed: int) -> int:
    """Return the cell that an opponent with the signs `me` plays against `you`; a function of its arguments.

    `random` plays any; `greedy` makes four, or else stops it; `search` wins if it can in two moves,
    and else holds out for as long as it can see, which is three moves of `you`; `perfect` never errs, wins as soon and
    loses as late as can be.
    """
    both = me | you
    cells = open_cells(both)
    if strength != "random":
        at_once = completing(me, both) & cells
        forced = at_once or completing(you, both) & cells
        if forced:
            cells = forced
        elif strength == "perfect":
            cells = best_cells(me, you)[1]
        elif strength == "search":
            winning = winning_cell(me, you, 2)
            cells = winning or _longest(me, you, cells)
    choice = list(bits(cells))
    return choice[seeded(seed, f"{me} {you}", len(choice))]


def _longest(me: int, you: int, cells: int) -> int:
    """The cells after which `you` take longest to force four."""
    best, found = 0, 0
    for cell in bits(cells):
        n = distance(you, me | cell, FAR - 1) or FAR
        if n > best:
            best, found = n, 0
        if n == best:
            found |= cell
    return found
