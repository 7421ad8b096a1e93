"""Chess puzzles: mate in one, two or three, generated; every move that keeps the mate is right."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.mate_positions import essence_of, position_with_mate
from verigym.envs.games.mate_search import find_mate
from verigym.envs.games.replayed import ReplayedGame
from verigym.verifiers.games.chess import Position, legal_moves
from verigym.verifiers.games.fen import fen_of, rows_of, uci
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
_NUMBERS = {1: "in one move", 2: "in two moves", 3: "in three moves"}

_PROMPT = """\
Chess. You play {side}, and it is your move. Force checkmate {moves}{against}. {reply}
Answer with one move, in SAN such as Qxf7 or in UCI such as e2e4."""
_REPLY = "{other} answers with the longest defence; a move that gives up the forced mate ends the puzzle."
_SIDES = ("White", "Black")


class ChessPuzzles(ReplayedGame):
    """The environment. An action is a move in SAN or UCI. Mate is forced in the moves given, not in fewer.

    Level 6 is the highest: to prove that a move gives away a mate in four takes seconds.
    """

    id: ClassVar[str] = "verigym/games/chess-puzzles-v0"
    game: ClassVar[str] = "chess"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    levels: ClassVar[int] = 6
    recoverable: ClassVar[bool] = False
    chance: ClassVar[float] = 0.1  # one of some twenty moves is often mate

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
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
        return "\n".join(lines)

    @override
    def position(self, board: Puzzle) -> JSON:
        return [fen_of(board.position), board.left, board.end]

    @override
    def moves(self, board: Puzzle) -> list[str]:
        """Return the legal moves in UCI, because SAN's marks would reveal checks and mates."""
        return [] if board.end else sorted(map(uci, legal_moves(board.position)))

    @override
    def lost(self, board: Puzzle) -> bool:
        return board.end == "spoiled"

    @override
    def best(self, board: Puzzle) -> str | None:
        move = None if board.end else mating_move(board.position, board.left)
        return None if move is None else uci(move)

    @override
    def operations(self, board: Puzzle) -> int:
        """Count the moves that a search for the mate examines; later moves follow the line that it found."""
        return find_mate(board.position, board.left)[1]


def _task(position: Position, moves: int) -> tuple[str, dict[str, Any]]:
    side, other = _SIDES[position[2]], _SIDES[1 - position[2]]
    prompt = _PROMPT.format(
        side=side,
        moves=_NUMBERS[moves],
        against=f", whatever {other} plays" if moves > 1 else "",
        reply=_REPLY.format(other=other) if moves > 1 else "",
    ).replace(". \n", ".\n")
    return prompt, {"fen": fen_of(position), "mate_in": moves, "turns": moves + 1}
