"""`code/stdio`: write a program that reads standard input; three attempts, with feedback between."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from verigym.canonical import JSON, digest
from verigym.env import CHARSET, Draft, Env, Transition
from verigym.envs.code import easy, hard, medium
from verigym.envs.code.family import Family, Params
from verigym.errors import RequestError, TaskError
from verigym.task import Task
from verigym.verdict import Verdict
from verigym.verifiers.code.extract import extract_program

_LEVELS = {"easy": easy.FAMILIES, "medium": medium.FAMILIES, "hard": hard.FAMILIES}
FAMILIES: dict[str, Family] = {
    family.name: family for families in _LEVELS.values() for family in families
}

_EXAMPLE_SIZES = (3, 4)
_HIDDEN_SIZES = (1, 2, 6, 15, 40, 100)
# Examples stay short enough to be read at a glance.
_EXAMPLE_CHARS = 40
_LIMITS = {"wall_s": 10.0, "cpu_s": 4.0, "memory_mib": 256}
_FEEDBACK_CHARS = 1500

_PROMPT = """\
Write a Python 3 program that reads standard input and prints its answer.

{statement}

{examples}

Answer with the whole program, alone or in a fenced block. It must print the answer to every test, \
the examples and some that you cannot see, within {cpu_s:g} seconds each. You have a few attempts."""


@dataclass(frozen=True)
class Attempt:
    """The state: the problem, and what was said about the last program. Attempts are not counted
    here: how many are left decides nothing but when the episode is cut."""

    family: str
    params: tuple[tuple[str, int | str], ...]
    feedback: str = ""
    solved: bool = False


class Stdio(Env[Attempt]):
    """A generated programming problem; each action is a program, judged by `code/stdio`.

    Full marks end the episode. Otherwise the next observation says which example failed and how, or
    that a hidden test did, and the next attempt is on; `max_turns` is 3 by default. An action is
    valid if it holds a program. Sixteen families of problems; a split holds other parameters than
    the others, so no test problem is a training problem with other inputs.
    What a program printed on an example is part of the observation, so a program that answers
    differently each time makes observations that do, too.
    """

    id: ClassVar[str] = "verigym/code/stdio-v0"
    verifier_id: ClassVar[str] = "code/stdio"
    difficulties: ClassVar[tuple[str, ...]] = tuple(_LEVELS)
    max_action_chars: ClassVar[int] = 16384

    def generate(self, rng: np.random.Generator, difficulty: str) -> Draft:
        """See `Env`. Draws on until the tests have several answers, so that none can be guessed."""
        families = _LEVELS[difficulty]
        family = families[int(rng.integers(len(families)))]
        while True:
            params = family.draw(rng)
            tests = [_example(family, params, rng, size) for size in _EXAMPLE_SIZES]
            tests += [_test(family, params, rng, size, visible=False) for size in _HIDDEN_SIZES]
            answers = {test["stdout"] for test in tests if not test["visible"]}
            if len(answers) >= 3 and not answers <= {t["stdout"] for t in tests if t["visible"]}:
                break
        examples = "\n".join(
            f"Example {number}, input:\n{test['stdin']}Example {number}, output:\n{test['stdout']}"
            for number, test in enumerate(tests[: len(_EXAMPLE_SIZES)], 1)
        )
        return Draft(
            prompt=_PROMPT.format(
                statement=family.statement(params),
                examples=examples.rstrip(),
                cpu_s=_LIMITS["cpu_s"],
            ),
            reference={
                "family": family.name,
                "params": params,
                "tests": tests,
                "limits": dict(_LIMITS),
            },
            tags=("code", family.name),
        )

    def split_of(self, draft: Draft) -> str:
        """See `Env`. By what has to be written: family and parameters, not the tests' numbers."""
        family, params = _problem(draft.reference)
        return super().split_of(replace(draft, prompt=family, reference=digest(params)))

    def initial(self, task: Task) -> Attempt:
        """See `Env`."""
        family, params = _problem(task.reference)
        return Attempt(family, tuple(sorted(params.items())))

    def observe(self, state: Attempt) -> str:
        """See `Env`. Nothing but the prompt before the first attempt."""
        return state.feedback

    def transition(self, state: Attempt, action: str) -> Transition[Attempt]:
        """See `Env`. What was found is said in `judged`."""
        return Transition(
            state=state, valid=bool(extract_program(action, "python").strip()), submission=action
        )

    def judged(self, moved: Transition[Attempt], verdict: Verdict) -> Transition[Attempt]:
        """See `Env`. Full marks end the episode; else the evidence is the feedback."""
        if verdict.score == 1.0:
            state = replace(moved.state, feedback="All tests passed.", solved=True)
            return replace(moved, state=state, terminated=True)
        found = verdict.evidence or verdict.reason
        feedback = f"Your last program did not pass: {_plain(found)}\nWrite a corrected program."
        return replace(moved, state=replace(moved.state, feedback=feedback))

    def submission(self, state: Attempt) -> JSON:
        """See `Env`. Asked for where the last action could not be read at all: no program."""
        return ""

    def turns_allowed(self, task: Task) -> int:
        """See `Env`."""
        return 3

    def key(self, state: Attempt) -> JSON:
        """See `Env`. The task is in every key already; of the attempts only the last feedback shows."""
        return [state.feedback, state.solved]

    def work(self, state: Attempt) -> int:
        """The lines of the program that solves it."""
        return self.solve(state).count("\n") - 1

    def solve(self, state: Attempt) -> str:
        """See `Env`. A correct program; RequestError for a task of no family of ours."""
        if state.family not in FAMILIES:
            raise RequestError("no solution is known for a task that was not generated here")
        return f"```python\n{FAMILIES[state.family].source(dict(state.params))}```"


def _test(
    family: Family, params: Params, rng: np.random.Generator, size: int, *, visible: bool
) -> dict[str, Any]:
    stdin = family.write(rng, params, size)
    return {"stdin": stdin, "stdout": family.answer(params, stdin) + "\n", "visible": visible}


def _example(family: Family, params: Params, rng: np.random.Generator, size: int) -> dict[str, Any]:
    """A visible test, drawn again until input and output are short."""
    while True:
        test = _test(family, params, rng, size, visible=True)
        shown = (re.sub(r"\s", "", test[side]) for side in ("stdin", "stdout"))
        if max(map(len, shown)) <= _EXAMPLE_CHARS:
            return test


def _problem(reference: JSON) -> tuple[str, Params]:
    """Family and parameters of a reference; an empty family for a task from elsewhere."""
    if not isinstance(reference, dict):
        raise TaskError("the reference must be an object with the tests")
    family, params = reference.get("family", ""), reference.get("params", {})
    if not isinstance(family, str) or not isinstance(params, dict):
        raise TaskError("family must be text and params an object")
    return family, params


def _plain(text: str) -> str:
    """At most 1,500 characters of `text`, within the characters that observations may have."""
    kept = "".join(c if c in CHARSET else "?" for c in text)
    return kept if len(kept) <= _FEEDBACK_CHARS else kept[:_FEEDBACK_CHARS] + " ..."
