"""`code/functions`: write a function of a given signature; three attempts, with feedback between."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.env import Draft
from verigym.envs.code import functions_easy, functions_hard, functions_medium
from verigym.envs.code.attempts import LIMITS, Attempt, Attempts
from verigym.envs.code.function_family import Wanted

LEVELS = {
    2: functions_easy.FAMILIES,
    4: functions_medium.FAMILIES,
    6: functions_hard.FAMILIES,
}
_EXAMPLE_SIZES = (3, 4)
_HIDDEN_SIZES = (1, 2, 4, 7, 12, 20, 30)
_EXAMPLE_CHARS = 90

_PROMPT = """\
Write this Python 3 function:

def {signature}

{statement}

{examples}

Answer with the whole function, and whatever it needs, alone or in a fenced block. It must return the right \
value for the examples and for calls that you cannot see, within {cpu_s:g} seconds each. You have a few attempts."""


class Functions(Attempts):
    """A generated function to be written, judged by `code/function`; see `Attempts`.

    Seventeen families, on numbers, texts, lists, dictionaries and nested lists. A split holds other
    parameters than the others.
    """

    id: ClassVar[str] = "verigym/code/functions-v0"
    verifier_id: ClassVar[str] = "code/function"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        """Draws on until the calls have several answers, so that none can be guessed."""
        families = LEVELS[level]
        while True:
            family = families[int(rng.integers(len(families)))]
            wanted = family(rng)
            # What has to be written decides the split, not the calls.
            essence = [wanted.signature, wanted.statement]
            if not self.wants(essence):
                continue
            tests = [_example(wanted, rng, size) for size in _EXAMPLE_SIZES]
            for size in _HIDDEN_SIZES:
                test = _test(wanted, rng, size, visible=False)
                if test["args"] not in [other["args"] for other in tests]:
                    tests.append(test)
            shown, hidden = (
                {repr(t["result"]) for t in tests if t["visible"] is v} for v in (True, False)
            )
            if len(hidden) >= 3 and not hidden <= shown:
                break
        examples = "\n".join(
            f"{wanted.name}({', '.join(map(repr, test['args']))}) returns {test['result']!r}"
            for test in tests
            if test["visible"]
        )
        return Draft(
            prompt=_PROMPT.format(
                signature=wanted.signature,
                statement=wanted.statement,
                examples=examples,
                cpu_s=LIMITS["cpu_s"],
            ),
            reference={
                "function": wanted.name,
                "signature": wanted.signature,
                "statement": wanted.statement,
                "solution": wanted.source,
                "tests": tests,
                "limits": dict(LIMITS),
            },
            tags=("code", family.__name__),
            essence=essence,
        )

    @override
    def solution(self, reference: Mapping[str, Any]) -> str:
        return str(reference.get("solution", ""))

    def work(self, state: Attempt) -> int:
        """The parts of the program that solves it: names, numbers, calls; by five."""
        return 1 + sum(1 for _ in ast.walk(ast.parse(state.solution))) // 5


def _test(wanted: Wanted, rng: np.random.Generator, size: int, *, visible: bool) -> dict[str, Any]:
    args = wanted.arguments(rng, size)
    return {"args": args, "result": wanted.answer(*args), "visible": visible}


def _example(wanted: Wanted, rng: np.random.Generator, size: int) -> dict[str, Any]:
    """A visible call, drawn again until it is short."""
    while True:
        test = _test(wanted, rng, size, visible=True)
        if len(repr(test["args"])) + len(repr(test["result"])) <= _EXAMPLE_CHARS:
            return test
