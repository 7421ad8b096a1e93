"""`Attempts`: the base class of environments where each action is a program and a few attempts are
allowed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import CHARSET, Env, Transition
from verigym.envs.code.follow import Program
from verigym.envs.code.traced import Solver
from verigym.errors import RequestError, TaskError
from verigym.sandbox.languages.load import load_languages
from verigym.task import Task
from verigym.verdict import Verdict
from verigym.verifiers.code.extract import extract_program
from verigym.verifiers.code.languages import canonical

LIMITS = {"wall_s": 10.0, "cpu_s": 4.0, "memory_mib": 256}
"""Limits of each test of a program, unless an environment sets others."""
TURNS = 3
FEWER_TURNS = {9: 2, 10: 1}
"""Attempts at levels that allow fewer."""
_FEEDBACK_CHARS = 1500

_PROMPT = """\
Write {program} that reads standard input and prints its answer.

{statement}

{examples}

Answer with the whole program, alone or in a fenced block. It is run on the examples and on tests that you cannot see, \
and must print the right answer to each of them within {cpu_s:g} seconds and {memory} MiB of memory, to which the stacks of its \
threads count. {attempts}"""


@dataclass(frozen=True)
class Attempt:
    """State: the language to write in, a right program in Python ("" if none is known), and the
    feedback on the last attempt.

    Attempts are not counted here, because the number left only decides when the episode is
    truncated.
    """

    language: str
    solution: str
    feedback: str = ""
    solved: bool = False


class Attempts(Env[Attempt]):
    """Each action is a program, judged by the tests of the task; an author writes `generate` and
    `solution`.

    Full marks end the episode. Otherwise the next observation says which example failed and how, or
    that a hidden test did, and the next attempt is on; `max_turns` is 3 by default, or what the task says. An action is
    valid if it holds a program.
    What a program printed on an example is part of the observation, so a program that answers
    differently each time makes observations that do, too.
    """

    costly: ClassVar[bool] = True
    max_action_chars: ClassVar[int] = 1 << 16
    max_observation_chars: ClassVar[int] = 1 << 16

    @abstractmethod
    def solution(self, reference: Mapping[str, Any]) -> str:
        """Return the right program in Python, from the hidden reference; "" if none is known."""

    @override
    def initial(self, task: Task) -> Attempt:
        self.turns_allowed(task)  # refuses attempts out of bounds before play
        reference = as_object(task.reference)
        language = canonical(reference.get("language", "python"))
        return Attempt(language, self.solution(reference))

    @override
    def observe(self, state: Attempt) -> str:
        """Nothing but the prompt before the first attempt."""
        return state.feedback

    @override
    def transition(self, state: Attempt, action: str) -> Transition[Attempt]:
        """Nothing; `judged` shows the findings."""
        program = extract_program(action, state.language)
        return Transition(state=state, valid=bool(program.strip()), submission=action)

    @override
    def judged(self, moved: Transition[Attempt], verdict: Verdict) -> Transition[Attempt]:
        """Full marks end the episode; else the evidence is the feedback."""
        if verdict.score == 1.0:
            state = replace(moved.state, feedback="All tests passed.", solved=True)
            return replace(moved, state=state, terminated=True)
        found = verdict.evidence or verdict.reason
        feedback = f"Your last program did not pass: {_plain(found)}\nWrite a corrected program if an attempt is left."
        return replace(moved, state=replace(moved.state, feedback=feedback))

    @override
    def submission(self, state: Attempt) -> JSON:
        """Return no program; used if the last action could not be read."""
        return ""

    @override
    def turns_allowed(self, task: Task) -> int:
        """Return the reference's `attempts`, or three. Raises TaskError if they are no number from 1 to 3."""
        allowed = as_object(task.reference).get("attempts", TURNS)
        if type(allowed) is not int or not 1 <= allowed <= TURNS:
            raise TaskError(f"attempts must be a whole number from 1 to {TURNS}, got {allowed!r}")
        return allowed

    @override
    def key(self, state: Attempt) -> JSON:
        """The task is in every key already; of the attempts only the last feedback shows."""
        return [state.feedback, state.solved]

    def work(self, state: Attempt) -> int:
        """Write the program that solves it, and run it by hand on the examples."""
        solver = Solver()
        program = solver.read(solver.write(state.solution))
        for test in as_object(self.task.reference).get("tests", []):
            if test["visible"]:
                self.follow(solver, program, test)
        return solver.operations

    def follow(self, solver: Solver, program: Program, test: Mapping[str, Any]) -> None:
        """Run a program by hand on a test."""
        solver.run(program, test["stdin"])

    @override
    def solve(self, state: Attempt) -> str:
        """Return the solution. Raises RequestError for a task made elsewhere, or of another language."""
        if not state.solution:
            raise RequestError("no solution is known for a task that was not generated here")
        if state.language != "python":
            raise RequestError(
                f"no solution in {state.language} is known; the oracle writes Python alone"
            )
        return fenced(state.solution)


def as_object(reference: JSON) -> Mapping[str, Any]:
    """Return a task's reference as an object. Raises TaskError if it is none."""
    if not isinstance(reference, dict):
        raise TaskError("the reference must be an object with the tests")
    return reference


def shown_examples(tests: Sequence[Mapping[str, Any]]) -> str:
    """Return the visible ones of `tests`, as a prompt shows them."""
    visible = [test for test in tests if test["visible"]]
    return "\n".join(
        f"Example {number}, input:\n{test['stdin']}Example {number}, output:\n{test['stdout']}"
        for number, test in enumerate(visible, 1)
    ).rstrip()


def fenced(program: str) -> str:
    """Return a Python program as a block of Markdown."""
    return f"```python\n{program.strip()}\n```"


def in_words(language: str) -> str:
    """Return a phrase for the program to write: `a Python 3 program`, `a program in C++`."""
    if language == "python":
        return "a Python 3 program"
    return f"a program in {load_languages()[language].title}"


def attempts_told(level: int) -> str:
    """Return what a prompt says about the attempts."""
    match FEWER_TURNS.get(level, TURNS):
        case 1:
            return "You have one attempt."
        case 2:
            return "You have two attempts. If the first fails, you are told why."
        case _:
            return "You have several attempts. If one fails, you are told why."


def attempts_allowed(level: int) -> dict[str, JSON]:
    """Return what a reference holds about the attempts: nothing where there are as many as ever."""
    return {"attempts": FEWER_TURNS[level]} if level in FEWER_TURNS else {}


def asked(language: str, statement: str, tests: Sequence[Mapping[str, Any]], level: int = 1) -> str:
    """Return the prompt of a problem whose tests are inputs and outputs."""
    return _PROMPT.format(
        program=in_words(language),
        statement=statement,
        examples=shown_examples(tests),
        cpu_s=LIMITS["cpu_s"],
        memory=LIMITS["memory_mib"],
        attempts=attempts_told(level),
    )


def _plain(text: str) -> str:
    """Return at most 1,500 characters of `text`, limited to the characters that observations may
    have."""
    kept = "".join(c if c in CHARSET else "?" for c in text)
    return kept if len(kept) <= _FEEDBACK_CHARS else kept[:_FEEDBACK_CHARS] + " ... (cut off here)"
