"""The protocol between a verifier service and its clients: bodies, answers, and what may be retried.

Nothing here sends; `verigym.client` does.
"""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from verigym.canonical import JSON, to_json
from verigym.errors import RequestError
from verigym.submission import refusal
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault

ATTEMPTS = 4
"""Maximum number of attempts per request; if the service is busy, only the timeout limits them."""

_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 2.0


@dataclass(frozen=True, kw_only=True)
class VerifierInfo:
    """A verifier as the service lists it; the fields of `Verifier.describe`."""

    id: str
    version: int
    params: dict[str, Any]
    """The parameters with their defaults."""
    about: str = ""
    schema: dict[str, Any] = field(default_factory=dict)
    """JSON Schema of the parameters."""
    evidence: str = ""
    weights: dict[str, float] = field(default_factory=dict)


class _Verifiers(msgspec.Struct):
    verifiers: list[VerifierInfo]


class _Verdicts(msgspec.Struct):
    verdicts: list[Verdict]


class _ErrorDetail(msgspec.Struct):
    message: str
    where: str = ""
    code: str = ""


class _Error(msgspec.Struct):
    error: _ErrorDetail


class ServiceRefusal(RequestError):
    """The service refused the request as the caller's mistake; `code` is the service's error code."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Failed(Exception):
    """One attempt gave no usable answer.

    `again`: a retry may help; `busy`: the service is busy, so a retry will help; `unsent`: the service
    cannot have acted on the request, so a retry repeats nothing.
    """

    def __init__(
        self,
        status: Status,
        reason: str,
        evidence: str,
        *,
        again: bool = False,
        busy: bool = False,
        unsent: bool = False,
        pause_s: float = 0.0,
    ) -> None:
        super().__init__(evidence)
        self.verdict = fault(status, reason, evidence)
        self.unsent = unsent or busy
        self._again = again
        self._busy = busy
        self._pause_s = pause_s

    def pause(self, attempt: int, left_s: float, *, repeat: bool = True) -> float | None:
        """Return the seconds to wait before attempt number `attempt` + 1; None to give up.

        `repeat`: True if the request may be sent again although the service may have acted on it.
        """
        if not (self._busy or (self._again and attempt < ATTEMPTS)):
            return None
        if not (repeat or self.unsent):
            return None
        backoff_s = min(_FIRST_PAUSE_S * 2.0 ** min(attempt - 1, 10), _LONGEST_PAUSE_S)
        # Full jitter: clients that failed together must not come back together. Not the task's
        # randomness, so law 2 is not concerned.
        # Source: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
        pause_s = self._pause_s + random.uniform(0.0, backoff_s)
        return pause_s if pause_s < left_s else None


def bad_answer(what: str) -> Failed:
    """Return the failure for an answer that is not from a verifier service."""
    evidence = f"the address does not answer like a verifier service: {what}"
    return Failed(Status.INFRA, "bad_answer", evidence)


def broken(what: str) -> Failed:
    """Return the failure for an answer that ended early; a retry may help."""
    return Failed(Status.INFRA, "unreachable", f"the answer broke off: {what}", again=True)


def judging_time(timeout_s: float) -> float:
    """Return the share of `timeout_s` for the service, so that its own verdict `timeout` still arrives."""
    return timeout_s - min(1.0, 0.1 * timeout_s)


@dataclass
class VerdictBatch:
    """Submissions for one verifier and their verdicts; submissions that are not JSON are judged here."""

    verifier: str
    bodies: list[msgspec.Raw] = field(default_factory=list)
    verdicts: list[Verdict | None] = field(default_factory=list)

    @staticmethod
    def of(
        verifier: str,
        items: Iterable[tuple[Task, JSON]],
        params: Mapping[str, JSON] | None,
        timeout_s: float,
    ) -> VerdictBatch:
        """Build the batch. Raises RequestError for params that are not JSON."""
        batch = VerdictBatch(verifier)
        fixed: dict[str, Any] = {"verifier": verifier, "timeout_s": judging_time(timeout_s)}
        if params:
            to_json(params)  # refuses what JSON cannot hold, which is no fault of a submission
            fixed["params"] = params
        for task, submission in items:
            verdict = refusal(submission)
            try:
                if verdict is None:
                    body = to_json({**fixed, "task": task, "submission": submission})
                    batch.bodies.append(msgspec.Raw(body))
                else:
                    to_json(task)
            except RequestError as error:
                verdict = fault(Status.VERIFIER_ERROR, "not_json", str(error))
            # Where there is one, it is what `Verifier.verify` gives.
            batch.verdicts.append(verdict)
        return batch

    def body(self) -> bytes:
        """Return the body for POST /v1/verify/batch."""
        return msgspec.json.encode({"items": self.bodies})

    def fill(self, answers: Sequence[Verdict]) -> list[Verdict]:
        """Return all verdicts in order, with `answers` in the places of the submissions sent."""
        left = iter(answers)
        return [verdict if verdict is not None else next(left) for verdict in self.verdicts]

    def fail(self, failed: Failed) -> list[Verdict]:
        """Return all verdicts in order, with a fault for every submission sent."""
        return self.fill([failed.verdict] * len(self.bodies))


@dataclass(frozen=True)
class GroupBatch:
    """Submissions to judge together, and the verdicts on those that JSON cannot hold.

    The service judges an empty text in the place of such a one.
    """

    verifier: str
    body: bytes
    refused: list[Verdict | None]

    @staticmethod
    def of(
        verifier: str,
        of: str | Mapping[str, JSON],
        task: Task,
        submissions: Sequence[JSON],
        params: Mapping[str, JSON] | None,
        timeout_s: float,
    ) -> GroupBatch:
        """Build the batch. Raises RequestError for parameters or a task that JSON cannot hold."""
        refused = [refusal(one) for one in submissions]
        body = to_json(
            {
                "verifier": verifier,
                "of": {"verifier": of} if isinstance(of, str) else of,
                "params": params or {},
                "task": task,
                "submissions": [
                    "" if unfit else one for unfit, one in zip(refused, submissions, strict=True)
                ],
                "timeout_s": judging_time(timeout_s),
            }
        )
        return GroupBatch(verifier, body, refused)

    def read(self, answer: bytes) -> list[Verdict]:
        """Decode the answer of POST /v1/verify/group. Raises Failed if it is malformed."""
        verdicts = read_verdicts(answer, self.verifier, len(self.refused))
        return [
            verdict if unfit is None else unfit.stamped(verdict.verifier, "")
            for unfit, verdict in zip(self.refused, verdicts, strict=True)
        ]

    def fail(self, failed: Failed) -> list[Verdict]:
        """Return a fault for every submission."""
        return [unfit or failed.verdict for unfit in self.refused]


def read_answer(status: int, headers: Mapping[str, str], body: bytes) -> bytes:
    """Return the body of a successful answer. Raises RequestError for the caller's mistake, else Failed."""
    if 200 <= status < 300:
        return body
    try:
        detail = msgspec.json.decode(body, type=_Error).error
        said = f"{detail.message} (at {detail.where})" if detail.where else detail.message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        said = ""
    if status in (408, 429) or status >= 500:
        evidence = f"the service answered {status}: {said}".rstrip(": ")
        raise Failed(
            Status.INFRA,
            f"http_{status}",
            evidence,
            again=True,
            busy=status == 429,
            pause_s=_seconds(headers.get("retry-after", "")),
        )
    if 400 <= status < 500 and said:
        raise ServiceRefusal(f"the verifier service refused the request: {said}", detail.code)
    raise bad_answer(f"status {status}")


