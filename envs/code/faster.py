"""`code/faster`: a slow function is to take fewer steps; one turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.code.program_files import filled
from verigym.envs.code.slow import FUNCTIONS, LEVELS, Numbers, Slow
from verigym.envs.code.traced import Solver
from verigym.question import Ask, Question, QuestionState

_EASY, _MEDIUM, _HARD, _TOP = LEVELS[2], LEVELS[4], LEVELS[6], LEVELS[8]


def _named(*names: str) -> tuple[Slow, ...]:
    return tuple(FUNCTIONS[name] for name in names)


_SLOTS: dict[int, tuple[tuple[Slow, ...], ...]] = {
    1: (_named("power_tail", "pairs_to"),),
    2: (_EASY,),
    3: (_named("range_sums"),),
    4: (_MEDIUM,),
    5: (_named("change", "busiest", "climb"),),
    6: (_HARD,),
    7: (_TOP, _HARD),
    8: (_TOP, _TOP),
    9: (_TOP, _TOP, _TOP, _HARD),
    10: (_TOP, _TOP, _TOP, _TOP, _TOP, _HARD),
}
"""The functions that each part is drawn from; several are asked for as one."""
_WITHIN = {8: 1.3, 9: 1.2, 10: 1.1}
"""Times the best known steps that earn full marks; 1.5 at the other levels."""
_TOGETHER = "together"

_PROMPT = """\
This function returns {says}.
It takes {takes}.

```python
{program}```

It is correct but slow. Write a function of the same name that returns the same values in fewer steps. Every operation, \
name and constant that is evaluated counts as one step, and so does every item or character that a builtin or a method \
reads, copies or sorts (sorting n items takes about n log n steps); a long integer counts one step per 64-bit word. Steps \
are summed over hidden calls, most of them with the largest arguments allowed.

You get full marks for at most {within} times the steps of the best known version and none for as many steps as the function \
above takes; between these, the score falls with the logarithm of the steps. If any value is wrong, you get none.

Only this part of Python is available: functions, lambda, if, while, for, break, continue, comprehensions, integers, strings, lists, \
tuples, dicts, sets, slices, the builtins abs all any bool chr dict divmod enumerate filter int len list map max min ord \
pow range reversed set sorted str sum tuple zip, and the usual methods of strings, lists, dicts and sets. There are no \
imports, classes, exceptions, yield, del, print, f-strings or true division.
Answer with the whole program, alone or in a fenced block."""


class Faster(Question):
    """A slow function; the reply is one that gives the same values in fewer steps (`code/cost`).

    Steps are counted by an interpreter, not timed. The slow function itself earns 0. From level 7 on, one
    function gives the values of 2 to 6, by name, and from level 8 on full marks are for steps that are nearer and nearer to the
    best known. Splits differ in the function's numbers.
    """

    id: ClassVar[str] = "verigym/code/faster-v0"
    verifier_id: ClassVar[str] = "code/cost"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    costly: ClassVar[bool] = True
    form: ClassVar[str] = ""

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        parts: list[CostPart] = []
        for functions in _SLOTS[level]:
            taken = {part.one.name for part in parts}
            left = [one for one in functions if one.name not in taken]
            parts.append(draw_part(rng, left, self.wants))
        whole = parts[0].described(rng) if len(parts) == 1 else _join(rng, parts)
        within = _WITHIN.get(level, 1.5)
        return Ask(
            prompt=_PROMPT.format(
                says=whole.says, takes=whole.takes, program=whole.slow, within=within
            ),
            answer="",
            steps=_WORK[level] + whole.fast.count("\n"),
            reference={
                "function": whole.name,
                "slow": whole.slow,
                "fast": whole.fast,
                "calls": whole.calls,
                "numbers": whole.numbers,
                **({"within": within} if level in _WITHIN else {}),
            },
            tags=("code", *(part.one.name for part in parts)),
            # The function and its numbers decide the split, not the hidden calls. All parts lie in one split.
            essence=[parts[0].one.name, parts[0].numbers],
        )

    @override
    def work(self, state: QuestionState) -> int:
        """Read the slow function, write the fast one, and run it by hand on the calls."""
        solver = Solver()
        reference: Any = state.task.reference
        solver.write(reference["slow"])
        fast = solver.read(solver.write(reference["fast"]))
        for args in reference["calls"]:
            solver.call(fast, reference["function"], args)
        return solver.operations

    @override
    def reply(self, reference: Any) -> str:
        return f"```python\n{reference['fast']}```"


@dataclass(frozen=True)
class CostPart:
    """A function with its numbers."""

    one: Slow
    numbers: Numbers

    def described(self, rng: np.random.Generator) -> CostFunction:
        """Return what is asked if this function stands alone."""
        return CostFunction(
            name=self.one.name,
            says=filled(self.one.says, self.numbers),
            takes=filled(self.one.takes, self.numbers),
            slow=self.one.program("slow", self.numbers),
            fast=self.one.program("fast", self.numbers),
            calls=self.one.calls(rng, self.numbers),
            numbers=self.numbers,
        )


@dataclass(frozen=True, kw_only=True)
class CostFunction:
    """A function as it is asked for."""

    name: str
    says: str
    takes: str
    slow: str
    fast: str
    calls: list[list[Any]]
    numbers: Mapping[str, Any]


def draw_part(
    rng: np.random.Generator, functions: Sequence[Slow], wants: Callable[[JSON], bool]
) -> CostPart:
    """Draw a function and its numbers; see `Env.wants`."""
    while True:
        one = functions[int(rng.integers(len(functions)))]
        numbers = {
            name: int(rng.integers(low, high + 1)) for name, (low, high) in one.draws.items()
        }
        if wants([one.name, numbers]):
            return CostPart(one, numbers)


def _join(rng: np.random.Generator, parts: Sequence[CostPart]) -> CostFunction:
    """Return one function that gives the values of several, by the name of one."""
    each = [part.described(rng) for part in parts]
    says = ";".join(f'\n- for "{one.name}", {one.says}' for one in each)
    takes = ";".join(f'\n- for "{one.name}", {one.takes}' for one in each)
    return CostFunction(
        name=_TOGETHER,
        says=f"a value that depends on its first argument:{says}",
        takes=f"name, which is one of these {len(each)} strings, and args, a list of the arguments:{takes}",
        slow=_dispatched(each, [one.slow for one in each]),
        fast=_dispatched(each, [one.fast for one in each]),
        calls=[[one.name, call] for one in each for call in one.calls],
        numbers={part.one.name: part.numbers for part in parts},
    )


def _dispatched(each: Sequence[CostFunction], sources: Sequence[str]) -> str:
    """Return a program of several functions and of one that calls the one whose name it is given."""
    cases = []
    for one in each:
        args = ", ".join(f"args[{at}]" for at in range(len(one.calls[0])))
        cases.append(f'    if name == "{one.name}":\n        return {one.name}({args})\n')
    return "\n\n".join([*sources, f"def {_TOGETHER}(name, args):\n{''.join(cases)}"])


# What has to be seen before anything is written: a table, an order of the work, another recursion.
_WORK = {level: 5 * level // 2 for level in range(1, 11)}
