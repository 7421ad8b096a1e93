"""`Question`: the base of environments with one question and one reply.

class Sum(Question):
    id = "verigym/examples/sum-v0"
    verifier_id = "math/answer"
    difficulties = ("easy", "medium", "hard")

    def ask(self, rng, difficulty):
        a, b = rng.integers(1, {"easy": 10, "medium": 100, "hard": 1000}[difficulty], 2).tolist()
        return Ask(prompt=f"What is {a} + {b}?", answer=str(a + b), steps=len(str(a + b)))
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Env, Transition, split_by_content
from verigym.task import Task
from verigym.verdict import Status, Verdict

FORM = "Think as long as you like, then give the final answer alone in tags: <answer>...</answer>"

_STEPS = "steps="


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What `ask` gives. `reference` is what the verifier reads; by default `{"answer": answer}`.

    `steps` is about how many elementary operations the way to the answer takes.
    """

    prompt: str
    answer: str
    steps: int = 1
    reference: JSON = None
    tags: tuple[str, ...] = ()
    essence: JSON = None
    """See `Draft`."""
    answer_form: str = ""
    """Form that `math/answer` requires of the answer: `evaluated`, `reduced` and others; empty for any."""

    def hidden(self) -> JSON:
        """The reference for the verifier."""
        if self.reference is not None:
            return self.reference
        if self.answer_form:
            return {"answer": self.answer, "form": self.answer_form}
        return {"answer": self.answer}


def split_by_question(draft: Draft) -> str:
    """The split of a question: the form that its answer must have makes no other question of it."""
    reference = draft.reference
    if (
        draft.essence is None
        and isinstance(reference, dict)
        and reference.keys() == {"answer", "form"}
    ):
        return split_by_content(replace(draft, reference={"answer": reference["answer"]}))
    return split_by_content(draft)


@dataclass(frozen=True)
class Asked:
    """The state: a right reply, how much work it is, and whether there was a reply."""

    solution: str
    steps: int
    answered: bool = False


class Question(Env[Asked]):
    """One question, one reply, which is judged by `verifier_id`; an author writes `ask`.

    An action is valid if the verifier could read an answer in it. `max_turns` changes nothing: the
    first reply ends the episode.
    """

    max_action_chars: ClassVar[int] = 1 << 18
    judges_reply: ClassVar[bool] = True
    form: ClassVar[str] = FORM
    """How to answer; stands below each question."""

    @abstractmethod
    def ask(self, rng: np.random.Generator, difficulty: str) -> Ask:
        """A question drawn from `rng` alone, with its answer. Called until its content falls in the split."""

    def reply(self, reference: Any) -> str:
        """A right reply, from the hidden reference."""
        return f"<answer>{reference['answer']}</answer>"

    @override
    def generate(self, rng: np.random.Generator, difficulty: str) -> Draft:
        ask = self.ask(rng, difficulty)
        return Draft(
            prompt=f"{ask.prompt}\n{self.form}" if self.form else ask.prompt,
            reference=ask.hidden(),
            tags=(*ask.tags, f"{_STEPS}{ask.steps}"),
            essence=ask.essence,
        )

    @override
    def split_of(self, draft: Draft) -> str:
        return split_by_question(draft)

    @override
    def initial(self, task: Task) -> Asked:
        steps = [int(tag.removeprefix(_STEPS)) for tag in task.tags if tag.startswith(_STEPS)]
        return Asked(self.reply(task.reference), steps[-1] if steps else 1)

    @override
    def observe(self, state: Asked) -> str:
        """The prompt says it all."""
        return ""

    @override
    def transition(self, state: Asked, action: str) -> Transition[Asked]:
        """Any action is the reply."""
        return Transition(state=replace(state, answered=True), terminated=True, submission=action)

    @override
    def judged(self, moved: Transition[Asked], verdict: Verdict) -> Transition[Asked]:
        return replace(moved, valid=verdict.status is not Status.POLICY_FAULT)

    @override
    def submission(self, state: Asked) -> JSON:
        """Judged where a reply was too long to be read: none."""
        return ""

    @override
    def turns_allowed(self, task: Task) -> int:
        return 1

    @override
    def key(self, state: Asked) -> JSON:
        return state.answered

    @override
    def work(self, state: Asked) -> int:
        return state.steps

    @override
    def solve(self, state: Asked) -> str:
        return state.solution
