"""`Verifier`: `(task, submission) -> Verdict`; versioned, pure, free of global state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from verigym.canonical import JSON, digest
from verigym.errors import RequestError, SandboxError, TaskError, suggestion
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault


class Verifier(ABC):
    """Judges submissions. Subclasses set `id`, `version` and `defaults`, and write `judge`.

    A change that can alter any score raises `version`. Parameters are plain JSON values; an unknown
    one is refused.
    """

    id: ClassVar[str]
    version: ClassVar[int]
    defaults: ClassVar[Mapping[str, JSON]] = {}
    about: ClassVar[str] = ""
    """One line for people: what is judged and what a submission looks like."""

    def __init__(self, **params: JSON) -> None:
        for name in params:
            if name not in self.defaults:
                raise RequestError(
                    f"verifier {self.id} has no parameter {name!r}; {suggestion(name, self.defaults)}"
                )
        self.params: dict[str, JSON] = {**self.defaults, **params}

    @property
    def name(self) -> str:
        """`id@version`, as verdicts carry it."""
        return f"{self.id}@{self.version}"

    def digest(self, task: Task, submission: JSON) -> str:
        """Identity of a verdict: verifier, version, parameters, task and submission (law 6)."""
        return digest(self.id, self.version, self.params, task, submission)

    @abstractmethod
    def judge(self, task: Task, submission: JSON) -> Verdict:
        """The verdict, built with `scored`, `unusable` or `fault`; `verify` stamps the rest.

        Raise TaskError for a reference that cannot be used, SandboxError where a machine failed.
        """

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """Judge one submission. Never raises for what was submitted; a failure is a typed status."""
        try:
            identity = self.digest(task, submission)
        except RequestError as error:
            identity = ""
            verdict = fault(Status.VERIFIER_ERROR, "not_json", str(error))
        else:
            verdict = self._judge(task, submission)
        return replace(verdict, verifier=self.name, digest=identity)

    def _judge(self, task: Task, submission: JSON) -> Verdict:
        try:
            return self.judge(task, submission)
        except SandboxError as error:
            return fault(Status.INFRA, "sandbox_error", str(error))
        except TaskError as error:
            return fault(Status.VERIFIER_ERROR, "bad_task", str(error))
        except Exception as error:  # noqa: BLE001
            # Anything else is a bug of the verifier. It becomes a fault that names itself; it must
            # not unwind into a caller that would be tempted to write 0 (laws 1 and 7).
            return fault(Status.VERIFIER_ERROR, "crashed", f"{type(error).__name__}: {error}")

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """`verify` for each pair, in order."""
        return [self.verify(task, submission) for task, submission in items]

    def describe(self) -> dict[str, Any]:
        """What the service lists: id, version, parameters with defaults, and one line for people."""
        return {
            "id": self.id,
            "version": self.version,
            "params": dict(self.params),
            "about": self.about,
        }
