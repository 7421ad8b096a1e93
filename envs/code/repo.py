"""`code/repo`: look around in a small repository, then mend it by a patch; many turns."""

from __future__ import annotations

import difflib
import threading
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from verigym.canonical import JSON
from verigym.env import CHARSET, Draft, Env, Transition
from verigym.envs.code.mutated import filled
from verigym.envs.code.stages import HELPERS, REPORTS, STEPS, Stage
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verifiers.code.counted import library, machine
from verigym.verifiers.code.patch import holds_patch

# Steps that records go through before the report, mistakes, turns.
_LEVELS = {"easy": (2, 1, 8), "medium": (4, 1, 12), "hard": (5, 2, 20)}
_PACKAGES = ("ledger", "depot", "harbour", "orchard", "workshop", "clubhouse", "bakery", "archive")
_NAMES = ("Ann", "ann", "Bob Low", "bob low ", " Cy", "cy", "Dee")
_CALLS, _RECORDS = 5, (5, 9)
_STEPS = 100_000
_SHOWN_LINES = 60

_PROMPT = """\
A small Python repository has {count}: what the function run in {package}/main.py returns is not always \
what README.md says. {hint}The README is right, the code is not.

You may look around with one command a turn, alone on the last line of your reply:
ls
cat PATH
grep TEXT

When you know what is wrong, reply with a patch instead, in fenced blocks: a unified diff (with --- and +++ \
lines, paths from the root of the repository), or whole files, each block beginning with the line \
# file: PATH
The patch ends the task; {package}.main.run is then called on hidden records, and must return what the \
README says every time. You have {turns} turns in all."""


@dataclass(frozen=True)
class Looking:
    """The state: what the last command showed."""

    view: str = ""
    patched: bool = False


class Repo(Env[Looking]):
    """A generated repository with one or two mistakes; commands show it, a patch ends the task.

    Judged by `code/repo`: what a function returns for hidden records, compared outside the sandbox. What
    is wanted was worked out by the step-counting interpreter, which has also shown that each mistake alone
    makes a hidden call fail. An action is valid if it is a command that shows something, or holds a patch.
    """

    id: ClassVar[str] = "verigym/code/repo-v0"
    verifier_id: ClassVar[str] = "code/repo"
    difficulties: ClassVar[tuple[str, ...]] = tuple(_LEVELS)
    max_action_chars: ClassVar[int] = 1 << 16
    costly: ClassVar[bool] = True

    def generate(self, rng: np.random.Generator, difficulty: str) -> Draft:
        """See `Env`. Draws on until each mistake shows in some call."""
        while True:
            plan = _Plan.draw(rng, difficulty)
            if not self.wants(plan.essence()):
                continue
            calls = [_records(rng) for _ in range(_CALLS)]
            plays = [plan.played(call) for call in calls]
            alone = {(one,) for one in plan.mistakes}
            if all(
                any(plan.shows(some, play) for play in plays) for some in {*alone, plan.mistakes}
            ):
                break
        files = plan.files(plan.mistakes)
        reference = {
            "files": files,
            "entry": f"{plan.package}.main:run",
            "tests": [
                {"args": [call], "result": play[-1]}
                for call, play in zip(calls, plays, strict=True)
            ],
            "fixed": {path: text for path, text in plan.files(()).items() if text != files[path]},
        }
        wrong = len(plan.mistakes)
        hint = ""
        if difficulty == "easy":
            hint = f"People complain about {plan.stages[plan.mistakes[0][0]].about}. "
        prompt = _PROMPT.format(
            count="a mistake" if wrong == 1 else f"{wrong} mistakes, in different files",
            package=plan.package,
            hint=hint,
            turns=_LEVELS[difficulty][2],
        )
        return Draft(
            prompt=prompt,
            reference=reference,
            tags=("code", "repository"),
            essence=plan.essence(),
        )

    def initial(self, task: Task) -> Looking:
        """See `Env`."""
        return Looking()

    def observe(self, state: Looking) -> str:
        """See `Env`. Nothing but the prompt before the first command."""
        return state.view

    def transition(self, state: Looking, action: str) -> Transition[Looking]:
        """See `Env`."""
        if holds_patch(action):
            moved = replace(state, view="", patched=True)
            return Transition(state=moved, terminated=True, submission=action)
        lines = [line.strip() for line in action.split("\n") if line.strip()]
        view = _shown(_files(self.task.reference), lines[-1] if lines else "")
        if view is None:
            return Transition(state=state, valid=False)
        return Transition(state=replace(state, view=view))

    def turns_allowed(self, task: Task) -> int:
        """See `Env`."""
        return _LEVELS.get(task.difficulty, _LEVELS["hard"])[2]

    def key(self, state: Looking) -> JSON:
        """See `Env`. The task is in every key already; commands change nothing but what is shown."""
        return [state.view, state.patched]

    def work(self, state: Looking) -> int:
        """The lines to be read, about, and the mistakes to be found."""
        reference: Any = self.task.reference
        files: dict[str, str] = reference["files"]
        lines = sum(text.count("\n") for text in files.values())
        return lines // 8 + 5 * len(reference.get("fixed", {}))

    def solve(self, state: Looking) -> str:
        """See `Env`. The patch, as a unified diff."""
        reference: Any = self.task.reference
        if "fixed" not in reference:
            raise TaskError("no solution is known for a task that was not generated here")
        parts: list[str] = []
        for path, text in sorted(reference["fixed"].items()):
            before = reference["files"][path].splitlines(keepends=True)
            after = text.splitlines(keepends=True)
            parts += difflib.unified_diff(before, after, f"a/{path}", f"b/{path}")
        return f"```diff\n{''.join(parts)}```"


