"""Tic-tac-toe by rules that are drawn for each task: what completes a line, if that wins, and who places which sign.

A line is any set of cells that has to hold one sign. Boards have up to 36 cells, some of them blocked. In a wild game
both players may place either sign, in the misère form whoever completes a line loses, and signs may fall as in
connect four. A solver finds every move that keeps a win or a draw; the opponent never errs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from verigym.canonical import JSON
from verigym.errors import TaskError

MOST_CELLS, MOST_FREE, MOST_LINES = 36, 20, 400
"""Sizes that can be solved: cells, free cells at the start, and lines."""
_GOALS = {"win": 1, "draw": 0}

Move = tuple[int, str]
"""A cell, from 0, and the sign that is placed; no sign if the player has one of their own."""


class LineGame(Struct, frozen=True, gc=False):
    """Rules of one game. Sets of cells are bit sets; `blocked` cells take no sign."""

    width: int
    cells: int
    blocked: int
    lines: tuple[int, ...]
    misere: bool = False
    wild: bool = False
    falls: bool = False


class LineState(Struct, frozen=True, gc=False):
    """Cells with X and with O, the value that the player has to keep (1 a win, 0 a draw), and the opponent's seed.

    `over` is empty while the game goes on, then `won`, `lost` or `drawn`, as the player sees it.
    """

    game: LineGame
    x: int
    o: int
    goal: int
    seed: int
    over: str = ""


def start_of(reference: Mapping[str, JSON]) -> LineState:
    """Return the first state. Raises TaskError if the reference is invalid."""
    board, width, seed = reference.get("board"), reference.get("width"), reference.get("seed")
    if not isinstance(board, str) or not 1 <= len(board) <= MOST_CELLS or set(board) - set(".XO#"):
        raise TaskError(f"tic-tac-toe: the board must be 1 to {MOST_CELLS} of . X O #")
    if type(width) is not int or width < 1 or len(board) % width:
        raise TaskError(f"tic-tac-toe: width must divide the cells, got {width!r}")
    flags = [reference.get(name, False) for name in ("misere", "wild", "falls")]
    goal = reference.get("goal", "win")
    if not all(type(flag) is bool for flag in flags) or goal not in _GOALS or type(seed) is not int:
        raise TaskError(
            f"tic-tac-toe: misere, wild and falls must be true or false, goal one of {', '.join(_GOALS)}, seed a "
            f"whole number, got {flags!r}, {goal!r} and {seed!r}"
        )
    x, o, blocked = (_cells_with(board, sign) for sign in "XO#")
    game = LineGame(width, len(board), blocked, _lines_of(reference, board), *map(bool, flags))
    if board.count(".") > MOST_FREE or not open_cells(game, x | o):
        raise TaskError(f"tic-tac-toe: 1 to {MOST_FREE} cells must be free")
    if any(line & x == line or line & o == line for line in game.lines):
        raise TaskError("tic-tac-toe: a line is complete at the start")
    return LineState(game, x, o, _GOALS[str(goal)], int(str(seed)))


def moves_of(state: LineState) -> list[Move]:
    """Return the moves that can be made; none when the game is over."""
    if state.over:
        return []
    signs = "XO" if state.game.wild else ("",)
    cells = bits(open_cells(state.game, state.x | state.o))
    return [(cell.bit_length() - 1, sign) for cell in cells for sign in signs]


def good_moves(state: LineState) -> list[Move]:
    """Return the moves that keep the goal."""
    return list(iter_good_moves(state))


def iter_good_moves(state: LineState) -> Iterator[Move]:
    """Yield the moves that keep the goal, each as soon as it is found."""
    solver = solver_of(state.game)
    for cell, sign in moves_of(state):
        ended, x, o = placed(state.game, state.x, state.o, 1 << cell, sign or "X")
        if ended:
            keeps = value_of_end(state.game, ended) >= state.goal
        else:
            own, other = (x, o) if state.game.wild else (o, x)
            keeps = not solver.reaches(own, other, 1 - state.goal)
        if keeps:
            yield cell, sign


def played(state: LineState, move: Move) -> LineState:
    """Return the state after a legal move and the answer of an opponent that never errs."""
    after = _after(state, move, "X")
    return after if after.over else _after(after, hardest_answer(after), "O")


def hardest_answer(state: LineState) -> Move:
    """Return the opponent's move: one that is best for it, and leaves the player the fewest good moves.

    The first of these after the one that the seed names, so that equal positions get equal answers.
    """
    game = state.game
    options = moves_of(state)
    turn = (state.seed ^ state.x * 31 ^ state.o) % len(options)
    best, fewest = options[0], (2, 0)
    for move in options[turn:] + options[:turn]:
        after = _after(state, move, "O")
        if after.over:
            rank = ({"lost": -1, "drawn": 0, "won": 1}[after.over], 0)
        else:
            solver = solver_of(game)
            own, other = after.x, after.o
            value = next((v for v in (1, 0) if solver.reaches(own, other, v)), -1)
            # Where the goal is gone already, answers need not be counted.
            rank = (value, len(good_moves(after)) if value >= state.goal else 0)
        if rank < fewest:
            best, fewest = move, rank
    return best


def open_cells(game: LineGame, taken: int) -> int:
    """Return the cells that can be played now."""
    free = ((1 << game.cells) - 1) & ~(taken | game.blocked)
    if not game.falls:
        return free
    last = ((1 << game.width) - 1) << game.cells - game.width
    return free & ((taken | game.blocked) >> game.width | last)


def placed(game: LineGame, x: int, o: int, cell: int, sign: str) -> tuple[str, int, int]:
    """Return how the game ends (`line`, `full`, or empty) by a sign on a cell, and the cells after that."""
    if sign == "X":
        x |= cell
    else:
        o |= cell
    own = x if sign == "X" else o
    if any(line & cell and line & own == line for line in game.lines):
        return "line", x, o
    return "" if open_cells(game, x | o) else "full", x, o


def value_of_end(game: LineGame, ended: str) -> int:
    """Return the value of an end for who moved last."""
    if ended == "full":
        return 0
    return -1 if game.misere else 1


def bits(cells: int) -> Iterator[int]:
    """Yield the cells of a bit set one by one, each as a bit set."""
    while cells:
        low = cells & -cells
        yield low
        cells ^= low


class LineSolver:
    """A search to the end that remembers positions, and counts in `tried` the moves that it tries.

    A position is two bit sets: signs of the side to move and of the other side, or X and O in a wild game.
    """

    def __init__(self, game: LineGame) -> None:
        self.game = game
        self.through = {
            cell: [line ^ cell for line in game.lines if line & cell]
            for cell in bits((1 << game.cells) - 1)
        }
        self.tried = 0
        self.known: dict[tuple[int, int, int], bool] = {}

    def reaches(self, own: int, other: int, value: int) -> bool:
        """Return True if the side to move can force at least `value`: 1 to win, 0 to win or draw."""
        if self.game.wild and own < other:  # X and O are alike
            own, other = other, own
        key = (own, other, value)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._search(own, other, value)
        return found

    def _search(self, own: int, other: int, value: int) -> bool:
        game = self.game
        cells = open_cells(game, own | other)
        if not cells:
            return value <= 0
        if game.misere:
            return self._avoid(own, other, value, cells)
        if self._completing(own, cells) or (game.wild and self._completing(other, cells)):
            return True
        if game.wild:
            return self._any(own, other, value, cells)
        threats = self._completing(other, cells)
        if threats & (threats - 1):
            return False
        return self._any(own, other, value, threats or cells)

    def _any(self, own: int, other: int, value: int, cells: int) -> bool:
        """Return True if a move that completes no line forces `value`."""
        for cell in self._ordered(own, other, cells):
            self.tried += 1
            if not self.game.wild:
                if not self.reaches(other, own | cell, 1 - value):
                    return True
                continue
            for after in ((own | cell, other), (own, other | cell)):
                if not self.reaches(*after, 1 - value):
                    return True
        return False

    def _avoid(self, own: int, other: int, value: int, cells: int) -> bool:
        """Return True if a move that completes no line forces `value`, where completing one loses."""
        own_bad = self._completing(own, cells)
        if not self.game.wild:
            return self._any(own, other, value, cells & ~own_bad)
        other_bad = self._completing(other, cells)
        for cell in bits(cells):
            self.tried += 1
            if not cell & own_bad and not self.reaches(own | cell, other, 1 - value):
                return True
            if not cell & other_bad and not self.reaches(own, other | cell, 1 - value):
                return True
        return False

    def _completing(self, signs: int, cells: int) -> int:
        """Return the cells on which one more of these signs completes a line."""
        found, others = 0, ~signs
        for line in self.game.lines:
            missing = line & others
            if not missing & (missing - 1):
                found |= missing
        return found & cells

    def _ordered(self, own: int, other: int, cells: int) -> list[int]:
        """Return cells in the order in which they are tried: those on most lines that are still open."""
        if self.game.wild or self.game.misere:
            return list(bits(cells))
        return sorted(
            bits(cells),
            key=lambda cell: sum(
                -(4 ** (rest & own).bit_count()) for rest in self.through[cell] if not rest & other
            ),
        )


@lru_cache(maxsize=16)
def solver_of(game: LineGame) -> LineSolver:
    """Return the solver of a game; it remembers what it has found."""
    return LineSolver(game)


def _after(state: LineState, move: Move, player: str) -> LineState:
    cell, sign = move
    ended, x, o = placed(state.game, state.x, state.o, 1 << cell, sign or player)
    over = ""
    if ended:
        value = value_of_end(state.game, ended) * (1 if player == "X" else -1)
        over = {1: "won", 0: "drawn", -1: "lost"}[value]
    return replace(state, x=x, o=o, over=over)


def _cells_with(board: str, sign: str) -> int:
    return sum(1 << i for i, here in enumerate(board) if here == sign)


def _lines_of(reference: Mapping[str, JSON], board: str) -> tuple[int, ...]:
    raw = reference["lines"]
    if (
        not isinstance(raw, list | tuple)
        or not 1 <= len(raw) <= MOST_LINES
        or not all(_is_line(line, board) for line in raw)
    ):
        raise TaskError(
            f"tic-tac-toe: lines must be 1 to {MOST_LINES} lists of 2 or more cells from 1, got {raw!r}"
        )
    return tuple(sum(1 << cell - 1 for cell in line) for line in raw)


def _is_line(line: JSON, board: str) -> bool:
    return (
        isinstance(line, list | tuple)
        and len(line) >= 2
        and all(type(cell) is int and 1 <= cell <= len(board) for cell in line)
        and len(set(map(str, line))) == len(line)
        and all(board[int(str(cell)) - 1] != "#" for cell in line)
    )
