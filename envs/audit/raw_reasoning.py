"""`RawReasoning`: a task of reasoning-gym with the library's own scorer, to be audited and never trained on or served.

Its scorers run in a process of their own (`raw_scorer.py`), which is killed when it passes the deadline.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.doors import need_library
from verigym.envs.doors.foreign import AnyText
from verigym.errors import RequestError, TaskError
from verigym.judge import Judge
from verigym.question import Ask, Question
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault, scored

PREFIX = "raw:reasoning-gym/"
_ID = "doors/raw-reasoning-gym"
_ITEM_S = 300.0
"""Deadline for making an item, in seconds; the first waits for the library to be imported."""


class Scorer(Judge):
    """The scorers of reasoning-gym as a judge; submissions are answers, not whole replies."""

    id = _ID
    version = 1
    params: ClassVar[Mapping[str, JSON]] = {}

    def __init__(self, timeout_s: float = 30.0) -> None:
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[str] | None = None
        self._at: tuple[str, int] | None = None

    def item(self, task: str, seed: int) -> tuple[str, str | None]:
        """Return question and answer; made anew, as a user of the library gets them. Raises TaskError."""
        self._at = None
        found = self._ask(["item", task, seed], _ITEM_S)
        if "ok" not in found:
            raise TaskError(f"reasoning-gym makes no {task} of seed {seed}: {found}")
        self._at = (task, seed)
        question, answer = found["ok"]
        return question, answer

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """Return the library's scores; whatever a scorer raises is a fault."""
        return [
            self._verify(task, submission).stamped(self.name, self.digest(task, submission))
            for task, submission in items
        ]

    def close(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process, self._at = None, None

    def _verify(self, task: Task, submission: JSON) -> Verdict:
        reference = task.reference
        assert isinstance(reference, Mapping)
        at = (str(reference["task"]), int(str(reference["seed"])))
        if self._at != at:
            self.item(*at)
        found = self._ask(["score", submission], self._timeout_s)
        if "late" in found:
            return fault(
                Status.TIMEOUT, "timeout", f"the scorer did not answer in {self._timeout_s:g} s"
            )
        if "raised" in found:
            return fault(Status.VERIFIER_ERROR, "scorer_raised", found["raised"])
        score = float(found["ok"])
        return scored(
            min(1.0, max(0.0, score)), "correct" if score >= 1 else "partial", f"{score:g}"
        )

    def _ask(self, request: list[JSON], timeout_s: float) -> dict[str, Any]:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            self.close()
            return {"raised": "the scorer had ended its process"}
        ready, _, _ = select.select([process.stdout], [], [], timeout_s)
        line = process.stdout.readline() if ready else ""
        if not line:
            self.close()
            return {"late": True} if not ready else {"raised": "the scorer ended its process"}
        found: dict[str, Any] = json.loads(line)
        return found

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "verigym.envs.audit.raw_scorer"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        return self._process


class RawReasoning(Question):
    """The task `task_name` as the library makes and scores it; `close` ends its process."""

    id: ClassVar[str]
    verifier_id: ClassVar[str] = _ID
    difficulties: ClassVar[tuple[str, ...]] = ("default",)
    only_named: ClassVar[bool] = True
    form: ClassVar[str] = ""
    max_observation_chars: ClassVar[int] = 1 << 20
    task_name: ClassVar[str]

    def __init__(self, timeout_s: float = 30.0) -> None:
        self.scorer = Scorer(timeout_s)
        super().__init__(verifier=self.scorer)
        self.observation_space = AnyText(self.max_observation_chars)
        self.action_space = AnyText(self.max_action_chars)
        try:
            _, answer = self.scorer.item(self.task_name, 0)
        except TaskError:
            self.close()
            raise
        if answer is None:
            self.oracle_absent = "reasoning-gym gives no answer to this task"  # type: ignore[misc]

    @override
    def _draw(self, rng: np.random.Generator, seed: int, difficulty: str, split: str) -> Task:
        # All seeds belong to one split: the library has none.
        question, answer = self.scorer.item(self.task_name, seed)
        return Task(
            id=f"{self.id}:{seed}",
            env_id=self.id,
            seed=seed,
            prompt=question,
            difficulty=difficulty,
            split=split,
            reference={"task": self.task_name, "seed": seed, "answer": answer or ""},
        )

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        question, answer = self.scorer.item(self.task_name, int(rng.integers(2**31)))
        return Ask(prompt=question, answer=answer or "")

    @override
    def reply(self, reference: Any) -> str:
        return str(reference["answer"])

    @override
    def close(self) -> None:
        self.scorer.close()
        super().close()


def task_names(pattern: str) -> list[str]:
    """Return the library's tasks that `pattern` (`*`, `?`) matches, without mixtures. Raises RequestError."""
    from fnmatch import fnmatchcase

    need_library("reasoning-gym/chain_sum")
    from reasoning_gym.factory import DATASETS

    found = [
        name for name in sorted(DATASETS) if fnmatchcase(name, pattern) and name != "composite"
    ]
    if not found:
        raise RequestError(f"reasoning-gym has no task {pattern!r}")
    return found


def raw_reasoning(name: str, timeout_s: float = 30.0) -> RawReasoning:
    """Return the task `name` with the library's own scorer. Raises TaskError if it cannot be made."""
    fields = {
        "__module__": __name__,
        "__doc__": f"{name} of reasoning-gym, scored by the library.",
        "id": f"{PREFIX}{name}",
        "task_name": name,
    }
    made: RawReasoning = type(name, (RawReasoning,), fields)(timeout_s)
    return made
