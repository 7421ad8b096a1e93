"""`RemoteVerifier`: a verifier of a service, where an environment asks for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from verigym.canonical import JSON
from verigym.client.blocking import Client
from verigym.errors import RequestError, suggestion
from verigym.service import VerifierInfo
from verigym.task import Task
from verigym.verdict import Verdict
from verigym.verifier import Verifier

BATCH = 64
"""Submissions in one request of `RemoteVerifier.verify_batch`."""


class RemoteVerifier(Verifier):
    """A verifier of a service, used as one of this process: equal verdicts, equal digests.

    `version` and `params` are the service's own, asked for when first needed (VerifierFault where it
    is away). Verdicts carry the version of the service that gave them, so one that differs from the
    version installed here shows in `Verdict.verifier`. Evidence of faults differs from in process:
    the service keeps it in its log.
    """

    def __init__(
        self,
        url: str,
        id: str,
        *,
        params: Mapping[str, JSON] | None = None,
        key: str | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        # Not super().__init__: which parameters there are is known to the service only.
        self.id = id  # type: ignore[misc]  # of the instance here, of the class elsewhere
        self.client = Client(url, key=key, timeout_s=timeout_s)
        self._given = dict(params or {})
        self._info: VerifierInfo | None = None

    @property
    def version(self) -> int:  # type: ignore[override]
        """The service's version of the verifier."""
        return self.info().version

    @property
    def params(self) -> dict[str, JSON]:  # type: ignore[override]
        """All parameters, the service's defaults included."""
        return {**self.info().params, **self._given}

    @property
    def about(self) -> str:  # type: ignore[override]
        """One line for people."""
        return self.info().about

    @property
    def evidence(self) -> str:  # type: ignore[override]
        """What the score rests on."""
        return self.info().evidence

    @property
    def weights(self) -> dict[str, float]:  # type: ignore[override]
        """The parts of a verdict and what they count."""
        return self.info().weights

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the parameters."""
        return self.info().schema

    def info(self) -> VerifierInfo:
        """What the service lists. RequestError if it has no such verifier, VerifierFault if away."""
        if self._info is None:
            known = {info.id: info for info in self.client.verifiers()}
            if self.id not in known:
                raise RequestError(
                    f"{self.client.url} has no verifier {self.id!r}; {suggestion(self.id, known)}"
                )
            self._info = known[self.id]
        return self._info

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """As `verify`."""
        return self.verify(task, submission)

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """Have the service judge. RequestError where it refuses verifier, parameters or key."""
        verdict = self.client.verify(self.id, task, submission, params=self._given)
        return self._stamped(verdict, task, submission)

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """`verify` for each pair, in order, many to a request."""
        verdicts: list[Verdict] = []
        rest = list(items)
        for start in range(0, len(rest), BATCH):
            part = rest[start : start + BATCH]
            answers = self.client.verify_batch(self.id, part, params=self._given)
            for (task, submission), verdict in zip(part, answers, strict=True):
                verdicts.append(self._stamped(verdict, task, submission))
        return verdicts

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self.client.close()

    def _stamped(self, verdict: Verdict, task: Task, submission: JSON) -> Verdict:
        """Name verifier and digest on a fault found on this side, as far as they are known here."""
        if verdict.verifier:
            if self._info is not None and verdict.verifier != self.name:
                self._info = None  # the service was updated; ask again when needed
            return verdict
        if verdict.fault and verdict.reason == "not_json":
            return replace(verdict, verifier=self.name)
        if verdict.fault and self._info is None:  # the service may be away
            return replace(verdict, verifier=self.id)
        return verdict.stamped(self.name, self.digest(task, submission))
