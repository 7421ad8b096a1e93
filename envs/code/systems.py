"""`System`: problems that are systems of commands and questions with many rules that act on each other.

`code/stdio`, `code/repair` and `code/functions` ask for them from level 8 on. The inputs are short, and what they
describe is far too large to be gone through: a program has to find the algebra of each rule, alone and with the
others. The program lies in programs/systems; the questions that a task asks are drawn, and the lines of the program
that other questions need are left out. Hidden tests are made with the same program, in this process; a second way,
which goes through everything step by step, is in tests/envs/code/test_systems.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.family import Params, ProblemFamily, named, one_of
from verigym.envs.code.program_files import filled, program

_ONLY = "# only:"
_BOUNDS = "There are at most 60 commands; whole numbers in them have at most 19 digits. "
_MAIN = """\
for answer in {name}([input() for _ in range(int(input()))]):
    print(answer)
"""


class System(ProblemFamily):
    """One system; an author writes `rules`, `lines` and what `draw` draws."""

    faults: ClassVar[tuple[tuple[str, str], ...]]
    """Mistakes for `code/repair`: a piece of the program, and what stands in its place."""
    example_chars: ClassVar[int] = 260
    example_sizes: ClassVar[tuple[int, ...]] = (3, 4)
    hidden_sizes: ClassVar[tuple[int, ...]] = (4, 5, 20, 30, 40, 40)

    @abstractmethod
    def rules(self, p: Params) -> str:
        """Return what the commands and questions mean; ASCII."""

    @abstractmethod
    def lines(self, rng: np.random.Generator, p: Params, size: int) -> list[str]:
        """Return the lines of an input, without their number. Up to size 5 all that they describe is small enough to be
        gone through; above, it is not."""

    @property
    def function(self) -> str:
        """Name of the function that the program defines."""
        return self.name.replace("-", "_")

    def text(self, p: Params) -> str:
        """Return the function for the questions that are asked, with its parameters as upper-case names."""
        return _selected(f"systems/{self.function}.py", str(p["asked"]))

    @override
    def constants(self, p: Params) -> Params:
        return {name: value for name, value in p.items() if name != "asked"}

    def shown(self, p: Params) -> Params:
        """Return the parameters that a program with faults shows: all but the cells of a machine."""
        return {name: "" if name == "table" else value for name, value in self.constants(p).items()}

    @override
    def body_for(self, p: Params) -> str:
        return self.whole(self.text(p))

    def whole(self, text: str) -> str:
        """Return the program that reads its input and calls the function of `text`."""
        return f"{text}\n\n\n{_MAIN.format(name=self.function)}"

    def as_function(self, p: Params) -> str:
        """Return the function with the values of its parameters."""
        values = {name: repr(value) for name, value in named(self.constants(p)).items()}
        return filled(self.text(p), values) + "\n"

    @override
    def statement(self, p: Params) -> str:
        return (
            "The first line holds n, and each of the next n lines a command. Print the answer to each question, in "
            f"their order, on a line of its own. {_BOUNDS}{self.rules(p)}"
        )

    def function_statement(self, p: Params) -> str:
        """Return the task of writing a function."""
        return (
            "Each of the lines is a command. Return the list of the answers to all questions, in their order, as "
            f"strings. {_BOUNDS}{self.rules(p)}"
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        lines = self.lines(rng, p, size)
        return "\n".join([str(len(lines)), *lines]) + "\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        return "\n".join(self.answers(p, stdin.split("\n")[1:-1]))

    def answers(self, p: Params, lines: Sequence[str], text: str = "") -> list[str]:
        """Return the answers to the questions in `lines`; `text` is another text of the function, one with faults."""
        space: dict[str, Any] = {"__name__": "system", **named(self.constants(p))}
        exec(_compiled(text or self.text(p)), space)  # noqa: S102 - a source of ours
        found: list[str] = space[self.function](list(lines))
        return found


def draw_asked(rng: np.random.Generator, questions: Sequence[str], count: int) -> str:
    """Return so many of `questions`, in their order."""
    chosen = sorted(int(at) for at in rng.permutation(len(questions))[:count])
    return " ".join(questions[at] for at in chosen)


def in_row(numbers: Sequence[int]) -> str:
    """Return numbers as a parameter holds them."""
    return " ".join(map(str, numbers))


def draw_words(rng: np.random.Generator, *choices: str) -> str:
    """Return one of several texts."""
    return one_of(rng, choices)


@lru_cache(maxsize=256)
def _selected(path: str, asked: str) -> str:
    """Return a program without the sections of questions that are not asked. A section begins with a line that names its
    questions, or with one that names none and belongs to all."""
    wanted, kept, is_kept = set(asked.split()), list[str](), True
    for line in program(path).strip().split("\n"):
        if line.strip().startswith(_ONLY):
            names = line.strip().removeprefix(_ONLY).split()
            is_kept = not names or not wanted.isdisjoint(names)
        elif is_kept:
            kept.append(line)
    return "\n".join(kept)


@lru_cache(maxsize=2048)
def _compiled(source: str) -> CodeType:
    return compile(source, "system", "exec", dont_inherit=True)
