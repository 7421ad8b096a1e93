"""`code/stdio`: write a program that reads standard input; three attempts, with feedback between."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft
from verigym.envs.code import easy, hard, medium
from verigym.envs.code.attempts import LIMITS, Attempts, as_object, asked
from verigym.envs.code.family import Family, Params
from verigym.errors import TaskError
from verigym.verifiers.code.languages import canonical

_LEVELS = {2: easy.FAMILIES, 4: medium.FAMILIES, 6: hard.FAMILIES}
FAMILIES: dict[str, Family] = {
    family.name: family for families in _LEVELS.values() for family in families
}

_EXAMPLE_SIZES = (3, 4)
_HIDDEN_SIZES = (1, 2, 6, 15, 40, 100)
# Examples stay short enough to be read at a glance.
_EXAMPLE_CHARS = 40


class Stdio(Attempts):
    """A generated programming problem, judged by `code/stdio`; see `Attempts`.

    Sixteen families of problems; a split holds other parameters than the others, so no test problem
    is a training problem with other inputs. `language` is any of the sandbox's; the oracle writes
    Python alone.
    """

    id: ClassVar[str] = "verigym/code/stdio-v0"
    verifier_id: ClassVar[str] = "code/stdio"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    def __init__(self, *, language: str = "python", **kwargs: Any) -> None:
        self.language = canonical(language)
        super().__init__(**kwargs)

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        family, params, tests = draw_problem(rng, level, self.wants)
        return Draft(
            prompt=asked(self.language, family.statement(params), tests),
            reference={
                "family": family.name,
                "params": params,
                "language": self.language,
                "tests": tests,
                "limits": dict(LIMITS),
            },
            tags=("code", family.name),
            essence=essence_of(family, params),
        )

    @override
    def solution(self, reference: Mapping[str, Any]) -> str:
        family, params = problem_of(dict(reference))
        return FAMILIES[family].source(params) if family in FAMILIES else ""


def draw_problem(
    rng: np.random.Generator, level: int, wants: Callable[[JSON], bool]
) -> tuple[Family, Params, list[dict[str, Any]]]:
    """A family, parameters and tests, the two examples first; see `Env.wants`.

    Draws on until the tests have several answers, so that none can be guessed.
    """
    families = _LEVELS[level]
    while True:
        family = families[int(rng.integers(len(families)))]
        params = family.draw(rng)
        if not wants(essence_of(family, params)):
            continue
        tests = [_example(family, params, rng, size) for size in _EXAMPLE_SIZES]
        tests += [_test(family, params, rng, size, visible=False) for size in _HIDDEN_SIZES]
        answers = {test["stdout"] for test in tests if not test["visible"]}
        if len(answers) >= 3 and not answers <= {t["stdout"] for t in tests if t["visible"]}:
            return family, params, tests


def essence_of(family: Family, params: Params) -> JSON:
    """Return the data that decides the split: family and parameters, but not the tests' numbers."""
    return [family.name, params]


def _test(
    family: Family, params: Params, rng: np.random.Generator, size: int, *, visible: bool
) -> dict[str, Any]:
    stdin = family.write(rng, params, size)
    return {"stdin": stdin, "stdout": family.answer(params, stdin) + "\n", "visible": visible}


def _example(family: Family, params: Params, rng: np.random.Generator, size: int) -> dict[str, Any]:
    """A visible test, drawn again until input and output are short."""
    while True:
        test = _test(family, params, rng, size, visible=True)
        shown = (re.sub(r"\s", "", test[side]) for side in ("stdin", "stdout"))
        if max(map(len, shown)) <= _EXAMPLE_CHARS:
            return test


def problem_of(reference: JSON) -> tuple[str, Params]:
    """Family and parameters of a reference; an empty family for a task from elsewhere."""
    found = as_object(reference)
    family, params = found.get("family", ""), found.get("params", {})
    if not isinstance(family, str) or not isinstance(params, dict):
        raise TaskError("family must be text and params an object")
    return family, params
