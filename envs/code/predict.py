"""`code/predict`: say what a program returns, without running it."""

from __future__ import annotations

import ast
import re
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.attempts import fenced
from verigym.envs.code.executed import Execution
from verigym.envs.code.follow import Program
from verigym.envs.code.long_programs import draw_long_program
from verigym.envs.code.small_programs import draw_program
from verigym.envs.code.traced import Solver
from verigym.question import Ask, Question, QuestionState
from verigym.reply import fenced as blocks
from verigym.seeds import generator_of
from verigym.verifiers.code.counted.state import OutOfSteps

LEVELS = {
    1: (1, False),
    2: (2, False),
    3: (3, False),
    4: (4, False),
    5: (5, True),
    6: (7, True),
}
"""Pieces of a small program, and whether it has a recursive function."""
LONG_LEVELS = {7: (3, 900), 8: (5, 4_000), 9: (7, 16_000), 10: (8, 64_000)}
"""Parts of a long program, and about how many steps it takes."""
_LONGEST_SOURCE = 5_700
_SHORTEST, _LONGEST = 3, 160
_LARGEST = 10**6
_MOST_STEPS = 20_000
_MOST_LONG_STEPS = 160_000
_TRIED = 3
"""Rounds of a long program that tell how many steps a round takes."""

_CALL = re.compile(r"\brun\(.*\)")
_PROMPT = """\
{program}

What does {call} return? Write the value as a Python literal, with strings in quotes and tuples in parentheses."""


class Predict(Question):
    """A generated program and a call; the reply is the value that it returns, which must be exact.

    Small programs run in an interpreter that counts steps (follow.py). From level 7 on, programs have objects,
    closures, generators and exceptions, and several thousand steps; see long_programs.py and executed.py.
    """

    id: ClassVar[str] = "verigym/code/predict-v0"
    verifier_id: ClassVar[str] = "code/value"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        """Draw until the value is neither short nor long, nor stands in the prompt."""
        draw = self._long if level in LONG_LEVELS else self._small
        while True:
            ask = draw(rng, level)
            if ask is not None and ask.answer not in ask.prompt:
                return ask

    def _small(self, rng: np.random.Generator, level: int) -> Ask | None:
        program = draw_program(rng, *LEVELS[level])
        essence = [program.source, program.call]
        if not self.wants(essence):
            return None
        followed = Program(ast.parse(program.source))
        followed.run(most_steps=_MOST_STEPS)
        value = followed.call_named("run", list(program.nums), program.word)
        reference = {"literal": repr(value)}
        return _asked(program.call, essence, value, followed.steps, reference)

    def _long(self, rng: np.random.Generator, level: int) -> Ask | None:
        count, wanted = LONG_LEVELS[level]
        drawn = int(rng.integers(1 << 31))
        program = draw_long_program(generator_of(drawn), count)
        essence = [program.source, program.call(0)]
        if len(program.source) > _LONGEST_SOURCE or not self.wants(essence):
            return None
        execution = Execution(program.run, program.parts, _MOST_LONG_STEPS)
        try:
            execution.call("run", list(program.nums), _TRIED)
            rounds = max(_TRIED, wanted * _TRIED // execution.steps)
            value = execution.call("run", list(program.nums), rounds)
        except OutOfSteps:
            return None
        reference = {"literal": repr(value), "program": [drawn, count, rounds]}
        return _asked(program.call(rounds), essence, value, execution.steps, reference)

    @override
    def work(self, state: QuestionState) -> int:
        """Run the program by hand. A long one is drawn anew, as nothing but what is drawn here may run."""
        reference: Any = state.task.reference
        if "program" in reference:
            return _steps_of(*reference["program"])
        solver = Solver()
        work_out(solver, state.task.prompt)
        return solver.operations

    @override
    def reply(self, reference: Any) -> str:
        return f"<answer>{reference['literal']}</answer>"


def _asked(
    call: str, essence: list[str], value: Any, steps: int, reference: dict[str, Any]
) -> Ask | None:
    """Return the question of a program and a call; None if its value is too short, long or large.
    `essence` begins with the program."""
    literal = reference["literal"]
    if not _SHORTEST <= len(literal) <= _LONGEST or _largest(value) > _LARGEST:
        return None
    return Ask(
        prompt=_PROMPT.format(program=fenced(essence[0]), call=call),
        answer=literal,
        steps=1 + steps // 10,
        reference=reference,
        tags=("code",),
        essence=[*essence],
    )


def _steps_of(drawn: int, count: int, rounds: int) -> int:
    """Return the number of steps of a long program."""
    program = draw_long_program(generator_of(drawn), count)
    execution = Execution(program.run, program.parts, _MOST_LONG_STEPS)
    execution.call("run", list(program.nums), rounds)
    return execution.steps


def work_out(solver: Solver, prompt: str) -> Any:
    """Return the value that a prompt with a small program asks for."""
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
