"""House rules: changes to the rules of a game that are drawn for each task and stated in its prompt.

One mechanism for every game whose moves have labels, such as `up`, `push`, `tile 5` or `1->3`. A reference may hold

    "house_rules": {"forbidden": ["1->3"], "not_after": [["disk 1", "disk 2"]], "extra": {"tile 5": 2}, "fuel": 40}

A move is refused if it changes nothing, if one of its labels is forbidden, if one may not follow one of the last
move, or if it costs more fuel than is left. It costs 1, and what `extra` says for each of its labels. `{}` changes nothing but that moves
are counted; without the key, states are those of the plain game.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from verigym.canonical import JSON
from verigym.errors import TaskError

MAX_FUEL = 100_000


class HouseRules(Struct, frozen=True, gc=False):
    """Labels that are forbidden, pairs of labels that may not follow each other, and extra costs by label."""

    forbidden: frozenset[str] = frozenset()
    not_after: frozenset[tuple[str, str]] = frozenset()
    extra: tuple[tuple[str, int], ...] = ()

    def cost(self, labels: tuple[str, ...]) -> int:
        """Return the fuel that a move with these labels takes."""
        return 1 + sum(more for label, more in self.extra if label in labels)

    def allows(self, last: tuple[str, ...], labels: tuple[str, ...]) -> bool:
        """Return True if a move with these labels may follow one with the labels `last`."""
        if not self.forbidden.isdisjoint(labels):
            return False
        return not any(one in last and other in labels for one, other in self.not_after)


class Ruled(Struct, frozen=True):
    """A board under house rules: the fuel that is left, and the labels of the last move."""

    board: Any
    rules: HouseRules
    fuel: int
    last: tuple[str, ...] = ()


class LabelledRules(Protocol):
    """Rules of a game whose moves have labels."""

    def start(self, reference: Mapping[str, JSON]) -> Any:
        """Return the first state."""

    def read(self, move: JSON) -> Any:
        """Return a move in canonical form; None if it is not a move."""

    def legal(self, state: Any, move: Any) -> bool:
        """Return True if `move` can be made in `state`."""

    def apply(self, state: Any, move: Any) -> Any:
        """Return the state after a legal move."""

    def won(self, state: Any) -> bool:
        """Return True if the goal is reached."""

    def labels(self, state: Any, move: Any) -> tuple[str, ...]:
        """Return the labels of a legal move."""


class Amendable:
    """Rules of a game that a reference may change by `house_rules`."""

    def __init__(self, plain: LabelledRules) -> None:
        self.plain = plain

    def start(self, reference: Mapping[str, JSON]) -> Any:
        board = self.plain.start(reference)
        if "house_rules" not in reference:
            return board
        return Ruled(board, *read_house_rules(reference["house_rules"]))

    def read(self, move: JSON) -> Hashable | None:
        found: Hashable | None = self.plain.read(move)
        return found

    def legal(self, state: Any, move: Any) -> bool:
        if not isinstance(state, Ruled):
            return self.plain.legal(state, move)
        if not self.plain.legal(state.board, move):
            return False
        if self.plain.apply(state.board, move) == state.board:
            return False
        labels = self.plain.labels(state.board, move)
        return state.rules.cost(labels) <= state.fuel and state.rules.allows(state.last, labels)

    def apply(self, state: Any, move: Any) -> Any:
        if not isinstance(state, Ruled):
            return self.plain.apply(state, move)
        labels = self.plain.labels(state.board, move)
        after = self.plain.apply(state.board, move)
        return Ruled(after, state.rules, state.fuel - state.rules.cost(labels), labels)

    def won(self, state: Any) -> bool:
        return self.plain.won(state.board if isinstance(state, Ruled) else state)


def read_house_rules(raw: JSON) -> tuple[HouseRules, int]:
    """Return the house rules of a reference, and the fuel. Raises TaskError if they have another form."""
    if not isinstance(raw, Mapping) or set(raw) - {"forbidden", "not_after", "extra", "fuel"}:
        raise TaskError(
            f"house_rules must be an object of forbidden, not_after, extra and fuel, got {raw!r}"
        )
    forbidden, pairs = raw.get("forbidden", []), raw.get("not_after", [])
    if not _are_labels(forbidden):
        raise TaskError(f"house_rules: forbidden must be a list of labels, got {forbidden!r}")
    if not isinstance(pairs, list | tuple) or not all(
        _are_labels(p) and len(p) == 2 for p in pairs
    ):
        raise TaskError(f"house_rules: not_after must be a list of pairs of labels, got {pairs!r}")
    rules = HouseRules(
        frozenset(map(str, forbidden)),
        frozenset((str(one), str(other)) for one, other in pairs),
        _extra(raw.get("extra", {})),
    )
    return rules, _whole("fuel", raw.get("fuel", MAX_FUEL), 1)


def _are_labels(raw: JSON) -> bool:
    return isinstance(raw, list | tuple) and all(isinstance(label, str) for label in raw)


def _extra(raw: JSON) -> tuple[tuple[str, int], ...]:
    if not isinstance(raw, Mapping):
        raise TaskError(f'house_rules: extra must be an object such as {{"up": 2}}, got {raw!r}')
    return tuple((label, _whole(f"extra of {label}", more, 0)) for label, more in raw.items())


def _whole(name: str, value: JSON, least: int) -> int:
    if type(value) is not int or not least <= value <= MAX_FUEL:
        raise TaskError(
            f"house_rules: {name} must be a whole number from {least} to {MAX_FUEL}, got {value!r}"
        )
    return value
