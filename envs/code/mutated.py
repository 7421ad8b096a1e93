"""Functions with wrong versions of themselves: what `code/tests` asks for inputs to.

Upper-case words of a source stand for numbers that are drawn for each task. A wrong version is the
source with one place changed, and comes with arguments that tell it from the right one. It differs on
few inputs only, so that shooting at random finds hardly any; tests/envs/code/test_tests_env.py measures
this for each, and that its arguments tell it, whatever the numbers. The functions are in mutated_*.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Bound = dict[str, Any]
Change = tuple[str, str, Callable[..., list[Any]]]
"""What is replaced (once), by what, and arguments that tell it, as a function of the numbers by name."""


@dataclass(frozen=True, kw_only=True)
class Mutated:
    """One function. `draws` gives each number's range, both ends included."""

    name: str
    says: str
    args: dict[str, Bound]
    draws: dict[str, tuple[int, int]]
    body: str
    changes: tuple[Change, ...]

    def program(self, numbers: dict[str, int], change: int | None = None) -> str:
        """The right source, or that with the change of a given number, ready to run."""
        body = self.body.strip("\n")
        if change is not None:
            old, new, _ = self.changes[change]
            body = body.replace(old, new, 1)
        head = f"def {self.name}({', '.join(self.args)}):\n"
        return filled(head + body + "\n", numbers)

    def telling(self, numbers: dict[str, int], change: int) -> list[Any]:
        """Arguments on which a change shows."""
        return self.changes[change][2](**numbers)


def filled(text: str, numbers: dict[str, int]) -> str:
    """`text` with its upper-case words that are names of numbers replaced."""
    return re.sub(r"\b[A-Z]+\b", lambda m: str(numbers.get(m.group(), m.group())), text)


def whole(low: int, high: int) -> Bound:
    """A whole number."""
    return {"kind": "int", "low": low, "high": high}


def several(most: int, low: int, high: int, least: int = 0) -> Bound:
    """A list of whole numbers."""
    return {"kind": "list", "low": least, "high": most, "of": whole(low, high)}


TRUTH: Bound = {"kind": "bool"}
