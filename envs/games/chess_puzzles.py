"""Chess puzzles: mate in one to three, or by checks alone in four or five; every move that keeps the mate is right."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.check_puzzles import CheckLevel, draw_checks, say_terms, written
from verigym.envs.games.mate_positions import essence_of, position_with_mate
from verigym.envs.games.mate_search import find_checks, find_mate
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.check_mates import NOBODY, Terms, checking_move
from verigym.verifiers.games.chess import Position, legal_moves
from verigym.verifiers.games.fen import fen_of, rows_of, square_name, uci
from verigym.verifiers.games.mates import Puzzle, mating_move

# Moves to mate, and the fewest and most legal moves to choose from.
LEVELS = {
    1: (1, 1, 26),
    2: (1, 1, 999),
    3: (2, 1, 29),
    4: (2, 1, 999),
    5: (2, 39, 999),
    6: (3, 1, 999),
}
# From level 7 on: mate by checks alone, under terms that are drawn.
CHECKS = {
    7: CheckLevel(4, 6, True, range(900, 3_500)),
    8: CheckLevel(4, 6, False, range(1_800, 5_000)),
    9: CheckLevel(4, 6, False, range(3_600, 9_000)),
    10: CheckLevel(5, 6, True, range(6_000, 60_000)),
}
_NUMBERS = {
    1: "in one move",
    2: "in two moves",
    3: "in three moves",
    4: "in four moves",
    5: "in five moves",
}

_PROMPT = """\
Chess. You play {side}, and it is your move. Force checkmate {moves}{against}. {reply}
Answer with one move, in SAN such as Qxf7 or in UCI such as e2e4."""
_REPLY = "{other} answers with the longest defence; a move that gives up the forced mate ends the puzzle."
_REPLY_TO_CHECKS = (
    "{other} answers with the longest defence; a move that gives no check, or gives up the forced mate under these "
    "terms, ends the puzzle. {terms}"
)
_SIDES = ("White", "Black")


class ChessPuzzles(ReplayedGame):
    """The environment. An action is a move in SAN or UCI. Mate is forced in the moves given, not in fewer.

    From level 7 on every move has to give check, some squares are closed and pieces may have to rest. On every turn but
    the last one move alone is right.
    """

    id: ClassVar[str] = "verigym/games/chess-puzzles-v0"
    game: ClassVar[str] = "chess"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False
    chance: ClassVar[float] = 0.1  # one of some twenty moves is often mate

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        if level in CHECKS:
            position, terms = draw_checks(rng, CHECKS[level], self.wants)
            prompt, reference = _task(position, CHECKS[level].checks, terms)
            return prompt, {**reference, "essence": essence_of(position)}
        moves, fewest, most = LEVELS[level]
        position = position_with_mate(rng, moves, self.wants)
        while not fewest <= len(legal_moves(position)) <= most:
            position = position_with_mate(rng, moves, self.wants)
        prompt, reference = _task(position, moves)
        return prompt, {**reference, "essence": essence_of(position)}

    @override
    def show(self, board: Puzzle) -> str:
        rows = rows_of(board.position)
        lines = [f"{8 - i} {' '.join(row)}" for i, row in enumerate(rows)]
        lines += ["  a b c d e f g h", f"FEN: {fen_of(board.position)}"]
        if not board.end:
            moves = "1 move" if board.left == 1 else f"{board.left} moves"
            lines.append(f"{_SIDES[board.position[2]]} to move; {moves} left.")
            if board.tired != NOBODY:
                lines.append(f"Your piece on {square_name(board.tired)} may not move now.")
        return "\n".join(lines)

    @override
    def position(self, board: Puzzle) -> JSON:
        position: list[JSON] = [fen_of(board.position), board.left, board.end]
        return position if board.tired == NOBODY else [*position, board.tired]

    @override
    def moves(self, board: Puzzle) -> list[str]:
        """Return the legal moves in UCI, because SAN's marks would reveal checks and mates."""
        return [] if board.end else sorted(map(uci, filter(board.may, legal_moves(board.position))))

    @override
    def lost(self, board: Puzzle) -> bool:
        return board.end == "spoiled"

    @override
    def best(self, board: Puzzle) -> str | None:
        if board.end:
            return None
        if board.terms is None:
            move = mating_move(board.position, board.left)
        else:
            move = checking_move(board.position, board.left, board.terms, board.tired)
        return None if move is None else uci(move)

    @override
    def operations(self, board: Puzzle) -> int:
        """Count the moves that a search for the mate examines; later moves follow the line that it found."""
        if board.terms is not None:
            return find_checks(board.position, board.left, board.terms, board.tired)[1]
        return find_mate(board.position, board.left)[1]


def _task(position: Position, moves: int, terms: Terms | None = None) -> tuple[str, dict[str, Any]]:
    side, other = _SIDES[position[2]], _SIDES[1 - position[2]]
    reply = _REPLY.format(other=other)
    if terms is not None:
        reply = _REPLY_TO_CHECKS.format(other=other, terms=say_terms(terms, other))
    prompt = _PROMPT.format(
        side=side,
        moves=_NUMBERS[moves],
        against=f", whatever {other} plays" if moves > 1 else "",
        reply=reply if moves > 1 else "",
    ).replace(". \n", ".\n")
    reference: dict[str, Any] = {"fen": fen_of(position), "mate_in": moves, "turns": moves + 1}
    return prompt, reference if terms is None else {**reference, "by_checks": written(terms)}
