"""Built-in rules of `games/replay`: a start, the moves, and what wins.

Each rule set is a value without state of its own, and states are plain hashable values. `read`
returns a move in the one form that `apply` takes, or None if the text is not a move of the game at
all; a move that exists but cannot be made now is illegal, which is reported as such.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.blackjack import BlackjackRules
from verigym.verifiers.games.connect_four import ConnectFourRules
from verigym.verifiers.games.directions import read_direction
from verigym.verifiers.games.duels import NimRules, TicTacToeRules
from verigym.verifiers.games.guessing import HangmanRules, MastermindRules, WordleRules
from verigym.verifiers.games.house_rules import Amendable
from verigym.verifiers.games.household import HouseholdRules
from verigym.verifiers.games.keydoor import MOVES as DIRECTIONS
from verigym.verifiers.games.keydoor import KeydoorLevel, KeydoorPlace, parse_level
from verigym.verifiers.games.liars_dice import LiarsDiceRules
from verigym.verifiers.games.lights import LightsRules
from verigym.verifiers.games.mates import MatePuzzle
from verigym.verifiers.games.merging import MergingRules
from verigym.verifiers.games.minesweeper import MinesweeperRules
from verigym.verifiers.games.nonogram import NonogramRules
from verigym.verifiers.games.questioning import TwentyQuestionsRules
from verigym.verifiers.games.sokoban import SokobanRules
from verigym.verifiers.games.sudoku import SudokuRules
from verigym.verifiers.games.zebra import ZebraRules

MAX_CELLS = 10_000


class Rules(Protocol):
    """One game. States may hold the level, so that `apply` and `won` need nothing else."""

    def start(self, reference: Mapping[str, JSON]) -> Any:
        """Return the first state. Raises TaskError if the reference does not draw one."""

    def read(self, move: JSON) -> Hashable | None:
        """Return a policy's move in canonical form; None if it is not a move."""

    def legal(self, state: Any, move: Any) -> bool:
        """Return True if `move` can be made in `state`."""

    def apply(self, state: Any, move: Any) -> Any:
        """Return the state after a legal move."""

    def won(self, state: Any) -> bool:
        """Return True if the goal is reached."""


class KeyDoorRules:
    """`{"rows": [...]}` as in `games/keydoor`; a move into a wall is legal and changes nothing."""

    def start(self, reference: Mapping[str, JSON]) -> tuple[KeydoorLevel, KeydoorPlace]:
        level = parse_level(_rows(reference))
        return level, level.start

    def read(self, move: JSON) -> str | None:
        return read_direction(move)

    def legal(self, state: tuple[KeydoorLevel, KeydoorPlace], move: str) -> bool:
        return True

    def apply(
        self, state: tuple[KeydoorLevel, KeydoorPlace], move: str
    ) -> tuple[KeydoorLevel, KeydoorPlace]:
        level, place = state
        return level, level.move(place, move)

    def won(self, state: tuple[KeydoorLevel, KeydoorPlace]) -> bool:
        level, place = state
        return level.at_goal(place)


Pegs = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class HanoiState:
    """Disks on each peg, the largest first; won if they lie as in `goal`, or `target` holds all if there is none."""

    pegs: Pegs
    target: int
    goal: Pegs | None = None


class HanoiRules:
    """`{"disks": n}` from peg 1 to the last of `pegs` (3); or `{"start": [[3,2,1],[],[]]}`, `target` or `goal`.

    A `goal` says how the disks have to lie, as `start` does. A move is `[from, to]`, `"1->3"`, `"1 3"` or `"A C"`, pegs from 1 or A.
    """

    def start(self, reference: Mapping[str, JSON]) -> HanoiState:
        raw = reference.get("start")
        if raw is None:
            count, pegs = _whole(reference, "disks", 1, 64), _whole(reference, "pegs", 3, 10, 3)
            raw = [list(range(count, 0, -1))] + [[] for _ in range(pegs - 1)]
        start, goal = _pegs(raw, "start"), None
        if "goal" in reference:
            goal = _pegs(reference["goal"], "goal")
            if len(goal) != len(start) or sum(map(len, goal)) != sum(map(len, start)):
                raise TaskError("hanoi: start and goal must have the same pegs and disks")
            if "target" in reference:
                raise TaskError("hanoi: give either target or goal, not both")
        target = _whole(reference, "target", 1, len(start), len(start))
        return HanoiState(start, target - 1, goal)

    def read(self, move: JSON) -> tuple[int, int] | None:
        ends: list[JSON] = []
        if isinstance(move, str) and len(move) <= 20:
            for sign in ("->", "→", "to", ">", ",", "-"):
                move = move.replace(sign, " ")
            ends.extend(move.strip(" ()[]").split())
        elif isinstance(move, list | tuple):
            ends.extend(move)
        pegs = [_peg(end) for end in ends]
        if len(pegs) != 2 or pegs[0] is None or pegs[1] is None:
            return None
        return pegs[0], pegs[1]

    def legal(self, state: HanoiState, move: tuple[int, int]) -> bool:
        source, target = move
        if not (0 <= source < len(state.pegs) and 0 <= target < len(state.pegs)):
            return False
        if source == target or not state.pegs[source]:
            return False
        there = state.pegs[target]
        return not there or there[-1] > state.pegs[source][-1]

    def apply(self, state: HanoiState, move: tuple[int, int]) -> HanoiState:
        source, target = move
        pegs = list(state.pegs)
        pegs[target] = (*pegs[target], pegs[source][-1])
        pegs[source] = pegs[source][:-1]
        return HanoiState(tuple(pegs), state.target, state.goal)

    def won(self, state: HanoiState) -> bool:
        if state.goal is not None:
            return state.pegs == state.goal
        return all(not peg for i, peg in enumerate(state.pegs) if i != state.target)

    def labels(self, state: HanoiState, move: tuple[int, int]) -> tuple[str, ...]:
        return f"{move[0] + 1}->{move[1] + 1}", f"disk {state.pegs[move[0]][-1]}"


