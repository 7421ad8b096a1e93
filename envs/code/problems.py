"""`code/problems`: problems of our own writing, in any language; three attempts, with feedback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.env import Draft
from verigym.envs.code.attempts import LIMITS, Attempts, as_object, asked
from verigym.envs.code.problem_files import read_problems
from verigym.errors import TaskError
from verigym.verifiers.code.languages import canonical


class Problems(Attempts):
    """A problem written by hand, judged by `code/stdio`; see `Attempts`.

    The problems lie in `problemset/`. There are a fixed number of them, each in one split; a policy
    that trains on them for long can learn them by heart, so `code/stdio` has the unlimited kind.
    `language` is any of the sandbox's; the oracle writes Python alone.
    """

    id: ClassVar[str] = "verigym/code/problems-v0"
    verifier_id: ClassVar[str] = "code/stdio"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    def __init__(self, *, language: str = "python", **kwargs: Any) -> None:
        self.language = canonical(language)
        super().__init__(**kwargs)

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        name = self.written(level)
        among = [one for one in read_problems().values() if one.level == name]
        problem = among[int(rng.integers(len(among)))]
        if len(problem.tests) <= problem.shown:
            raise TaskError(f"{problem.name} has no tests; run benchmarks/code_problems.py")
        tests = [
            {"stdin": stdin, "stdout": stdout, "visible": number < problem.shown}
            for number, (stdin, stdout) in enumerate(problem.tests)
        ]
        return Draft(
            prompt=asked(self.language, problem.statement, tests),
            reference={
                "problem": problem.name,
                "language": self.language,
                "checker": problem.checker,
                "tests": tests,
                "limits": dict(LIMITS),
            },
            tags=("code", problem.theme, problem.name),
        )

    @override
    def split_of(self, draft: Draft) -> str:
        """Return the split of the problem's name, which is the same in every language."""
        name = str(as_object(draft.reference).get("problem", ""))
        return super().split_of(replace(draft, prompt=_SALT + name, reference=None))

    @override
    def solution(self, reference: Mapping[str, Any]) -> str:
        problem = read_problems().get(str(reference.get("problem", "")))
        return problem.solution if problem else ""


# With this each level has problems in each split, about as many as it should.
_SALT = "problem 2516 "
