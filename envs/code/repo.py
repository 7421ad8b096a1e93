"""`code/repo`: look around in a small repository, then mend it by a patch; many turns."""

from __future__ import annotations

import ast
import difflib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import CHARSET, Draft, Env, Transition
from verigym.envs.code.program_files import filled
from verigym.envs.code.repo_records import calls
from verigym.envs.code.stage_variants import Part, variants
from verigym.envs.code.stages import FEATURES, HELPERS, REPORTS, STEPS, RepoStage
from verigym.envs.code.traced import Solver
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verifiers.code.patch import holds_patch

# Steps that records go through before the report, mistakes, turns.
_LEVELS = {
    1: (1, 1, 6),
    2: (2, 1, 8),
    3: (3, 2, 12),
    4: (4, 1, 12),
    5: (4, 2, 16),
    6: (5, 2, 20),
    7: (7, 3, 24),
    8: (8, 3, 28),
    9: (9, 4, 34),
    10: (11, 5, 40),
}
_FEATURES = {8: 1, 9: 2, 10: 3}
"""Parts that have no file and are to be written."""
_PACKAGES = ("ledger", "depot", "harbour", "orchard", "workshop", "clubhouse", "bakery", "archive")
_CALLS = 5
"""Number of hidden calls; more if more are needed to detect wrong parts."""
_TRIED = 100
"""Maximum number of calls drawn to detect them; a wrong part that none of these detects is left
out."""
_SHOWN_LINES = 60
_NO_COMMAND = (
    "The last line of your reply is no command, and there is no patch in it. The commands are ls, cat PATH "
    "and grep TEXT."
)
_FOLLOWED = 1
"""Hidden calls that are run by hand to find the mistakes."""

_PROMPT = """\
A small Python repository has {count}: the function run in {package}/main.py does not always return what \
README.md says. {hint}The README is right and the code is wrong.

In each turn you may give one command, alone on the last line of your reply:
ls (lists the files)
cat PATH (shows a file)
grep TEXT (shows the lines that contain TEXT, at most {shown} of them)

When you know what is wrong, reply with a patch instead, in fenced blocks: a unified diff (with --- and +++ \
lines and paths from the root of the repository), or whole files, where each block begins with the line
# file: PATH
The patch ends the task. {package}.main.run is then called with hidden records and must return what the \
README says every time. You have {turns} turns in all."""


@dataclass(frozen=True)
class Looking:
    """The state: what the last command showed."""

    view: str = ""
    patched: bool = False


class Repo(Env[Looking]):
    """A generated repository with one to five mistakes; commands show it, a patch ends the task.

    Judged by `code/repo`: what a function returns for hidden records, compared outside the sandbox. Some
    of them tell each mistake alone, and each part with a listed mistake or a number one off, if any of
    many records at the edges do. An action is valid if it is a command that shows something, or holds a patch.
    """

    id: ClassVar[str] = "verigym/code/repo-v0"
    verifier_id: ClassVar[str] = "code/repo"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    max_action_chars: ClassVar[int] = 1 << 16
    costly: ClassVar[bool] = True

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        """Draw until each mistake shows in some hidden call."""
        while True:
            plan = _Plan.draw(rng, level)
            if not self.wants(plan.essence()):
                continue
            tests = _hidden(plan, rng)
            if tests is not None:
                break
        files = plan.files(plan.mistakes)
        reference = {
            "files": files,
            "entry": f"{plan.package}.main:run",
            "tests": [{"args": [call], "result": result} for call, result in tests],
            "fixed": {
                path: text
                for path, text in plan.files((), is_complete=True).items()
                if text != files.get(path)
            },
        }
        wrong = len(plan.mistakes)
        hint = ""
        if level <= 2:
            hint = f"Users complain about {plan.stages[plan.mistakes[0][0]].about}. "
        missing = len(plan.missing)
        prompt = _PROMPT.format(
            count=("a mistake" if wrong == 1 else f"{wrong} mistakes, in different files")
            + (
                f", and {missing} of its parts {'is' if missing == 1 else 'are'} still to be written"
                if missing
                else ""
            ),
            package=plan.package,
            hint=hint,
            shown=_SHOWN_LINES,
            turns=_LEVELS[level][2],
        )
        return Draft(
            prompt=prompt,
            reference=reference,
            tags=("code", "repository"),
            essence=plan.essence(),
        )

    @override
    def initial(self, task: Task) -> Looking:
        return Looking()

    @override
    def observe(self, state: Looking) -> str:
        """Nothing but the prompt before the first command."""
        return state.view

    @override
    def transition(self, state: Looking, action: str) -> Transition[Looking]:
        if holds_patch(action):
            moved = replace(state, view="", patched=True)
            return Transition(state=moved, terminated=True, submission=action)
        lines = [line.strip() for line in action.split("\n") if line.strip()]
        view = _shown(_files(self.task.reference), lines[-1] if lines else "")
        if view is None:
            return Transition(state=replace(state, view=_NO_COMMAND), valid=False)
        return Transition(state=replace(state, view=view))

    @override
    def turns_allowed(self, task: Task) -> int:
        return _LEVELS.get(self.scale().levels.get(task.difficulty, 0), _LEVELS[6])[2]

    @override
    def key(self, state: Looking) -> JSON:
        """The task is in every key already; commands change nothing but what is shown."""
        return [state.view, state.patched]

    @override
    def work(self, state: Looking) -> int:
        """Read the repository, and run it by hand on hidden records before and after each file is mended."""
        reference: Any = self.task.reference
        files: dict[str, str] = dict(reference["files"])
        solver = Solver()
        for _ in files["README.md"].split():
            solver.look()
        solver.write(joined(files))
        calls = [test["args"] for test in reference["tests"][:_FOLLOWED]]
        for path, text in [("README.md", ""), *reference.get("fixed", {}).items()]:
            files[path] = text
            program = solver.read(ast.parse(joined(files)))
            for args in calls:
                solver.call(program, "run", args)
        return solver.operations

    @override
    def solve(self, state: Looking) -> str:
        """Return the patch, as a unified diff."""
        reference: Any = self.task.reference
        if "fixed" not in reference:
            raise TaskError("no solution is known for a task that was not generated here")
        parts: list[str] = []
        for path, text in sorted(reference["fixed"].items()):
            before = reference["files"].get(path, "").splitlines(keepends=True)
            after = text.splitlines(keepends=True)
            parts += difflib.unified_diff(before, after, f"a/{path}", f"b/{path}")
        return f"```diff\n{''.join(parts)}```"


