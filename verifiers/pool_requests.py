"""Calls that a pool's callers make, and the requests in which they go to a worker together."""

from __future__ import annotations

import contextlib
import contextvars
import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from verigym.canonical import JSON, to_json
from verigym.errors import RequestError
from verigym.submission import identity, refusal
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault
from verigym.verifiers.pool_messages import Loaded, PoolItem


@dataclass
class PoolCall:
    """One submission to judge, with its verdict and history."""

    task: Task
    submission: JSON
    raw: bytes = b""
    """Task and submission as the worker reads them."""
    place: int = 0
    """Index among the items sent together."""
    reported: bool = False
    """True if `on_verdict` has had the verdict."""
    verdict: Verdict | None = None
    blame: int = 0
    """Blame for the death of workers."""
    recalled: bool = False
    """True if the verdict came from the cache."""
    seconds: float = 0.0
    """Time that a worker took for it, in seconds."""


@dataclass(eq=False)
class JudgeRequest:
    """Calls of one verifier that go to one worker together; empty to ask for its description."""

    verifier: str
    params: dict[str, JSON]
    key: bytes
    calls: list[PoolCall]
    timeout_s: float
    on_verdict: Callable[[int, Verdict], None] | None = None
    """Callback that receives each verdict with its place as soon as it is ready, in whichever
    thread has it."""
    deadline: float = math.inf
    """Time at which the caller stops waiting, in `time.monotonic` seconds."""
    lane: str = ""
    """Lane of the caller, if several callers share the pool."""
    cancelled: bool = False
    done: Future[list[Verdict]] = field(default_factory=Future)
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    """Context of the caller, for `watch`."""
    queued: float = field(default_factory=time.monotonic)
    taken: float = 0.0

    def stamp(self, loaded: Loaded | None) -> None:
        """Stamp the pool's own faults with the name and digest that the verifier would give."""
        for call in self.calls:
            verdict = call.verdict
            assert verdict is not None
            if verdict.verifier:
                continue
            name, digest = self.verifier, ""
            if loaded is not None:
                name = f"{loaded.description['id']}@{loaded.description['version']}"
                with contextlib.suppress(RequestError):  # no plain data, no digest
                    digest = digest_of(loaded, call)
            call.verdict = verdict.stamped(name, digest)

    def timings(self, verdicts: Sequence[Verdict]) -> RequestTimings:
        """Return the timings of the request, now that it has ended with `verdicts`."""
        return RequestTimings(
            *(self.verifier, self.queued, self.taken, time.monotonic()),
            *(verdicts, [call.seconds for call in self.calls]),
        )


@dataclass(frozen=True)
class RequestTimings:
    """Timings of calls that went to a worker together; times are of `time.monotonic`, in seconds.

    `seconds` holds the worker's time for each verdict: 0 if it came from the cache or no worker
    saw it.
    """

    verifier: str
    queued: float
    taken: float
    """Time at which a worker began; 0 if none did."""
    ended: float
    verdicts: Sequence[Verdict]
    seconds: Sequence[float]


def call_of(task: Task, submission: JSON, place: int) -> PoolCall:
    """Return a call ready to be sent, or one with the verdict that `Verifier.verify` gives if it
    cannot be sent."""
    refused = refusal(submission)
    try:
        if refused is not None:
            to_json(task)
            return PoolCall(task, submission, place=place, verdict=refused)
        return PoolCall(task, submission, to_json(PoolItem(task, submission)), place)
    except RequestError as error:
        unfit = fault(Status.VERIFIER_ERROR, "not_json", str(error))
        return PoolCall(task, submission, place=place, verdict=unfit)


def digest_of(loaded: Loaded, call: PoolCall) -> str:
    """Return the digest of the call's verdict. Raises RequestError for a value that is not plain
    data."""
    card = loaded.description
    return identity(card["id"], card["version"], card["params"], call.task, call.submission)


def settle(calls: Iterable[PoolCall], verdict: Verdict) -> None:
    """Give `verdict` to the calls that have none."""
    for call in calls:
        if call.verdict is None:
            call.verdict = verdict


def closed() -> Verdict:
    """Return the fault for calls without a verdict when the pool is closed."""
    return fault(Status.CANCELLED, "pool_closed", "the pool was closed before there was a verdict")


def late() -> Verdict:
    """Return the fault for calls that their caller no longer waits for."""
    return fault(Status.TIMEOUT, "deadline", "no verdict before the caller's own deadline")
