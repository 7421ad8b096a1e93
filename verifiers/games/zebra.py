"""Rules of zebra puzzles: find out from clues who and what belongs to which house."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from verigym.canonical import JSON
from verigym.errors import TaskError

KINDS: Mapping[str, Callable[[int, int], bool]] = {
    "at": lambda a, house: a == house,
    "not at": lambda a, house: a != house,
    "same": lambda a, b: a == b,
    "apart": lambda a, b: a != b,
    "next": lambda a, b: b - a == 1,
    "beside": lambda a, b: abs(b - a) == 1,
    "left": lambda a, b: a < b,
}
"""Kinds of clues, and when they hold. `at` and `not at` name a word and a house, the others two words;
`next` says that the second is directly to the right of the first."""

PAIRS: Mapping[str, Callable[[int, int, tuple[int, ...]], bool]] = {
    "far": lambda a, b, n: abs(a - b) >= n[0],
    "gap": lambda a, b, n: abs(a - b) == n[0],
    "either": lambda a, b, n: (a == n[0]) != (b == n[1]),
}
"""Kinds of clues about two words and numbers: distances, and exactly one of two words in the house given for it."""


@dataclass(frozen=True, slots=True)
class ClueKind:
    """A kind of clue about `least` to `most` words and some numbers."""

    least: int
    most: int
    numbers: int
    holds: Callable[[Sequence[int], tuple[int, ...]], bool]


GROUPS: Mapping[str, ClueKind] = {
    "count": ClueKind(2, 6, 3, lambda h, n: sum(n[1] <= house <= n[2] for house in h) == n[0]),
    "less": ClueKind(4, 4, 0, lambda h, n: h[0] + h[1] < h[2] + h[3]),
    "equal": ClueKind(4, 4, 0, lambda h, n: h[0] + h[1] == h[2] + h[3]),
    "if": ClueKind(4, 4, 0, lambda h, n: h[0] >= h[1] or h[2] < h[3]),
    "far": ClueKind(2, 2, 1, lambda h, n: PAIRS["far"](h[0], h[1], n)),
    "gap": ClueKind(2, 2, 1, lambda h, n: PAIRS["gap"](h[0], h[1], n)),
    "either": ClueKind(2, 2, 2, lambda h, n: PAIRS["either"](h[0], h[1], n)),
}
"""Kinds of clues about several words: how many of them live in the houses from one to another, a sum of two house
numbers that is less than or equal to another one, one order of two words that follows from another."""

_MOVE = re.compile(r"[-*]?\s*([a-z]{1,30})\s*[:=]?\s*(?:house\s*)?(\d{1,2})")

Clue = tuple[str, str, str | int]
GroupClue = tuple[str, tuple[str, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Street:
    """A puzzle, and the house of each word, 0 if it has none yet."""

    words: tuple[tuple[str, ...], ...]
    clues: tuple[Clue | GroupClue, ...]
    solution: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def all_words(self) -> list[str]:
        """The words in the order of `places`."""
        return [word for row in self.words for word in row]


class ZebraRules:
    """`{"words": [["anna", "ben"], ["cat", "dog"]], "clues": [["same", "anna", "dog"]], "solution": {...}}`.

    Each row of words names as many as there are houses, one a house. A move is `anna 2`: a word and its
    house, from 1 at the left; each word is placed once. Won if all are placed, no two of a row in one
    house, and every clue holds. A clue about several words and numbers has lists of them: `["far", ["anna", "dog"], [2]]`. `solution` gives the house of each word, for the part `progress`.
    """

    def start(self, reference: Mapping[str, JSON]) -> Street:
        words = _words(reference.get("words"))
        flat = [word for row in words for word in row]
        raw, solution = reference.get("clues"), reference.get("solution")
        if not isinstance(raw, list | tuple) or len(raw) > 1000:
            raise TaskError("zebra: clues must be a list of at most 1000")
        clues = tuple(_clue(one, flat, len(words[0])) for one in raw)
        if not isinstance(solution, Mapping) or solution.keys() != set(flat):
            raise TaskError("zebra: solution must give the house of each word")
        houses = tuple(house if type(house) is int else 0 for house in map(solution.get, flat))
        street = Street(words, clues, houses, (0,) * len(flat))
        if not self.won(replace(street, places=houses)):
            raise TaskError(
                "zebra: the solution breaks a clue, or puts two of a row into one house"
            )
        return street

    def read(self, move: JSON) -> tuple[str, int] | None:
        text = move.strip().lower() if isinstance(move, str) and len(move) < 80 else ""
        found = _MOVE.fullmatch(text)
        return (found[1], int(found[2])) if found else None

    def legal(self, state: Street, move: tuple[str, int]) -> bool:
        word, house = move
        known = state.all_words
        return word in known and not state.places[known.index(word)] and 1 <= house <= _size(state)

    def apply(self, state: Street, move: tuple[str, int]) -> Street:
        at = state.all_words.index(move[0])
        return replace(state, places=(*state.places[:at], move[1], *state.places[at + 1 :]))

    def won(self, state: Street) -> bool:
        if 0 in state.places:
            return False
        n = _size(state)
        rows = [state.places[i : i + n] for i in range(0, len(state.places), n)]
        if any(sorted(row) != list(range(1, n + 1)) for row in rows):
            return False
        house = dict(zip(state.all_words, state.places, strict=True))
        return all(_holds(clue, house) for clue in state.clues)

    def share(self, state: Street) -> float:
        """Return the share of words that are in the right house."""
        right = sum(a == b for a, b in zip(state.places, state.solution, strict=True))
        return right / len(state.solution)


def _holds(clue: Clue | GroupClue, house: Mapping[str, int]) -> bool:
    kind, a, b = clue
    if isinstance(a, tuple) and isinstance(b, tuple):
        return GROUPS[kind].holds([house[word] for word in a], b)
    assert isinstance(a, str)
    assert isinstance(b, str | int)
    return KINDS[kind](house[a], b if isinstance(b, int) else house[b])


def _size(state: Street) -> int:
    return len(state.words[0])


def _words(raw: JSON) -> tuple[tuple[str, ...], ...]:
    if not isinstance(raw, list | tuple) or not 1 <= len(raw) <= 12:
        raise TaskError("zebra: words must be 1 to 12 rows")
    rows = tuple(tuple(row) if isinstance(row, list | tuple) else () for row in raw)
    flat = [word for row in rows for word in row]
    if not all(isinstance(word, str) and re.fullmatch("[a-z]{1,30}", word) for word in flat):
        raise TaskError("zebra: a word must consist of letters from a to z")
    if len({len(row) for row in rows}) != 1 or not 2 <= len(rows[0]) <= 12:
        raise TaskError("zebra: rows of one length, 2 to 12")
    if len(set(flat)) != len(flat):
        raise TaskError("zebra: a word stands twice")
    return rows


def _clue(raw: JSON, words: list[str], houses: int) -> Clue | GroupClue:
    if isinstance(raw, list | tuple) and len(raw) == 3:
        kind, a, b = raw
        if isinstance(kind, str) and kind in GROUPS and isinstance(a, list | tuple):
            return kind, *_group(GROUPS[kind], a, b, words, houses)
        if isinstance(kind, str) and kind in KINDS and isinstance(a, str) and a in words:
            if kind in ("at", "not at"):
                if type(b) is int and 1 <= b <= houses:
                    return kind, a, b
            elif isinstance(b, str) and b in words and a != b:
                return kind, a, b
    raise TaskError(f"zebra: a clue is a kind, a word, and a word or a house, got {raw!r}")


def _group(
    kind: ClueKind, named: Sequence[JSON], numbers: JSON, words: list[str], houses: int
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the words and numbers of a clue about several words."""
    found = tuple(word for word in named if isinstance(word, str) and word in words)
    if not kind.least <= len(found) == len(named) == len(set(found)) <= kind.most:
        raise TaskError(f"zebra: wants {kind.least} to {kind.most} different words, got {named!r}")
    if not isinstance(numbers, list | tuple) or len(numbers) != kind.numbers:
        raise TaskError(f"zebra: wants {kind.numbers} numbers, got {numbers!r}")
    values = tuple(n for n in numbers if type(n) is int and 0 <= n <= houses)
    if len(values) != kind.numbers:
        raise TaskError(f"zebra: wants numbers from 0 to {houses}, got {numbers!r}")
    return found, values
