"""`code/tests`: inputs that tell wrong versions of a function from the right one; one turn."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code import mutated_easy, mutated_hard, mutated_medium
from verigym.envs.code.mutated import Mutated
from verigym.question import Ask, Question
from verigym.verifiers.code.inputs import said

LEVELS: dict[int, tuple[Mutated, ...]] = {
    2: mutated_easy.FUNCTIONS,
    4: mutated_medium.FUNCTIONS,
    6: mutated_hard.FUNCTIONS,
}
# Wrong versions, and inputs that may be given.
_COUNTS = {2: (3, 5), 4: (4, 6), 6: (5, 7)}

_PROMPT = """\
This Python function gives {says}.

```python
{program}```

Arguments: {bounds}.
Someone has made {count} wrong versions of it that you cannot see, each with one small change. They \
give the same on nearly all inputs. Give inputs on which they return something else than the function above, or \
fail. You may give {inputs} inputs at most. Your score is the share of the wrong versions that at least one input \
tells from the right one; inputs outside the bounds, or too many of them, earn nothing.
Answer with a JSON list in a fenced block, one list of arguments for each input: [[...], [...]] for two inputs"""


class Tests(Question):
    """A right function; the reply is inputs, and each hidden wrong version that one of them shows up
    earns its share (`code/mutants`).

    Wrong versions differ from the right one on few inputs, most of them where a condition is just met: random
    inputs tell next to none, and neither do the numbers of the program. Two more inputs are allowed than there are wrong versions. Splits differ in
    the function's numbers.
    """

    __test__ = False  # pytest would collect it
    id: ClassVar[str] = "verigym/code/tests-v0"
    verifier_id: ClassVar[str] = "code/mutants"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True
    chance: ClassVar[float] = 0.02
    """Success rate of random inputs within the bounds; random text earns nothing."""
    costly: ClassVar[bool] = True
    form: ClassVar[str] = ""

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        functions = LEVELS[level]
        while True:
            one = functions[int(rng.integers(len(functions)))]
            numbers = {
                name: int(rng.integers(low, high + 1)) for name, (low, high) in one.draws.items()
            }
            essence = [one.name, numbers]
            if self.wants(essence):
                break
        count, inputs = _COUNTS[level]
        chosen = sorted(int(n) for n in rng.permutation(len(one.changes))[:count])
        killing: list[list[Any]] = []
        for change in chosen:
            call = one.telling(numbers, change)
            if call not in killing:
                killing.append(call)
        program = one.program(numbers)
        bounds = "; ".join(f"{name} is {said(bound)}" for name, bound in one.args.items())
        return Ask(
            prompt=_PROMPT.format(
                says=one.describe(numbers),
                program=program,
                bounds=bounds,
                count=count,
                inputs=inputs,
            ),
            answer="",
            steps=count * program.count("\n"),
            reference={
                "function": one.name,
                "program": program,
                "mutants": [one.program(numbers, change) for change in chosen],
                "args": list(one.args.values()),
                "numbers": numbers,
                "inputs": inputs,
                "killing": killing,
            },
            tags=("code", one.name),
            essence=essence,
        )

    @override
    def reply(self, reference: Any) -> str:
        return f"```json\n{json.dumps(reference['killing'])}\n```"