def joined(files: Mapping[str, str]) -> str:
    """Return all modules as one, without imports of each other."""
    lines = itertools.chain.from_iterable(
        text.split("\n") for path, text in files.items() if path.endswith(".py")
    )
    return "\n".join(line for line in lines if not line.startswith("from "))


def _files(reference: Any) -> dict[str, str]:
    return dict(reference["files"])


def _shown(files: dict[str, str], command: str) -> str | None:
    """Return the output of a command; None if it is not a known command."""
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
        shown = found[:_SHOWN_LINES] or [f"no line contains {wanted[:80]}"]
        if len(found) > _SHOWN_LINES:
            shown.append(f"({len(found) - _SHOWN_LINES} more lines are not shown)")
        text = "\n".join(shown)
        return "".join(c if c in CHARSET else "?" for c in text)
    if verb in ("ls", "cat"):
        plain = "".join(c if c in CHARSET else "?" for c in rest[:80])
        return f"there is no file {plain}" if plain else None
    return None


Mistake = tuple[int, int]
"""Index of a stage, and of one of its mistakes."""
Test = tuple[list[dict[str, Any]], Any]
"""The records of a call, and what is wanted."""


@dataclass(frozen=True)
class _Plan:
    """A repository in parts."""

    package: str
    stages: tuple[RepoStage, ...]
    numbers: tuple[dict[str, int], ...]
    mistakes: tuple[Mistake, ...]
    missing: tuple[int, ...] = ()
    """Indexes of the stages that have no file."""
    history: str = ""

    @staticmethod
    def draw(rng: np.random.Generator, level: int) -> _Plan:
        steps, wrong, _ = _LEVELS[level]
        chosen = [STEPS[int(n)] for n in rng.permutation(len(STEPS))[:steps]]
        stages = (*chosen, REPORTS[int(rng.integers(len(REPORTS)))])
        features = (
            [FEATURES[int(n)] for n in rng.permutation(len(FEATURES))[: _FEATURES[level]]]
            if level in _FEATURES
            else []
        )
        for feature in features:
            at = int(rng.integers(len(stages)))
            stages = (*stages[:at], feature, *stages[at:])
        numbers = tuple(
            {name: int(rng.integers(low, high + 1)) for name, (low, high) in stage.draws.items()}
            for stage in stages
        )
        missing = tuple(at for at, stage in enumerate(stages) if stage in features)
        places = [int(n) for n in rng.permutation(len(stages)) if int(n) not in missing]
        where = sorted(places[:wrong])
        mistakes = tuple((at, int(rng.integers(len(stages[at].mistakes)))) for at in where)
        package = _PACKAGES[int(rng.integers(len(_PACKAGES)))]
        history = _draw_history(rng, stages, numbers) if features else ""
        return _Plan(package, stages, numbers, mistakes, missing, history)

    def essence(self) -> JSON:
        """Return the data that decides the split: parts, their numbers and the mistakes, but not
        the package's name or the calls."""
        parts = [
            [stage.name, numbers] for stage, numbers in zip(self.stages, self.numbers, strict=True)
        ]
        return [parts, self.mistakes]

    def source(self, at: int, mistakes: tuple[Mistake, ...]) -> str:
        """Return the text of one stage, with its mistake if it has one."""
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

    def files(self, mistakes: tuple[Mistake, ...], *, is_complete: bool = False) -> dict[str, str]:
        """The repository with these mistakes, and with the parts that are to be written if it is complete."""
        made = {
            f"{self.package}/{name}.py": HELPERS[name].strip("\n") + "\n" for name in self.helpers()
        }
        for at, stage in enumerate(self.stages):
            if at in self.missing and not is_complete:
                continue
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
        if self.history:
            made["HISTORY.md"] = self.history
        return made

    def readme(self) -> str:
        """Return the description of what the repository should do."""
        rows = [
            f"{number}. {stage.name}.py {filled(stage.says, numbers)}."
            for number, (stage, numbers) in enumerate(
                zip(self.stages, self.numbers, strict=True), 1
            )
        ]
        return _README.format(package=self.package, rows="\n".join(rows))

    def parts(self) -> list[Part]:
        """The right parts."""
        return [
            variants(stage).right(**numbers)
            for stage, numbers in zip(self.stages, self.numbers, strict=True)
        ]

    def wrong_parts(self) -> list[Mapping[int, Part]]:
        """Each part with each of its mistakes, and with each of its numbers one off, by its place."""
        return [
            {at: make(**numbers)}
            for at, (stage, numbers) in enumerate(zip(self.stages, self.numbers, strict=True))
            for make in (*variants(stage).mistakes, *variants(stage).one_off)
        ]


