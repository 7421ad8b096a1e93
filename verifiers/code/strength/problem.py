"""`StrengthProblem`: a task together with what is known of its right and wrong programs and its inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verifiers.code.function import FunctionVerifier
from verigym.verifiers.code.program import ProgramVerifier
from verigym.verifiers.code.stdio import StdioVerifier
from verigym.verifiers.code.strength import inputs

Input = Any
"""Arguments and keyword arguments of a call, `[args, kwargs]`, or the text on standard input."""


@dataclass(frozen=True, kw_only=True)
class StrengthProblem:
    """A task to grow tests for, with programs known to be right or wrong.

    `right` are reference programs, which must agree with each other; `wrong` are known wrong ones.
    Inputs come from `descriptions` of the arguments, from `generator`, a program with a function
    `generate(seed, size)` that returns the list of arguments or the text of an input, or from
    `draw`, the same as a Python callable. `valid`, a program with a function `valid`, receives the
    arguments or the text and returns True if the task statement allows such an input.
    """

    task: Task
    right: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    descriptions: tuple[inputs.Description, ...] = ()
    generator: str = ""
    valid: str = ""
    draw: Callable[[int, int], Input] | None = None
    params: dict[str, JSON] = field(default_factory=dict)

    @property
    def reference(self) -> dict[str, Any]:
        """The task's reference."""
        assert isinstance(self.task.reference, dict)
        return self.task.reference

    @property
    def is_function(self) -> bool:
        """True if `code/function` judges it; False if `code/stdio` does."""
        return "function" in self.reference

    @property
    def language(self) -> str:
        """Programming language of its programs."""
        return str(self.reference.get("language", self.params.get("language", "python")))

    def verifier(self) -> ProgramVerifier:
        """Return the verifier that judges it."""
        return (FunctionVerifier if self.is_function else StdioVerifier)(**self.params)

    def with_tests(self, tests: list[dict[str, Any]]) -> Task:
        """Return the task with other tests."""
        return replace(self.task, reference={**self.reference, "tests": tests})

    def input_of(self, test: dict[str, Any]) -> Input:
        """Return the input that a test gives to the program."""
        if self.is_function:
            return [list(test.get("args", [])), test.get("kwargs") or {}]
        return test["stdin"]

    def test(self, given: Input, answer: JSON) -> dict[str, Any]:
        """Return a hidden test."""
        if self.is_function:
            args, kwargs = given
            return {"args": args, "kwargs": kwargs, "result": answer, "visible": False}
        return {"stdin": given, "stdout": answer, "visible": False}


def read_problem(task: Task) -> StrengthProblem:
    """Return the problem that a task's reference describes, beside its tests:

    `"solutions": {"right": [text, ...], "wrong": [text, ...]}`, and where inputs come from: `"inputs"`
    (descriptions of the arguments, see inputs.py) or `"generator"` (a program's text), and `"valid"`.
    Raises TaskError for one that cannot be used.
    """
    reference = task.reference
    if not isinstance(reference, dict) or not isinstance(reference.get("tests"), list | tuple):
        raise TaskError('the reference must be an object with a list of "tests"')
    solutions = reference.get("solutions")
    right = solutions.get("right") if isinstance(solutions, dict) else None
    wrong = solutions.get("wrong", []) if isinstance(solutions, dict) else None
    if not _texts(right) or not _texts(wrong) or not right:
        raise TaskError(
            'the reference must hold "solutions": {"right": [program, ...], "wrong": [program, ...]} '
            "with one right program at least"
        )
    descriptions = reference.get("inputs")
    generator, valid = reference.get("generator", ""), reference.get("valid", "")
    if not isinstance(generator, str) or not isinstance(valid, str):
        raise TaskError('"generator" and "valid" must be texts of programs')
    if descriptions is None and not generator:
        raise TaskError('the reference must hold "inputs" or "generator", or nothing can be added')
    if descriptions is not None and "function" not in reference:
        raise TaskError('"inputs" describes arguments of a function; give a "generator"')
    return StrengthProblem(
        task=task,
        right=tuple(right),
        wrong=tuple(wrong),  # type: ignore[arg-type]
        descriptions=tuple(inputs.check(descriptions)) if descriptions is not None else (),
        generator=generator,
        valid=valid,
    )


def _texts(value: JSON) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)
