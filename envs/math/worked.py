"""Questions whose answer a solver works out on paper, from the prompt alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest import linked
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.paper import Paper
from verigym.question import FORM, Ask, Question, QuestionState
from verigym.task import Task


class Worked(Question):
    """Question with a solver that counts its operations: an exercise, or from level 7 on a contest question, which has
    `parts` by level."""

    contest_kinds: ClassVar[tuple[Kind, ...]] = ()
    parts: ClassVar[Mapping[int, int]] = linked.PARTS

    @abstractmethod
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        """Return an exercise of `level` drawn from `rng` alone, with its answer."""

    @abstractmethod
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        """Return the answer to an exercise as the reference has it. `kind` is its first tag."""

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        if not self.contest_kinds or level < contest.FIRST:
            return self.exercise(rng, level)
        if self.parts[level] == 1:
            return contest.ask(self.contest_kinds, rng, level)
        return linked.ask([self.contest_kinds] * self.parts[level], rng, level)

    def work_out(self, paper: Paper, question: str, tags: Sequence[str]) -> str:
        """Return the answer to a question as the reference has it. `tags` begin with its kinds."""
        answer = linked.work_out(self.contest_kinds, paper, question, tags)
        if answer is None:
            answer = contest.work_out(self.contest_kinds, paper, question, tags[0])
        return self.work_exercise(paper, question, tags[0]) if answer is None else answer

    @override
    def work(self, state: QuestionState) -> int:
        paper = Paper()
        paper.look()
        self.work_out(paper, read_question(state.task), state.task.tags)
        return paper.operations


def read_question(task: Task) -> str:
    """Return the prompt of a task without the instruction below the question."""
    return task.prompt.partition(FORM)[0].rstrip()
