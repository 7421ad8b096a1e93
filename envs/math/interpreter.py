"""`math/python`: questions with a Python interpreter that keeps its variables from turn to turn.

The state is the list of cells that ran, and what the last action showed. No interpreter outlives a
step: each step starts one in the sandbox, runs the cells again and then the new one, so a snapshot
is a value, and nothing is held between turns that could leak or be lost. That takes a few
milliseconds and whatever the earlier cells take.

For the same cells to do the same each time, hashes and random numbers are seeded, the functions of
`time`, `datetime.now` and the sources of entropy are replaced, and a cell that does not come to its
end (time, memory, output) is undone. Not covered: what `id` gives, process ids and files of the system,
which a program can print if it wants its observations to differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import CHARSET, Draft, Env, Transition
from verigym.envs.math import computed, counted, families
from verigym.envs.math.paper import Paper
from verigym.errors import SandboxError
from verigym.question import Ask, split_by_question
from verigym.sandbox.job import JobStatus, Limits, Result
from verigym.task import Task
from verigym.verdict import Status, Verdict, VerifierFault, fault

CELL_S = 5.0
SHOWN_CHARS = 2000
TURNS = {level: level + 2 for level in range(1, 11)}
# Number of questions that want a program, and level of the question of another family beside them, 0 for none.
LEVELS = {
    1: (0, 3),
    2: (0, 6),
    3: (0, 7),
    4: (1, 0),
    5: (1, 6),
    6: (1, 6),
    7: (2, 7),
    8: (3, 6),
    9: (4, 6),
    10: (6, 8),
}
_LETTERS = "ABCDEFG"

_LIMITS = Limits(wall_s=120.0, cpu_s=60.0, memory_mib=512, output_bytes=1 << 18)
_ENV = {"PYTHONHASHSEED": "0"}
_CODE = re.compile(r"^```(?:python|py)[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_ANSWER = re.compile(r"<answer>", re.IGNORECASE)
# As in `<function f at 0x7f2c>`: the next run has another.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+>")
_STEPS = "steps="
_UNDONE = {
    JobStatus.TIME_LIMIT: f"it was stopped after {CELL_S:g} seconds",
    JobStatus.MEMORY_LIMIT: "it used too much memory",
    JobStatus.OUTPUT_LIMIT: "it printed too much",
    JobStatus.DISK_LIMIT: "it wrote too much to disk",
    JobStatus.SIGNAL: "it ended the interpreter",
    JobStatus.NONZERO_EXIT: "it ended the interpreter",
    JobStatus.OK: "it ended the interpreter",
}

_PROMPT = """\
{question}
You have a Python interpreter. To use it, reply with code in a fenced block: ```python ... ```. You then \
see what it prints, and the value of its last expression, {chars} characters at most; variables are \
kept from block to block. A block may run {cell_s:g} seconds; one that takes longer is undone.
When you are sure, give the final answer alone in tags: <answer>...</answer>
You have {turns} replies in all."""

# Runs before the first cell. A program that looks for it finds it, and can undo it: see the module.
_PREPARE = """
def _prepare():
    import datetime, os, random, secrets, sys, time, uuid

    entropy = random.Random(1)

    class Random(random.Random):
        def __init__(self, x=None):
            super().__init__(entropy.getrandbits(64) if x is None else x)

        def seed(self, a=None, version=2):
            super().seed(entropy.getrandbits(64) if a is None else a, version)

    random.Random = random.SystemRandom = Random
    ours = Random(0)
    for name in random.__all__:
        if callable(getattr(ours, name, None)):
            setattr(random, name, getattr(ours, name))

    os.urandom = entropy.randbytes
    os.getrandom = lambda size, flags=0: entropy.randbytes(size)
    uuid.uuid1 = uuid.uuid4 = lambda *_: uuid.UUID(bytes=entropy.randbytes(16), version=4)
    secrets.randbits, secrets.randbelow = entropy.getrandbits, entropy.randrange
    secrets.choice = entropy.choice
    secrets.token_bytes = lambda size=None: entropy.randbytes(size or 32)
    secrets.token_hex = lambda size=None: entropy.randbytes(size or 32).hex()
    if "numpy" in sys.modules:  # else it takes its seed from secrets
        sys.modules["numpy"].random.seed(0)

    now = [1_700_000_000_000]

    def tick(*_):
        now[0] += 1
        return now[0] / 1000

    for name in "time monotonic perf_counter process_time thread_time clock_gettime".split():
        setattr(time, name, tick)
        setattr(time, name + "_ns", lambda *_: int(tick() * 1000) * 1_000_000)
    for name in ("gmtime", "localtime", "ctime"):
        of = getattr(time, name)
        setattr(time, name, lambda s=None, of=of: of(tick() if s is None else s))
    for name in ("strftime", "asctime"):
        of = getattr(time, name)
        size = int(name == "strftime")
        setattr(time, name, lambda *a, of=of, size=size: of(*a, *([] if a[size:] else [time.gmtime()])))

    kinds = {}

    class Same(type):
        def __instancecheck__(cls, one):
            return isinstance(one, kinds[cls]) if cls in kinds else super().__instancecheck__(one)

    class Moment(datetime.datetime, metaclass=Same):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(tick(), tz or datetime.timezone.utc).replace(tzinfo=tz)

        @classmethod
        def today(cls):
            return cls.now()

        utcnow = today

    class Day(datetime.date, metaclass=Same):
        @classmethod
        def today(cls):
            return cls.fromisoformat(Moment.now().date().isoformat())

    Moment.__name__, Day.__name__ = "datetime.datetime", "datetime.date"
    kinds.update({Moment: datetime.datetime, Day: datetime.date})
    datetime.datetime, datetime.date = Moment, Day