def _files(reference: Any) -> dict[str, str]:
    return dict(reference["files"])


def _shown(files: dict[str, str], command: str) -> str | None:
    """What a command shows; None where it is none."""
    verb, _, rest = command.removeprefix("$ ").partition(" ")
    rest = rest.strip()
    if verb == "ls" and (not rest or rest in (".", "./")):
        return "\n".join(f"{path} ({files[path].count(chr(10))} lines)" for path in sorted(files))
    if verb == "cat" and rest.removeprefix("./") in files:
        return files[rest.removeprefix("./")]
    if verb == "grep" and rest:
        wanted = rest.strip("'\"")
        found = [
            f"{path}:{number}: {line}"
            for path in sorted(files)
            for number, line in enumerate(files[path].split("\n"), 1)
            if wanted in line
        ]
        text = "\n".join(found[:_SHOWN_LINES]) or f"nothing holds {wanted[:80]}"
        return "".join(c if c in CHARSET else "?" for c in text)
    if verb in ("ls", "cat"):
        plain = "".join(c if c in CHARSET else "?" for c in rest[:80])
        return f"there is no file {plain}" if plain else None
    return None


def _records(rng: np.random.Generator) -> list[dict[str, Any]]:
    count = int(rng.integers(_RECORDS[0], _RECORDS[1] + 1))
    names, groups, amounts, days = (
        rng.integers(low, high, count).tolist()
        for low, high in ((0, len(_NAMES)), (0, 2), (1, 81), (0, 16))
    )
    # Values that meet: amounts and days are often those of the record before.
    for at in np.flatnonzero(rng.random(count) < 0.3).tolist():
        if at:
            amounts[at] = amounts[at - 1]
            days[at] = days[at - 1] + at % 3
            names[at] = names[at - 1]
    return [
        {"name": _NAMES[n], "group": "xy"[g], "amount": a, "day": d}
        for n, g, a, d in zip(names, groups, amounts, days, strict=True)
    ]


Mistake = tuple[int, int]
"""Which stage, and which of its mistakes."""


