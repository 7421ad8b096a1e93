"""A pool of worker processes that judge, each call under a deadline that kills (law 5).

    with VerifierPool(workers=2) as pool:
        verdict = pool.verify("math/countdown", task, reply, timeout_s=5.0)

Verdicts and digests are those of an in-process call. What can only happen here:

- no verdict within `timeout_s`: the worker is killed, status `timeout`
- a worker that dies while it judges: one more try on a fresh worker, then status `infra`
- a full queue for longer than `wait_s`: PoolBusy, nothing was judged
- the caller's `deadline` passes: status `timeout`, and what was not begun is not begun
- the pool is closed or the call taken back (`cancel`) meanwhile: status `cancelled`
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import copy
import math
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self

from typing_extensions import override

from verigym.canonical import JSON, to_json
from verigym.errors import RequestError
from verigym.sandbox.workers.spawner import Spawner
from verigym.task import Task
from verigym.verdict import Verdict
from verigym.verifiers.cache import VerdictCache
from verigym.verifiers.pool_calls import PoolBusy, PoolCalls
from verigym.verifiers.pool_messages import Loaded
from verigym.verifiers.pool_queue import HasRoom, PoolQueue, has_room
from verigym.verifiers.pool_requests import (
    JudgeRequest,
    PoolCall,
    RequestTimings,
    call_of,
    closed,
    digest_of,
    late,
    settle,
)
from verigym.verifiers.pool_slot import PoolSlot

__all__ = ["PoolBusy", "PoolClosed", "RequestTimings", "VerifierPool"]

_SMOOTHING = 0.1
"""Weight of the latest call in the average time of a call."""

_STREAMED = 4
"""Calls in a request whose verdicts are streamed: few are judged in vain if the caller leaves."""


class PoolClosed(RequestError):
    """Raised if the pool is used after `close`."""


class VerifierPool(PoolCalls):
    """Pool of `workers` processes (None: one per core) that judge for any number of threads and
    event loops.

    `timeout_s` bounds the judging of one submission unless a call sets another limit;
    `load_timeout_s` bounds the first import and construction of a verifier. At most `max_queue`
    calls wait for a worker; callers beyond that wait in turn (`wait_s`). Verifiers named in
    `preload` are imported in advance, once for all workers. A `cache` answers for submissions
    judged before; it may be shared with other pools, and its creator closes it. `watch` is called
    after every request to a worker, from any thread, in the context of the caller: it must be quick
    and must not raise. Workers are served on `loop`, which must run as long as the pool; without one the pool
    runs its own loop in a thread, and each call pays for two thread switches. A pool cannot be
    used in a process forked from the one that made it.

    Workers get the environment variables of this process except those that hold keys or passwords;
    `keep_env` names variables that they get nevertheless. `sql_engines`, URLs by name, is for
    pools that judge for others: with it, `sql/query` connects to these databases only. Calls name
    a `lane` if several callers share the pool: lanes take turns (pool_queue.py), and `has_room`
    decides how much of the queue one lane may fill.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        timeout_s: float = 30.0,
        load_timeout_s: float = 60.0,
        max_queue: int = 1024,
        preload: Sequence[str] = (),
        cache: VerdictCache | None = None,
        watch: Callable[[RequestTimings], None] | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
        sql_engines: Mapping[str, str] | None = None,
        keep_env: Collection[str] = (),
        has_room: HasRoom = has_room,
    ) -> None:
        workers = workers if workers is not None else os.cpu_count() or 1
        for name, value in (
            ("workers", workers),
            ("timeout_s", timeout_s),
            ("load_timeout_s", load_timeout_s),
            ("max_queue", max_queue),
        ):
            if not value > 0:
                raise RequestError(f"{name} must be above 0, got {value}")
        self.timeout_s = timeout_s
        self.load_timeout_s = load_timeout_s
        self.max_queue = max_queue
        self.workers = workers
        self.cache = cache
        self.watch = watch
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._room = threading.Condition(self._lock)
        self._call_s = 0.0
        """Average time that a worker takes for one call, in seconds."""
        self._queue = PoolQueue()
        self._has_room = has_room
        self._closed = False
        self._known: dict[bytes, Loaded] = {}
        grants = None if sql_engines is None else {"sql_engines": dict(sql_engines)}
        self._spawner = Spawner("verigym.verifiers.worker", preload, grants, keep_env)
        self._thread: threading.Thread | None = None
        if loop is None:
            loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=loop.run_forever, name="pool", daemon=True)
            self._thread.start()
        self._loop = loop
        self._slots = [
            PoolSlot(loop, self._spawner, self._known, load_timeout_s, self._on_free)
            for _ in range(workers + 1)  # the last one to spare: see pool_queue.py
        ]
        self._idle = list(reversed(self._slots))
        self._is_assigning = False
        self._clock: asyncio.TimerHandle | None = None
        self._soonest = math.inf
        """Time of the next timer, in `time.monotonic` seconds."""
        atexit.register(self.close)

    @override
    def submit(
        self,
        verifier: str,
        items: Sequence[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
        deadline: float = math.inf,
        lane: str = "",
        on_verdict: Callable[[int, Verdict], None] | None = None,
    ) -> list[Future[list[Verdict]]]:
        timeout_s = self.timeout_s if timeout_s is None else timeout_s
        if not timeout_s > 0:
            raise RequestError(f"timeout_s must be above 0, got {timeout_s}")
        if len(items) > self.max_queue:
            raise RequestError(
                f"{len(items)} items are above the queue's limit of {self.max_queue}"
            )
        plain = dict(params or {})
        key = to_json([verifier, plain])
        calls = [call_of(*item, place) for place, item in enumerate(items)]
        if self.cache is not None:
            self._recall(self.cache, key, calls)
        # Two requests a worker: few round trips, and a slow request delays half a share at most.
        size = max(1, -(-len(calls) // (2 * self.workers)))
        if on_verdict is not None:
            size = min(size, _STREAMED)
        requests = [
            JudgeRequest(
                *(verifier, plain, key, calls[start : start + size], timeout_s, on_verdict),
                deadline=deadline,
                lane=lane,
            )
            for start in range(0, len(calls), size)
        ]
        # If every verdict is cached, skip the workers, unless the verifier's name is still unknown.
        known = key in self._known
        rest = [r for r in requests if not (known and all(call.verdict for call in r.calls))]
        self._enqueue(rest, sum(len(request.calls) for request in rest), wait_s)
        for request in requests:
            if request not in rest:
                self._finish(request)
        return [request.done for request in requests]

    @override
    def cancel(self, futures: Sequence[Future[list[Verdict]]]) -> None:
        wanted = set(futures)
        with self._lock:
            for request in [request for request in self._queue if request.done in wanted]:
                if request.done.cancel():
                    self._queue.remove(request)
            self._room.notify_all()
        self._on_loop(self._cancel, wanted)

    def look(self) -> None:
        """Handle the workers' answers received so far and send them more. Only on the pool's loop.

        A loop with hundreds of requests to read comes back to a worker only after all of them, and
        leaves it idle until then; a reader can call this in between. It costs a microsecond.
        """
        for slot in self._slots:
            if slot.request is not None:
                slot.read()

    def describe(self, verifier: str, params: Mapping[str, JSON] | None = None) -> dict[str, Any]:
        """Return `Verifier.describe()`, asked of a worker. Raises RequestError if the verifier
        cannot be made."""
        plain = dict(params or {})
        key = to_json([verifier, plain])
        if key not in self._known:
            request = JudgeRequest(verifier, plain, key, [], self.timeout_s)
            self._enqueue([request], 0, None)
            request.done.result()
        ready = self._known.get(key)
        if ready is None:
            raise RequestError(f"verifier {verifier!r} could not be loaded; see the log")
        return copy.deepcopy(ready.description)

    @property
    def waiting(self) -> int:
        """Number of calls in the queue that no worker has taken yet."""
        return self._queue.calls

    @property
    def delay_s(self) -> float:
        """Approximate time that a new call would wait for a worker, in seconds."""
        return self.waiting * self._call_s / self.workers

    def delay_of(self, lane: str) -> float:
        """Return the same for a call of `lane`, which takes turns with the others."""
        turns = self._queue.calls_of[lane] * max(1, self._queue.n_lanes)
        return min(self.waiting, turns) * self._call_s / self.workers

    def waiting_of(self, lane: str) -> int:
        """Return the number of waiting calls of one lane."""
        return self._queue.calls_of[lane]

    def has_room(self, lane: str, n: int = 1) -> bool:
        """Tell if `n` calls of `lane` could be put into the queue now."""
        own = self._queue.calls_of[lane]
        return self._has_room(own, self.waiting, self.max_queue, n)

    def worker_pids(self) -> list[int]:
        """Return the pids of the running workers; fewer than `workers` if some have not started
        yet."""
        return [slot.pid for slot in self._slots if slot.pid]

    def worker_counts(self) -> dict[str, int]:
        """Return the number of workers started, killed at a deadline, and dead, since the pool was
        made."""
        return {
            "started": sum(slot.started for slot in self._slots),
            "killed": sum(slot.killed for slot in self._slots),
            "died": sum(slot.died for slot in self._slots),
        }

    def close(self) -> None:
        """Stop the pool; calls in progress end as `cancelled`. No process is left when this
        returns."""
        if os.getpid() != self._owner:
            return  # a forked copy owns none of the processes
        with self._lock:
            first, self._closed = not self._closed, True
            self._room.notify_all()
        self._spawner.close()
        if first and (self._thread is not None or self._loop.is_running()):
            done: Future[None] = Future()
            self._on_loop(self._end_slots, done)
            done.result()
        elif first:  # a loop that ran until its program ended
            self._end_slots(Future())
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._thread = None
        atexit.unregister(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _recall(self, cache: VerdictCache, key: bytes, calls: Sequence[PoolCall]) -> None:
        """Give calls their cached verdicts; none before a worker has reported the version."""
        ready = self._known.get(key)
        if ready is None:
            return
        for call in calls:
            if call.verdict is None:
                call.verdict = cache.get(digest_of(ready, call))
                call.recalled = call.verdict is not None

    # The queue, in any thread.

    def _enqueue(self, requests: list[JudgeRequest], n_calls: int, wait_s: float | None) -> None:
        if os.getpid() != self._owner:
            raise RequestError("this pool belongs to the process before the fork; make another")
        with self._room:
            lane = requests[0].lane if requests else ""
            found_room = self._room.wait_for(
                lambda: self._closed or not n_calls or self.has_room(lane, n_calls), wait_s
            )
            if self._closed:
                raise PoolClosed("the pool is closed")
            if not found_room:
                raise PoolBusy(f"{self.waiting} calls are waiting, the limit is {self.max_queue}")
            for request in requests:
                self._queue.add(request)
        if requests:
            self._on_loop(self._assign, requests[0].deadline)

    def _on_loop(self, act: Callable[..., None], *given: Any) -> None:
        """Run `act` on the pool's loop: now if this is the loop's thread, else soon."""
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            act(*given)
        else:
            with contextlib.suppress(RuntimeError):  # closed, and all is settled
                self._loop.call_soon_threadsafe(act, *given)

    # On the loop.

    def _assign(self, deadline: float = math.inf) -> None:
        """Give waiting requests to idle workers; `deadline` is the earliest of the new ones."""
        if deadline < self._soonest:
            self._set_clock(deadline)
        if self._is_assigning:  # by a request that ended while it was assigned
            return
        self._is_assigning = True
        try:
            # What is left when the pool closes is settled by `_end_slots`.
            while self._idle and not self._closed:
                request = self._next(spare=len(self._idle) == 1)
                if request is None:
                    break
                self._queue.start(request)
                self._idle.pop().take(request)
        finally:
            self._is_assigning = False

    def _next(self, *, spare: bool = False) -> JudgeRequest | None:
        """Return the next request that a caller still waits for."""
        with self._lock:
            while (request := self._queue.next(spare=spare)) is not None:
                self._room.notify_all()
                if request.done.set_running_or_notify_cancel():
                    return request
        return None

    def _on_free(self, slot: PoolSlot, request: JudgeRequest, error: BaseException | None) -> None:
        """Free `slot`, which has finished `request`."""
        if request.calls:
            took_s = (time.monotonic() - request.taken) / len(request.calls)
            self._call_s += _SMOOTHING * (took_s - self._call_s)
        self._idle.append(slot)
        self._queue.finish(request)
        if error is not None:
            request.done.set_exception(error)
        else:
            self._finish(request)
        self._assign()

    def _finish(self, request: JudgeRequest) -> None:
        """Hand over the verdicts, from any thread."""
        try:
            request.stamp(self._known.get(request.key))
            verdicts = [call.verdict for call in request.calls if call.verdict is not None]
            for call, verdict in zip(request.calls, verdicts, strict=True):
                if self.cache is not None and not call.recalled:
                    self.cache.put(verdict)
                if request.on_verdict is not None and not call.reported:
                    request.on_verdict(call.place, verdict)
            if self.watch is not None and verdicts:
                request.context.run(self.watch, request.timings(verdicts))
        except Exception as error:  # noqa: BLE001
            # A bug in who watches or keeps: the caller sees it, who would else wait for ever.
            request.done.set_exception(error)
        else:
            request.done.set_result(verdicts)

    def _set_clock(self, at: float) -> None:
        if self._clock is not None:
            self._clock.cancel()
        self._soonest = at
        self._clock = self._loop.call_later(max(0.0, at - time.monotonic()), self._expire)

    def _expire(self) -> None:
        """Settle requests in the queue as soon as their deadline passes."""
        self._clock, self._soonest = None, math.inf
        now = time.monotonic()
        with self._lock:
            past = [request for request in self._queue if request.deadline <= now]
            for request in past:
                self._queue.remove(request)
            soonest = min((request.deadline for request in self._queue), default=math.inf)
            self._room.notify_all()
        if soonest < math.inf:
            self._set_clock(soonest)
        for request in past:
            if request.done.set_running_or_notify_cancel():
                settle(request.calls, late())
                self._finish(request)

    def _cancel(self, wanted: set[Future[list[Verdict]]]) -> None:
        for slot in self._slots:
            if slot.request is not None and slot.request.done in wanted:
                slot.cancel()

    def _end_slots(self, done: Future[None]) -> None:
        """Settle everything that is left; the workers are gone."""
        if self._clock is not None:
            self._clock.cancel()
        for slot in self._slots:
            slot.close()
        while (request := self._next()) is not None:
            settle(request.calls, closed())
            self._finish(request)
        done.set_result(None)
