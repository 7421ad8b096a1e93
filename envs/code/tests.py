"""`code/tests`: inputs that tell wrong versions of a function from the right one; one turn."""

from __future__ import annotations

import ast
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.code import mutated_easy, mutated_hard, mutated_medium
from verigym.envs.code.mixing import Mixing, draw_mixing
from verigym.envs.code.mutated import Bound, Mutated
from verigym.envs.code.traced import Solver
from verigym.question import Ask, Question, QuestionState
from verigym.verifiers.code.inputs import said

LEVELS: dict[int, tuple[Mutated, ...]] = {
    2: mutated_easy.FUNCTIONS,
    4: mutated_medium.FUNCTIONS,
    6: mutated_hard.FUNCTIONS,
}
_EASY, _MEDIUM, _HARD = LEVELS[2], LEVELS[4], LEVELS[6]
# The functions that each part is drawn from, and the wrong versions of each.
_SLOTS: dict[int, tuple[tuple[tuple[Mutated, ...], ...], int]] = {
    1: ((_EASY,), 2),
    2: ((_EASY,), 3),
    3: ((_EASY,), 4),
    4: ((_MEDIUM,), 4),
    5: ((_MEDIUM,), 5),
    6: ((_HARD,), 5),
    7: ((_HARD, _MEDIUM), 4),
    8: ((_HARD, _MEDIUM), 5),
    9: ((_HARD, _HARD, _MEDIUM), 5),
    10: ((_HARD, _HARD, _HARD, _MEDIUM), 5),
}
_ROUNDS = {8: 2, 9: 4, 10: 8}
"""Rounds of the chain that changes the numbers before the functions get them (mixing.py)."""
_MORE_INPUTS = 2
_TOGETHER = "together"
_MIXED = "the numbers in their arguments only after mix has replaced them by others, each within the same bounds"

_PROMPT = """\
This Python function returns {says}.

```python
{program}```

Arguments: {bounds}.
There are {count} wrong versions of it that you cannot see, each with one small change. They return the same values for \
nearly all inputs. Give inputs for which they return something else than the function above, or fail. You may give at \
most {inputs} inputs. Your score is the share of the wrong versions that at least one of your inputs exposes; if an input \
is outside the bounds, or there are too many, you get nothing.
Answer with a JSON list in a fenced block that holds one list of arguments for each input, such as [[...], [...]] for two \
inputs."""


class Tests(Question):
    """A right function; the reply is inputs, and each hidden wrong version that one of them shows up
    earns its share (`code/mutants`).

    Wrong versions differ from the right one on few inputs, most of them where a condition is just met: random
    inputs tell next to none, and neither do the numbers of the program. Two more inputs are allowed than there are wrong versions of one function.
    From level 7 on, a function gives the values of 2, 3 or 4, and an input holds arguments for each; from level 8 on,
    a chain changes the numbers first, which has to be undone (mixing.py). Splits differ in the function's numbers.
    """

    __test__ = False  # pytest would collect it
    id: ClassVar[str] = "verigym/code/tests-v0"
    verifier_id: ClassVar[str] = "code/mutants"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    chance: ClassVar[float] = 0.02
    """Success rate of random inputs within the bounds; random text earns nothing."""
    costly: ClassVar[bool] = True
    form: ClassVar[str] = ""

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        slots, count = _SLOTS[level]
        parts: list[MutantPart] = []
        for functions in slots:
            taken = {part.one.name for part in parts}
            left = [one for one in functions if one.name not in taken]
            parts.append(_draw(rng, left, count, self.wants))
        mixing = None
        if level in _ROUNDS:
            bounds_of_parts = [bound for part in parts for bound in part.one.args.values()]
            mixing = draw_mixing(rng, _ROUNDS[level], bounds_of_parts)
        whole = parts[0].described() if len(parts) == 1 else _join(parts, mixing)
        bounds = "; ".join(f"{name} is {said(bound)}" for name, bound in whole.args.items())
        mutants = [mutant for part in parts for mutant in part.mutants(parts, mixing)]
        inputs = count + _MORE_INPUTS
        return Ask(
            prompt=_PROMPT.format(
                says=whole.says,
                program=whole.program,
                bounds=bounds,
                count=len(mutants),
                inputs=inputs,
            ),
            answer="",
            steps=len(mutants) * whole.program.count("\n"),
            reference={
                "function": whole.name,
                "program": whole.program,
                "mutants": mutants,
                "args": list(whole.args.values()),
                "numbers": whole.numbers,
                "inputs": inputs,
                "killing": whole.killing,
                **({} if mixing is None else {"mixing": asdict(mixing)}),
            },
            tags=("code", *(part.one.name for part in parts)),
            # All parts lie in one split, so the first one decides.
            essence=[parts[0].one.name, parts[0].numbers],
        )

    @override
    def work(self, state: QuestionState) -> int:
        """Read the function, and run it and its wrong versions by hand on the inputs, until all are told."""
        solver = Solver()
        reference: Any = state.task.reference
        right = solver.read(solver.write(reference["program"]))
        left = [solver.read(ast.parse(mutant)) for mutant in reference["mutants"]]
        if "mixing" in reference:
            mixing = Mixing(**reference["mixing"])
            for call in reference["killing"]:
                _undone(mixing, call, reference["args"], solver.look)
        for args in reference["killing"]:
            value = solver.call(right, reference["function"], args)
            left = [one for one in left if solver.call(one, reference["function"], args) == value]
        return solver.operations

    @override
    def reply(self, reference: Any) -> str:
        return f"```json\n{json.dumps(reference['killing'])}\n```"


