"""`Pooled`: a judge that asks the worker processes of a pool, under its deadline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from verigym.canonical import JSON
from verigym.judge import Judge
from verigym.task import Task
from verigym.verdict import Verdict
from verigym.verifiers.pool import VerifierPool


class Pooled(Judge):
    """Registered verifier that judges in a pool; the pool's creator closes the pool.

    Raises RequestError for an unknown id or parameter, when it is made.
    """

    id: str
    version: int
    params: Mapping[str, JSON]

    def __init__(
        self, pool: VerifierPool, id: str, params: Mapping[str, JSON] | None = None
    ) -> None:
        self.pool = pool
        self._given = dict(params or {})
        description = pool.describe(id, self._given)
        self.id = id
        self.version = description["version"]
        self.params = description["params"]

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """Return the pool's verdicts, in order, judged by all its workers; a hang is status `timeout`."""
        return self.pool.verify_batch(self.id, list(items), params=self._given)
