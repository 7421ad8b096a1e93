"""`math/retry`: a question with several attempts; a wrong one hears "try again", and costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Env, Transition
from verigym.envs.math.arithmetic import Arithmetic
from verigym.envs.math.families import draw, work_out
from verigym.envs.math.paper import Paper
from verigym.envs.math.word_problems import WordProblems
from verigym.envs.math.worked import Worked
from verigym.question import FORM
from verigym.task import Task
from verigym.verdict import Status, Verdict

MOST = 4
"""Attempts of a task, as many as `math/attempts` takes."""

_PROMPT = """\
{question}
{form}
You have {most} attempts. Each wrong answer costs part of the reward, so be sure before you answer."""
_REFLECT = (
    "That is not right. Before you try again, say in a few sentences what may have gone wrong. "
    "Do not answer yet: this reply is not judged."
)
_STEPS = "steps="
_LEFT_OUT: dict[int, type[Worked]] = {3: WordProblems, 5: Arithmetic}
"""Families that some levels do without: operations rise from level to level then."""


@dataclass(frozen=True)
class Tries:
    """The state: the attempts made, all wrong but perhaps the last, and whether to reflect now."""

    attempts: tuple[str, ...] = ()
    reflecting: bool = False
    solved: bool = False


class Retry(Env[Tries]):
    """A question of any family of `math/answer`; up to four attempts, told apart only by right or not.

    Each reply is an attempt, readable or not. The first right one ends the episode and earns what
    `math/attempts` gives it: 1, 0.7, 0.49, 0.34. With `reflect=True` each wrong attempt but the last is
    followed by a turn that is not judged, for thinking about the mistake.
    """

    id: ClassVar[str] = "verigym/math/retry-v0"
    verifier_id: ClassVar[str] = "math/attempts"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    max_action_chars: ClassVar[int] = 1 << 14
    # A wrong attempt costs part of the reward for good.
    recoverable: ClassVar[bool] = False

    def __init__(self, *, reflect: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.reflect = reflect

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        # Half of the questions of level 3 are of level 2, the others of level 4; so with level 5.
        beside = 2 * int(rng.integers(2)) - 1 if level in (3, 5) else 0
        ask = draw(rng, level + beside, _LEFT_OUT.get(level))
        return Draft(
            prompt=_PROMPT.format(question=ask.prompt, form=FORM, most=MOST),
            reference=ask.hidden(),
            tags=(*ask.tags, f"{_STEPS}{ask.steps}"),
            essence=ask.essence,
        )

    @override
    def initial(self, task: Task) -> Tries:
        return Tries()

    @override
    def observe(self, state: Tries) -> str:
        """Say if the last answer was right, and nothing else."""
        if state.solved:
            return "That is right."
        if not state.attempts:
            return ""
        if state.reflecting:
            return _REFLECT
        again = f"Attempt {len(state.attempts) + 1} of {MOST}."
        if len(state.attempts) >= MOST:
            return "That is not right."
        return f"Try again. {again}" if self.reflect else f"That is not right. Try again. {again}"

    @override
    def transition(self, state: Tries, action: str) -> Transition[Tries]:
        """A reflection is not judged, whatever it holds."""
        if state.reflecting:
            return Transition(state=replace(state, reflecting=False), valid=bool(action.strip()))
        attempts = (*state.attempts, action)
        over = len(attempts) >= MOST
        return Transition(
            state=replace(state, attempts=attempts, reflecting=self.reflect and not over),
            terminated=over,
            submission=list(attempts),
        )

    @override
    def judged(self, moved: Transition[Tries], verdict: Verdict) -> Transition[Tries]:
        """A right answer ends the episode."""
        valid = moved.valid and verdict.status is not Status.POLICY_FAULT
        if verdict.score:
            state = replace(moved.state, reflecting=False, solved=True)
            return replace(moved, state=state, terminated=True, valid=valid)
        return replace(moved, valid=valid)

    @override
    def submission(self, state: Tries) -> JSON:
        """Return the attempts so far; used if the last reply was a reflection or too long."""
        return list(state.attempts)

    @override
    def turns_allowed(self, task: Task) -> int:
        return 2 * MOST - 1 if self.reflect else MOST

    @override
    def key(self, state: Tries) -> JSON:
        """Includes the number of attempts, which decides the reward, but not their content."""
        return [len(state.attempts), state.reflecting, state.solved, self.reflect]

    @override
    def work(self, state: Tries) -> int:
        """Count the operations of the solver of the family; a reflection takes one."""
        paper = Paper()
        paper.look()
        if not state.reflecting:
            work_out(paper, self.task)
        return paper.operations

    @override
    def solve(self, state: Tries) -> str:
        if state.reflecting:
            return "I shall work it out again."
        reference: Any = self.task.reference
        return f"<answer>{reference['answer']}</answer>"
