"""`math/python`: questions with a Python interpreter that keeps its variables from turn to turn.

The state is the list of cells that ran, and what the last action showed; `envs/with_tools/cells.py` runs them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Env, Transition
from verigym.envs.math import computed, counted, families
from verigym.envs.math.contest.kind import FIRST
from verigym.envs.math.paper import Paper
from verigym.envs.with_tools.cells import CELL_S, SHOWN_CHARS, Cells, run
from verigym.question import Ask
from verigym.task import Task
from verigym.verdict import Status, Verdict

TURNS = {level: level + 2 for level in range(1, 11)}
# Number of questions that want a program, and level of the question of another family beside them, 0 for none.
LEVELS = {
    1: (0, 3),
    2: (0, 6),
    3: (0, 7),
    4: (1, 0),
    5: (1, 4),
    6: (1, 6),
    7: (2, 7),
    8: (3, 8),
    9: (4, 9),
    10: (6, 10),
}
_LETTERS = "ABCDEFG"
_NUMBERED = ("R1", "R2", "R3", "R4", "R5", "R6", "R7")
"""Names of answers from level 7 on, where questions have capitals of their own."""
_NAMED = re.compile(r"\nLet (?:A|R1) be ")

_CODE = re.compile(r"^```(?:python|py)[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_ANSWER = re.compile(r"<answer>", re.IGNORECASE)
_STEPS = "steps="
_PROMPT = """\
{question}
You have a Python interpreter. To use it, reply with code in a fenced block: ```python ... ```. You then \
see what the code prints and the value of its last expression, cut off after {chars} characters. Variables are \
kept from one block to the next. A block may run for {cell_s:g} seconds; one that takes longer is stopped and \
undone.
When you are sure, give the final answer alone in tags: <answer>...</answer>
You have {turns} replies in all."""


class Python(Env[Cells]):
    """A question, and a stateful interpreter to work it out with; an answer in tags ends the episode.

    easy: hard questions of the other families; medium: questions that want a program (`computed.py`);
    hard: one of each, whose answers are combined; higher levels have more of them, and a contest question. Code in a reply that also answers does not run.
    """

    id: ClassVar[str] = "verigym/math/python-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    max_action_chars: ClassVar[int] = 1 << 14

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        ask = _ask(rng, level)
        prompt = _PROMPT.format(
            question=ask.prompt, chars=SHOWN_CHARS, cell_s=CELL_S, turns=TURNS[level]
        )
        return Draft(
            prompt=prompt,
            reference=ask.hidden(),
            tags=(*ask.tags, f"{_STEPS}{ask.steps}"),
            essence=ask.essence,
        )

    @override
    def initial(self, task: Task) -> Cells:
        return Cells()

    @override
    def observe(self, state: Cells) -> str:
        """Return the output of the last action."""
        return state.shown

    @override
    def transition(self, state: Cells, action: str) -> Transition[Cells]:
        """Raises VerifierFault if the sandbox failed; nothing has changed then."""
        text = action.replace("\r\n", "\n")
        words = _CODE.sub("", text)
        if _ANSWER.search(words):
            return Transition(state=replace(state, shown=""), terminated=True, submission=words)
        code = "\n".join(found.rstrip() for found in _CODE.findall(text)).strip("\n")
        if not code.strip():
            shown = "Reply with a ```python ... ``` block or with <answer>...</answer>."
            return Transition(state=replace(state, shown=shown), valid=False)
        return Transition(state=run(state, code))

    @override
    def judged(self, moved: Transition[Cells], verdict: Verdict) -> Transition[Cells]:
        return replace(moved, valid=moved.valid and verdict.status is not Status.POLICY_FAULT)

    @override
    def submission(self, state: Cells) -> JSON:
        """Return no answer; used if the turns end without one."""
        return ""

    @override
    def turns_allowed(self, task: Task) -> int:
        return TURNS.get(self.scale().levels.get(task.difficulty, 0), TURNS[6])

    @override
    def key(self, state: Cells) -> JSON:
        """Effects of cells on an interpreter show in no other way that a program could not
        forge: so the cells themselves, without those that were refused or undone."""
        return [list(state.ran), state.shown]

    @override
    def work(self, state: Cells) -> int:
        paper = Paper()
        paper.look()
        work_out(paper, self.task)
        return paper.operations

    @override
    def solve(self, state: Cells) -> str:
        reference: Any = self.task.reference
        return f"<answer>{reference['answer']}</answer>"


def _ask(rng: np.random.Generator, level: int) -> Ask:
    programs, family = LEVELS[level]
    if not programs:
        return families.draw_exercise(rng, family)
    asks = [computed.draw(rng) for _ in range(programs)]
    if not family:
        return asks[0]
    while not re.fullmatch(r"-?\d{1,12}", (last := families.draw(rng, family)).answer):
        pass
    factors = [int(n) for n in rng.integers(2, 10, programs)]
    value = int(last.answer)
    for factor, ask in zip(factors, asks, strict=True):
        value += factor * int(ask.answer)
    asks.append(last)
    questions = "\n".join(f"Question {i}: {ask.prompt}" for i, ask in enumerate(asks, 1))
    names = _LETTERS if level < FIRST else _NUMBERED
    named = [
        f"{name}{' be' if i == 1 else ''} the answer to question {i}"
        for i, name in enumerate(names[: len(asks)], 1)
    ]
    terms = [f"{factor} * {name}" for factor, name in zip(factors, names, strict=False)]
    return Ask(
        prompt=f"{questions}\n"
        f"Let {', '.join(named[:-1])} and {named[-1]}. What is {' + '.join(terms)} + {names[programs]}?",
        answer=str(value),
        answer_form="evaluated",
        steps=sum(ask.steps for ask in asks) + 2,
        tags=tuple(tag for ask in asks for tag in ask.tags),
        essence=[*factors, *(ask.essence for ask in asks)],
    )


def work_out(paper: Paper, task: Task) -> str:
    """Return the answer to a task; questions that want a program are counted as a program does them."""
    question = task.prompt.partition("\nYou have a Python interpreter")[0]
    parts = re.split(r"\n?Question \d+: ", _NAMED.split(question)[0])
    parts = parts[1:] or parts
    single = task.tags[0] if len(parts) == 1 else ""
    programs = 1 if single in counted.SOLVERS else len(parts) - 1
    answers = [
        counted.work_out(paper, part, kind)
        for part, kind in zip(parts[:programs], task.tags, strict=False)
    ]
    if programs == len(parts):
        return str(answers[0])
    name, kind = task.tags[programs : programs + 2]
    last = families.solve(paper, parts[-1], name, kind)
    if not programs:
        return last
    total = int(last)
    factors = re.findall(r"(\d+) \* [A-Z]", question.rpartition("What is ")[2])
    for factor, answer in zip(factors, answers, strict=True):
        total = paper.add(total, paper.multiply(int(factor), answer))
    return str(total)
