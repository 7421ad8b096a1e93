"""Mates by checks alone, under terms that are drawn for each puzzle: every move of the attacker has to give check.

Some squares may be closed to the attacker's moves, and a piece may have to rest after it has moved. The defender is
bound by the rules of chess alone, and squares that are closed count as attacked as ever. So few moves are open
that long mates are proven in no time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.chess import (
    Position,
    in_check,
    legal_moves,
    likely_checks,
    made,
    stuck,
)
from verigym.verifiers.games.fen import square_of

MOST_CHECKS = 8
"""Moves that a puzzle of checks may take."""
NOBODY = -1


class Terms(Struct, frozen=True, gc=False):
    """Squares that the attacker may not move to, as a bit set, and True if a piece may not move twice in a row."""

    closed: int = 0
    rests: bool = False


def read_terms(raw: JSON) -> Terms:
    """Return the terms of a reference. Raises TaskError if they have another form."""
    if not isinstance(raw, Mapping) or set(raw) - {"closed", "rests"}:
        raise TaskError(f"chess: by_checks must be an object of closed and rests, got {raw!r}")
    closed, rests = raw.get("closed", []), raw.get("rests", False)
    names = closed if isinstance(closed, list | tuple) else [None]
    squares = [square_of(name) if isinstance(name, str) else None for name in names]
    if None in squares or type(rests) is not bool:
        raise TaskError(
            f"chess: closed must be a list of squares such as e4, rests true or false, got {raw!r}"
        )
    return Terms(sum({1 << square for square in squares if square is not None}), rests)


def may_move(move: int, terms: Terms, tired: int) -> bool:
    """Return True if the attacker may make a legal move; the piece on `tired` has just moved."""
    return not terms.closed >> (move >> 6 & 63) & 1 and not (terms.rests and move & 63 == tired)


def moved_to(move: int, terms: Terms) -> int:
    """Return the square of the piece that rests after a move."""
    return move >> 6 & 63 if terms.rests else NOBODY


@lru_cache(maxsize=1 << 15)
def checking_move(position: Position, moves: int, terms: Terms, tired: int) -> int | None:
    """Return a move with which the side to move forces mate within `moves` checks; None if there is none."""
    checks = checks_of(position, terms, tired)
    if moves == 1:
        return next((move for move, after in checks if stuck(after)), None)
    options = []
    for move, after in checks:
        replies = legal_moves(after)
        if not replies:
            return move
        options.append((len(replies), move, after, replies))
    options.sort(key=lambda option: option[0])
    for _, move, after, replies in options:
        if _all_lose(after, replies, moves - 1, terms, moved_to(move, terms)):
            return move
    return None


def keeps_mate(after: Position, left: int, terms: Terms, tired: int) -> bool:
    """Return True if the side to move, in check, is mated, or will be within `left` more checks."""
    replies = legal_moves(after)
    return not replies or (left > 0 and _all_lose(after, replies, left, terms, tired))


def _all_lose(after: Position, replies: list[int], left: int, terms: Terms, tired: int) -> bool:
    return all(
        checking_move(made(after, reply), left, terms, tired) is not None for reply in replies
    )


def checks_distance(position: Position, most: int, terms: Terms, tired: int) -> int | None:
    """Return the smallest number of checks that force mate; None if more than `most`."""
    checks = range(1, most + 1)
    return next((n for n in checks if checking_move(position, n, terms, tired) is not None), None)


def checks_of(position: Position, terms: Terms, tired: int) -> list[tuple[int, Position]]:
    """Return the moves that give check and may be made, with what they lead to."""
    legal = [move for move in legal_moves(position) if may_move(move, terms, tired)]
    likely = ((move, made(position, move)) for move in likely_checks(position, legal))
    return [(move, after) for move, after in likely if in_check(after)]
