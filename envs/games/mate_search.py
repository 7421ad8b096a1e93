"""A search for a forced mate that counts the moves it looks at, as a player does who looks at checks first."""

from __future__ import annotations

from verigym.verifiers.games.check_mates import NOBODY, Terms, may_move, moved_to
from verigym.verifiers.games.chess import Position, in_check, legal_moves, made

_CHOICE = 2
"""Replies to a check that leave no choice to speak of; checks with more come second."""


def find_mate(position: Position, moves: int) -> tuple[int | None, int]:
    """Return a move that forces mate within `moves`, None if there is none, and the operations that it takes.

    An operation looks at one move: if it gives check, or what it is answered. First come checks with hardly
    a reply, then all moves.
    """
    operations = 0

    def look(here: Position) -> list[tuple[int, Position]]:
        nonlocal operations
        found = []
        for move in legal_moves(here):
            operations += 1
            found.append((move, made(here, move)))
        return found

    def mating(here: Position, left: int, forcing: bool) -> int | None:
        options = look(here)
        checks = [(move, after) for move, after in options if in_check(after)]
        for move, after in checks:
            if forced(after, left - 1, forcing):
                return move
        if not forcing and left > 1:
            for move, after in options:
                if forced(after, left - 1, forcing):
                    return move
        return None

    def forced(after: Position, left: int, forcing: bool) -> bool:
        replies = look(after)
        if not replies:
            return in_check(after)
        if not left or (forcing and len(replies) > _CHOICE):
            return False
        return all(mating(here, left, forcing) is not None for _, here in replies)

    for forcing in (True, False):
        if (move := mating(position, moves, forcing)) is not None:
            return move, operations
    return None, operations


def find_checks(
    position: Position, moves: int, terms: Terms, tired: int = NOBODY
) -> tuple[int | None, int]:
    """Return a move that forces mate within `moves` checks, None if there is none, and the operations that it takes.

    An operation looks at one move, as in `find_mate`. Checks with the fewest replies come first.
    """
    operations = 0

    def mating(here: Position, left: int, tired: int) -> int | None:
        nonlocal operations
        options = []
        for move in legal_moves(here):
            operations += 1
            if may_move(move, terms, tired) and in_check(after := made(here, move)):
                options.append((move, after, replies_to(after)))
        options.sort(key=lambda option: len(option[2]))
        for move, _, replies in options:
            rested = moved_to(move, terms)
            if not replies:
                return move
            if left > 1 and all(mating(one, left - 1, rested) is not None for one in replies):
                return move
        return None

    def replies_to(after: Position) -> list[Position]:
        nonlocal operations
        found = []
        for move in legal_moves(after):
            operations += 1
            found.append(made(after, move))
        return found

    return mating(position, moves, tired), operations
