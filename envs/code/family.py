"""`ProblemFamily`: problems that differ in their parameters; `envs/code/{easy,medium,hard}.py` hold them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, TypeAlias

import numpy as np

from verigym.envs.code.program_files import program

Params: TypeAlias = dict[str, int | str]


class ProblemFamily(ABC):
    """One kind of problem. Everything is a pure function of its arguments.

    `answer` is what hidden tests are made with, here in this process; `body` is a program that solves
    the problem, run in the sandbox alone, where the parameters stand before it as upper-case names. It
    stands in programs/stdio, under the family's name.
    """

    name: ClassVar[str]
    example_chars: ClassVar[int] = 40
    """Characters of an example at most, so that it can be read at a glance."""
    example_sizes: ClassVar[tuple[int, ...]] = (3, 4)
    hidden_sizes: ClassVar[tuple[int, ...]] = (1, 2, 6, 15, 40, 100)

    @property
    def body(self) -> str:
        """The program without its parameters."""
        return program(f"stdio/{self.name.replace('-', '_')}.py")

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Params:
        """Draw the parameters of one problem."""

    @abstractmethod
    def statement(self, p: Params) -> str:
        """Return the task in words: what to write, and the format of input and output; ASCII."""

    @abstractmethod
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        """Return an input with about `size` items, 1 or more."""

    @abstractmethod
    def answer(self, p: Params, stdin: str) -> str:
        """Return the right output for an input that `write` made, without a final line end."""

    def source(self, p: Params) -> str:
        """Return a Python program that solves the problem."""
        return f"{header(self.constants(p))}\n{self.body_for(p).strip()}\n"

    def body_for(self, p: Params) -> str:
        """Return the program without its parameters, as these want it."""
        return self.body

    def constants(self, p: Params) -> Params:
        """Return the parameters that stand before the program."""
        return p


def named(p: Params) -> Params:
    """Return the parameters under the names that programs know them by."""
    return {name.upper(): value for name, value in p.items()}


def header(p: Params) -> str:
    """Return the lines of a program that define its parameters."""
    return "".join(f"{name} = {value!r}\n" for name, value in named(p).items())


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    """Return a number from `low` to `high`, both included."""
    # Ten times as fast as `rng.integers` for one number.
    return low + int(rng.random() * (high + 1 - low))


def wholes(rng: np.random.Generator, count: int, low: int, high: int) -> list[int]:
    """Return `count` numbers from `low` to `high`, both included."""
    drawn: list[int] = rng.integers(low, high + 1, count).tolist()
    return drawn


def one_of(rng: np.random.Generator, choices: str | tuple[str, ...]) -> str:
    """Return one of `choices`."""
    return choices[whole(rng, 0, len(choices) - 1)]


def letters(rng: np.random.Generator, count: int, alphabet: str) -> str:
    """Return a word of `count` letters."""
    return "".join([alphabet[int(rng.random() * len(alphabet))] for _ in range(count)])


def listed(numbers: list[int]) -> str:
    """Return an input of a count and that many numbers, on two lines."""
    return f"{len(numbers)}\n{' '.join(map(str, numbers))}\n"


def read_listed(stdin: str) -> list[int]:
    """Read an input that `listed` wrote."""
    return [int(word) for word in stdin.split()[1:]]


LISTED = "The first line holds n, the second n integers."