_prepare()
del _prepare
"""


@dataclass(frozen=True)
class Cells:
    """The state: the cells that ran, oldest first, and what the last action showed."""

    ran: tuple[str, ...] = ()
    shown: str = ""


class Python(Env[Cells]):
    """A question, and a stateful interpreter to work it out with; an answer in tags ends the episode.

    easy: hard questions of the other families; medium: questions that want a program (`computed.py`);
    hard: one of each, whose answers are combined; higher levels have more of them. Code in a reply that also answers does not run.
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
        )

    @override
    def split_of(self, draft: Draft) -> str:
        return split_by_question(draft)

    @override
    def initial(self, task: Task) -> Cells:
        return Cells()

    @override
    def observe(self, state: Cells) -> str:
        """The output of the last action."""
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


def run(state: Cells, code: str) -> Cells:
    """The state after the cell `code`. Raises VerifierFault if the sandbox failed."""
    from verigym.sandbox.local import default_sandbox

    try:
        with default_sandbox().session("python", limits=_LIMITS, env=_ENV) as session:
            for cell in (_PREPARE, *state.ran):
                if session.alive:
                    session.run(cell)
            if not session.alive:
                return replace(state, shown="The block was not run: no time is left.")
            result = session.run(code, wall_s=CELL_S)
            alive = session.alive
    except SandboxError as error:
        raise VerifierFault(fault(Status.INFRA, "sandbox_error", str(error))) from error
    if result.status is JobStatus.SANDBOX_ERROR:
        raise VerifierFault(fault(Status.INFRA, "sandbox_error", result.detail))
    if alive and result.status in (JobStatus.OK, JobStatus.NONZERO_EXIT):
        return Cells((*state.ran, code), _output(result))
    why = _UNDONE.get(result.status, "it failed")
    return replace(state, shown=f"The block was undone: {why}.")


def _output(result: Result) -> str:
    """Return the output of a cell, then the last line of its error; limited to the characters and
    the length that observations may have."""
    text = result.stdout.decode("utf-8", "replace")
    if result.status is JobStatus.NONZERO_EXIT:
        lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
        text = f"{text}\n{lines[-1]}" if lines else text
    plain = "".join(c if c in CHARSET else "?" for c in _ADDRESS.sub(" at 0x0>", text)).strip()
    if len(plain) > SHOWN_CHARS:
        plain = f"{plain[:SHOWN_CHARS]} ... (cut: {len(plain)} characters in all)"
    return plain or "(no output)"


def _ask(rng: np.random.Generator, level: int) -> Ask:
    programs, family = LEVELS[level]
    if not programs:
        return families.draw(rng, family)
    asks = [computed.draw(rng) for _ in range(programs)]
    if not family:
        return asks[0]
    while not re.fullmatch(r"-?\d{1,12}", (last := _beside(rng, level)).answer):
        pass
    factors = [int(n) for n in rng.integers(2, 10, programs)]
    value = int(last.answer)
    for factor, ask in zip(factors, asks, strict=True):
        value += factor * int(ask.answer)
    asks.append(last)
    questions = "\n".join(f"Question {i}: {ask.prompt}" for i, ask in enumerate(asks, 1))
    named = [
        f"{letter}{' be' if i == 1 else ''} the answer to question {i}"
        for i, letter in enumerate(_LETTERS[: len(asks)], 1)
    ]
    terms = [f"{factor} * {letter}" for factor, letter in zip(factors, _LETTERS, strict=False)]
    return Ask(
        prompt=f"{questions}\n"
        f"Let {', '.join(named[:-1])} and {named[-1]}. What is {' + '.join(terms)} + {_LETTERS[programs]}?",
        answer=str(value),
        answer_form="evaluated",
        steps=sum(ask.steps for ask in asks) + 2,
        tags=tuple(tag for ask in asks for tag in ask.tags),
    )


def _beside(rng: np.random.Generator, level: int) -> Ask:
    """Draw the question of another family; at level 5 half of them are one level lower."""
    family = LEVELS[level][1]
    return families.draw(rng, family - 1 + int(rng.integers(2)) if level == 5 else family)


def work_out(paper: Paper, task: Task) -> str:
    """Return the answer to a task; questions that want a program are counted as a program does them."""
    question = task.prompt.partition("\nYou have a Python interpreter")[0]
    parts = re.split(r"\n?Question \d+: ", question.partition("\nLet A be ")[0])
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