def read_verdict(answer: bytes, verifier: str) -> Verdict:
    """Decode the answer of POST /v1/verify. Raises Failed if it is not a verdict of `verifier`."""
    try:
        verdict = msgspec.json.decode(answer, type=Verdict)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise bad_answer(str(error)) from error
    return checked(verdict, verifier)


def read_verdicts(answer: bytes, verifier: str, count: int) -> list[Verdict]:
    """Decode the answer of POST /v1/verify/batch. Raises Failed if it is not `count` verdicts."""
    try:
        verdicts = msgspec.json.decode(answer, type=_Verdicts).verdicts
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise bad_answer(str(error)) from error
    if len(verdicts) != count:
        raise bad_answer(f"{len(verdicts)} verdicts for {count} submissions")
    return [checked(verdict, verifier) for verdict in verdicts]


def read_infos(answer: bytes) -> list[VerifierInfo]:
    """Decode the answer of GET /v1/verifiers. Raises Failed if it is malformed."""
    try:
        return msgspec.json.decode(answer, type=_Verifiers).verifiers
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise bad_answer(str(error)) from error


def read_health(answer: bytes) -> dict[str, Any]:
    """Decode the answer of GET /healthz. Raises Failed if it is malformed."""
    try:
        return msgspec.json.decode(answer, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise bad_answer(str(error)) from error


def checked(verdict: Verdict, verifier: str) -> Verdict:
    """Return `verdict`. Raises Failed if another verifier gave it."""
    if verdict.verifier.partition("@")[0] != verifier:
        raise bad_answer(f"a verdict of {verdict.verifier!r} for {verifier!r}")
    return verdict


def _seconds(text: str) -> float:
    """Return a Retry-After header, in either of its forms, as seconds from now; 0 if it is missing."""
    if text.isascii() and text.isdecimal() and len(text) < 5:
        return float(text)
    try:
        until = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    return min(max(0.0, until.timestamp() - time.time()), 9999.0)
