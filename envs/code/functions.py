"""`code/functions`: write a function of a given signature; up to three attempts, with feedback between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft
from verigym.envs.code import functions_easy, functions_hard, functions_medium
from verigym.envs.code.attempts import LIMITS, Attempts, as_object, attempts_allowed, attempts_told
from verigym.envs.code.follow import Program
from verigym.envs.code.function_family import WantedFunction
from verigym.envs.code.functions_systems import MACHINES, SYSTEMS
from verigym.envs.code.traced import Solver

_EASY, _MEDIUM, _HARD = (
    functions_easy.FAMILIES,
    functions_medium.FAMILIES,
    functions_hard.FAMILIES,
)
Family: TypeAlias = Callable[[np.random.Generator], WantedFunction]
SLOTS: dict[int, tuple[tuple[Family, ...], ...]] = {
    1: ((functions_easy.keep_between, functions_easy.trimmed),),
    2: (_EASY,),
    3: ((functions_easy.every_nth, functions_easy.pair_sums, functions_medium.grouped),),
    4: (_MEDIUM,),
    5: ((functions_medium.turned_round, functions_medium.dealt, functions_medium.long_runs),),
    6: (_HARD,),
    7: (_HARD, _HARD),
    8: (SYSTEMS, SYSTEMS),
    9: (MACHINES, SYSTEMS, SYSTEMS),
    10: (MACHINES, MACHINES, SYSTEMS, SYSTEMS),
}
"""The families that each function is drawn from; several functions are asked for as one."""
_EXAMPLE_SIZES = (3, 4)

_PROMPT = """\
Write this Python 3 function:

def {signature}

{statement}

{examples}

Answer with the whole function and everything that it needs, alone or in a fenced block. It is called with the arguments \
of the examples and with others that you cannot see, and must return the right value each time within {cpu_s:g} \
seconds. {attempts}"""


_JOINED = """\
Each call is a list: the name of one of the functions below, then its arguments. Return the list of the values of these \
calls, in the same order.

"""
_ANSWERS = """\
def answers(calls: list[list]) -> list:
    functions = {{{table}}}
    return [functions[name](*args) for name, *args in calls]
"""


class Functions(Attempts):
    """A generated function to be written, judged by `code/function`; see `Attempts`.

    Seventeen families, on numbers, texts, lists, dictionaries and nested lists; at level 7, 2 of them at once. From level 8 on,
    all 2, 3 or 4 functions are systems of commands (systems.py); at levels 9 and 10, a part of 1 or 2 of them is known only
    by examples (filters.py), and there are two attempts or one. A split holds other parameters than the others.
    """

    id: ClassVar[str] = "verigym/code/functions-v0"
    verifier_id: ClassVar[str] = "code/function"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        parts: list[FunctionPart] = []
        for families in SLOTS[level]:
            taken = {part.family for part in parts}
            left = [family for family in families if family not in taken]
            parts.append(_draw(rng, left, self.wants))
        whole = parts[0] if len(parts) == 1 else _join(rng, parts)
        examples = "\n".join(
            f"{whole.name}({', '.join(map(repr, test['args']))}) returns {test['result']!r}"
            for test in whole.tests
            if test["visible"]
        )
        return Draft(
            prompt=_PROMPT.format(
                signature=whole.signature,
                statement=whole.statement,
                examples=examples,
                cpu_s=LIMITS["cpu_s"],
                attempts=attempts_told(level),
            ),
            reference={
                "function": whole.name,
                "signature": whole.signature,
                "statement": whole.statement,
                "solution": whole.source,
                "tests": whole.tests,
                "limits": dict(LIMITS),
                **attempts_allowed(level),
            },
            tags=("code", *(part.family.__name__ for part in parts)),
            # All parts lie in one split, so the first one decides.
            essence=parts[0].essence,
        )

    @override
    def solution(self, reference: Mapping[str, Any]) -> str:
        return str(reference.get("solution", ""))

    @override
    def follow(self, solver: Solver, program: Program, test: Mapping[str, Any]) -> None:
        solver.call(program, as_object(self.task.reference)["function"], test["args"])


@dataclass(frozen=True)
class FunctionPart:
    """A function to be written, with its tests."""

    family: Family
    signature: str
    statement: str
    source: str
    essence: JSON
    """Name of the function and the values in its program, which decide the split; not the calls."""
    tests: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.signature.split("(", 1)[0]


def _draw(
    rng: np.random.Generator, families: Sequence[Family], wants: Callable[[JSON], bool]
) -> FunctionPart:
    """Draws on until the calls have several answers, so that none can be guessed."""
    while True:
        family = families[int(rng.integers(len(families)))]
        wanted = family(rng)
        essence: JSON = [wanted.name, dict(wanted.values)]
        part = FunctionPart(family, wanted.signature, wanted.statement, wanted.source, essence, [])
        if not wants(part.essence):
            continue
        tests = [_example(wanted, rng, size) for size in _EXAMPLE_SIZES]
        for size in wanted.hidden_sizes:
            test = _test(wanted, rng, size, visible=False)
            if test["args"] not in [other["args"] for other in tests]:
                tests.append(test)
        shown, hidden = (
            {repr(t["result"]) for t in tests if t["visible"] is v} for v in (True, False)
        )
        if len(hidden) >= 3 and not hidden <= shown:
            return replace(part, tests=tests)


def _join(rng: np.random.Generator, parts: Sequence[FunctionPart]) -> FunctionPart:
    """Return one function that is asked for the values of several."""
    functions = "\n\n\n".join(part.source.strip() for part in parts)
    table = ", ".join(f'"{part.name}": {part.name}' for part in parts)
    tests = []
    for number in range(max(len(part.tests) for part in parts)):
        cases = [(part.name, part.tests[number % len(part.tests)]) for part in parts]
        cases = [cases[int(at)] for at in rng.permutation(len(cases))]
        tests.append(
            {
                "args": [[[name, *case["args"]] for name, case in cases]],
                "result": [case["result"] for _, case in cases],
                "visible": number < len(_EXAMPLE_SIZES),
            }
        )
    return replace(
        parts[0],
        signature="answers(calls: list[list]) -> list",
        statement=_JOINED + "\n\n".join(f"{part.signature}\n{part.statement}" for part in parts),
        source=f"{functions}\n\n\n{_ANSWERS.format(table=table)}",
        tests=tests,
    )


def _test(
    wanted: WantedFunction, rng: np.random.Generator, size: int, *, visible: bool
) -> dict[str, Any]:
    args = wanted.arguments(rng, size)
    return {"args": args, "result": wanted.answer(*args), "visible": visible}


def _example(wanted: WantedFunction, rng: np.random.Generator, size: int) -> dict[str, Any]:
    """A visible call, drawn again until it is short."""
    while True:
        test = _test(wanted, rng, size, visible=True)
        if len(repr(test["args"])) + len(repr(test["result"])) <= wanted.example_chars:
            return test
