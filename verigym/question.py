"""`Question`: the base of environments with one question and one reply.

class Sum(Question):
    id = "verigym/examples/sum-v0"
    verifier_id = "math/answer"
    difficulties = ("easy", "medium", "hard")

    def ask(self, rng, level):
        a, b = rng.integers(1, 10**level, 2).tolist()
        return Ask(prompt=f"What is {a} + {b}?", answer=str(a + b), essence=[a, b])
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Env, Transition
from verigym.task import Task
from verigym.verdict import Status, Verdict

FORM = "Think as long as you like, then give the final answer alone in tags: <answer>...</answer>"

_STEPS = "steps="


@dataclass(frozen=True, kw_only=True)
class Ask:
    """Result of `ask`. `reference` is the verifier's input; by default `{"answer": answer}`.

    `steps` is a rough size that the task carries as a tag; `Env.work` counts the operations.
    """

    prompt: str
    answer: str
    steps: int = 1
    reference: JSON = None
    tags: tuple[str, ...] = ()
    essence: JSON = None
    """Plain data that decides the split, as in `Draft`. Give the operands or facts of the question: without an
    essence, its prompt and reference decide, and `verigym check` refuses that."""
    answer_form: str = ""
    """Form of the answer that `math/answer` requires: `evaluated`, `reduced` and others; empty for any."""

    def hidden(self) -> JSON:
        """Return the reference for the verifier."""
        if self.reference is not None:
            return self.reference
        if self.answer_form:
            return {"answer": self.answer, "form": self.answer_form}
        return {"answer": self.answer}


@dataclass(frozen=True)
class QuestionState:
    """State of a question: its task, a correct reply, and the flag that a reply was given."""

    task: Task
    solution: str
    answered: bool = False


class Question(Env[QuestionState]):
    """One question and one reply, which `verifier_id` judges; an author writes `ask`.

    An action is valid if the verifier could read an answer in it. `max_turns` has no effect: the first
    reply ends the episode.
    """

    max_action_chars: ClassVar[int] = 1 << 18
    judges_reply: ClassVar[bool] = True
    form: ClassVar[str] = FORM
    """Instruction on how to answer, placed below each question."""

    @abstractmethod
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        """Return a question of `level` drawn from `rng` alone, with its answer. Called until its content
        falls in the split."""

    def reply(self, reference: Any) -> str:
        """Return a correct reply, from the hidden reference."""
        return f"<answer>{reference['answer']}</answer>"

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        ask = self.ask(rng, level)
        reference = ask.hidden()
        return Draft(
            prompt=f"{ask.prompt}\n{self.form}" if self.form else ask.prompt,
            reference=reference,
            tags=(*ask.tags, f"{_STEPS}{ask.steps}"),
            # The reference alone is too little: many questions have the same answer.
            essence=[ask.prompt, reference] if ask.essence is None else ask.essence,
        )

    @override
    def initial(self, task: Task) -> QuestionState:
        return QuestionState(task, self.reply(task.reference))

    @override
    def observe(self, state: QuestionState) -> str:
        """Return an empty observation: the prompt says everything."""
        return ""

    @override
    def transition(self, state: QuestionState, action: str) -> Transition[QuestionState]:
        """Take any action as the reply."""
        return Transition(state=replace(state, answered=True), terminated=True, submission=action)

    @override
    def judged(
        self, moved: Transition[QuestionState], verdict: Verdict
    ) -> Transition[QuestionState]:
        return replace(moved, valid=verdict.status is not Status.POLICY_FAULT)

    @override
    def submission(self, state: QuestionState) -> JSON:
        """Return None: a reply that was too long to be read counts as no submission."""
        return ""

    @override
    def turns_allowed(self, task: Task) -> int:
        return 1

    @override
    def key(self, state: QuestionState) -> JSON:
        return state.answered

    @override
    def work(self, state: QuestionState) -> int:
        """Return the number that the tag `steps=` of the task gives, 1 without one. An environment overrides
        it by a solver that counts."""
        steps = [int(tag.removeprefix(_STEPS)) for tag in state.task.tags if tag.startswith(_STEPS)]
        return steps[-1] if steps else 1

    @override
    def solve(self, state: QuestionState) -> str:
        return state.solution
