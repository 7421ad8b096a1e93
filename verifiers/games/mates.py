"""Forced mates, and the rules of puzzles that ask for one: every move that keeps the mate is right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.check_mates import (
    MOST_CHECKS,
    NOBODY,
    Terms,
    checks_distance,
    may_move,
    moved_to,
    read_terms,
)
from verigym.verifiers.games.chess import (
    KING,
    LETTERS,
    PAWN,
    Position,
    in_check,
    legal_moves,
    likely_checks,
    made,
    stuck,
)
from verigym.verifiers.games.fen import position_of, uci

MOST = 3
"""Moves that a puzzle may take; a search through more would be long."""
_CHOICE = 2
"""Replies to a check that leave no choice to speak of."""
_UCI = re.compile(r"([a-h][1-8])([a-h][1-8])([qrbnQRBN]?)")
_SAN = re.compile(r"([KQRBN]?)([a-h]?)([1-8]?)x?([a-h][1-8])(?:=?([QRBN]))?")
_CASTLES = {"O-O": 2, "0-0": 2, "O-O-O": -2, "0-0-0": -2}

Written = tuple[int | None, str, str, str, int, int]
"""A move as read: kind of piece, file and rank it leaves, square it goes to, promotion, castling."""


@dataclass(frozen=True)
class Puzzle:
    """The side to move is the player's, with `left` moves; `end` is `mate` or `spoiled` once it is over.

    With `terms` every move has to give check; `tired` is the square of the piece that rests, or -1.
    """

    position: Position
    left: int
    end: str = ""
    terms: Terms | None = None
    tired: int = NOBODY

    def may(self, move: int) -> bool:
        """Return True if the terms allow a legal move."""
        return self.terms is None or may_move(move, self.terms, self.tired)


class MatePuzzle:
    """`{"fen": "...", "mate_in": 2}`; a move is written in SAN or UCI.

    A move that keeps a forced mate within what is left is answered by the longest defence; any other
    ends the puzzle. With `by_checks`, such as `{"closed": ["e4"], "rests": true}`, a move that gives no check ends it
    too (`check_mates.py`).
    """

    def start(self, reference: Mapping[str, JSON]) -> Puzzle:
        fen, moves = reference.get("fen"), reference.get("mate_in")
        terms = read_terms(reference["by_checks"]) if "by_checks" in reference else None
        most = MOST if terms is None else MOST_CHECKS
        if not isinstance(fen, str) or type(moves) is not int or not 1 <= moves <= most:
            raise TaskError(f"chess: fen must be text, mate_in 1 to {most}, got {fen!r}, {moves!r}")
        return Puzzle(position_of(fen), moves, terms=terms)

    def read(self, move: JSON) -> Written | None:
        if not isinstance(move, str) or len(move) > 12:
            return None
        text = move.strip().rstrip("+#!?")
        if text in _CASTLES:
            return KING, "", "", "", 0, _CASTLES[text]
        if found := _UCI.fullmatch(text):
            start, to, kind = found.groups()
            return None, start[0], start[1], to, _promotion(kind.upper()), 0
        if found := _SAN.fullmatch(text):
            letter, file, rank, to, kind = found.groups()
            piece = LETTERS.index(letter) if letter else PAWN
            return piece, file, rank, to, _promotion(kind or ""), 0
        return None

    def legal(self, state: Puzzle, move: Written) -> bool:
        return not state.end and meant(state.position, move, state.may) is not None

    def apply(self, state: Puzzle, move: Written) -> Puzzle:
        found = meant(state.position, move, state.may)
        if found is None:
            raise ValueError(f"{move!r} cannot be made")
        return played(state, found)

    def won(self, state: Puzzle) -> bool:
        return state.end == "mate"

    def lost(self, state: Puzzle) -> bool:
        """Return True if the mate has been given away."""
        return state.end == "spoiled"


def meant(
    position: Position, written: Written, may: Callable[[int], bool] = lambda move: True
) -> int | None:
    """Return the legal move that was written, among those that one `may` make; None if no move or more than one matches."""
    kind, file, rank, to, promoted, castling = written
    pieces = position[0]
    found = []
    for move in filter(may, legal_moves(position)):
        start, goal = move & 63, move >> 6 & 63
        step = goal - start if pieces[KING] >> start & 1 else 0
        if castling:
            if step == castling:
                found.append(move)
        elif (
            "abcdefgh"[goal % 8] + str(goal // 8 + 1) == to
            and move >> 12 == promoted
            and file in ("", "abcdefgh"[start % 8])
            and rank in ("", str(start // 8 + 1))
            and (kind is None or (pieces[kind] >> start & 1 and abs(step) != 2))
        ):
            found.append(move)
    return found[0] if len(found) == 1 else None


def played(puzzle: Puzzle, move: int) -> Puzzle:
    """Return the puzzle after a legal move: mate, spoiled, or the next move to find after the
    longest defence (the first in order of UCI among equals)."""
    after, terms = made(puzzle.position, move), puzzle.terms
    replies = sorted(legal_moves(after), key=uci)
    left = puzzle.left - 1
    tired = moved_to(move, terms) if terms else NOBODY
    spoiled = Puzzle(after, left, "spoiled", terms, tired)
    if not replies:
        return replace(spoiled, end="mate") if in_check(after) else spoiled
    if not left or (terms and not in_check(after)):
        return spoiled
    best, longest = after, 0
    for reply in replies:
        here = made(after, reply)
        distance = checks_distance(here, left, terms, tired) if terms else mate_distance(here, left)
        if distance is None:
            return spoiled
        if distance > longest:
            best, longest = here, distance
    return Puzzle(best, left, "", terms, tired)


def mate_distance(position: Position, most: int) -> int | None:
    """Return the smallest number of moves in which the side to move can force mate; None if more
    than `most`."""
    return next((n for n in range(1, most + 1) if mating_move(position, n) is not None), None)


@lru_cache(maxsize=1 << 11)
def mating_move(position: Position, moves: int, quiet: bool = True) -> int | None:
    """Return a move with which the side to move forces mate within `moves` of its own.

    `quiet` False looks at checks alone, and only at those that leave no choice to speak of: it finds
    many of the mates, fast.
    """
    legal, checks = _looked_at(position)
    for move, after in checks:
        if stuck(after) if moves == 1 else _forced(after, moves - 1, quiet):
            return move
    if quiet and moves > 1:
        tried = {move for move, _ in checks}
        for move in legal:
            if move not in tried and _forced(made(position, move), moves - 1, quiet):
                return move
    return None


@lru_cache(maxsize=1 << 10)
def _looked_at(position: Position) -> tuple[list[int], list[tuple[int, Position]]]:
    """The legal moves, and those that give check with what they lead to."""
    legal = legal_moves(position)
    likely = ((move, made(position, move)) for move in likely_checks(position, legal))
    return legal, [(move, after) for move, after in likely if in_check(after)]


def _forced(after: Position, moves: int, quiet: bool) -> bool:
    """Return True if the side to move is mated, or will be within `moves` (1 or more) moves of the
    other."""
    replies = legal_moves(after) if quiet else legal_moves(after, _CHOICE + 1)
    if not replies:
        return in_check(after)
    if not quiet and len(replies) > _CHOICE:
        return False
    return all(mating_move(made(after, reply), moves, quiet) is not None for reply in replies)


def _promotion(letter: str) -> int:
    return LETTERS.index(letter) if letter else 0
