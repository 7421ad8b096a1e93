"""Starts of tic-tac-toe by drawn rules: patterns, twists, and positions in which one move alone keeps the goal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import numpy as np
from msgspec import Struct

from verigym.canonical import JSON
from verigym.verifiers.games.drawn_lines import (
    LineGame,
    LineSolver,
    LineState,
    bits,
    good_moves,
    iter_good_moves,
    moves_of,
    open_cells,
    played,
    start_of,
)

Cell = tuple[int, int]
Pattern = tuple[Cell, ...]

_SEVERAL = 3
_FEWEST, _MOST = 8, 60  # lines
_SPARE = 2  # turns
_SWAP = str.maketrans("XO", "OX")
_BOARDS, _LATER = 30, 2
"""Boards that are tried with the same rules; all are so many moves later than one board, and share most of a search."""


class LineLevel(Struct, frozen=True, gc=False):
    """One kind of game of a level.

    Twists (of `wild`, `misere`, `falls`, `joined`), the board's sides, free cells at the start, patterns and the cells
    of each, moves that a search tries at least and at most, and turns on which one move alone of three or more
    keeps the goal.
    """

    twists: tuple[str, ...]
    sides: tuple[int, int]
    free: int
    patterns: int
    size: int
    tries: range
    narrow: int


class LineRules(Struct, frozen=True, gc=False):
    """Rules of a level: the board's width and height, patterns, if they may be turned and mirrored, and twists."""

    width: int
    height: int
    patterns: tuple[Pattern, ...]
    is_turned: bool
    twists: frozenset[str]


def draw_lines(
    rng: np.random.Generator, levels: tuple[LineLevel, ...], wants: Callable[[JSON], bool]
) -> tuple[LineRules, dict[str, Any]]:
    """Return rules and the reference of a start with its essence, which is wanted. Each kind of game is as likely."""
    level = levels[int(rng.integers(len(levels)))]
    while True:
        rules = _rules(rng, level)
        blocked = 1 << int(rng.integers(rules.width * rules.height))
        lines = lines_of(rules, blocked)
        if not _FEWEST <= len(lines) <= _MOST:
            continue
        seen: set[str] = set()
        base = _some_moves(rng, rules, lines, _empty(rules, blocked), level.free + _LATER)
        for _ in range(_BOARDS):
            if base is None:
                break
            board = _some_moves(rng, rules, lines, base, level.free)
            if board is None or board in seen:
                continue
            seen.add(board)
            if not wants(essence := essence_of(rules, lines, board)):
                continue
            for goal in ("win", "draw"):
                reference: dict[str, Any] = {
                    "board": board,
                    "width": rules.width,
                    "lines": [[cell.bit_length() for cell in bits(line)] for line in lines],
                    "misere": "misere" in rules.twists,
                    "wild": "wild" in rules.twists,
                    "falls": "falls" in rules.twists,
                    "goal": goal,
                    "seed": int(rng.integers(1 << 31)),
                    "turns": (level.free + 1) // 2 + _SPARE,
                    "essence": essence,
                }
                state = start_of(reference)
                good = _count_good(state, 2)
                if good == 1 and _is_hard(state, level):
                    return rules, reference
                if good:
                    break  # it can be won, so a draw is no goal


def essence_of(rules: LineRules, lines: tuple[int, ...], board: str) -> JSON:
    """Return rules and board, the same whichever way both are turned or mirrored and, in a wild game, X and O swapped."""
    width, height = rules.width, rules.height
    cells = [(row, column) for row in range(height) for column in range(width)]
    found = []
    for turned in (False, True) if "falls" not in rules.twists else (False,):
        for down in (False, True) if "falls" not in rules.twists else (False,):
            for right in (False, True):
                order = []
                for row, column in cells:
                    row, column = (
                        height - 1 - row if down else row,
                        width - 1 - column if right else column,
                    )
                    order.append(column * height + row if turned else row * width + column)
                laid = sorted(
                    sum(1 << order[cell.bit_length() - 1] for cell in bits(line)) for line in lines
                )
                placed_at = dict(zip(order, board, strict=True))
                shown = "".join(placed_at[i] for i in range(len(board)))
                for signs in (
                    (shown, shown.translate(_SWAP)) if "wild" in rules.twists else (shown,)
                ):
                    found.append((height if turned else width, signs, laid))
    essence: JSON = [sorted(rules.twists), *min(found)]
    return essence


