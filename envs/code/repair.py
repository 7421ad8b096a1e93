"""`code/repair`: a program with mistakes, to be put right; up to three attempts, with feedback between."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.env import Draft
from verigym.envs.code import stdio
from verigym.envs.code.attempts import (
    LIMITS,
    Attempt,
    Attempts,
    as_object,
    asked,
    attempts_allowed,
    fenced,
)
from verigym.envs.code.family import Params, ProblemFamily, header, named
from verigym.envs.code.follow import Program
from verigym.envs.code.known_python import FAILURES
from verigym.envs.code.places import Path, apart, changed, places_of, tree_of
from verigym.envs.code.stdio import (
    ProblemPart,
    Slots,
    described,
    draw_problem,
    essence_of,
    families_named,
    joined_tests,
    open_slots,
    solution_of,
    statement_of,
)
from verigym.envs.code.systems import System
from verigym.envs.code.together import join_programs
from verigym.envs.code.traced import Solver
from verigym.reply import fenced as blocks
from verigym.verifiers.code.counted.state import OutOfSteps, RefusedProgram
from verigym.verifiers.code.strength.mutate import written

MISTAKES: dict[int, tuple[int, ...]] = {
    1: (1,),
    2: (1,),
    3: (2,),
    4: (2,),
    5: (2,),
    6: (3,),
    7: (2, 2),
    8: (4, 4),
    9: (5, 5, 5),
    10: (6, 6, 6, 6),
}
"""Mistakes in each part of the problem; in a system at most so many."""
_FEWEST = 3
"""Mistakes in a system at least."""
SLOTS: dict[int, Slots] = stdio.SLOTS | {
    5: (families_named("spans", "coin-ways"),),
}
_STEPS, _ENOUGH_STEPS, _MORE_STEPS = 3000, 1000, 200
_TRIES = 40
_MACHINES = {system.name for system in stdio.MACHINES}
_LOOKED_AT = (2, 3, 0, 1)  # of the tests: the smallest hidden ones and the examples, to be quick

_BROKEN = """\
{asked}

The program below solved this problem until {count} changed. Correct it{lost}:

{program}"""
_LOST = """\
. Where TABLE is empty, the cells of a machine were taken out: with spaces between them, state by state, in each state one \
for each letter of LETTERS or colour of COLOURS in their order; a cell is the letter that is written and the number of the next state, \
0 for the first state"""
_UNTOLD_FROM = 10
"""Lowest level at which the prompt does not say how many changes there are."""


class Repair(Attempts):
    """A problem of `code/stdio` with a program for it in which one to 24 places were changed.

    Judged by the tests of the problem, whatever the way to a right program. Each change makes a
    difference on some test, of the program as it was before it. A problem is in the split in which it
    is in `code/stdio`.
    """

    id: ClassVar[str] = "verigym/code/repair-v0"
    verifier_id: ClassVar[str] = "code/stdio"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        counts = MISTAKES[level]
        parts: list[ProblemPart] = []
        programs: list[str] = []
        wrong = 0
        for count, families in zip(counts, open_slots(SLOTS[level], parts), strict=True):
            program = None
            while program is None:
                part = draw_problem(rng, families, self.wants)
                if isinstance(part.family, System):
                    program, made = broken_system(part.family, part.params, part.tests, count, rng)
                else:
                    program = broken(part.family, part.params, part.tests, count, rng)
                    made = count
            wrong += made
            parts.append(part)
            programs.append(program)
        tests = joined_tests(rng, parts)
        prompt = _BROKEN.format(
            asked=asked("python", statement_of(parts), tests, level),
            count=_places(wrong if level < _UNTOLD_FROM else 0),
            lost=_LOST if any(part.family.name in _MACHINES for part in parts) else "",
            program=fenced(programs[0] if len(programs) == 1 else join_programs(programs)),
        )
        return Draft(
            prompt=prompt,
            reference={
                **described(parts),
                "mistakes": wrong,
                "tests": tests,
                "limits": dict(LIMITS),
                **attempts_allowed(level),
            },
            tags=("code", *(part.family.name for part in parts), f"mistakes={wrong}"),
            essence=essence_of(parts),
        )

    @override
    def solution(self, reference: Mapping[str, Any]) -> str:
        return solution_of(dict(reference))

    @override
    def work(self, state: Attempt) -> int:
        """Read the program, put its wrong places right one by one, and run it by hand on the examples before
        and after each change."""
        solver = Solver()
        tree = solver.write(blocks(self.task.prompt)[-1].body)
        examples = [test for test in as_object(self.task.reference)["tests"] if test["visible"]]
        for _ in itertools.chain([None], mend(solver, tree, ast.parse(state.solution))):
            program = solver.read(tree)
            for test in examples:
                solver.run(program, test["stdin"])
        return solver.operations


def _places(count: int) -> str:
    """Return a phrase for so many places; 0 if their number is not given."""
    if count == 1:
        return "one place in it was"
    return f"{count or 'several'} places in it were"


def mend(solver: Solver, wrong: Any, right: Any) -> Iterator[None]:
    """Compare two syntax trees node by node, and put the first one right; yields after each change."""
    for name, wanted in ast.iter_fields(right):
        found = getattr(wrong, name)
        if isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
            for at, one in enumerate(wanted):
                if _alike(found[at], one):
                    yield from _mend_part(solver, found[at], one)
                else:
                    found[at] = one
                    yield
        elif _alike(found, wanted):
            yield from _mend_part(solver, found, wanted)
        else:
            setattr(wrong, name, wanted)
            yield


def _mend_part(solver: Solver, wrong: Any, right: Any) -> Iterator[None]:
    if isinstance(right, ast.AST) and not isinstance(right, ast.expr_context):
        solver.look()
        yield from mend(solver, wrong, right)


def _alike(found: Any, wanted: Any) -> bool:
    """Return True for nodes of one kind, and for values that are equal."""
    if isinstance(wanted, ast.AST):
        return type(found) is type(wanted)
    return bool(found == wanted)


def broken(
    family: ProblemFamily,
    params: Params,
    tests: Sequence[Mapping[str, Any]],
    count: int,
    rng: np.random.Generator,
) -> str | None:
    """Return the family's program with `count` changes, so that it fails some of `tests`; None if none was
    found. Every change alters what some test sees; none makes one of the tests run on and on."""
    constants = named(params)
    body = family.body.strip()
    tree = tree_of(body)
    told: list[tuple[str, int]] = []
    wanted: list[Any] = []
    spent = 0
    program = Program(tree, constants)
    for test in (tests[n] for n in _LOOKED_AT):
        right = test["stdout"].split()
        if _outcome(program, test["stdin"], _STEPS) == right:
            told.append((test["stdin"], 2 * program.steps + _MORE_STEPS))
            wanted.append(right)
        spent += program.steps
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
        program = Program(trial, constants)
        now: list[Any] = []
        for stdin, most_steps in told:
            now.append(_outcome(program, stdin, most_steps))
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


def broken_system(
    system: System,
    p: Params,
    tests: Sequence[Mapping[str, Any]],
    count: int,
    rng: np.random.Generator,
) -> tuple[str | None, int]:
    """Return the program of a system with up to `count` of its faults that the examples do not show, while each alone
    fails hidden tests, and their number; None if there are too few."""
    shown, hidden = (
        [
            (test["stdin"].split("\n")[1:-1], test["stdout"].split("\n")[:-1])
            for test in tests
            if test["visible"] is is_visible
        ]
        for is_visible in (True, False)
    )

    def passes(text: str, cases: Sequence[tuple[list[str], list[str]]]) -> bool:
        return all(_answers(system, p, lines, text) == wanted for lines, wanted in cases)

    right = text = system.text(p)
    made = 0
    for at in rng.permutation(len(system.faults)):
        old, new = system.faults[int(at)]
        # Two faults at one place would hide each other.
        if right.count(old) != 1 or text.count(old) != 1:
            continue
        one, both = right.replace(old, new), text.replace(old, new)
        if passes(one, shown) and not passes(one, hidden) and passes(both, shown):
            text = both
            made += 1
        if made == count:
            break
    if made < _FEWEST or passes(text, hidden):
        return None, 0
    return f"{header(system.shown(p))}\n{system.whole(text)}", made


def _answers(system: System, p: Params, lines: list[str], text: str) -> list[str] | None:
    """Return the answers of a text with faults; None if it fails."""
    try:
        return system.answers(p, lines, text)
    except FAILURES:
        return None


def _outcome(program: Program, stdin: str, most_steps: int) -> Any:
    """Return the words that the program prints, None if it fails, `...` if they cannot be
    predicted."""
    try:
        program.run(stdin, most_steps)
    except (RefusedProgram, OutOfSteps):
        return ...
    except FAILURES:
        return None
    return program.printed.split()
