"""`tools/multi`: questions that take a search, a calculator and an interpreter together."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Env, Transition
from verigym.envs.tools.almanac import (
    Almanac,
    AlmanacQuestion,
    Page,
    difference,
    digits,
    find,
    load,
    lorry,
    multiples,
    primes,
    shipment,
)
from verigym.envs.tools.calculator import BadExpression, compute, shown
from verigym.envs.tools.calls import FORM, NoCalls, as_text, calls_of
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.journal import journal
from verigym.envs.tools.orders import growth, two_weights, weight
from verigym.envs.tools.read_almanac import AlmanacReader
from verigym.envs.tools.stateful import bounded, line
from verigym.envs.tools.struck_journal import struck_journal, wild_journal
from verigym.envs.tools.tool import Refused, Tool, text, unknown, whole
from verigym.errors import SandboxError, TaskError
from verigym.sandbox.job import Job, Limits
from verigym.sandbox.local import default_sandbox
from verigym.task import Task
from verigym.verdict import Status, VerifierFault, fault
from verigym.verifiers.code.runs import ENDINGS, run_one
from verigym.verifiers.tools.read_calls import ReadCall

_SHOWN = 1500
_LIMITS = Limits(wall_s=10.0, cpu_s=4.0, memory_mib=256, output_bytes=1 << 16)
_PROMPT = """\
{question}

Look the facts up with the tool search, in an almanac of invented places. Give your answer, one whole number, with \
the tool answer; this ends the task. You have {turns} replies.
{form}