def _count_good(state: LineState, enough: int) -> int:
    """The number of moves that keep the goal, counted up to `enough`."""
    return sum(1 for _ in islice(iter_good_moves(state), enough))


def _is_hard(state: LineState, level: LineLevel) -> bool:
    return count_search(state) in level.tries and narrow_turns(state) >= level.narrow


def count_search(state: LineState) -> int:
    """Count the moves that are tried to find the first one that keeps the goal: depth first, positions remembered."""
    solver = LineSolver(state.game)
    solver.reaches(state.x, state.o, state.goal)
    return max(1, solver.tried)


def narrow_turns(state: LineState) -> int:
    """Return the number of turns on which one move alone of several keeps the goal, along best play."""
    narrow = 0
    while not state.over:
        good = good_moves(state)
        narrow += len(good) == 1 and len(moves_of(state)) >= _SEVERAL
        state = played(state, good[0])
    return narrow


def lines_of(rules: LineRules, blocked: int) -> tuple[int, ...]:
    """Return every set of cells in which a pattern lies on the board, each once, without those on blocked cells."""
    found = set()
    for pattern in rules.patterns:
        for form in forms_of(pattern) if rules.is_turned else {pattern}:
            for down in range(rules.height):
                for right in range(rules.width):
                    cells = _laid(form, down, right, rules)
                    if cells and not cells & blocked:
                        found.add(cells)
    return tuple(sorted(found))


def _laid(form: Pattern, down: int, right: int, rules: LineRules) -> int:
    """The cells of a pattern moved so far; 0 if it leaves the board, whose edges may be joined."""
    cells = 0
    for row, column in form:
        row, column = row + down, column + right
        if "joined" in rules.twists:
            row, column = row % rules.height, column % rules.width
        elif row >= rules.height or column >= rules.width:
            return 0
        cells |= 1 << row * rules.width + column
    return cells if cells.bit_count() == len(form) else 0


def forms_of(pattern: Pattern) -> set[Pattern]:
    """Return a pattern in all turnings and mirrorings."""
    found = set()
    for _ in range(4):
        pattern = tuple((column, -row) for row, column in pattern)
        for form in (pattern, tuple((row, -column) for row, column in pattern)):
            found.add(_in_corner(form))
    return found


def _in_corner(cells: Iterable[Cell]) -> Pattern:
    cells = list(cells)
    top, left = min(row for row, _ in cells), min(column for _, column in cells)
    return tuple(sorted((row - top, column - left) for row, column in cells))


def _rules(rng: np.random.Generator, level: LineLevel) -> LineRules:
    width, height = level.sides
    if "falls" not in level.twists and rng.integers(2):
        width, height = height, width
    patterns: set[Pattern] = set()
    while len(patterns) < level.patterns:
        box = [(row, column) for row in range(3) for column in range(3)]
        some = rng.permutation(9)[: level.size].tolist()
        patterns.add(min(forms_of(tuple(box[i] for i in some))))
    drawn = tuple(sorted(patterns))
    return LineRules(width, height, drawn, bool(rng.integers(3)), frozenset(level.twists))


def _empty(rules: LineRules, blocked: int) -> str:
    return "".join("#" if blocked >> i & 1 else "." for i in range(rules.width * rules.height))


