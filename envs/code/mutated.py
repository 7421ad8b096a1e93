"""Functions with wrong versions of themselves: what `code/tests` asks for inputs to.

Upper-case words of a source stand for numbers that are drawn for each task. A wrong version is the
source with one place changed, and comes with arguments that tell it from the right one. It differs on
few inputs only, so that random inputs find hardly any. Nor do the numbers in the source, their neighbours and
sums: the source shows the image of the place where a version differs, and the place has to be computed.
tests/envs/code/test_tests_env.py measures both for each function, and that the arguments tell each version,
whatever the numbers. The functions are in mutated_*.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from verigym.envs.code.program_files import body, filled

Bound = dict[str, Any]
Change = tuple[str, str, Callable[..., list[Any]]]
"""Text to replace (once), its replacement, and a function that returns arguments on which the two
differ, given the numbers by name."""


@dataclass(frozen=True, kw_only=True)
class Mutated:
    """One function. `draws` gives each number's range, both ends included.

    `computed` gives the numbers that follow from those; the source may show them and keep what they come from.
    """

    name: str
    says: str
    args: dict[str, Bound]
    draws: dict[str, tuple[int, int]]
    changes: tuple[Change, ...]
    computed: Mapping[str, Callable[..., int]] = field(default_factory=dict)

    @property
    def body(self) -> str:
        """The lines under the first one of the function, from programs/mutated."""
        return body(f"mutated/{self.name}.py")

    def describe(self, numbers: dict[str, int]) -> str:
        """Return the sentence that says what the function gives, with its numbers."""
        return filled(self.says, self._all(numbers))

    def program(self, numbers: dict[str, int], change: int | None = None) -> str:
        """Return the right source, or that with the change of a given number, ready to run."""
        text = self.body
        if change is not None:
            old, new, _ = self.changes[change]
            text = text.replace(old, new, 1)
        head = f"def {self.name}({', '.join(self.args)}):\n"
        return filled(head + text, self._all(numbers))

    def telling(self, numbers: dict[str, int], change: int) -> list[Any]:
        """Return the arguments on which a change shows."""
        return self.changes[change][2](**numbers)

    def _all(self, numbers: dict[str, int]) -> dict[str, int]:
        return numbers | {name: compute(**numbers) for name, compute in self.computed.items()}


def whole(low: int, high: int) -> Bound:
    """Draw a whole number."""
    return {"kind": "int", "low": low, "high": high}


def several(most: int, low: int, high: int, least: int = 0) -> Bound:
    """Draw a list of whole numbers."""
    return {"kind": "list", "low": least, "high": most, "of": whole(low, high)}


TRUTH: Bound = {"kind": "bool"}
