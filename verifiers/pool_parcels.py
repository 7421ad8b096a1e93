"""What a pool's callers ask for: calls, and the parcels in which they go to a worker together."""

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
from verigym.verifiers.wire import Item, Ready


@dataclass
class Call:
    """One submission to judge, and what became of it."""

    task: Task
    submission: JSON
    raw: bytes = b""
    """Both as the worker reads them."""
    place: int = 0
    """Among the items that came together."""
    told: bool = False
    verdict: Verdict | None = None
    deaths: int = 0
    recalled: bool = False
    """Whether the verdict came from the cache."""
    seconds: float = 0.0
    """What a worker took over it."""


@dataclass(eq=False)
class Parcel:
    """Calls of one verifier that go to one worker together; `calls` may be empty to describe."""

    verifier: str
    params: dict[str, JSON]
    key: bytes
    calls: list[Call]
    timeout_s: float
    tell: Callable[[int, Verdict], None] | None = None
    """Gets each verdict with its place as soon as it is there, in the thread that has it."""
    deadline: float = math.inf
    """Of `time.monotonic`: when the caller stops waiting."""
    lane: str = ""
    """Whose it is, where several callers share the pool."""
    cancelled: bool = False
    done: Future[list[Verdict]] = field(default_factory=Future)
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    """The caller's, for who watches."""
    queued: float = field(default_factory=time.monotonic)
    taken: float = 0.0

    def stamp(self, ready: Ready | None) -> None:
        """Give the faults that the pool found the name and digest that the verifier would have."""
        for call in self.calls:
            verdict = call.verdict
            assert verdict is not None
            if verdict.verifier:
                continue
            name, digest = self.verifier, ""
            if ready is not None:
                name = f"{ready.description['id']}@{ready.description['version']}"
                with contextlib.suppress(RequestError):  # no plain data, no digest
                    digest = digest_of(ready, call)
            call.verdict = verdict.stamped(name, digest)

    def trip(self, verdicts: Sequence[Verdict]) -> Trip:
        """How it fared, now that it has ended with `verdicts`."""
        return Trip(
            *(self.verifier, self.queued, self.taken, time.monotonic()),
            *(verdicts, [call.seconds for call in self.calls]),
        )


@dataclass(frozen=True)
class Trip:
    """How calls that went to a worker together fared; times are of `time.monotonic`, in seconds.

    `seconds` are what a worker took over each verdict: 0 where it came from the cache or none saw it.
    """

    verifier: str
    queued: float
    taken: float
    """When a worker began; 0 where none did."""
    ended: float
    verdicts: Sequence[Verdict]
    seconds: Sequence[float]


def call_of(task: Task, submission: JSON, place: int) -> Call:
    """Ready to be sent, or with the verdict that `Verifier.verify` gives where it cannot be."""
    refused = refusal(submission)
    try:
        if refused is not None:
            to_json(task)
            return Call(task, submission, place=place, verdict=refused)
        return Call(task, submission, to_json(Item(task, submission)), place)
    except RequestError as error:
        unfit = fault(Status.VERIFIER_ERROR, "not_json", str(error))
        return Call(task, submission, place=place, verdict=unfit)


def digest_of(ready: Ready, call: Call) -> str:
    """The digest of the call's verdict. Raises RequestError for what is no plain data."""
    card = ready.description
    return identity(card["id"], card["version"], card["params"], call.task, call.submission)


def settle(calls: Iterable[Call], verdict: Verdict) -> None:
    """Give `verdict` to those that have none."""
    for call in calls:
        if call.verdict is None:
            call.verdict = verdict


def closed() -> Verdict:
    """For what the pool's end left without a verdict."""
    return fault(Status.CANCELLED, "pool_closed", "the pool was closed before there was a verdict")


def late() -> Verdict:
    """For what its caller no longer waits for."""
    return fault(Status.TIMEOUT, "deadline", "no verdict before the caller's own deadline")