def _some_moves(
    rng: np.random.Generator, rules: LineRules, lines: tuple[int, ...], board: str, free: int
) -> str | None:
    """The board with signs added at random until so many cells are free; None if a line would be complete.

    X and O place in turn, and O last.
    """
    cells, count = list(board), board.count(".") - free
    held = {sign: sum(1 << i for i, cell in enumerate(cells) if cell == sign) for sign in "XO#"}
    falls = "falls" in rules.twists
    game = LineGame(rules.width, len(cells), held["#"], lines, falls=falls)
    for number, draw in enumerate(rng.integers(1 << 30, size=count).tolist()):
        options = list(bits(open_cells(game, held["X"] | held["O"])))
        if not options:
            return None
        sign = "XO"[(count - number) % 2]
        held[sign] |= options[draw % len(options)]
        cells[options[draw % len(options)].bit_length() - 1] = sign
        if any(line & held[sign] == line for line in lines):
            return None
    return "".join(cells)


def say_rules(rules: LineRules, goal: str, turns: int) -> str:
    """Return the prompt: the whole rules in words, patterns as pictures."""
    twists, cells = rules.twists, rules.width * rules.height
    size = len(rules.patterns[0])
    parts = [
        f"A game of lines, on a board of {rules.height} rows and {rules.width} columns. Cells are numbered 1 to {cells}, row "
        "by row. A free cell shows its number; # is a cell that nobody can use."
    ]
    if "wild" in twists:
        parts.append(
            "You and your opponent take turns. Each places one sign, X or O as they choose, on a free cell. Nobody owns a "
            "sign."
        )
    else:
        parts.append(
            "You place X, your opponent places O; you take turns, one sign on a free cell each time."
        )
    if "falls" in twists:
        parts.append(
            "Signs stand on each other: a cell can only be used if it is in the last row, or if the cell just below it "
            "holds a sign or is #."
        )
    several = len(rules.patterns) > 1
    lie = "one of these pictures" if several else "this picture"
    parts.append(
        f"{_NUMBERS[size]} cells are a line if they all hold the same sign and lie as the stars do in "
        f"{lie}, anywhere on the board"
        + (
            ", in any turning by 90, 180 or 270 degrees and in any mirror image:"
            if rules.is_turned
            else ", not turned and not mirrored:"
        )
    )
    parts += ["\n\n".join(map(_picture, rules.patterns))]
    parts.append("What is in the cells where the picture has dots does not matter.")
    if "joined" in twists:
        parts.append(
            "The edges are joined: the first column comes next after the last, and the first row next after the last, so "
            "a line that leaves the board at one edge goes on at the opposite one."
        )
    end = "loses" if "misere" in twists else "wins"
    parts.append(
        f"Whoever completes a line {end} at once. If nobody can move any more, the game is a draw."
    )
    parts.append(
        "Your opponent never makes a mistake. It is your turn, and "
        + (
            "you can force a win. Win the game."
            if goal == "win"
            else "you cannot force a win, but you can force a draw. Win or hold a draw."
        )
    )
    form = (
        "a sign and the number of a cell, such as X7 or O7"
        if "wild" in twists
        else "the number of a cell, such as 7"
    )
    parts.append(
        f"You have {turns} turns; an answer that is no possible move changes nothing, but uses one up. Answer with {form}."
    )
    return "\n".join(parts)


_NUMBERS = {3: "Three", 4: "Four"}


def _picture(pattern: Pattern) -> str:
    rows, columns = (max(cell[axis] for cell in pattern) + 1 for axis in (0, 1))
    return "\n".join(
        " ".join("*" if (row, column) in pattern else "." for column in range(columns))
        for row in range(rows)
    )


def show_lines(state: LineState) -> str:
    """Return the board; free cells as their numbers."""
    game = state.game
    shown = []
    for cell in range(game.cells):
        held = (("X", state.x), ("O", state.o), ("#", game.blocked))
        sign = next((sign for sign, cells in held if cells >> cell & 1), str(cell + 1))
        shown.append(sign.rjust(2))
    rows = range(0, game.cells, game.width)
    return "\n".join(" ".join(shown[i : i + game.width]) for i in rows)