@dataclass(frozen=True)
class MutantPart:
    """A function with its numbers, and the changes that make its wrong versions."""

    one: Mutated
    numbers: dict[str, int]
    chosen: list[int]

    def described(self) -> MutantFunction:
        """Return what is asked if this function stands alone."""
        return MutantFunction(
            name=self.one.name,
            says=self.one.describe(self.numbers),
            program=self.one.program(self.numbers),
            args=self.one.args,
            numbers=self.numbers,
            killing=self.killing(),
        )

    def killing(self) -> list[list[Any]]:
        """Return calls that tell all wrong versions."""
        calls: list[list[Any]] = []
        for change in self.chosen:
            call = self.one.telling(self.numbers, change)
            if call not in calls:
                calls.append(call)
        return calls

    def mutants(self, parts: Sequence[MutantPart], mixing: Mixing | None = None) -> list[str]:
        """Return the program of all `parts` with each change of this one."""
        return [
            _program(parts, {self.one.name: self.one.program(self.numbers, change)}, mixing)
            for change in self.chosen
        ]


@dataclass(frozen=True, kw_only=True)
class MutantFunction:
    """A function as it is asked about."""

    name: str
    says: str
    program: str
    args: dict[str, Bound]
    numbers: dict[str, Any]
    killing: list[list[Any]]


def _draw(
    rng: np.random.Generator,
    functions: Sequence[Mutated],
    count: int,
    wants: Callable[[JSON], bool],
) -> MutantPart:
    """Draw a function, its numbers and `count` changes; see `Env.wants`."""
    while True:
        one = functions[int(rng.integers(len(functions)))]
        numbers = {
            name: int(rng.integers(low, high + 1)) for name, (low, high) in one.draws.items()
        }
        if wants([one.name, numbers]):
            break
    return MutantPart(
        one, numbers, sorted(int(n) for n in rng.permutation(len(one.changes))[:count])
    )


def _join(parts: Sequence[MutantPart], mixing: Mixing | None = None) -> MutantFunction:
    """Return one function that gives the values of several; an input holds arguments for each of them."""
    calls = [part.killing() for part in parts]
    args = {name: bound for part in parts for name, bound in _args(part).items()}
    killing = [
        list(itertools.chain.from_iterable(own[at % len(own)] for own in calls))
        for at in range(max(map(len, calls)))
    ]
    if mixing is not None:
        killing = [_undone(mixing, call, list(args.values()), _nothing) for call in killing]
    says = ";".join(
        f"\n- {part.one.name} returns {part.one.describe(part.numbers)}" for part in parts
    )
    heading = f"a list of the values of {len(parts)} functions"
    if mixing is not None:
        heading += f", which get {_MIXED}"
    return MutantFunction(
        name=_TOGETHER,
        says=f"{heading}:{says}",
        program=_program(parts, {}, mixing),
        args=args,
        numbers={part.one.name: part.numbers for part in parts},
        killing=killing,
    )


def _undone(
    mixing: Mixing, call: Sequence[Any], bounds: Sequence[Bound], look: Callable[[], None]
) -> list[Any]:
    """Return the arguments for which the functions get those of `call`."""
    return [mixing.undo(value, bound, look) for value, bound in zip(call, bounds, strict=True)]


def _nothing() -> None:
    """Count no operation."""


def _program(
    parts: Sequence[MutantPart], changed: Mapping[str, str], mixing: Mixing | None = None
) -> str:
    """Return the program of all parts, some of them changed."""
    sources = [changed.get(part.one.name) or part.one.program(part.numbers) for part in parts]
    if len(parts) == 1:
        return sources[0]
    args = {name: bound for part in parts for name, bound in _args(part).items()}
    given = {name: name for name in args}
    if mixing is not None:
        sources = [mixing.source(list(args.values())), *sources]
        given = {name: mixing.expression(name, bound) for name, bound in args.items()}
    values = [
        f"{part.one.name}({', '.join(given[name] for name in _args(part))})" for part in parts
    ]
    if mixing is None:
        value = f"[{', '.join(values)}]"
    else:
        value = "[\n" + "".join(f"        {one},\n" for one in values) + "    ]"
    joined = f"def {_TOGETHER}({', '.join(args)}):\n    return {value}\n"
    return "\n\n".join([*sources, joined])


def _args(part: MutantPart) -> dict[str, Bound]:
    """Return the bounds of a part's arguments, by names that no other part has."""
    return {f"{part.one.name}_{name}": bound for name, bound in part.one.args.items()}
