"""Positions with a forced mate in an exact number of moves, found by play backwards from mates in
one.

A few pieces are placed at random until the side to move mates at once. From there a move of the
defender's king and one of the attacker are taken back, again and again, as long as the attacker's
shortest forced mate, proven by search, gets one move longer each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from verigym.canonical import JSON
from verigym.verifiers.games.chess import (
    BISHOP,
    KING,
    KNIGHT,
    LETTERS,
    PAWN,
    QUEEN,
    ROOK,
    Position,
    in_check,
    king_leaps,
    knight_leaps,
    sliding,
    squares,
)
from verigym.verifiers.games.mates import mating_move

# Pieces beside the kings: of the attacker, and of the defender.
_ATTACK = [
    "QR",
    "QB",
    "QN",
    "RR",
    "RRB",
    "RRN",
    "QP",
    "QPP",
    "QRB",
    "RBN",
    "RNP",
    "QBP",
    "RRP",
    "QNP",
    "RBB",
    "QRN",
]
_DEFENCE = ["P", "PP", "PPP", "NP", "BP", "RPP", "RP", "BPP", "NPP", "R", "BN", "RN", "QPP", "RBP"]
_PLACED, _TRIED = 96, 10


def position_with_mate(
    rng: np.random.Generator, moves: int, wanted: Callable[[JSON], bool] = lambda essence: True
) -> Position:
    """Return a position in which the side to move forces mate in `moves` moves and not in fewer.

    Its essence is `wanted`.
    """
    while True:
        found = position_with(rng, moves, wanted, _needs)
        if found is not None:
            return found


def position_with(
    rng: np.random.Generator,
    moves: int,
    wanted: Callable[[JSON], bool],
    needs: Callable[[Position, int], bool],
) -> Position | None:
    """Return a position that `needs` so many moves to mate, and those on the way to it fewer and fewer; None if
    none was found at once."""
    draws = rng.integers(1 << 30, size=_PLACED + _TRIED * moves).tolist()
    position = _placed(iter(draws[:_PLACED]))
    if position is None or not wanted(essence_of(position)) or not needs(position, 1):
        return None
    return _before(position, draws[_PLACED:], 2, moves, needs) if moves > 1 else position


def _needs(position: Position, moves: int) -> bool:
    """Return True if mate is forced in `moves`, and not in fewer; looks at what is found fast first."""
    if moves == 1:
        return mating_move(position, 1) is not None
    return (
        mating_move(position, moves - 1, False) is None
        and mating_move(position, moves, False) is not None
        and mating_move(position, moves - 1) is None
    )


def essence_of(position: Position) -> JSON:
    """Return the data that decides the split of a position: its pawns and the number of pieces of
    each kind.

    Moves that are taken back change neither, so it is known before any search.
    """
    pieces, sides, turn = position[:3]
    counts = [(bits & side).bit_count() for bits in pieces for side in sides]
    return [turn, counts, hex(pieces[PAWN])]


def _placed(draws: Iterator[int]) -> Position | None:
    """Pieces at random, the defender's king mostly at the edge, the attacker's often near it."""
    turn = next(draws) % 2
    king = next(draws) % 64
    if next(draws) % 8:
        edge = next(draws) % 4
        king = (king % 8, 56 + king % 8, king & 56, king & 56 | 7)[edge]
    pieces, sides = [0] * 6, [0, 0]
    pieces[KING] = sides[1 - turn] = 1 << king
    attack = "K" + _ATTACK[next(draws) % len(_ATTACK)]
    defence = _DEFENCE[next(draws) % len(_DEFENCE)]
    for side, letters in ((turn, attack), (1 - turn, defence)):
        for letter in letters:
            for number in range(9):
                square = next(draws) % 64
                if letter == "P":
                    square = 8 + square % 48
                apart = max(abs(square % 8 - king % 8), abs(square // 8 - king // 8))
                near = letter != "K" or (apart == 2 if number < 5 else 2 <= apart <= 4)
                if near and not (sides[0] | sides[1]) >> square & 1:
                    break
            else:
                return None
            pieces[LETTERS.index(letter)] |= 1 << square
            sides[side] |= 1 << square
    return _quiet((tuple(pieces), (sides[0], sides[1]), turn, 0, -1))


def _before(
    position: Position,
    draws: list[int],
    moves: int,
    goal: int,
    needs: Callable[[Position, int], bool],
) -> Position | None:
    """A position two half-moves earlier, and so on, up to a mate in `goal`; None if none was found."""
    ways = _ways_back(position)
    for draw in draws[:_TRIED]:
        if not ways:
            break
        found = _quiet(_taken_back(position, *ways.pop(draw % len(ways))))
        if found is None or not needs(found, moves):
            continue
        earlier = found
        if moves < goal:
            further = _before(found, draws[_TRIED:], moves + 1, goal, needs)
            if further is None:
                continue
            earlier = further
        return earlier
    return None


def _ways_back(position: Position) -> list[tuple[int, int, int, int]]:
    """Return the pairs of moves to take back: the king's origin, the square of the piece that gave
    check, that piece's origin, and its kind."""
    pieces, sides, turn = position[:3]
    own, both = sides[turn], sides[0] | sides[1]
    king = (pieces[KING] & sides[1 - turn]).bit_length() - 1
    found = []
    for fled in squares(king_leaps(king) & ~both):
        if king_leaps(fled) & pieces[KING] & own:
            continue
        occupied = both ^ 1 << king | 1 << fled
        straight, slanted = sliding(fled, occupied, 0, 4), sliding(fled, occupied, 4, 8)
        for kind, seen in (
            (KNIGHT, knight_leaps(fled)),
            (BISHOP, slanted),
            (ROOK, straight),
            (QUEEN, straight | slanted),
        ):
            for at in squares(pieces[kind] & own & seen):
                if kind == KNIGHT:
                    reach = knight_leaps(at)
                else:
                    first, last = (4 if kind == BISHOP else 0), (4 if kind == ROOK else 8)
                    reach = sliding(at, occupied, first, last)
                for came in squares(reach & ~occupied & ~(1 << king)):
                    found.append((fled, at, came, kind))
    return found


def _taken_back(position: Position, fled: int, at: int, came: int, kind: int) -> Position:
    old, sides, turn, _, _ = position
    pieces = list(old)
    step = 1 << at | 1 << came
    flight = sides[1 - turn] & old[KING] | 1 << fled
    pieces[kind] ^= step
    pieces[KING] ^= flight
    own, other = sides[turn] ^ step, sides[1 - turn] ^ flight
    both = (other, own) if turn else (own, other)
    return tuple(pieces), both, turn, 0, -1


def _quiet(position: Position) -> Position | None:
    """The position, if neither side is in check."""
    pieces, sides, turn, _, _ = position
    if in_check(position) or in_check((pieces, sides, 1 - turn, 0, -1)):
        return None
    return position