def _told(parts: list[Part], wrong: Mapping[int, Part], play: list[Any]) -> bool:
    """Return True if wrong parts in place of right ones change the end of a play."""
    first, last = min(wrong), max(wrong)
    value = play[first]
    for at in range(first, len(parts)):
        if at > last and value == play[at]:
            return False
        try:
            value = wrong.get(at, parts[at])(value)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return True
    return bool(value != play[-1])


def _hidden(plan: _Plan, rng: np.random.Generator) -> list[Test] | None:
    """Calls that tell all wrong parts which any of `_TRIED` calls tells, and what is wanted of them.

    None if a mistake of `plan`, or all of them together, show in none of the calls.
    """
    parts = plan.parts()
    together = {
        at: variants(plan.stages[at]).mistakes[which](**plan.numbers[at])
        for at, which in plan.mistakes
    }
    needed: list[Mapping[int, Part]] = [together, *({at: part} for at, part in together.items())]
    untold = needed + plan.wrong_parts()
    telling: list[Test] = []
    spare: list[Test] = []
    for call in itertools.islice(calls(rng, plan.numbers), _TRIED):
        play: list[Any] = [call]
        for part in parts:
            play.append(part(play[-1]))
        left = [wrong for wrong in untold if not _told(parts, wrong, play)]
        (telling if len(left) < len(untold) else spare).append((call, play[-1]))
        untold = left
        if not untold and len(telling) + len(spare) >= _CALLS:
            break
    if any(wrong in untold for wrong in needed):
        return None
    return telling + spare[: max(_CALLS - len(telling), 0)]


def _draw_history(
    rng: np.random.Generator, stages: tuple[RepoStage, ...], numbers: tuple[dict[str, int], ...]
) -> str:
    """Return notes on earlier values of numbers; not even the newest need be what README.md says now."""
    rows = []
    for stage, own in zip(stages, numbers, strict=True):
        for name, value in own.items():
            for _ in range(int(rng.integers(1, 4))):
                before, after = (max(value + int(rng.integers(-4, 5)), 1) for _ in range(2))
                rows.append(f"{stage.name}.py: {name.lower()} is {after}, no longer {before}")
    ordered = [rows[int(at)] for at in rng.permutation(len(rows))]
    return "# History\n\nNewest first.\n\n" + "".join(f"- {row}\n" for row in ordered)


_DEFINES = {"calendar_weeks": "week_of", "texts": "clean"}

_README = """\
# {package}

run(records) in {package}/main.py takes a list of records, each with a name, a group, an amount and a day, and \
gives a report. The records go through these parts in this order, each of which sees what the one before it made:

{rows}

Each part is a function of the same name in a file of its own. A record is a dict with the keys name and \
group (texts), amount and day (whole numbers). What is not said here stays as it is.
"""
