"""`code/stdio`: write a program that reads standard input; up to three attempts, with feedback between."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft
from verigym.envs.code import easy, hard, medium
from verigym.envs.code.attempts import LIMITS, Attempts, as_object, asked, attempts_allowed
from verigym.envs.code.boughs import Boughs
from verigym.envs.code.family import Params, ProblemFamily
from verigym.envs.code.grafts import Grafts
from verigym.envs.code.ribbons import Ribbons
from verigym.envs.code.scrolls import Scrolls
from verigym.envs.code.systems import System
from verigym.envs.code.together import join_programs, join_statements, join_tests
from verigym.envs.code.works import Works
from verigym.errors import TaskError
from verigym.verifiers.code.languages import canonical

SYSTEMS: tuple[System, ...] = (Scrolls(), Works(), Boughs())
MACHINES: tuple[System, ...] = (Ribbons(), Grafts())
"""Systems with a machine in them that is known only by examples."""
FAMILIES: dict[str, ProblemFamily] = {
    family.name: family
    for family in (*easy.FAMILIES, *medium.FAMILIES, *hard.FAMILIES, *SYSTEMS, *MACHINES)
}


def families_named(*names: str) -> tuple[ProblemFamily, ...]:
    """Return families by name."""
    return tuple(FAMILIES[name] for name in names)


Slots: TypeAlias = tuple[tuple[ProblemFamily, ...], ...]
"""The families that each part of a problem is drawn from."""

SLOTS: dict[int, Slots] = {
    1: (families_named("map-each", "ranked-pick"),),
    2: (easy.FAMILIES,),
    3: (families_named("sum-picked", "shift-letters", "bases"),),
    4: (medium.FAMILIES,),
    5: (families_named("coin-ways", "run-lengths"),),
    6: (hard.FAMILIES,),
    7: (hard.FAMILIES,) * 2,
    8: (SYSTEMS, SYSTEMS),
    9: (MACHINES, SYSTEMS, SYSTEMS),
    10: (MACHINES, MACHINES, SYSTEMS, SYSTEMS),
}
"""By level; a problem of several parts has cases of several kinds."""


class Stdio(Attempts):
    """A generated programming problem, judged by `code/stdio`; see `Attempts`.

    Sixteen families of problems; at level 7, the input holds cases of 2 of them. From level 8 on, all 2, 3 or 4 kinds
    of cases are systems (systems.py), whose inputs describe more than a program can go through; at levels 9 and 10, a part of
    1 or 2 of them is known only by examples (filters.py), and there are two attempts or one. A split holds
    other parameters than the others, so no test problem is a training problem with other inputs. `language` is any of the sandbox's; the oracle writes
    Python alone.
    """

    id: ClassVar[str] = "verigym/code/stdio-v0"
    verifier_id: ClassVar[str] = "code/stdio"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    def __init__(self, *, language: str = "python", **kwargs: Any) -> None:
        self.language = canonical(language)
        super().__init__(**kwargs)

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        parts: list[ProblemPart] = []
        for families in open_slots(SLOTS[level], parts):
            parts.append(draw_problem(rng, families, self.wants))
        tests = joined_tests(rng, parts)
        return Draft(
            prompt=asked(self.language, statement_of(parts), tests, level),
            reference={
                **described(parts),
                "language": self.language,
                "tests": tests,
                "limits": dict(LIMITS),
                **attempts_allowed(level),
            },
            tags=("code", *(part.family.name for part in parts)),
            essence=essence_of(parts),
        )

    @override
    def solution(self, reference: Mapping[str, Any]) -> str:
        return solution_of(dict(reference))


@dataclass(frozen=True)
class ProblemPart:
    """One problem, or one kind of case of a problem; the two visible tests come first."""

    family: ProblemFamily
    params: Params
    tests: list[dict[str, Any]]


def open_slots(slots: Slots, parts: Sequence[ProblemPart]) -> Iterator[tuple[ProblemFamily, ...]]:
    """Yield the families that the next part may have: those of its slot that are in none of `parts`, to
    which the caller adds."""
    for families in slots:
        taken = {part.family for part in parts}
        yield tuple(family for family in families if family not in taken)


def draw_problem(
    rng: np.random.Generator, families: Sequence[ProblemFamily], wants: Callable[[JSON], bool]
) -> ProblemPart:
    """Return a family, parameters and tests, the two examples first; see `Env.wants`.

    Draws on until the tests have several answers, so that none can be guessed.
    """
    while True:
        family = families[int(rng.integers(len(families)))]
        params = family.draw(rng)
        if not wants([family.name, params]):
            continue
        tests = [_example(family, params, rng, size) for size in family.example_sizes]
        tests += [_test(family, params, rng, size, visible=False) for size in family.hidden_sizes]
        answers = {test["stdout"] for test in tests if not test["visible"]}
        if len(answers) >= 3 and not answers <= {t["stdout"] for t in tests if t["visible"]}:
            return ProblemPart(family, params, tests)


def essence_of(parts: Sequence[ProblemPart]) -> JSON:
    """Return the data that decides the split: family and parameters, but not the tests' numbers. All parts
    lie in one split, so the first one decides."""
    return [parts[0].family.name, parts[0].params]


def statement_of(parts: Sequence[ProblemPart]) -> str:
    """Return the problem in words."""
    statements = [part.family.statement(part.params) for part in parts]
    return statements[0] if len(parts) == 1 else join_statements(statements)


def joined_tests(rng: np.random.Generator, parts: Sequence[ProblemPart]) -> list[dict[str, Any]]:
    """Return the tests of a problem with these parts."""
    return parts[0].tests if len(parts) == 1 else join_tests(rng, [part.tests for part in parts])


def described(parts: Sequence[ProblemPart]) -> dict[str, JSON]:
    """Return the part of a reference that `solution_of` reads."""
    if len(parts) == 1:
        return {"family": parts[0].family.name, "params": parts[0].params}
    return {"parts": [[part.family.name, part.params] for part in parts]}


def solution_of(reference: JSON) -> str:
    """Return a right program; "" for a task from elsewhere."""
    known = [pair for pair in problems_of(reference) if pair[0] in FAMILIES]
    programs = [FAMILIES[name].source(params) for name, params in known]
    if len(programs) < 2:
        return programs[0] if programs else ""
    return join_programs(programs)


def _test(
    family: ProblemFamily, params: Params, rng: np.random.Generator, size: int, *, visible: bool
) -> dict[str, Any]:
    stdin = family.write(rng, params, size)
    return {"stdin": stdin, "stdout": family.answer(params, stdin) + "\n", "visible": visible}


def _example(
    family: ProblemFamily, params: Params, rng: np.random.Generator, size: int
) -> dict[str, Any]:
    """A visible test, drawn again until input and output are short."""
    while True:
        test = _test(family, params, rng, size, visible=True)
        shown = (re.sub(r"\s", "", test[side]) for side in ("stdin", "stdout"))
        if max(map(len, shown)) <= family.example_chars:
            return test


def problems_of(reference: JSON) -> list[tuple[str, Params]]:
    """Return the families and parameters of a reference; an empty family for a task from elsewhere."""
    found = as_object(reference)
    parts = found.get("parts", [[found.get("family", ""), found.get("params", {})]])
    for part in parts:
        match part:
            case [str(), dict()]:
                pass
            case _:
                raise TaskError("family must be text and params an object")
    return [(name, params) for name, params in parts]
