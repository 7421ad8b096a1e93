"""`WantedFunction`: a function to be written, for the families of `code/functions` (functions_*.py).

A family is a function of the generator that gives a `WantedFunction`. `answer` is what hidden tests are made with, here;
the program for the oracle, run in the sandbox alone, is another one (programs/functions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from verigym.envs.code.family import letters, whole
from verigym.envs.code.program_files import filled, program

Arguments = Callable[[np.random.Generator, int], list[Any]]


@dataclass(frozen=True, kw_only=True)
class WantedFunction:
    """A function to be written. `arguments(rng, size)` draws the arguments of a call of about that size."""

    signature: str
    statement: str
    values: Mapping[str, int | str]
    """Text for each upper-case name of the program."""
    arguments: Arguments
    answer: Callable[..., Any]
    text: str = ""
    """A right program with its values; "" for that of programs/functions."""
    example_chars: int = 90
    """Characters of an example at most."""
    hidden_sizes: tuple[int, ...] = (1, 2, 4, 7, 12, 20, 30)

    @property
    def name(self) -> str:
        """Name of the function to write."""
        return self.signature.split("(", 1)[0]

    @property
    def source(self) -> str:
        """A right program: that of programs/functions with the values drawn."""
        text = self.text or filled(program(f"functions/{self.name}.py"), self.values)
        return text.replace("\n\n", "\n    \n")


def some_words(rng: np.random.Generator, size: int, alphabet: str, longest: int = 5) -> list[str]:
    return [letters(rng, whole(rng, 1, longest), alphabet) for _ in range(size)]
