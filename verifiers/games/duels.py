"""Rules of games against an opponent of graded strength: tic-tac-toe and nim.

The opponent's reply is a function of the seed and the position, so that a state has one future and a
game can be replayed. It plays at random, takes wins and stops losses (`greedy`), or never errs
(`perfect`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games import drawn_lines
from verigym.verifiers.games.drawn_lines import LineState
from verigym.verifiers.games.heap_steps import (
    Steps,
    after_step,
    hardest_steps,
    open_steps,
    steps_of,
)

STRENGTHS = ("random", "greedy", "perfect")
GOALS = ("win", "draw")
_LINES = (
    *((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8)),
    *((0, 4, 8), (2, 4, 6)),
)


@dataclass(frozen=True, slots=True)
class DuelState:
    """A position with the opponent's settings; it is always the player's turn, or the game is over.

    Tic-tac-toe: nine of `.XO`, the player is X. Nim: the heaps, in `last` who took last, and in `takes` how many
    objects may be taken from each heap; empty if any number may. `steps` and `misere`: as in `heap_steps`.
    """

    board: str | tuple[int, ...]
    strength: str
    seed: int
    goal: str = "win"
    last: str = ""
    takes: tuple[tuple[int, ...], ...] = ()
    steps: Steps = ()
    misere: bool = False


class TicTacToeRules:
    """`{"board": ".........", "opponent": "greedy", "seed": 7, "goal": "win"}`; a move is a cell, 1 to 9.

    The player is X; the opponent, O, answers each move. With goal `draw` a draw is enough. With `lines`, lists of
    cells, boards and rules are those of `drawn_lines`; in a wild game a move is a sign and a cell, such as `X7`.
    """

    def start(self, reference: Mapping[str, JSON]) -> DuelState | LineState:
        if "lines" in reference:
            if reference.get("opponent") != "perfect":
                raise TaskError("tic-tac-toe: with lines the opponent must be perfect")
            return drawn_lines.start_of(reference)
        board = reference.get("board")
        if not isinstance(board, str) or len(board) != 9 or set(board) - set(".XO"):
            raise TaskError("tic-tac-toe: the board must be nine of . X O")
        if line_of(board) or board.count("X") - board.count("O") not in (0, -1):
            raise TaskError("tic-tac-toe: it must be X's turn")
        return _match(board, reference)

    def read(self, move: JSON) -> int | tuple[int, str] | None:
        sign = ""
        if isinstance(move, str) and move.strip()[:1] in ("X", "O"):
            sign, move = move.strip()[0], move.strip()[1:]
        number = _number(move)
        if number is None or not 1 <= number <= drawn_lines.MOST_CELLS:
            return None
        return (number - 1, sign) if sign else number - 1

    def legal(self, state: DuelState | LineState, move: int | tuple[int, str]) -> bool:
        if isinstance(state, LineState):
            return _placing(move) in drawn_lines.moves_of(state)
        if not isinstance(move, int) or move >= len(state.board):
            return False
        return state.board[move] == "." and not line_of(str(state.board))

    def apply(
        self, state: DuelState | LineState, move: int | tuple[int, str]
    ) -> DuelState | LineState:
        if isinstance(state, LineState):
            return drawn_lines.played(state, _placing(move))
        if not isinstance(move, int):
            raise ValueError(f"{move!r} cannot be made")
        board = _put(str(state.board), move, "X")
        if not line_of(board) and "." in board:
            board = _put(board, _reply(board, state.strength, state.seed), "O")
        return replace(state, board=board)

    def won(self, state: DuelState | LineState) -> bool:
        if isinstance(state, LineState):
            return state.over == "won" or (state.over == "drawn" and not state.goal)
        board = str(state.board)
        line = line_of(board)
        return line == "X" or (state.goal == "draw" and not line and "." not in board)

    def lost(self, state: DuelState | LineState) -> bool:
        """Return True if the game is over without the goal."""
        if isinstance(state, LineState):
            return bool(state.over) and not self.won(state)
        return ("." not in state.board or bool(line_of(str(state.board)))) and not self.won(state)


class NimRules:
    """`{"heaps": [3, 5], "opponent": "perfect", "seed": 7}`; a move is `[heap, how many]`, heaps from 1.

    Whoever moves last wins; the opponent answers each move. With `takes`, a list for each heap such as
    `[[1, 3], [2, 5]]`, no other numbers of objects may be taken from it. With `steps`, such as `[[2, 1], [0, 3]]`, a
    move is the number of a step and takes so many objects from each heap; with `misere` whoever cannot move then wins.
    """

    def start(self, reference: Mapping[str, JSON]) -> DuelState:
        heaps = heaps_of(reference)
        match = _match(heaps, reference)
        if "steps" in reference:
            misere = reference.get("misere", False)
            if type(misere) is not bool or "takes" in reference:
                raise TaskError("nim: misere must be true or false, and takes left out with steps")
            steps = steps_of(reference, heaps)
            if not open_steps(heaps, steps):
                raise TaskError("nim: no step can be made")
            return replace(match, steps=steps, misere=misere)
        return replace(match, takes=_takes_of(reference)) if "takes" in reference else match

    def read(self, move: JSON) -> tuple[int, int] | None:
        if isinstance(move, str) and len(move) <= 20:
            words = move.replace(",", " ").strip(" ()[]").split()
            move = [int(w) for w in words if w.isdecimal()] if all(map(str.isdecimal, words)) else 0
        if isinstance(move, list | tuple) and len(move) == 2 and all(type(n) is int for n in move):
            return int(str(move[0])) - 1, int(str(move[1]))
        number = move[0] if isinstance(move, list | tuple) and len(move) == 1 else move
        return (number - 1, 0) if type(number) is int and number else None

    def legal(self, state: DuelState, move: tuple[int, int]) -> bool:
        heap, many = move
        if state.steps:
            return not many and heap in open_steps(_heaps(state), state.steps) and not state.last
        if not (0 <= heap < len(state.board) and 1 <= many <= _heaps(state)[heap]):
            return False
        return not state.takes or many in state.takes[heap]

    def apply(self, state: DuelState, move: tuple[int, int]) -> DuelState:
        if state.steps:
            return _stepped(state, move[0])
        heaps = taken(_heaps(state), *move)
        if not _movable(heaps, state.takes):
            return replace(state, board=heaps, last="player")
        heaps = taken(heaps, *_answer(heaps, state))
        is_over = not _movable(heaps, state.takes)
        return replace(state, board=heaps, last="opponent" if is_over else "")

    def won(self, state: DuelState) -> bool:
        return state.last == ("opponent" if state.misere else "player")

    def lost(self, state: DuelState) -> bool:
        """Return True if the game is over and the opponent has won."""
        return bool(state.last) and not self.won(state)


def _stepped(state: DuelState, number: int) -> DuelState:
    """The state after a step of the player and the answer to it."""
    steps = state.steps
    heaps = after_step(_heaps(state), steps[number])
    options = open_steps(heaps, steps)
    if not options:
        return replace(state, board=heaps, last="player")
    if state.strength == "perfect":
        options = hardest_steps(heaps, steps, state.misere)
    answer = options[seeded(state.seed, repr(heaps), len(options))]
    heaps = after_step(heaps, steps[answer])
    return replace(state, board=heaps, last="" if open_steps(heaps, steps) else "opponent")


def _placing(move: int | tuple[int, str]) -> tuple[int, str]:
    return (move, "") if isinstance(move, int) else move


def line_of(board: str) -> str:
    """Return the player with three in a line; empty if there is none."""
    for a, b, c in _LINES:
        if board[a] != "." and board[a] == board[b] == board[c]:
            return board[a]
    return ""


def heaps_of(reference: Mapping[str, JSON]) -> tuple[int, ...]:
    """Return the heaps that a reference gives. Raises TaskError if they are invalid."""
    heaps = reference.get("heaps")
    if (
        not isinstance(heaps, list | tuple)
        or not 1 <= len(heaps) <= 10
        or not all(type(n) is int and 0 <= n <= 1000 for n in heaps)
        or not any(heaps)
    ):
        raise TaskError("nim: heaps must be 1 to 10 whole numbers of 0 to 1000, not all 0")
    return tuple(int(str(n)) for n in heaps)


def taken(heaps: tuple[int, ...], heap: int, many: int) -> tuple[int, ...]:
    """Return the heaps after `many` were taken from one of them."""
    return (*heaps[:heap], heaps[heap] - many, *heaps[heap + 1 :])


def nim_move(heaps: tuple[int, ...]) -> tuple[int, int] | None:
    """Return a move that leaves a nim-sum of 0 (Bouton 1901); None if there is none."""
    total = 0
    for n in heaps:
        total ^= n
    return next(((i, n - (n ^ total)) for i, n in enumerate(heaps) if n ^ total < n), None)


def nim_moves(heaps: tuple[int, ...], takes: tuple[tuple[int, ...], ...]) -> list[tuple[int, int]]:
    """Return all moves."""
    return [
        (heap, many)
        for heap, n in enumerate(heaps)
        for many in (takes[heap] if takes else range(1, n + 1))
        if many <= n
    ]


def nimbers(most: int, takes: tuple[int, ...]) -> list[int]:
    """Return the nim values of heaps of 0 to `most` from which `takes` may be taken (Sprague 1935, Grundy 1939)."""
    values: list[int] = []
    for n in range(most + 1):
        reached = {values[n - many] for many in takes if many <= n}
        values.append(next(value for value in range(len(takes) + 1) if value not in reached))
    return values


def restricted_move(
    heaps: tuple[int, ...], takes: tuple[tuple[int, ...], ...]
) -> tuple[int, int] | None:
    """Return a move that leaves nim values whose sum is 0; None if there is none."""
    values = [nimbers(n, some) for n, some in zip(heaps, takes, strict=True)]
    total = 0
    for some_values in values:
        total ^= some_values[-1]
    for heap, many in nim_moves(heaps, takes):
        if total and values[heap][heaps[heap] - many] == values[heap][-1] ^ total:
            return heap, many
    return None


def _movable(heaps: tuple[int, ...], takes: tuple[tuple[int, ...], ...]) -> bool:
    return bool(nim_moves(heaps, takes)) if takes else any(heaps)


def _takes_of(reference: Mapping[str, JSON]) -> tuple[tuple[int, ...], ...]:
    raw, count = reference["takes"], len(heaps_of(reference))
    if not isinstance(raw, list | tuple) or len(raw) != count or not all(map(_are_takes, raw)):
        raise TaskError(
            f"nim: takes must be a list of whole numbers from 1 for each of {count} heaps, got {raw!r}"
        )
    return tuple(tuple(some) for some in raw)


def _are_takes(some: JSON) -> bool:
    return (
        isinstance(some, list | tuple)
        and bool(some)
        and all(type(n) is int and n > 0 for n in some)
    )


def _put(board: str, place: int, sign: str) -> str:
    return board[:place] + sign + board[place + 1 :]


def _reply(board: str, strength: str, seed: int) -> int:
    """Return the place where O plays."""
    free = [i for i, sign in enumerate(board) if sign == "."]
    if strength != "random":
        for sign in "OX":  # to win, or else to stop X from winning
            for place in free:
                if line_of(_put(board, place, sign)):
                    return place
    if strength == "perfect":
        free = best_places(board, "O")
    return free[seeded(seed, board, len(free))]


def best_places(board: str, turn: str) -> list[int]:
    """Return the best places for X or O, in order, by searching all continuations."""
    other, sign = ("O", 1) if turn == "X" else ("X", -1)
    values = {
        place: sign * _value(_put(board, place, turn), other)
        for place, cell in enumerate(board)
        if cell == "."
    }
    return [place for place, value in values.items() if value == max(values.values())]


@lru_cache(maxsize=10_000)
def _value(board: str, turn: str) -> int:
    """1 if X wins with perfect play, 0 for a draw, -1 if O wins."""
    line = line_of(board)
    if line or "." not in board:
        return {"X": 1, "O": -1, "": 0}[line]
    after = [
        _value(_put(board, i, turn), "O" if turn == "X" else "X")
        for i, sign in enumerate(board)
        if sign == "."
    ]
    return max(after) if turn == "X" else min(after)


def _answer(heaps: tuple[int, ...], state: DuelState) -> tuple[int, int]:
    """Return the opponent's move: the heap and how many objects it takes."""
    filled, strength = [i for i, n in enumerate(heaps) if n], state.strength
    if strength != "random" and len(filled) == 1 and not state.takes:
        return filled[0], heaps[filled[0]]
    if strength == "perfect":
        takes = state.takes
        best = restricted_move(heaps, takes) if takes else nim_move(heaps)
        if best is not None:
            return best
    moves = nim_moves(heaps, state.takes)
    return moves[seeded(state.seed, repr(heaps), len(moves))]


def seeded(seed: int, position: str, count: int) -> int:
    """Return a choice among `count` that the seed and the position decide."""
    drawn = hashlib.sha256(f"{seed} {position}".encode()).digest()
    return int.from_bytes(drawn[:8]) % count


def _heaps(state: DuelState) -> tuple[int, ...]:
    assert isinstance(state.board, tuple)
    return state.board


def _number(move: JSON) -> int | None:
    if isinstance(move, str) and move.strip().isdecimal() and len(move) < 6:
        return int(move)
    return move if type(move) is int else None


def _match(board: str | tuple[int, ...], reference: Mapping[str, JSON]) -> DuelState:
    strength, seed = reference.get("opponent"), reference.get("seed")
    goal = reference.get("goal", "win")
    if strength not in STRENGTHS or goal not in GOALS or type(seed) is not int:
        raise TaskError(
            f"opponent must be one of {', '.join(STRENGTHS)}, goal one of {', '.join(GOALS)}, seed a "
            f"whole number, got {strength!r}, {goal!r} and {seed!r}"
        )
    return DuelState(board, str(strength), int(str(seed)), str(goal))
