"""`code/predict`: say what a program returns, without running it."""

from __future__ import annotations

import ast
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.attempts import fenced
from verigym.envs.code.interpret import Interpreter
from verigym.envs.code.small_programs import draw_program
from verigym.question import Ask, Question

LEVELS = {2: (2, False), 4: (4, False), 6: (7, True)}
"""Pieces of the program, and whether it has a recursive function."""
_SHORTEST, _LONGEST = 3, 160
_LARGEST = 10**6

_PROMPT = """\
{program}

What does {call} return? Write the value as Python does: texts in quotes, a tuple in round brackets."""


class Predict(Question):
    """A generated program and a call; the reply is the value that it returns, which must be exact.

    The answer comes from an interpreter that counts steps (interpret.py), never from running the
    program; a task's work is those steps.
    """

    id: ClassVar[str] = "verigym/code/predict-v0"
    verifier_id: ClassVar[str] = "code/value"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        """Draws on until the value is neither short nor long, nor stands in the prompt."""
        while True:
            program = draw_program(rng, *LEVELS[level])
            essence = [program.source, program.call]
            if not self.wants(essence):
                continue
            run = Interpreter(ast.parse(program.source), most_steps=3000)
            run.run()
            value = run.call("run", list(program.nums), program.word)
            literal = repr(value)
            prompt = _PROMPT.format(program=fenced(program.source), call=program.call)
            fits = _SHORTEST <= len(literal) <= _LONGEST and _largest(value) <= _LARGEST
            if fits and literal not in prompt:
                return Ask(
                    prompt=prompt,
                    answer=literal,
                    steps=1 + run.steps // 10,
                    reference={"literal": literal},
                    tags=("code",),
                    essence=essence,
                )

    @override
    def reply(self, reference: Any) -> str:
        return f"<answer>{reference['literal']}</answer>"


def _largest(value: Any) -> int:
    """The largest number in a value, whatever its sign; 0 if there is none."""
    if isinstance(value, int):
        return abs(value)
    if isinstance(value, dict):
        return max(map(_largest, value.values()), default=0)
    return 0 if isinstance(value, str) else max(map(_largest, value), default=0)
