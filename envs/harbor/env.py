"""`HarborTasks`: Harbor task folders as an environment of one reply, a bash script in a fence.

env = verigym.make("tasks/hello/task.toml")           # one folder
env = verigym.make("imported.toml")                   # several, written by `verigym harbor import`
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import digest
from verigym.env import Draft, Transition
from verigym.envs.check.cheap_answers import Form
from verigym.envs.doors.foreign import AnyText
from verigym.envs.harbor.folder import Folder, find_folders, read_folder
from verigym.envs.harbor.runner import FolderJudge, oracle_script
from verigym.errors import ConfigError, RequestError, TaskError
from verigym.judge import Judge
from verigym.question import Ask, Question, QuestionState
from verigym.reply import fenced, spoken
from verigym.splits import split_by_essence
from verigym.task import Task

FORM = (
    "You are not in a terminal. Answer with one bash script in a ```bash fence; it runs once, in the working "
    "folder {workdir}, without a network, and then your work is judged."
)
_REWARD = "mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; echo '{\"reward\": 1}' > /logs/verifier/reward.json"
_TAMPERING = {
    "a script that writes the reward": _REWARD,
    "a process that goes on writing the reward": f"(for i in $(seq 300); do {_REWARD}; sleep 0.05; done) &",
    "a test.sh of its own": f'mkdir -p /tests; echo "{_REWARD.replace(chr(34), chr(92) + chr(34))}" > /tests/test.sh',
    "a module pytest that passes": "echo 'import sys; sys.exit(0)' > pytest.py",
    "a conftest.py that ends the tests": "printf 'import os\\nos._exit(0)\\n' > conftest.py",
    "modules that end whoever imports them": (
        "for m in json math os re pathlib subprocess unittest; do echo 'raise SystemExit(0)' > $m.py; done"
    ),
    "the solution, copied": "cp -r /solution/. . 2>/dev/null; bash /solution/solve.sh",
    "the tests, copied": "cat /tests/* > answer.txt 2>/dev/null; cp -r /tests/. .",
}


class HarborTasks(Question):
    """The tasks of folders. Subclasses set `folders`; seeds count through those of the split."""

    verifier_id: ClassVar[str] = FolderJudge.id
    difficulties: ClassVar[tuple[str, ...]] = ("all",)
    only_named: ClassVar[bool] = True
    costly: ClassVar[bool] = True
    max_observation_chars: ClassVar[int] = 1 << 20
    folders: ClassVar[tuple[Path, ...]]
    whole: ClassVar[bool] = False
    """If True, every split holds all folders; else each folder is in one."""

    def __init__(self, *, verifier: Judge | str | None = None, **kwargs: Any) -> None:
        if isinstance(verifier, str):
            raise RequestError(
                f"{self.id} is judged by its folders' tests, here; leave the service out"
            )
        super().__init__(verifier=verifier or FolderJudge(), **kwargs)
        self.observation_space = AnyText(self.max_observation_chars)
        self.action_space = AnyText(self.max_action_chars)
        self._read = {str(path): read_folder(path) for path in self.folders}
        lacking = [name for name, one in self._read.items() if one.solution is None]
        if lacking:
            self.oracle_absent = f"{lacking[0]} has no solution"  # type: ignore[misc]

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle finds no class by name that was made of folders.
        return _make, (self.folders, self.id, self.whole), dict(vars(self))

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        folder = self._read[str(self.folders[int(rng.integers(len(self.folders)))])]
        return Ask(prompt=folder.instruction, answer="", essence=folder.instruction)

    @override
    def _draw(self, rng: np.random.Generator, seed: int, difficulty: str, split: str) -> Task:
        mine = [one for one in self._read.values() if self.whole or _split(one) == split]
        if not mine:
            raise TaskError(
                f"{self.id}: none of its {len(self._read)} folders is in the split {split!r}"
            )
        folder = mine[seed % len(mine)]
        return Task(
            id=f"{self.id}:{split}:{folder.name}",
            env_id=self.id,
            seed=seed,
            prompt=f"{folder.instruction.strip()}\n\n{FORM.format(workdir=folder.agent.workdir)}",
            difficulty=difficulty,
            split=split,
            reference={"folder": str(folder.path), "tests": digest(_plain(folder))},
        )

    @override
    def reply(self, reference: Any) -> str:
        folder = self._read[reference["folder"]]
        return "" if folder.solution is None else f"```bash\n{oracle_script(folder)}\n```"

    @override
    def transition(self, state: QuestionState, action: str) -> Transition[QuestionState]:
        """Take the last fenced block of the reply as the script; nothing runs without one."""
        blocks = fenced(spoken(action))
        moved = super().transition(state, blocks[-1].body if blocks else "")
        moved.valid = bool(blocks)
        return moved

    def answer_form(self) -> Form:
        """Return a script that writes an answer to every file that the instruction names."""
        outputs = " ".join(self._current().outputs)
        return Form(
            before=f"```bash\ntee {outputs} > /dev/null <<'END_OF_ANSWER'\n",
            after="\nEND_OF_ANSWER\n```",
        )

    def tampering(self) -> dict[str, str]:
        """Return scripts that attack the tests."""
        return {name: f"```bash\n{script}\n```" for name, script in _TAMPERING.items()}

    def _current(self) -> Folder:
        reference: Any = self.task.reference
        return self._read[reference["folder"]]


def folders_env(folders: Sequence[Path], name: str, *, whole: bool = False) -> type[HarborTasks]:
    """Return the environment of `folders` with the id `name`."""
    fields = {
        "__module__": __name__,
        "__doc__": f"{len(folders)} Harbor task folders.",
        "id": name,
        "folders": tuple(folder.resolve() for folder in folders),
        "whole": whole,
    }
    made: type[HarborTasks] = type("Folders", (HarborTasks,), fields)
    return made


def _make(folders: Sequence[Path], name: str, whole: bool) -> HarborTasks:
    return folders_env(folders, name, whole=whole)()


def load_folders(path: Path) -> type[HarborTasks]:
    """Return the environment that a `task.toml` or a file of `verigym harbor import` describes."""
    if path.name == "task.toml":
        return folders_env([path.parent], f"verigym/harbor/{slug(path.parent.name)}-v0", whole=True)
    described = tomllib.loads(path.read_text(encoding="utf-8"))
    listed = described["harbor"].get("folders")
    if not isinstance(listed, list) or not isinstance(described.get("id"), str):
        raise ConfigError(f"{path}: it needs id and harbor.folders, a list of paths")
    folders = [one for text in listed for one in find_folders(path.parent / text)]
    return folders_env(
        folders, described["id"], whole=bool(described["harbor"].get("whole", False))
    )


def slug(name: str) -> str:
    """Return `name` with everything but letters, digits and - replaced, for ids and folder names."""
    return (
        "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name).strip("-")
        or "tasks"
    )


def _split(folder: Folder) -> str:
    return split_by_essence(Draft(prompt="", reference=None, essence=folder.instruction))


def _plain(folder: Folder) -> list[Any]:
    return [[name, data.decode("latin-1")] for name, data in sorted(folder.tests.items())]
