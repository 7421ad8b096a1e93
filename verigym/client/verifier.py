"""`RemoteVerifier`: a judge that asks a verifier service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from verigym.canonical import JSON, to_json
from verigym.client.blocking import Client
from verigym.errors import RequestError, suggestion
from verigym.judge import Judge
from verigym.service import VerifierInfo
from verigym.task import Task
from verigym.verdict import Verdict

BATCH = 64
"""Maximum number of submissions in one request of a `RemoteVerifier`."""


class RemoteVerifier(Judge):
    """A judge that asks the service at `url`, with the same verdicts and digests as in this process.

    `version` and `params` are the service's own, requested on first use (VerifierFault if the service
    is unavailable). Verdicts carry the service's version, so a version other than the one installed
    here shows in `Verdict.verifier`. The evidence of faults stays in the service's log.
    """

    id: str
    prefers_batches: ClassVar[bool] = True

    def __init__(
        self,
        url: str,
        id: str,
        *,
        params: Mapping[str, JSON] | None = None,
        key: str | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        self.id = id
        self.client = Client(url, key=key, timeout_s=timeout_s)
        self._given = dict(params or {})
        self._info: VerifierInfo | None = None

    @property
    def version(self) -> int:
        """Version of the verifier at the service."""
        return self.info().version

    @property
    def params(self) -> dict[str, JSON]:
        """All parameters, including the service's defaults."""
        return {**self.info().params, **self._given}

    def info(self) -> VerifierInfo:
        """Return the service's listing of the verifier. Raises RequestError if the service does not have
        it, VerifierFault if the service is unavailable."""
        if self._info is None:
            known = {info.id: info for info in self.client.verifiers()}
            if self.id not in known:
                raise RequestError(
                    f"{self.client.url} has no verifier {self.id!r}; {suggestion(self.id, known)}"
                )
            self._info = known[self.id]
        return self._info

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """Return the service's verdict. Raises RequestError if it refuses the verifier, parameters or key."""
        verdict = self.client.verify(self.id, task, submission, params=self._given)
        return self._stamped(verdict, task, submission)

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """Return the service's verdicts in order, `BATCH` to a request."""
        verdicts: list[Verdict] = []
        rest = list(items)
        for start in range(0, len(rest), BATCH):
            part = rest[start : start + BATCH]
            answers = self.client.verify_batch(self.id, part, params=self._given)
            for (task, submission), verdict in zip(part, answers, strict=True):
                verdicts.append(self._stamped(verdict, task, submission))
        return verdicts

    def verify_each(self, items: Iterable[tuple[Task, JSON]]) -> Iterator[tuple[int, Verdict]]:
        """Yield each verdict as soon as the service has it, with its place among `items`; `BATCH` to a
        request."""
        rest = list(items)
        for start in range(0, len(rest), BATCH):
            part = rest[start : start + BATCH]
            for found in self.client.verify_each(self.id, part, params=self._given):
                yield start + found.index, self._stamped(found.verdict, *part[found.index])

    @property
    def address(self) -> tuple[str, str, bytes]:
        """Return service, id and parameters: equal for verifiers that judge alike."""
        return self.client.url, self.id, to_json(self._given)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self.client.close()

    def _stamped(self, verdict: Verdict, task: Task, submission: JSON) -> Verdict:
        """Add verifier and digest, as far as known, to a fault found on this side."""
        if verdict.verifier:
            if self._info is not None and verdict.verifier != self.name:
                self._info = None  # the service was updated; ask again when needed
            return verdict
        if verdict.fault and verdict.reason == "not_json":
            return replace(verdict, verifier=self.name)
        if verdict.fault and self._info is None:  # the service may be away
            return replace(verdict, verifier=self.id)
        return verdict.stamped(self.name, self.digest(task, submission))
