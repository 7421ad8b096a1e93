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
from verigym.envs.math import computed, families
from verigym.envs.math.contest import hidden_groups, hidden_numbers, huge_counts, linked
from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.paper import Paper
from verigym.envs.with_tools.cells import CELL_S, SHOWN_CHARS, Cells, run
from verigym.question import Ask
from verigym.task import Task
from verigym.verdict import Status, Verdict

TURNS = {level: level + 2 for level in range(1, 8)} | {8: 8, 9: 7, 10: 6}
# Number of questions that want a program, and level of the question of another family beside them, 0 for none.
LEVELS = {
    1: (0, 3),
    2: (0, 6),
    3: (0, 7),
    4: (1, 0),
    5: (1, 4),
    6: (1, 6),
}
# Number of parts that want a program, of contest questions, and of questions beyond any search, of the questions in parts
# above level 6.
PARTS = {7: (2, 1, 0), 8: (2, 1, 2), 9: (1, 1, 4), 10: (0, 0, 7)}
BEYOND: tuple[Kind, ...] = hidden_groups.KINDS + hidden_numbers.KINDS + huge_counts.KINDS
"""Kinds of questions with numbers of 15 to 75 digits, for which a program needs theory."""

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
    hard: one of each, whose answers are combined; higher levels link several of them and contest questions. Code in a
    reply that also answers does not run.
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
    if level in PARTS:
        return _ask_in_parts(rng, level)
    programs, family = LEVELS[level]
    if not programs:
        return families.draw_exercise(rng, family)
    program = computed.draw(rng)
    if not family:
        return program
    while not re.fullmatch(r"-?\d{1,12}", (last := families.draw(rng, family)).answer):
        pass
    factor = int(rng.integers(2, 10))
    return Ask(
        prompt=f"Question 1: {program.prompt}\nQuestion 2: {last.prompt}\n"
        f"Let A be the answer to question 1 and B the answer to question 2. What is {factor} * A + B?",
        answer=str(int(last.answer) + factor * int(program.answer)),
        answer_form="evaluated",
        steps=program.steps + last.steps + 2,
        tags=(*program.tags, *last.tags),
        essence=[factor, program.essence, last.essence],
    )


def _ask_in_parts(rng: np.random.Generator, level: int) -> Ask:
    programs, others, beyond = PARTS[level]
    pools = [computed.KINDS] * programs + [families.CONTEST_KINDS] * others + [BEYOND] * beyond
    return linked.ask([pools[int(i)] for i in rng.permutation(len(pools))], rng, level)


def work_out(paper: Paper, task: Task) -> str:
    """Return the answer to a task; questions that want a program are counted as a program does them."""
    question = task.prompt.partition("\nYou have a Python interpreter")[0]
    kinds = computed.KINDS + families.CONTEST_KINDS + BEYOND
    answer = linked.work_out(kinds, paper, question, task.tags)
    if answer is not None:
        return answer
    program = contest.find(computed.KINDS, task.tags[0])
    if program is None:
        return families.solve(paper, question, task.tags[0], task.tags[1:])
    if not question.startswith("Question 1: "):
        return str(program.solve(paper, contest.numbers(question), question))
    first, last, asked = re.split(r"\nQuestion 2: |\nLet A be ", question)
    value = program.solve(paper, contest.numbers(first.removeprefix("Question 1: ")), first)
    other = int(families.solve(paper, last, task.tags[1], task.tags[2:]))
    (factor,) = re.findall(r"(\d+) \* A", asked)
    return str(paper.add(other, paper.multiply(int(factor), int(value))))
