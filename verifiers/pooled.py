"""`Pooled`: a verifier that judges in the worker processes of a pool, under its deadline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from verigym.canonical import JSON
from verigym.task import Task
from verigym.verdict import Verdict
from verigym.verifier import Verifier
from verigym.verifiers.pool import VerifierPool


class Pooled(Verifier):
    """A registered verifier as an environment takes it; the pool is closed by who made it.

    Raises RequestError for an unknown id or parameter, when it is made.
    """

    def __init__(
        self, pool: VerifierPool, id: str, params: Mapping[str, JSON] | None = None
    ) -> None:
        # Not super().__init__: parameters are checked by the worker that makes the verifier.
        self.pool = pool
        self._given = dict(params or {})
        self._card = pool.describe(id, self._given)
        self.id = id  # type: ignore[misc]  # of the instance here, of the class elsewhere
        self.version = self._card["version"]  # type: ignore[misc]
        self.about = self._card["about"]  # type: ignore[misc]
        self.evidence = self._card["evidence"]  # type: ignore[misc]
        self.weights = self._card["weights"]  # type: ignore[misc]
        self.params = self._card["params"]

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the parameters."""
        return dict(self._card["schema"])

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """As `verify`."""
        return self.verify(task, submission)

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """The pool's verdict; a hang is status `timeout`."""
        return self.pool.verify(self.id, task, submission, params=self._given)

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """The pool's verdicts, in order, judged by all its workers."""
        return self.pool.verify_batch(self.id, list(items), params=self._given)
