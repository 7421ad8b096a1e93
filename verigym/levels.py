"""Levels of difficulty, 1 to 10, and the names that stand for four of them.

A level is given as a number, as a decimal string or by name: 6, "6" and "hard" are the same. In tasks and
ids a level that has a name is written as the name, any other as a decimal string ("7").
Names that are not in `NAMES` come from other libraries and data sets; a level is then the place of a name
among them, starting at 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from verigym.errors import TaskError, suggestion

Difficulty: TypeAlias = int | str
"""A level, as a number or a decimal string, or its name."""

HIGHEST = 10
"""Highest level of an environment that can grow."""

NAMES: Mapping[str, int] = MappingProxyType({"tiny": 1, "easy": 2, "medium": 4, "hard": 6})
"""Levels that have a name."""

_NAME_OF = {level: name for name, level in NAMES.items()}


class Scale:
    """The levels of one environment. `levels` maps the written form of each to its number, in order."""

    def __init__(self, names: tuple[str, ...], highest: int, only_named: bool) -> None:
        if not set(names) <= NAMES.keys():
            self.levels = {name: place for place, name in enumerate(names, 1)}
        elif only_named:
            self.levels = {name: NAMES[name] for name in names}
        else:
            numbers = range(1, highest + 1)
            self.levels = {_NAME_OF.get(number, str(number)): number for number in numbers}
        if missing := [name for name in names if name not in self.levels]:
            raise TaskError(f"levels = {highest}, but {missing[0]!r} is level {NAMES[missing[0]]}")
        self._form_of = {number: form for form, number in self.levels.items()}
        self._names = {name: n for name, n in self.levels.items() if name != str(n)}

    def form(self, difficulty: Difficulty) -> str | None:
        """Return the written form of a level or name; None if there is no such level."""
        if isinstance(difficulty, str):
            if difficulty in self.levels:
                return difficulty
            number = int(difficulty) if difficulty.isdecimal() and len(difficulty) < 4 else 0
            return self._form_of.get(number) if str(number) == difficulty else None
        if isinstance(difficulty, int | np.integer) and not isinstance(difficulty, bool):
            return self._form_of.get(int(difficulty))
        return None

    def wanted(self, difficulty: object) -> str:
        """Return a sentence that says which levels there are, and which name may have been meant."""
        hint = suggestion(difficulty, self._names) if isinstance(difficulty, str) else ""
        return f"{hint} {self._allowed()}" if hint.startswith("did you mean") else self._allowed()

    def _allowed(self) -> str:
        names = ", ".join(f"{name} is {number}" for name, number in self._names.items())
        if len(self._names) == len(self.levels):
            return f"the levels are {', '.join(map(str, self.levels.values()))}: {names}"
        return f"the levels are 1 to {len(self.levels)}; {names}"


@lru_cache(maxsize=1024)
def scale(names: tuple[str, ...], highest: int = HIGHEST, only_named: bool = False) -> Scale:
    """Return the levels of an environment whose difficulties are `names`."""
    return Scale(names, highest, only_named)
