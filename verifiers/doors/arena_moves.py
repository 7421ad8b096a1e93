"""The forms of moves of TextArena's two-player games, from which an opponent finds a legal one.

Each gives more than can be played: what is legal is tried on a copy of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

Moves = Callable[[Any], Iterator[str]]


def _words(*words: str) -> Moves:
    return lambda env: iter([f"[{word}]" for word in words])


def _numbers(most: int, form: str = "[{}]") -> Moves:
    return lambda env: (form.format(n) for n in range(most))


def _pairs(rows: int, columns: int, form: str = "[{} {}]") -> Moves:
    return lambda env: (form.format(a, b) for a, b in product(range(rows), range(columns)))


def _chess(env: Any) -> Iterator[str]:
    return (f"[{move.uci()}]" for move in env.state.game_state["board"].legal_moves)


def _diagonals(env: Any) -> Iterator[str]:
    """Steps and jumps of draughts."""
    for row, column, (down, right), far in product(
        range(8), range(8), product((-1, 1), (-1, 1)), (1, 2)
    ):
        to = row + far * down, column + far * right
        if 0 <= to[0] < 8 and 0 <= to[1] < 8:
            yield f"[{row} {column} {to[0]} {to[1]}]"


def _breakthrough(env: Any) -> Iterator[str]:
    size = env.board_size
    for row, column, down, right in product(range(size), range(size), (-1, 1), (-1, 0, 1)):
        if 0 <= row + down < size and 0 <= column + right < size:
            source, to = (column, row + 1), (column + right, row + down + 1)
            yield f"[{_square(source)}{_square(to)}]"


def _square(place: tuple[int, int]) -> str:
    return f"{chr(97 + place[0])}{place[1]}"


def _memory(env: Any) -> Iterator[str]:
    size = env.grid_size
    cells = list(product(range(size), range(size)))
    for one, other in product(cells, cells):
        if one < other:
            yield f"[{one[0]} {one[1]} {other[0]} {other[1]}]"


def _shots(env: Any) -> Iterator[str]:
    return (f"[{chr(65 + a)}{b}]" for a, b in product(range(env.grid_size), repeat=2))


def _quantum(env: Any) -> Iterator[str]:
    return (f"[{a},{b}]" for a, b in product(range(9), range(9)) if a < b)


MOVES: dict[str, Moves] = {
    "Battleship": _shots,
    "Breakthrough": _breakthrough,
    "Checkers": _diagonals,
    "Chess": _chess,
    "Chopsticks": lambda env: iter(
        [
            *(f"[attack {a} {b}]" for a, b in product((0, 1), (0, 1))),
            *(f"[split {a} {b}]" for a, b in product(range(5), range(5))),
        ]
    ),
    "ConnectFour": _numbers(15, "[col {}]"),
    "GameOfPureStrategy": _words("A", *map(str, range(2, 11)), "J", "Q", "K"),
    "IteratedMatchingPennies": _words("heads", "tails"),
    "IteratedRockPaperScissors": _words("rock", "paper", "scissors"),
    "KuhnPoker": _words("check", "bet", "call", "fold"),
    "MemoryGame": _memory,
    "Nim": _pairs(8, 12),
    "Othello": _pairs(8, 8, "[{}, {}]"),
    "PigDice": _words("roll", "hold"),
    "QuantumTicTacToe": _quantum,
    "ReverseTicTacToe": _numbers(9),
    "SimpleTak": _numbers(36),
    "TicTacToe": _numbers(9),
    "UltimateTicTacToe": _pairs(9, 9),
    "WildTicTacToe": lambda env: (f"[{sign} {n}]" for sign in "XO" for n in range(9)),
}
