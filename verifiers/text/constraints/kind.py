"""`ConstraintKind`: one sort of constraint, with its check, its generator and a writer of texts that satisfy it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from verigym.errors import TaskError

Args = Mapping[str, Any]

RELATIONS = ("less than", "at least")
MAX_COUNT = 1_000_000

WORDS = (
    "river", "stone", "window", "garden", "letter", "music", "winter", "bridge", "market", "paper",
    "silver", "mountain", "harbour", "candle", "forest", "island", "kitchen", "ladder", "mirror",
    "ocean", "pencil", "station", "table", "valley", "village", "wagon", "yellow", "basket", "cloud",
    "desert", "engine", "feather", "hammer", "jacket", "kettle", "lantern", "meadow", "needle",
)  # fmt: skip
"""Plain words that generators draw from; no one of them is part of another."""


@dataclass(frozen=True, kw_only=True)
class ConstraintKind:
    """A sort of constraint.

    `args` names each argument with its type: `count` (a whole number from 0), `text`, `texts` (a list
    of at least one), `relation` (`less than` or `at least`), `letter` (one character); a `?` behind
    the type makes it optional. `check` gets a text that is not blank. `make` draws arguments, `say`
    words them for a prompt, `write` gives a text that satisfies them.
    """

    id: str
    args: Mapping[str, str]
    check: Callable[[str, Args], bool]
    make: Callable[[random.Random], dict[str, Any]]
    say: Callable[[Args], str]
    write: Callable[[Args], str]

    def read(self, given: Any, where: str) -> dict[str, Any]:
        """Return the arguments, checked. Raises TaskError for one that is missing, unknown or of a wrong type.

        Arguments that are null count as absent: public rows carry every name of every kind.
        """
        if given is None:
            given = {}
        if not isinstance(given, Mapping):
            raise TaskError(f"{where}: args of {self.id} must be an object, got {given!r}")
        present = {name: value for name, value in given.items() if value is not None}
        for name in present:
            if name not in self.args:
                known = ", ".join(self.args) or "none"
                raise TaskError(f"{where}: {self.id} has no argument {name!r}; it has {known}")
        read = {}
        for name, sort in self.args.items():
            if name in present:
                read[name] = _value(present[name], sort.removesuffix("?"), f"{where}: {name}")
            elif not sort.endswith("?"):
                raise TaskError(f"{where}: {self.id} needs the argument {name!r}")
        return read


def _value(value: Any, sort: str, where: str) -> Any:
    if sort == "count":
        # Tables of public rows hold whole numbers as floats.
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
            raise TaskError(f"{where} must be a whole number from 0 to {MAX_COUNT}, got {value!r}")
        return value
    if sort == "texts":
        if not isinstance(value, list | tuple) or not value or not all(map(_is_text, value)):
            raise TaskError(f"{where} must be a list of texts that are not blank, got {value!r}")
        return list(value)
    if not _is_text(value):
        raise TaskError(f"{where} must be a text that is not blank, got {value!r}")
    if sort == "relation" and value not in RELATIONS:
        raise TaskError(f"{where} must be one of {', '.join(RELATIONS)}, got {value!r}")
    if sort == "letter" and len(value.strip()) != 1:
        raise TaskError(f"{where} must be one character, got {value!r}")
    return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def holds(count: int, relation: str, wanted: int) -> bool:
    """Return True if `count` is less than, or at least, `wanted`, as `relation` says."""
    return count < wanted if relation == "less than" else count >= wanted


def some(relation: str, wanted: int) -> int:
    """Return a count that holds: as many as wanted, or one fewer."""
    return wanted if relation == "at least" else max(0, wanted - 1)


def filler(n_words: int) -> str:
    """Return lower-case text of this many different words (they repeat after the list's length)."""
    return " ".join(WORDS[i % len(WORDS)] for i in range(n_words))


def word(rng: random.Random) -> str:
    """Draw a word of the list."""
    return rng.choice(WORDS)


def words(rng: random.Random, n: int) -> list[str]:
    """Return the different words of the list, sorted."""
    return sorted(rng.sample(WORDS, n))


def listed(texts: list[str]) -> str:
    """Return texts in quotes, for a prompt."""
    return ", ".join(f'"{text}"' for text in texts)


def nothing(rng: random.Random) -> dict[str, Any]:
    """Return the arguments of a kind that has none."""
    return {}