Tools:
{tools}"""

LEVELS = {
    1: (3, False, 8),
    2: (4, False, 8),
    3: (5, False, 10),
    4: (6, False, 10),
    5: (8, True, 14),
    6: (9, True, 14),
    7: (13, True, 32),
    8: (20, True, 26),
    9: (24, True, 32),
    10: (28, True, 36),
}
"""Number each of towns, firms and carriers; True if outdated pages are among the others; turns."""
PROBLEMS: dict[int, tuple[Callable[[Almanac], AlmanacQuestion], ...]] = {
    1: (weight,),
    2: (load, difference),
    3: (two_weights,),
    4: (shipment, lorry),
    5: (growth,),
    6: (primes, digits, multiples),
    7: (partial(journal, n=6),),
    8: (partial(struck_journal, n=16),),
    9: (partial(wild_journal, n=23, k=4),),
    10: (partial(wild_journal, n=30, k=5),),
}
"""Kinds of questions, by level; those of a level are equally likely."""
BY_HAND = 8
"""Level from which on there is no tool `python`: it would try all choices at once."""


@dataclass(frozen=True)
class Asking:
    """The state: what the last action was answered."""

    told: str = ""


class Multi(Env[Asking]):
    """Search for facts, compute with them, answer with a number, which `math/answer` judges.

    `python` runs each program alone in the sandbox; nothing is kept between programs. What a program prints
    is shown, so one that prints something else each time makes observations that differ, too. From level 8 on, there
    is no `python`, and entries have to be chosen that are best struck out of a journal. Raises
    VerifierFault where the sandbox failed: nothing has happened then.
    """

    id: ClassVar[str] = "verigym/tools/multi-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    max_action_chars: ClassVar[int] = 1 << 14
    max_observation_chars: ClassVar[int] = 1 << 14

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        draws = Draws(rng)
        n, outdated, turns = LEVELS[level]
        almanac = Almanac(draws, n, outdated)
        problem = draws.pick(PROBLEMS[level])(almanac)
        return Draft(
            prompt=_PROMPT.format(
                question=problem.words,
                turns=turns,
                form=FORM,
                tools="\n".join(tool.line for tool in tools_at(level).values()),
            ),
            reference={
                "answer": str(problem.answer),
                "pages": [list(page) for page in almanac.pages],
                "work": problem.work,
            },
            essence=almanac.facts,
        )

    def tools(self, task: Task | None = None) -> list[dict[str, Any]]:
        """Return the tools of `task`, by default the one being played, as the OpenAI chat API takes them."""
        return [tool.schema() for tool in self._tools(task or self.task).values()]

    def _tools(self, task: Task) -> dict[str, Tool]:
        return tools_at(self.level_of(task.difficulty))

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """`info` also has `tools`, as `tools()` gives them."""
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "tools": self.tools()}

    @override
    def initial(self, task: Task) -> Asking:
        _reference(task)
        return Asking()

    @override
    def turns_allowed(self, task: Task) -> int:
        return LEVELS[self.level_of(task.difficulty)][2]

    @override
    def observe(self, state: Asking) -> str:
        return state.told

    @override
    def transition(self, state: Asking, action: str) -> Transition[Asking]:
        try:
            calls = calls_of(action, _RULES)
        except NoCalls as wrong:
            return Transition(state=Asking(line(None, error=str(wrong))), valid=False)
        tools = self._tools(self.task)
        lines: list[str] = []
        valid = True
        for call in calls:
            try:
                if call.name not in tools:
                    raise Refused(unknown(call.name, list(tools)))
                tools[call.name].check(call.arguments)
                if call.name == "answer":
                    told = Asking(bounded([*lines, line(call.name, result="The task is over.")]))
                    answer = str(call.arguments["value"])
                    return Transition(state=told, terminated=True, valid=valid, submission=answer)
                lines.append(line(call.name, result=self._run(call)))
            except Refused as refusal:
                valid = False
                lines.append(line(call.name, error=str(refusal)))
        return Transition(state=Asking(bounded(lines)), valid=valid)

    def _run(self, call: ReadCall) -> JSON:
        given = str(next(iter(call.arguments.values())))
        if call.name == "search":
            return [f"{title}: {text}" for title, text in find(self._pages(), given)]
        if call.name == "calculator":
            try:
                return shown(compute(given))
            except BadExpression as error:
                raise Refused(f"the expression cannot be computed: {error}") from error
        return _python(given)

    def _pages(self) -> list[Page]:
        return [(str(title), str(text)) for title, text in _reference(self.task)["pages"]]

    @override
    def key(self, state: Asking) -> JSON:
        """The task is in every key; of the past only what was answered last is seen."""
        return state.told

    @override
    def work(self, state: Asking) -> int:
        """Count the steps from the question to the answer: the oracle answers at once."""
        reader = AlmanacReader(self._pages())
        reader.answer(self.task.prompt)
        return reader.operations

    @override
    def solve(self, state: Asking) -> str:
        return as_text(ReadCall("answer", {"value": int(_reference(self.task)["answer"])}))


def _python(code: str) -> JSON:
    """Run a program and return its output. Raises Refused with the output and the error if it
    fails."""
    job = Job(source=code, limits=_LIMITS, env={"PYTHONHASHSEED": "0"})
    try:
        result = run_one(default_sandbox(), job)
    except SandboxError as error:
        raise VerifierFault(fault(Status.INFRA, "sandbox_error", str(error))) from error
    printed = result.stdout.decode(errors="replace")[:_SHOWN]
    ending = ENDINGS.get(result.status)
    if ending is None:
        return {"printed": printed}
    trouble = result.stderr.decode(errors="replace")[-_SHOWN // 3 :]
    raise Refused(
        f"{ending}; it printed {json.dumps(printed)}, and on standard error {json.dumps(trouble)}"
    )


def _reference(task: Task) -> dict[str, Any]:
    if (
        not isinstance(task.reference, dict)
        or not {"answer", "pages", "work"} <= task.reference.keys()
    ):
        raise TaskError("the reference must be an object with answer, pages and work")
    return task.reference


def _not_run(db: None, **arguments: JSON) -> JSON:
    raise Refused("this tool is run by its environment")


_ALL = (
    Tool(
        "search",
        "Search the almanac; returns the three pages that match best.",
        {"query": text("Words to search for.")},
        _not_run,
    ),
    Tool(
        "calculator",
        "Compute the exact value of an expression.",
        {"expression": text("Expression of numbers with + - * / ** and parentheses.")},
        _not_run,
    ),
    Tool(
        "python",
        f"Run a Python 3 program and return the first {_SHOWN} characters that it prints. Each program starts anew and may run for 4 seconds.",
        {"code": text("The program.")},
        _not_run,
    ),
    Tool("answer", "Give the final answer.", {"value": whole("The number, such as 42.")}, _not_run),
)
TOOLS = {tool.name: tool for tool in _ALL}


def tools_at(level: int) -> dict[str, Tool]:
    """Return the tools of a level, by name."""
    return {name: tool for name, tool in TOOLS.items() if name != "python" or level < BY_HAND}


_RULES = {tool.name: tool.parameters for tool in _ALL}
