"""`code/faster`: a slow function is to take fewer steps; one turn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.program_files import filled
from verigym.envs.code.slow import LEVELS
from verigym.question import Ask, Question

_PROMPT = """\
This function gives {says}. It takes {takes}.

```python
{program}```

It works, but does more than it has to. Write a function of the same name that gives the same values in \
fewer steps. Each operation, name and constant that is evaluated counts one step, and so does each item \
or character that a builtin or a method reads, copies or sorts (a sort of n items about n log n); a long \
number counts by its 64-bit words. Steps are counted over some hidden calls, most of them as large as they get.

Full marks for at most 1.5 times the steps of the best version known, none for as many steps as above, and \
between them by the logarithm of the steps. A wrong value on any call earns nothing.

Only this part of Python is there: functions, lambda, if, while, for, comprehensions, numbers without \
fractions, texts, lists, tuples, dicts, sets, slices, the builtins abs all any bool chr dict divmod enumerate \
filter int len list map max min ord pow range reversed set sorted str sum tuple zip, and the usual methods of \
texts, lists, dicts and sets. There are no imports, classes, exceptions, yield, del, print, f-strings and \
no true division.
Answer with the whole program, alone or in a fenced block."""


class Faster(Question):
    """A slow function; the reply is one that gives the same values in fewer steps (`code/cost`).

    Steps are counted by an interpreter, not timed. The slow function itself earns 0. Splits differ in
    the function's numbers.
    """

    id: ClassVar[str] = "verigym/code/faster-v0"
    verifier_id: ClassVar[str] = "code/cost"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True
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
            # The function and its numbers decide the split, not the hidden calls.
            essence = [one.name, numbers]
            if self.wants(essence):
                break
        slow, fast = one.program("slow", numbers), one.program("fast", numbers)
        prompt = _PROMPT.format(says=one.says, takes=one.takes, program=slow)
        return Ask(
            prompt=prompt.replace(one.says, filled(one.says, numbers), 1),
            answer="",
            steps=_WORK[level] + fast.count("\n"),
            reference={
                "function": one.name,
                "slow": slow,
                "fast": fast,
                "calls": one.calls(rng, numbers),
                "numbers": numbers,
            },
            tags=("code", one.name),
            essence=essence,
        )

    @override
    def reply(self, reference: Any) -> str:
        return f"```python\n{reference['fast']}```"


# What has to be seen before anything is written: a table, an order of the work, another recursion.
_WORK = {2: 5, 4: 10, 6: 15}
