"""`code/predict`: say what a program returns, without running it."""

from __future__ import annotations

import ast
import re
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.attempts import fenced
from verigym.envs.code.follow import Program
from verigym.envs.code.small_programs import draw_program
from verigym.envs.code.traced import Solver
from verigym.question import Ask, Question, QuestionState
from verigym.reply import fenced as blocks

LEVELS = {
    1: (1, False),
    2: (2, False),
    3: (3, False),
    4: (4, False),
    5: (5, True),
    6: (7, True),
    7: (11, True),
    8: (15, True),
    9: (20, True),
    10: (32, True),
}
"""Pieces of the program, and whether it has a recursive function."""
_SHORTEST, _LONGEST = 3, 160
_LARGEST = 10**6
_MOST_STEPS = 20_000

_CALL = re.compile(r"\brun\(.*\)")
_PROMPT = """\
{program}

What does {call} return? Write the value as a Python literal, with strings in quotes and tuples in parentheses."""


class Predict(Question):
    """A generated program and a call; the reply is the value that it returns, which must be exact.

    The answer comes from an interpreter that counts steps (follow.py), never from running the
    program.
    """

    id: ClassVar[str] = "verigym/code/predict-v0"
    verifier_id: ClassVar[str] = "code/value"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        """Draw until the value is neither short nor long, nor stands in the prompt."""
        while True:
            program = draw_program(rng, *LEVELS[level])
            essence = [program.source, program.call]
            if not self.wants(essence):
                continue
            followed = Program(ast.parse(program.source))
            followed.run(most_steps=_MOST_STEPS)
            value = followed.call_named("run", list(program.nums), program.word)
            literal = repr(value)
            prompt = _PROMPT.format(program=fenced(program.source), call=program.call)
            fits = _SHORTEST <= len(literal) <= _LONGEST and _largest(value) <= _LARGEST
            if fits and literal not in prompt:
                return Ask(
                    prompt=prompt,
                    answer=literal,
                    steps=1 + followed.steps // 10,
                    reference={"literal": literal},
                    tags=("code",),
                    essence=essence,
                )

    @override
    def work(self, state: QuestionState) -> int:
        """Run the program by hand."""
        solver = Solver()
        work_out(solver, state.task.prompt)
        return solver.operations

    @override
    def reply(self, reference: Any) -> str:
        return f"<answer>{reference['literal']}</answer>"


def work_out(solver: Solver, prompt: str) -> Any:
    """Return the value that a prompt asks for."""
    program = blocks(prompt)[0]
    call: Any = ast.parse(_CALL.findall(prompt[program.end :])[0], mode="eval").body
    args = [ast.literal_eval(one) for one in call.args]
    return solver.call(solver.read(ast.parse(program.body)), call.func.id, args, exact=True)


def _largest(value: Any) -> int:
    """The largest number in a value, whatever its sign; 0 if there is none."""
    if isinstance(value, int):
        return abs(value)
    if isinstance(value, dict):
        return max(map(_largest, value.values()), default=0)
    return 0 if isinstance(value, str) else max(map(_largest, value), default=0)
