"""`code/repair`: a program with mistakes, to be put right; three attempts, with feedback between."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from verigym.canonical import digest
from verigym.env import Draft
from verigym.envs.code.attempts import LIMITS, Attempt, Attempts, asked, fenced
from verigym.envs.code.family import Family, Params, header, named
from verigym.envs.code.interpret import Interpreter, TooLong, Unknown
from verigym.envs.code.known_python import FAILURES
from verigym.envs.code.stdio import FAMILIES, draw_problem, problem_of
from verigym.verifiers.code.strength.mutate import change, places, written

MISTAKES = {"easy": 1, "medium": 2, "hard": 3}
_STEPS = 3000
_TRIES = 40
_LOOKED_AT = 4  # of the tests: the examples and the smallest hidden ones, to be quick

_BROKEN = """\
{asked}

This program was meant to do it, and does not. {count} been changed in it:

{program}"""


class Repair(Attempts):
    """A problem of `code/stdio` with a program for it in which one, two or three places were changed.

    Judged by the tests of the problem, whatever the way to a right program. Each change makes a
    difference on some test, of the program as it was before it. A problem is in the split in which it
    is in `code/stdio`.
    """

    id: ClassVar[str] = "verigym/code/repair-v0"
    verifier_id: ClassVar[str] = "code/stdio"
    difficulties: ClassVar[tuple[str, ...]] = tuple(MISTAKES)

    def generate(self, rng: np.random.Generator, difficulty: str) -> Draft:
        """See `Env`."""
        count, program = MISTAKES[difficulty], None
        while program is None:
            family, params, tests = draw_problem(rng, difficulty)
            program = broken(family, params, tests, count, rng)
        prompt = _BROKEN.format(
            asked=asked("python", family.statement(params), tests),
            count="One place has" if count == 1 else f"{count} places have",
            program=fenced(program),
        )
        return Draft(
            prompt=prompt,
            reference={
                "family": family.name,
                "params": params,
                "mistakes": count,
                "tests": tests,
                "limits": dict(LIMITS),
            },
            tags=("code", family.name, f"mistakes={count}"),
        )

    def split_of(self, draft: Draft) -> str:
        """See `Env`. As `code/stdio` does it."""
        family, params = problem_of(draft.reference)
        return super().split_of(replace(draft, prompt=family, reference=digest(params)))

    def solution(self, reference: Mapping[str, Any]) -> str:
        """See `Attempts`."""
        family, params = problem_of(dict(reference))
        return FAMILIES[family].source(params) if family in FAMILIES else ""

    def work(self, state: Attempt) -> int:
        """The lines that have to be read, once for each mistake."""
        return super().work(state) * int(self.task.reference.get("mistakes", 1))  # type: ignore[union-attr]


def broken(
    family: Family,
    params: Params,
    tests: Sequence[Mapping[str, Any]],
    count: int,
    rng: np.random.Generator,
) -> str | None:
    """The family's program with `count` changes, so that it fails some of `tests`; None where none was
    found. Every change alters what some test sees; none makes one of the tests run on and on."""
    looked, constants = tests[:_LOOKED_AT], named(params)
    right = [test["stdout"].split() for test in looked]
    body = family.body.strip()
    tree = ast.parse(body)
    given = [_outcome(tree, test, constants, _STEPS) for test in looked]
    told = [n for n, outcome in enumerate(given) if outcome == right[n]]
    wanted: list[Any] = [right[n] for n in told]
    before, chosen = wanted, list[tuple[int, int]]()
    found = _places(body)
    for _ in range(_TRIES):
        of_kind = found[int(rng.integers(len(found)))]
        place = of_kind[int(rng.integers(len(of_kind)))]
        if place[0] in [at for at, _ in chosen]:
            continue
        changed = ast.parse(body)
        for at, which in sorted([*chosen, place], reverse=True):
            # From the last place to the first, so that none moves another.
            change(changed, at, which)
        now = [_outcome(changed, looked[n], constants, 2 * _STEPS) for n in told]
        if ... in now or now in (before, wanted):
            continue
        chosen, before = [*chosen, place], now
        if len(chosen) == count:
            text = written(changed)
            return text and f"{header(params)}\n{text}\n"
    return None


@cache
def _places(body: str) -> tuple[list[tuple[int, int]], ...]:
    found = places(ast.parse(body))
    return tuple(found[kind] for kind in sorted(found))


def _outcome(
    tree: ast.Module, test: Mapping[str, Any], constants: Mapping[str, int | str], most_steps: int
) -> Any:
    """The words that the program prints, None where it fails, `...` where that cannot be told."""
    run = Interpreter(tree, test["stdin"], most_steps, constants)
    try:
        run.run()
    except (Unknown, TooLong):
        return ...
    except FAILURES:
        return None
    return run.printed.split()
