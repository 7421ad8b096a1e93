"""Questions whose answer a solver works out on paper, from the prompt alone."""

from __future__ import annotations

from abc import abstractmethod

from typing_extensions import override

from verigym.envs.math.paper import Paper
from verigym.question import FORM, Asked, Question
from verigym.task import Task


class Worked(Question):
    """Question with a solver that counts its operations."""

    @abstractmethod
    def work_out(self, paper: Paper, question: str, kind: str) -> str:
        """Return the answer to a question as the reference has it. `kind` is its first tag."""

    @override
    def work(self, state: Asked) -> int:
        paper = Paper()
        paper.look()
        self.work_out(paper, read_question(state.task), state.task.tags[0])
        return paper.operations


def read_question(task: Task) -> str:
    """Return the prompt of a task without the instruction below the question."""
    return task.prompt.partition(FORM)[0].rstrip()
