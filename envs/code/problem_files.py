"""Reads the problems of `code/problems` from `envs/code/problemset/<theme>.toml`.

Each `[[problem]]` holds

    name, level   its name, of its own in all files; easy, medium or hard, or a number from 7 to 10
    statement     what to write, and what input and output look like; ASCII
    examples      inputs that are shown, with the answers to them
    edges         inputs at the edge of what the statement allows
    large         inputs that only the complexity of the solution can do in time, from level 7 on: short
                  ones, from which long sequences are computed
    draw          the body of a function of `rng` (random.Random) and `size` (1 and up) that returns an
                  input; `row(items)` joins by spaces, `lines(*items)` ends each with a line end
    solution      a right program in Python
    second        another right program, made in another way; the limits refuse it on one large input at least
    wrong         [old, new]: mistakes, each made by replacing one piece of the solution
    wrong_programs  whole programs that are wrong
    judge         for an interactive problem, the body of the judge's part (talks.py); the inputs are hidden then
    checker       of `code/stdio`; `tokens` if left out

and `<theme>.jsonl` beside it the tests, `{"name", "tests": [[input, output], ...], "large": [...]}`, the examples first.
They are written by `benchmarks/code_problems.py`, which grows them until all wrong programs and the
small changes of the right ones fail, but for changes presumed to change nothing.
"""

from __future__ import annotations

import json
import textwrap
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from verigym.errors import TaskError

_GENERATOR = """\
import random


def row(items):
    return " ".join(map(str, items))


def lines(*items):
    return "".join(f"{item}\\n" for item in items)


def generate(seed, size):
    rng = random.Random(seed)
"""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One problem; see the module. `tests` are (input, output), the `shown` examples first, `timed` those with
    large inputs."""

    theme: str
    name: str
    level: str
    statement: str
    examples: tuple[str, ...]
    edges: tuple[str, ...]
    large: tuple[str, ...]
    draw: str
    solution: str
    second: str
    wrong: tuple[str, ...]
    checker: str
    judge: str
    tests: tuple[tuple[str, str], ...]
    timed: tuple[tuple[str, str], ...]

    @property
    def shown(self) -> int:
        """Number of tests shown as examples."""
        return len(self.examples)

    @property
    def generator(self) -> str:
        """A program whose `generate(seed, size)` returns an input; to be run in the sandbox."""
        return _GENERATOR + textwrap.indent(self.draw.strip(), "    ") + "\n"


@cache
def read_problems() -> dict[str, Problem]:
    """Return all problems by name, in the order of the files."""
    folder = files("verigym.envs.code") / "problemset"
    found: dict[str, Problem] = {}
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".toml"):
            continue
        theme = file.name.removesuffix(".toml")
        tests: dict[str, dict[str, list[list[str]]]] = {}
        grown = folder / f"{theme}.jsonl"
        if grown.is_file():
            for line in grown.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                tests[row["name"]] = row
        for entry in tomllib.loads(file.read_text(encoding="utf-8"))["problem"]:
            problem = _read(theme, entry, tests.get(entry["name"], {}))
            if problem.name in found:
                raise TaskError(f"two problems are called {problem.name!r}; rename one")
            found[problem.name] = problem
    return found


def _read(theme: str, entry: dict[str, Any], grown: dict[str, list[list[str]]]) -> Problem:
    solution = entry["solution"].strip() + "\n"
    wrong = [program.strip() + "\n" for program in entry.get("wrong_programs", [])]
    for old, new in entry.get("wrong", []):
        if solution.count(old) != 1:
            raise TaskError(
                f"{entry['name']}: {old!r} stands {solution.count(old)} times in the solution; a mistake "
                "replaces a piece that stands there once"
            )
        wrong.append(solution.replace(old, new))
    return Problem(
        theme=theme,
        name=entry["name"],
        level=entry["level"],
        statement=entry["statement"].strip(),
        examples=tuple(entry["examples"]),
        edges=tuple(entry.get("edges", [])),
        large=tuple(entry.get("large", [])),
        draw=entry["draw"],
        solution=solution,
        second=entry["second"].strip() + "\n",
        wrong=tuple(wrong),
        checker=entry.get("checker", "tokens"),
        judge=entry.get("judge", "").strip(),
        tests=tuple((given, wanted) for given, wanted in grown.get("tests", [])),
        timed=tuple((given, wanted) for given, wanted in grown.get("large", [])),
    )
