"""`code/repair`: a program with mistakes, to be put right; three attempts, with feedback between."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.env import Draft
from verigym.envs.code.attempts import LIMITS, Attempt, Attempts, asked, fenced
from verigym.envs.code.family import Family, Params, header, named
from verigym.envs.code.interpret import Interpreter, TooLong, Unknown
from verigym.envs.code.known_python import FAILURES
from verigym.envs.code.places import Path, apart, changed, places_of, tree_of
from verigym.envs.code.stdio import FAMILIES, draw_problem, essence_of, problem_of
from verigym.verifiers.code.strength.mutate import written

MISTAKES = {2: 1, 4: 2, 6: 3}
_STEPS, _ENOUGH_STEPS, _MORE_STEPS = 3000, 1000, 200
_TRIES = 40
_LOOKED_AT = (2, 3, 0, 1)  # of the tests: the smallest hidden ones and the examples, to be quick

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
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        count, program = MISTAKES[level], None
        while program is None:
            family, params, tests = draw_problem(rng, level, self.wants)
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
            essence=essence_of(family, params),
        )

    @override
    def solution(self, reference: Mapping[str, Any]) -> str:
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
    """The family's program with `count` changes, so that it fails some of `tests`; None if none was
    found. Every change alters what some test sees; none makes one of the tests run on and on."""
    constants = named(params)
    body = family.body.strip()
    tree = tree_of(body)
    told: list[tuple[str, int]] = []
    wanted: list[Any] = []
    spent = 0
    for test in (tests[n] for n in _LOOKED_AT):
        right = test["stdout"].split()
        outcome, steps = _outcome(tree, test["stdin"], constants, _STEPS)
        if outcome == right:
            told.append((test["stdin"], 2 * steps + _MORE_STEPS))
            wanted.append(right)
        spent += steps
        if spent > _ENOUGH_STEPS:
            break
    if not told:
        return None
    before, chosen = wanted, list[Path]()
    found = places_of(body)
    for _ in range(_TRIES):
        of_kind = found[int(rng.random() * len(found))]
        path, which = of_kind[int(rng.random() * len(of_kind))]
        if not all(apart(path, other) for other in chosen):
            continue
        trial = changed(tree, path, which)
        now: list[Any] = []
        for stdin, most_steps in told:
            now.append(_outcome(trial, stdin, constants, most_steps)[0])
            if now[-1] is ...:
                break
        if ... in now or now in (before, wanted):
            continue
        if len(chosen) + 1 < count and not any(now):
            # Where nothing is printed any more, no further change would show.
            continue
        tree, before = trial, now
        chosen.append(path)
        if len(chosen) == count:
            text = written(tree)
            return text and f"{header(params)}\n{text}\n"
    return None


def _outcome(
    tree: ast.Module, stdin: str, constants: Mapping[str, int | str], most_steps: int
) -> tuple[Any, int]:
    """Return the words that the program prints, None if it fails, `...` if they cannot be
    predicted; and its steps."""
    run = Interpreter(tree, stdin, most_steps, constants)
    try:
        run.run()
    except (Unknown, TooLong):
        return ..., run.steps
    except FAILURES:
        return None, run.steps
    return run.printed.split(), run.steps
