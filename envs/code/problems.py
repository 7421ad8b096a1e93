"""`code/problems`: problems of our own writing, in any language; three attempts, with feedback."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft
from verigym.envs.code.attempts import (
    LIMITS,
    Attempt,
    Attempts,
    as_object,
    asked,
    attempts_allowed,
)
from verigym.envs.code.problem_files import Problem, read_problems
from verigym.envs.code.talks import (
    ask_talk,
    join_talk_tests,
    join_talkers,
    join_talks,
    talk_tests,
    write_judge,
)
from verigym.envs.code.together import (
    LETTERS,
    case_lines,
    join_programs,
    join_statements,
    join_tests,
)
from verigym.envs.code.traced import Solver
from verigym.errors import TaskError
from verigym.verifiers.code.languages import canonical

_SLOTS: dict[int, tuple[str, ...]] = {
    1: (
        "nth-free initials market-basket dotted-margin even-jars tide-marks strange-clock harvest-queen",
    ),
    2: ("easy",),
    3: (
        "digit-press popular weighted-boxes staircase-sums rowing-boats both-ends "
        "market-bill picture-frame parrot village-ledger crowded-hall",
    ),
    4: ("medium",),
    5: (
        "broken-steps between-two thirsty-hedge torn-telegram signposts apple-cellar falling-boxes "
        "cell-sheet take-it-back left-over-sums sawmill",
    ),
    6: ("hard",),
    7: ("7", "hard"),
    8: ("8", "7 8"),
    9: ("9", "8 9", "8 9"),
    10: ("10", "9 10", "9 10", "8 9 10", "8 9 10"),
}
"""The problems that each part is drawn from; several problems are asked for as one (together.py). Those of
levels 1, 3 and 5 lie between the named levels by the operations that they take; those from 7 on have large
inputs, for which the next slower complexity class takes too long."""


class Problems(Attempts):
    """A problem written by hand, judged by `code/stdio`; see `Attempts`.

    The problems lie in `problemset/`. There are a fixed number of them, each in one split; a policy
    that trains on them for long can learn them by heart, so `code/stdio` has the unlimited kind. From level 7
    on, problems are those of contests, and the input holds cases of 2, 2, 3 and 5 of them; some are conversations
    with a judge (talks.py). Level 9 allows 2 attempts and level 10 one.
    `language` is any of the sandbox's; the oracle writes Python alone.
    """

    id: ClassVar[str] = "verigym/code/problems-v0"
    verifier_id: ClassVar[str] = "code/stdio"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    def __init__(self, *, language: str = "python", **kwargs: Any) -> None:
        self.language = canonical(language)
        super().__init__(**kwargs)

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        chosen: list[Problem] = []
        for names in _SLOTS[level]:
            among = [one for one in _among(names) if self._goes_with(chosen, one)]
            chosen.append(among[int(rng.integers(len(among)))])
        parts = [_tests(problem) for problem in chosen]
        first = chosen[0]
        named: dict[str, JSON] = {"problem": first.name}
        statement, tests = first.statement, parts[0]
        talks = {
            letter: one.judge for letter, one in zip(LETTERS, chosen, strict=False) if one.judge
        }
        joined = len(chosen) > 1
        shown = None
        if joined:
            named = {"problems": [problem.name for problem in chosen]}
            statements = [problem.statement for problem in chosen]
            statement = join_talks(statements) if talks else join_statements(statements)
        if talks:
            shown = [
                {**test, "stdin": case_lines(letter, test)} if joined else test
                for letter, one, part in zip(LETTERS, chosen, parts, strict=False)
                if not one.judge
                for test in part
            ]
            tests = join_talk_tests(rng, parts) if joined else talk_tests(parts[0])
            if not joined:
                statement = ask_talk(statement)
        elif joined:
            tests = join_tests(rng, parts)
        return Draft(
            prompt=asked(self.language, statement, tests if shown is None else shown, level),
            reference={
                **named,
                "language": self.language,
                "checker": first.checker,
                "tests": tests,
                "limits": dict(LIMITS),
                **attempts_allowed(level),
                **({"judge": {"program": write_judge(talks, is_joined=joined)}} if talks else {}),
            },
            tags=("code", first.theme, *(problem.name for problem in chosen)),
        )

    def _goes_with(self, chosen: list[Problem], problem: Problem) -> bool:
        """Return True for a problem that may join those: of the same split, and judged by the same checker."""
        if not chosen:
            return True
        return (
            problem not in chosen
            and problem.checker == chosen[0].checker == "tokens"
            and self._split_of(problem.name) == self._split_of(chosen[0].name)
        )

    @override
    def work(self, state: Attempt) -> int:
        """Write the program that solves it, and run it by hand on the examples; of conversations, write both the
        program and, to see what may be answered, the judge."""
        reference = as_object(self.task.reference)
        if "judge" not in reference:
            return super().work(state)
        solver = Solver()
        solver.write(state.solution)
        for name in _names(reference):
            problem = read_problems()[name]
            if problem.judge:
                solver.write(
                    f"def judge(given, say, hear):\n{textwrap.indent(problem.judge, '    ')}"
                )
                continue
            program = solver.read(ast.parse(problem.solution))
            for given, _ in problem.tests[: problem.shown]:
                solver.run(program, given)
        return solver.operations

    @override
    def split_of(self, draft: Draft) -> str:
        """Return the split of the problem's name, which is the same in every language; problems that stand
        together are all of one split."""
        return self._split_of(next(iter(_names(as_object(draft.reference))), ""))

    def _split_of(self, name: str) -> str:
        return super().split_of(Draft(prompt="", reference=_SALT + name))

    @override
    def solution(self, reference: Mapping[str, Any]) -> str:
        known = [read_problems().get(name) for name in _names(reference)]
        programs = [problem.solution for problem in known if problem]
        if len(programs) > 1 and "judge" in reference:
            return join_talkers(programs)
        if len(programs) < 2:
            return programs[0] if programs else ""
        return join_programs(programs)


def _names(reference: Mapping[str, Any]) -> list[str]:
    """Return the names of a reference's problems."""
    return [str(name) for name in reference.get("problems", [reference.get("problem", "")])]


def _among(names: str) -> list[Problem]:
    """Return the problems of a level's name, or those that are listed."""
    listed = names.split()
    return [one for one in read_problems().values() if one.level in listed or one.name in listed]


def _tests(problem: Problem) -> list[dict[str, Any]]:
    """Return the tests of a problem, the examples first. Raises TaskError."""
    if len(problem.tests) <= problem.shown:
        raise TaskError(f"{problem.name} has no tests; run benchmarks/code_problems.py")
    return [
        {"stdin": stdin, "stdout": stdout, "visible": number < problem.shown}
        for number, (stdin, stdout) in enumerate((*problem.tests, *problem.timed))
    ]


# With this each level has problems in each split, about as many as it should.
_SALT = "problem 15 "
