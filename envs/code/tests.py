"""`code/tests`: inputs that tell wrong versions of a function from the right one; one turn."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from verigym.env import Draft
from verigym.envs.code.mutated import LEVELS, Bound, filled
from verigym.question import Ask, Question
from verigym.verifiers.code.counted import library, machine
from verigym.verifiers.code.inputs import said

_MUTANTS = {"easy": 3, "medium": 5, "hard": 6}
_STEPS = 20_000
_CANDIDATES = 4000

_PROMPT = """\
This Python function gives {says}.

```python
{program}```

Arguments: {bounds}.
Someone has made {count} wrong versions of it that you cannot see, each with one small change. Give \
inputs on which they return something else than the function above, or fail. You may give {inputs} \
inputs at most. Your score is the share of the wrong versions that at least one input tells from the \
right one; inputs outside the bounds, or too many of them, earn nothing.
Answer with a JSON list in a fenced block, one list of arguments for each input: {form}"""


class Tests(Question):
    """A right function; the reply is inputs, and each hidden wrong version that one of them shows up
    earns its share (`code/mutants`).

    Full marks can always be had: as many inputs are allowed as a search took to tell all of them, so
    that shooting at random misses some. Splits differ in the function's numbers.
    """

    __test__ = False  # pytest would collect it
    id: ClassVar[str] = "verigym/code/tests-v0"
    verifier_id: ClassVar[str] = "code/mutants"
    difficulties: ClassVar[tuple[str, ...]] = tuple(LEVELS)
    costly: ClassVar[bool] = True
    form: ClassVar[str] = ""

    def ask(self, rng: np.random.Generator, difficulty: str) -> Ask:
        """See `Question`."""
        functions = LEVELS[difficulty]
        one = functions[int(rng.integers(len(functions)))]
        numbers = {
            name: int(rng.integers(low, high + 1)) for name, (low, high) in one.draws.items()
        }
        count = _MUTANTS[difficulty]
        chosen = sorted(int(n) for n in rng.permutation(len(one.changes))[:count])
        program = one.program(numbers)
        reference: dict[str, Any] = {
            "function": one.name,
            "program": program,
            "mutants": [one.program(numbers, change) for change in chosen],
            "args": list(one.args.values()),
            "numbers": numbers,
        }
        calls = killing_inputs(reference)
        if not calls:
            return self.ask(rng, difficulty)
        bounds = "; ".join(f"{name} is {said(bound)}" for name, bound in one.args.items())
        return Ask(
            prompt=_PROMPT.format(
                says=filled(one.says, numbers),
                program=program,
                bounds=bounds,
                count=count,
                inputs=len(calls),
                form="[[...], [...]] for two inputs",
            ),
            answer="",
            steps=count * program.count("\n"),
            reference={**reference, "inputs": len(calls), "killing": calls},
            tags=("code", one.name),
        )

    def split_of(self, draft: Draft) -> str:
        """See `Env`. By the function and its numbers, not by which wrong versions were chosen."""
        reference: Any = draft.reference
        plain = Draft(prompt=reference["program"], reference=reference["numbers"])
        return super().split_of(plain)

    def reply(self, reference: Any) -> str:
        """See `Question`."""
        return f"```json\n{json.dumps(reference['killing'])}\n```"


def killing_inputs(reference: dict[str, Any]) -> list[list[Any]]:
    """Inputs that tell all mutants from the right program, each at least one more than those before it;
    an empty list where the search found none."""
    right, *mutants = (
        _Callable(program, reference["function"])
        for program in (reference["program"], *reference["mutants"])
    )
    left = dict(enumerate(mutants))
    found: list[list[Any]] = []
    for call in _candidates(reference):
        wanted = right(call)
        killed = [number for number, mutant in left.items() if mutant(call) != wanted]
        if killed:
            found.append(call)
            for number in killed:
                del left[number]
        if not left:
            break
    return [] if left else found


class _Callable:
    """A program of ours under the step-counting interpreter."""

    def __init__(self, program: str, function: str) -> None:
        self._machine = machine.Machine(library, _STEPS)
        self._frame = self._machine.load(program)
        self._function = function

    def __call__(self, call: list[Any]) -> Any:
        self._machine.meter.used = 0
        fresh = json.loads(json.dumps(call))
        try:
            value = self._machine.call_named(self._frame, self._function, fresh)
        except machine.FailedProgram:
            return ("failed",)
        return (type(value).__name__, value)


def _candidates(reference: dict[str, Any]) -> Iterator[list[Any]]:
    """Inputs within the bounds, many of them at edges of the bounds and of the program's numbers."""
    numbers = [int(n) for n in reference["numbers"].values()]
    # Where conditions on several numbers meet.
    numbers += [
        math.prod(some) for size in (2, 3) for some in itertools.combinations(numbers, size)
    ]
    near = sorted({n * sign + more for n in numbers for sign in (1, -1) for more in (-1, 0, 1)})
    rng = np.random.Generator(np.random.PCG64(0))
    for _ in range(_CANDIDATES):
        yield [_drawn(rng, bound, near) for bound in reference["args"]]


def _drawn(rng: np.random.Generator, bound: Bound, near: list[int]) -> Any:
    kind = bound["kind"]
    if kind == "bool":
        return bool(rng.integers(2))
    low, high = bound["low"], bound["high"]
    if kind == "int":
        inside = [low, high, *(n for n in near if low <= n <= high)]
        if rng.random() < 0.5:
            return inside[int(rng.integers(len(inside)))]
        return int(rng.integers(low, high + 1))
    size = int(rng.integers(low, high + 1))
    if kind == "text":
        letters = bound["alphabet"]
        picked = "".join(letters[int(n)] for n in rng.integers(len(letters), size=size))
        return picked if rng.random() < 0.5 else _nested(picked, letters, size)
    items = [_drawn(rng, bound["of"], near) for _ in range(size)]
    # Values that repeat matter as often as those that differ.
    if items and rng.random() < 0.4:
        items = [items[int(n)] for n in np.sort(rng.integers(len(items), size=size))]
    return items


def _nested(picked: str, letters: str, size: int) -> str:
    """A text with long stretches, or brackets that match where it is of brackets."""
    if "(" not in letters:
        return "".join(c * (1 + i % 5) for i, c in enumerate(picked))[:size]
    opened = [c if c in "([" else "(" for c in picked[: size // 2]]
    closed = [")" if c == "(" else "]" for c in reversed(opened)]
    return "".join(opened + closed)
