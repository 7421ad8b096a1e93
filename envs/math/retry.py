"""`math/retry`: a question with several attempts; a wrong one hears "try again", and costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Env, Transition
from verigym.envs.math.families import draw
from verigym.question import FORM, split_by_question
from verigym.task import Task
from verigym.verdict import Status, Verdict

MOST = 4
"""Attempts of a task, as many as `math/attempts` takes."""

_PROMPT = """\
{question}
{form}
You have {most} attempts. A wrong answer costs part of the reward, so be sure before you answer."""
_REFLECT = (
    "That is not right. Before you try again, say in a few sentences what may have gone wrong. "
    "This reply is not judged; do not answer yet."
)
_STEPS = "steps="


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
    only_named: ClassVar[bool] = True
    max_action_chars: ClassVar[int] = 1 << 14
    # A wrong attempt costs part of the reward for good.
    recoverable: ClassVar[bool] = False

    def __init__(self, *, reflect: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.reflect = reflect

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        ask = draw(rng, level)
        return Draft(
            prompt=_PROMPT.format(question=ask.prompt, form=FORM, most=MOST),
            reference=ask.hidden(),
            tags=(*ask.tags, f"{_STEPS}{ask.steps}"),
        )

    @override
    def split_of(self, draft: Draft) -> str:
        return split_by_question(draft)

    @override
    def initial(self, task: Task) -> Tries:
        return Tries()

    @override
    def observe(self, state: Tries) -> str:
        """Right or not, and no more."""
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
        """Asked for where the last reply was a reflection or too long: what there was."""
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
        steps = [int(tag.removeprefix(_STEPS)) for tag in self.task.tags if tag.startswith(_STEPS)]
        return steps[-1] if steps and not state.reflecting else 1

    @override
    def solve(self, state: Tries) -> str:
        if state.reflecting:
            return "I shall work it out again."
        reference: Any = self.task.reference
        return f"<answer>{reference['answer']}</answer>"