@dataclass(frozen=True)
class _Plan:
    """A repository in parts."""

    package: str
    stages: tuple[Stage, ...]
    numbers: tuple[dict[str, int], ...]
    mistakes: tuple[Mistake, ...]

    @staticmethod
    def draw(rng: np.random.Generator, difficulty: str) -> _Plan:
        steps, wrong, _ = _LEVELS[difficulty]
        chosen = [STEPS[int(n)] for n in rng.permutation(len(STEPS))[:steps]]
        stages = (*chosen, REPORTS[int(rng.integers(len(REPORTS)))])
        numbers = tuple(
            {name: int(rng.integers(low, high + 1)) for name, (low, high) in stage.draws.items()}
            for stage in stages
        )
        where = sorted(int(n) for n in rng.permutation(len(stages))[:wrong])
        mistakes = tuple((at, int(rng.integers(len(stages[at].mistakes)))) for at in where)
        package = _PACKAGES[int(rng.integers(len(_PACKAGES)))]
        return _Plan(package, stages, numbers, mistakes)

    def essence(self) -> JSON:
        """What decides the split: parts, their numbers and the mistakes, not the package's name or the calls."""
        parts = [
            [stage.name, numbers] for stage, numbers in zip(self.stages, self.numbers, strict=True)
        ]
        return [parts, self.mistakes]

    def source(self, at: int, mistakes: tuple[Mistake, ...]) -> str:
        """The text of one stage, with its mistake where there is one."""
        text = self.stages[at].source
        for stage, which in mistakes:
            if stage == at:
                text = text.replace(*self.stages[at].mistakes[which], 1)
        return filled(text.strip("\n") + "\n", self.numbers[at])

    def helpers(self) -> list[str]:
        """The helpers that the stages need, by name."""
        return sorted({need for stage in self.stages for need in stage.needs})

    def run_source(self) -> str:
        """The function that is called."""
        *steps, report = self.stages
        lines = [f"    records = {stage.name}(records)" for stage in steps]
        body = "\n".join([*lines, f"    return {report.name}(records)"])
        return f'def run(records):\n    """What README.md says of these records."""\n{body}\n'

    def files(self, mistakes: tuple[Mistake, ...]) -> dict[str, str]:
        """The repository with these mistakes."""
        made = {
            f"{self.package}/{name}.py": HELPERS[name].strip("\n") + "\n" for name in self.helpers()
        }
        for at, stage in enumerate(self.stages):
            imports = "".join(
                f"from {self.package}.{need} import {_DEFINES[need]}\n" for need in stage.needs
            )
            text = self.source(at, mistakes)
            made[f"{self.package}/{stage.name}.py"] = f"{imports}\n\n{text}" if imports else text
        imports = "".join(
            f"from {self.package}.{stage.name} import {stage.name}\n"
            for stage in sorted(self.stages, key=lambda stage: stage.name)
        )
        made[f"{self.package}/main.py"] = f"{imports}\n\n{self.run_source()}"
        made["README.md"] = self.readme()
        return made

    def readme(self) -> str:
        """What the repository should do."""
        rows = [
            f"{number}. {stage.name}.py {filled(stage.says, numbers)}."
            for number, (stage, numbers) in enumerate(
                zip(self.stages, self.numbers, strict=True), 1
            )
        ]
        return _README.format(package=self.package, rows="\n".join(rows))

    def played(self, call: list[Any]) -> list[Any]:
        """What each part gets of `call`, and last what the report makes of it; the step counter plays it."""
        values: list[Any] = [call]
        for at in range(len(self.stages)):
            values.append(self._step(at, None, values[at]))
        return values

    def shows(self, mistakes: tuple[Mistake, ...], play: list[Any]) -> bool:
        """Whether some mistakes change the end of a play."""
        wrong = dict(mistakes)
        value = play[min(wrong)]
        for at in range(min(wrong), len(self.stages)):
            if at > max(wrong) and value == play[at]:
                return False
            try:
                value = self._step(at, wrong.get(at), value)
            except machine.FailedProgram:
                return True
        return bool(value != play[-1])

    def _step(self, at: int, mistake: int | None, records: list[dict[str, Any]]) -> Any:
        """What one part makes of records, which stay as they are."""
        stage = self.stages[at]
        player, frame = _LOADED.part(stage, mistake)
        frame.names.update(self.numbers[at])
        player.meter.used = 0
        return player.call_named(frame, stage.name, [[dict(record) for record in records]])


class _Loaded(threading.local):
    """The parts, compiled, with and without their mistakes; each thread has its own, since they are
    changed as they run."""

    def __init__(self) -> None:
        self.parts: dict[tuple[str, int | None], tuple[machine.Machine, machine.Frame]] = {}

    def part(self, stage: Stage, mistake: int | None) -> tuple[machine.Machine, machine.Frame]:
        """A part, whose numbers are to be set in its frame."""
        key = stage.name, mistake
        if key not in self.parts:
            text = stage.source
            if mistake is not None:
                text = text.replace(*stage.mistakes[mistake], 1)
            numbers = "".join(f"{name} = 0\n" for name in stage.draws)
            player = machine.Machine(library, _STEPS)
            frame = player.load(
                "\n".join([numbers, *(HELPERS[name] for name in stage.needs), text])
            )
            self.parts[key] = player, frame
        return self.parts[key]


_LOADED = _Loaded()
_DEFINES = {"calendar_weeks": "week_of", "texts": "clean"}

_README = """\
# {package}

run(records) in {package}/main.py takes a list of records, each with a name, a group, an amount and a day, and \
gives a report. The records go through these parts in this order, each of which sees what the one before it made:

{rows}

Each part is a function of the same name in a file of its own. A record is a dict with the keys name and \
group (texts), amount and day (whole numbers). What is not said here stays as it is.
"""