@dataclass(frozen=True, slots=True)
class SlidingState:
    """Tiles row by row, 0 the hole."""

    tiles: tuple[int, ...]
    goal: tuple[int, ...]
    width: int


class SlidingRules:
    """`{"rows": [[1,2],[3,0]]}`, `goal` (rows; left out: in order, the hole last).

    A move is the direction in which a tile moves into the hole, or that tile's number.
    """

    def start(self, reference: Mapping[str, JSON]) -> SlidingState:
        tiles, width = _grid(reference.get("rows"), "rows")
        goal = (*range(1, len(tiles)), 0)
        if "goal" in reference:
            goal, other = _grid(reference["goal"], "goal")
            if other != width:
                raise TaskError("sliding: rows and goal must have one width")
        if sorted(tiles) != list(range(len(tiles))) or sorted(goal) != sorted(tiles):
            raise TaskError("sliding: the tiles must be 1 to n, each once, and the hole 0")
        return SlidingState(tiles, goal, width)

    def read(self, move: JSON) -> str | int | None:
        if isinstance(move, int) and not isinstance(move, bool):
            return move
        if isinstance(move, str) and move.strip().isdecimal() and len(move) < 8:
            return int(move)
        return read_direction(move)

    def legal(self, state: SlidingState, move: str | int) -> bool:
        return self._from(state, move) is not None

    def apply(self, state: SlidingState, move: str | int) -> SlidingState:
        source = self._from(state, move)
        if source is None:
            raise ValueError(f"{move!r} cannot be made")
        tiles, hole = list(state.tiles), state.tiles.index(0)
        tiles[hole], tiles[source] = tiles[source], 0
        return SlidingState(tuple(tiles), state.goal, state.width)

    def won(self, state: SlidingState) -> bool:
        return state.tiles == state.goal

    def labels(self, state: SlidingState, move: str | int) -> tuple[str, ...]:
        source = self._from(state, move)
        assert source is not None, "the move is legal"
        hole, tile = state.tiles.index(0), state.tiles[source]
        there, beside = (
            a - b for a, b in zip(*(divmod(i, state.width) for i in (hole, source)), strict=True)
        )
        return _NAMES[there, beside], f"tile {tile}"

    def _from(self, state: SlidingState, move: str | int) -> int | None:
        """Return the index of the tile that moves; None if no tile can move so."""
        row, column = divmod(state.tiles.index(0), state.width)
        for name, (down, right) in DIRECTIONS.items():
            there, beside = row - down, column - right
            if not (0 <= beside < state.width and 0 <= there < len(state.tiles) // state.width):
                continue
            at = there * state.width + beside
            if move in (name, state.tiles[at]) and not isinstance(move, bool):
                return at
        return None


_NAMES = {step: name for name, step in DIRECTIONS.items()}


@dataclass(frozen=True, slots=True)
class LakeState:
    """Position on the ice. `sight` is how far one sees, in rows and columns; 0 is everywhere. It changes no rule."""

    rows: tuple[str, ...]
    row: int
    column: int
    sight: int = 0


class Lake:
    """`{"rows": ["SFH", "FFG"]}`: S start, F ice, H hole, G goal; no slipping. `sight` is for those who show the lake.

    A move off the edge is legal and changes nothing; in a hole no move is legal.
    """

    def start(self, reference: Mapping[str, JSON]) -> LakeState:
        rows = _rows(reference)
        text = "".join(rows)
        if len({len(row) for row in rows}) != 1 or set(text) - set("SFHG"):
            raise TaskError("lake: rows of one width of S, F, H and G")
        if text.count("S") != 1 or "G" not in text:
            raise TaskError("lake: one start S and at least one goal G")
        sight = _whole(reference, "sight", 0, MAX_CELLS, 0)
        return LakeState(rows, *divmod(text.index("S"), len(rows[0])), sight)

    def read(self, move: JSON) -> str | None:
        return read_direction(move)

    def legal(self, state: LakeState, move: str) -> bool:
        return state.rows[state.row][state.column] != "H"

    def apply(self, state: LakeState, move: str) -> LakeState:
        down, right = DIRECTIONS[move]
        row = min(max(state.row + down, 0), len(state.rows) - 1)
        column = min(max(state.column + right, 0), len(state.rows[0]) - 1)
        return LakeState(state.rows, row, column, state.sight)

    def won(self, state: LakeState) -> bool:
        return state.rows[state.row][state.column] == "G"

    def labels(self, state: LakeState, move: str) -> tuple[str, ...]:
        return (move,)


RULES: Mapping[str, Rules] = {
    "2048": MergingRules(),
    "blackjack": BlackjackRules(),
    "chess": MatePuzzle(),
    "connect-four": ConnectFourRules(),
    "hangman": HangmanRules(),
    "hanoi": Amendable(HanoiRules()),
    "household": HouseholdRules(),
    "keydoor": KeyDoorRules(),
    "lake": Amendable(Lake()),
    "liars-dice": LiarsDiceRules(),
    "lights": LightsRules(),
    "mastermind": MastermindRules(),
    "minesweeper": MinesweeperRules(),
    "nim": NimRules(),
    "nonogram": NonogramRules(),
    "sliding": Amendable(SlidingRules()),
    "sokoban": Amendable(SokobanRules()),
    "sudoku": SudokuRules(),
    "tic-tac-toe": TicTacToeRules(),
    "twenty-questions": TwentyQuestionsRules(),
    "wordle": WordleRules(),
    "zebra": ZebraRules(),
}


def _rows(reference: Mapping[str, JSON]) -> tuple[str, ...]:
    rows = reference.get("rows")
    if not isinstance(rows, list | tuple) or not rows or not all(isinstance(r, str) for r in rows):
        raise TaskError("rows must be a list of texts")
    if not rows[0] or sum(map(len, rows)) > MAX_CELLS:
        raise TaskError(f"rows must have 1 to {MAX_CELLS} cells")
    return tuple(rows)


def _grid(raw: JSON, what: str) -> tuple[tuple[int, ...], int]:
    if not isinstance(raw, list | tuple) or not raw or not isinstance(raw[0], list | tuple):
        raise TaskError(f"sliding: {what} must be a list of rows of whole numbers")
    width = len(raw[0])
    for row in raw:
        if not isinstance(row, list | tuple) or len(row) != width:
            raise TaskError(f"sliding: {what} must have rows of one width")
    tiles = tuple(tile for row in raw for tile in row)
    if not 2 <= len(tiles) <= MAX_CELLS or not all(type(tile) is int for tile in tiles):
        raise TaskError(f"sliding: {what} must hold 2 to {MAX_CELLS} whole numbers")
    return tiles, width


def _whole(
    reference: Mapping[str, JSON], name: str, least: int, most: int, default: int | None = None
) -> int:
    value = reference.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise TaskError(f"{name} must be a whole number from {least} to {most}, got {value!r}")
    return value


def _pegs(raw: JSON, name: str) -> Pegs:
    """Return the disks of each peg. Raises TaskError if they are not the disks 1 to n, the largest first on each peg."""
    if not isinstance(raw, list | tuple) or not 3 <= len(raw) <= 10:
        raise TaskError(f"hanoi: {name} must be a list of 3 to 10 pegs")
    found: list[tuple[int, ...]] = []
    for peg in raw:
        falls = isinstance(peg, list | tuple) and all(type(disk) is int for disk in peg)
        if not falls or list(peg) != sorted(set(peg), reverse=True):
            raise TaskError("hanoi: a peg is a list of disks, the largest first")
        found.append(tuple(peg))
    disks = sorted(disk for peg in found for disk in peg)
    if not disks or disks != list(range(1, len(disks) + 1)):
        raise TaskError("hanoi: the disks must be 1 to n, each once")
    return tuple(found)


def _peg(end: JSON) -> int | None:
    if isinstance(end, str):
        word = end.strip().upper()
        if len(word) == 1 and "A" <= word <= "J":
            return ord(word) - ord("A")
        end = int(word) if word.isdecimal() and len(word) < 4 else None
    if isinstance(end, int) and not isinstance(end, bool) and abs(end) < 1000:
        return end - 1
    return None
