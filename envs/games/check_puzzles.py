"""Puzzles of mate by checks alone: drawn terms, and positions in which one move alone keeps the mate on each turn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from verigym.canonical import JSON
from verigym.envs.games.mate_positions import position_with
from verigym.envs.games.mate_search import find_checks
from verigym.verifiers.games.check_mates import (
    NOBODY,
    Terms,
    checking_move,
    checks_of,
    keeps_mate,
    moved_to,
)
from verigym.verifiers.games.chess import Position, squares
from verigym.verifiers.games.fen import square_name
from verigym.verifiers.games.mates import Puzzle, played


class CheckLevel(Struct, frozen=True, gc=False):
    """Checks to mate, closed squares, True if a piece rests after its move, and moves that a search looks at."""

    checks: int
    closed: int
    rests: bool
    tries: range


def draw_checks(
    rng: np.random.Generator, level: CheckLevel, wanted: Callable[[JSON], bool]
) -> tuple[Position, Terms]:
    """Return a position and terms by which mate takes so many checks, and not fewer."""
    while True:
        closed = sum(1 << int(i) for i in rng.permutation(64)[: level.closed])
        terms = Terms(closed, level.rests)

        def needs(position: Position, moves: int, terms: Terms = terms) -> bool:
            if checking_move(position, moves, terms, NOBODY) is None:
                return False
            return moves == 1 or checking_move(position, moves - 1, terms, NOBODY) is None

        position = position_with(rng, level.checks, wanted, needs)
        if position is None or not is_narrow(position, level.checks, terms):
            continue
        if find_checks(position, level.checks, terms)[1] in level.tries:
            return position, terms


def is_narrow(position: Position, checks: int, terms: Terms) -> bool:
    """Return True if on each turn but the last, against the longest defence, one move alone keeps the mate."""
    puzzle = Puzzle(position, checks, terms=terms)
    while puzzle.left > 1:
        right = right_moves(puzzle)
        if len(right) > 1:
            return False
        puzzle = played(puzzle, right[0])
    return True


def right_moves(puzzle: Puzzle) -> list[int]:
    """Return the moves that keep the mate."""
    terms = puzzle.terms
    assert terms is not None, "puzzles of checks have terms"
    return [
        move
        for move, after in checks_of(puzzle.position, terms, puzzle.tired)
        if keeps_mate(after, puzzle.left - 1, terms, moved_to(move, terms))
    ]


def say_terms(terms: Terms, other: str) -> str:
    """Return terms in words."""
    closed = ", ".join(map(square_name, squares(terms.closed)))
    parts = [
        "Terms of this puzzle: each of your moves must give check (or checkmate).",
        f"You may not move to these squares, not even to capture: {closed}. They count as attacked as usual, and {other} may "
        "move to them.",
    ]
    if terms.rests:
        parts.append(
            "You may not move the same piece in two moves in a row; it attacks and defends as usual."
        )
    return " ".join(parts)


def written(terms: Terms) -> dict[str, JSON]:
    """Return terms as a reference holds them."""
    return {"closed": [square_name(i) for i in squares(terms.closed)], "rests": terms.rests}
