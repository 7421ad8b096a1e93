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
import contextvars
import copy
import functools
import logging
import math
import os
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

import msgspec

from verigym.canonical import JSON, to_json
from verigym.errors import RequestError, VerigymError
from verigym.submission import identity, refusal
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault
from verigym.verifiers.cache import VerdictCache
from verigym.verifiers.forkserver import ForkServer
from verigym.verifiers.wire import Broken, Channel, Item, Judged, Ready, Refused, SentAsk

_log = logging.getLogger(__name__)

_MAX_LOST_EARLY = 4
"""Workers that may die while they load a verifier."""
_SMOOTHING = 0.1
"""Weight of the latest call in the average of what one takes."""

_STREAMED = 4
"""Calls in a parcel whose verdicts are wanted one by one: few are judged for a caller who left."""


class PoolBusy(VerigymError):
    """The queue of a pool stayed full; nothing was judged, so try again later."""


class PoolClosed(RequestError):
    """The pool was asked after `close`."""


@dataclass
class _Call:
    task: Task
    submission: JSON
    raw: bytes = b""
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
class _Parcel:
    """Calls of one verifier that go to one worker together; `calls` may be empty to describe."""

    verifier: str
    params: dict[str, JSON]
    key: bytes
    calls: list[_Call]
    timeout_s: float
    tell: Callable[[int, Verdict], None] | None = None
    """Gets each verdict with its place as soon as it is there, in the thread that has it."""
    deadline: float = math.inf
    """Of `time.monotonic`: when the caller stops waiting."""
    cancelled: bool = False
    done: Future[list[Verdict]] = field(default_factory=Future)
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    """The caller's, for `watch`."""
    queued: float = field(default_factory=time.monotonic)
    taken: float = 0.0


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


class VerifierPool:
    """`workers` processes (None: one a core) that judge for any number of threads and event loops.

    `timeout_s` bounds the judging of one submission unless a call says otherwise, `load_timeout_s`
    the first import and making of a verifier. At most `max_queue` calls wait for a worker; callers
    beyond that wait in turn (`wait_s`). Verifiers named in `preload` are imported ahead, once for all
    workers. A `cache` answers for what was judged before; it may be shared with other pools, and is
    closed by who made it. `watch` is told of every trip, by any thread, in the context of the caller:
    it must be quick and not raise. Not usable in a process forked from the one that made it.
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
        watch: Callable[[Trip], None] | None = None,
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
        self._work = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)
        self._clock = threading.Condition(self._lock)
        self._soonest = math.inf
        """When the clock thread looks next."""
        self._call_s = 0.0
        """What a worker takes over one call, averaged."""
        self._queue: deque[_Parcel] = deque()
        self._waiting = 0
        self._closed = False
        self._known: dict[bytes, Ready] = {}
        self._forks = _Forks(preload)
        self._seats = [_Seat(self._forks) for _ in range(workers)]
        self._threads = [
            threading.Thread(target=self._serve, args=(seat,), name=f"pool-{i}", daemon=True)
            for i, seat in enumerate(self._seats)
        ]
        self._threads.append(threading.Thread(target=self._expire, name="pool-clock", daemon=True))
        for thread in self._threads:
            thread.start()
        atexit.register(self.close)

    # What everyone calls.

    def verify(
        self,
        verifier: str,
        task: Task,
        submission: JSON,
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
    ) -> Verdict:
        """The verdict on one submission; blocks. RequestError for an unknown id or parameter."""
        items = [(task, submission)]
        return self.verify_batch(
            verifier, items, params=params, timeout_s=timeout_s, wait_s=wait_s
        )[0]

    def verify_batch(
        self,
        verifier: str,
        items: Sequence[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
    ) -> list[Verdict]:
        """Verdicts on `items` in order, judged by all workers; blocks.

        `timeout_s` bounds each item. `wait_s` bounds the wait for room in the queue, None for ever.
        """
        futures = self.submit(verifier, items, params=params, timeout_s=timeout_s, wait_s=wait_s)
        return [verdict for future in futures for verdict in future.result()]

    async def verify_async(
        self,
        verifier: str,
        task: Task,
        submission: JSON,
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
    ) -> Verdict:
        """`verify` that leaves the event loop free. Cancelling it stops the work on it."""
        items = [(task, submission)]
        verdicts = await self.verify_batch_async(
            verifier, items, params=params, timeout_s=timeout_s, wait_s=wait_s
        )
        return verdicts[0]

    async def verify_batch_async(
        self,
        verifier: str,
        items: Sequence[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
        deadline: float = math.inf,
    ) -> list[Verdict]:
        """`verify_batch` that leaves the event loop free. Cancelling it stops the work on it."""
        submit = functools.partial(
            self.submit,
            verifier,
            items,
            params=params,
            timeout_s=timeout_s,
            deadline=deadline,
        )
        try:
            futures = submit(wait_s=0.0)
        except PoolBusy:
            if wait_s is not None and wait_s <= 0:
                raise
            futures = await asyncio.to_thread(submit, wait_s=wait_s)
        try:
            if len(futures) == 1:
                return await asyncio.wrap_future(futures[0])
            answers = await asyncio.gather(*map(asyncio.wrap_future, futures))
        except BaseException:
            self.cancel(futures)
            raise
        return [verdict for verdicts in answers for verdict in verdicts]

    async def verify_each_async(
        self,
        verifier: str,
        items: Sequence[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        deadline: float = math.inf,
    ) -> AsyncGenerator[tuple[int, Verdict], None]:
        """Places in `items` and their verdicts, each as soon as it is there; never waits for room.

        Close it (`contextlib.aclosing`) to stop the work on the rest.
        """
        loop = asyncio.get_running_loop()
        ready: deque[tuple[int, Verdict]] = deque()
        news = asyncio.Event()

        def tell(place: int, verdict: Verdict) -> None:
            ready.append((place, verdict))
            with contextlib.suppress(RuntimeError):  # the loop is closed, so nobody waits
                loop.call_soon_threadsafe(news.set)

        submitted = self.submit(
            *(verifier, items),
            params=params,
            timeout_s=timeout_s,
            wait_s=0.0,
            deadline=deadline,
            tell=tell,
        )
        futures = [asyncio.wrap_future(future) for future in submitted]
        for future in futures:
            future.add_done_callback(lambda _: news.set())
        left = len(items)
        try:
            while True:
                news.clear()
                while ready:
                    left -= 1
                    yield ready.popleft()
                if not left:
                    return
                for future in futures:
                    if future.done():
                        future.result()  # raises where there are to be no verdicts
                await news.wait()
        finally:
            if left:
                self.cancel(submitted)
            for future in futures:
                if not future.cancel() and not future.cancelled():
                    future.exception()  # looked at, or asyncio complains

    def submit(
        self,
        verifier: str,
        items: Sequence[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        wait_s: float | None = None,
        deadline: float = math.inf,
        tell: Callable[[int, Verdict], None] | None = None,
    ) -> list[Future[list[Verdict]]]:
        """Put `items` in the queue; their verdicts, in order, are those of the futures in order.

        What has no verdict at `deadline`, of `time.monotonic`, gets one of status `timeout` then.
        `tell` is called with each place and verdict before its future is done, by some thread and in
        any order; it must be quick and not raise.
        """
        timeout_s = self.timeout_s if timeout_s is None else timeout_s
        if not timeout_s > 0:
            raise RequestError(f"timeout_s must be above 0, got {timeout_s}")
        if len(items) > self.max_queue:
            raise RequestError(
                f"{len(items)} items are above the queue's limit of {self.max_queue}"
            )
        plain = dict(params or {})
        key = to_json([verifier, plain])
        calls = [_call(task, submission) for task, submission in items]
        for place, call in enumerate(calls):
            call.place = place
        if self.cache is not None:
            self._recall(self.cache, key, calls)
        # Two parcels a worker: few round trips, and a slow parcel delays half a share at most.
        size = max(1, -(-len(calls) // (2 * self.workers)))
        if tell is not None:
            size = min(size, _STREAMED)
        parcels = [
            _Parcel(verifier, plain, key, calls[start : start + size], timeout_s, tell, deadline)
            for start in range(0, len(calls), size)
        ]
        # Where all is known already, no worker is needed; but one says what the verifier is called.
        known = key in self._known
        rest = [p for p in parcels if not (known and all(call.verdict for call in p.calls))]
        self._enqueue(rest, sum(len(parcel.calls) for parcel in rest), wait_s)
        for parcel in parcels:
            if parcel not in rest:
                self._finish(parcel)
        return [parcel.done for parcel in parcels]

    def cancel(self, futures: Sequence[Future[list[Verdict]]]) -> None:
        """Stop the work on calls: those that wait leave the queue, those under way their worker."""
        wanted = set(futures)
        with self._lock:
            for parcel in [parcel for parcel in self._queue if parcel.done in wanted]:
                if parcel.done.cancel():
                    self._queue.remove(parcel)
                    self._waiting -= len(parcel.calls)
            self._room.notify_all()
            for seat in self._seats:
                if seat.parcel is not None and seat.parcel.done in wanted:
                    seat.parcel.cancelled = True
                    seat.interrupt()

    def describe(self, verifier: str, params: Mapping[str, JSON] | None = None) -> dict[str, Any]:
        """What `Verifier.describe` gives, asked of a worker. RequestError if it cannot be made."""
        plain = dict(params or {})
        key = to_json([verifier, plain])
        if key not in self._known:
            parcel = _Parcel(verifier, plain, key, [], self.timeout_s)
            self._enqueue([parcel], 0, None)
            parcel.done.result()
        ready = self._known.get(key)
        if ready is None:
            raise RequestError(f"verifier {verifier!r} could not be loaded; see the log")
        return copy.deepcopy(ready.description)

    @property
    def waiting(self) -> int:
        """Calls in the queue that no worker has taken yet."""
        return self._waiting

    @property
    def delay_s(self) -> float:
        """About how long a call that came now would wait for a worker."""
        return self._waiting * self._call_s / self.workers

    def worker_pids(self) -> list[int]:
        """Pids of the workers that run now; fewer than `workers` where one is not started yet."""
        return [seat.pid for seat in self._seats if seat.pid]

    def worker_counts(self) -> dict[str, int]:
        """How many workers were started, killed at a deadline, and died, since the pool was made."""
        return {
            "started": sum(seat.started for seat in self._seats),
            "killed": sum(seat.killed for seat in self._seats),
            "died": sum(seat.died for seat in self._seats),
        }

    def close(self) -> None:
        """Stop; calls under way end as `cancelled`. No process is left when this returns."""
        if os.getpid() != self._owner:
            return  # a forked copy owns none of the processes
        with self._lock:
            self._closed = True
            left = list(self._queue)
            self._queue.clear()
            self._waiting = 0
            self._work.notify_all()
            self._room.notify_all()
            self._clock.notify_all()
        for parcel in left:
            if parcel.done.set_running_or_notify_cancel():
                _set_all(parcel.calls, _cancelled())
                self._finish(parcel)
        self._forks.close()
        for thread in self._threads:
            thread.join()
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

    def _recall(self, cache: VerdictCache, key: bytes, calls: Sequence[_Call]) -> None:
        """Give calls the verdicts that are kept; none before a worker has said the version."""
        ready = self._known.get(key)
        if ready is None:
            return
        for call in calls:
            if call.verdict is None:
                call.verdict = cache.get(_stamp(ready, call))
                call.recalled = call.verdict is not None

    # The queue.

    def _enqueue(self, parcels: list[_Parcel], n_calls: int, wait_s: float | None) -> None:
        if os.getpid() != self._owner:
            raise RequestError("this pool belongs to the process before the fork; make another")
        with self._room:
            has_room = self._room.wait_for(
                lambda: self._closed or self._waiting + n_calls <= self.max_queue, wait_s
            )
            if self._closed:
                raise PoolClosed("the pool is closed")
            if not has_room:
                raise PoolBusy(f"{self._waiting} calls are waiting, the limit is {self.max_queue}")
            self._queue.extend(parcels)
            self._waiting += n_calls
            self._work.notify(len(parcels))
            if parcels and parcels[0].deadline < self._soonest:
                self._clock.notify()

    def _expire(self) -> None:
        """Settle what waits in the queue past its deadline, as soon as that passes."""
        while True:
            with self._clock:
                now = time.monotonic()
                self._soonest = min((p.deadline for p in self._queue), default=math.inf)
                if self._closed:
                    return
                if self._soonest > now:
                    left_s = None if self._soonest == math.inf else self._soonest - now
                    self._clock.wait(left_s)
                    continue
                late = [parcel for parcel in self._queue if parcel.deadline <= now]
                for parcel in late:
                    self._queue.remove(parcel)
                    self._waiting -= len(parcel.calls)
                self._room.notify_all()
            for parcel in late:
                if parcel.done.set_running_or_notify_cancel():
                    _set_all(parcel.calls, _late())
                    self._finish(parcel)

    def _next(self, seat: _Seat) -> _Parcel | None:
        """The next parcel that somebody still waits for; None when the pool closes."""
        while True:
            with self._work:
                self._work.wait_for(lambda: self._closed or bool(self._queue))
                if self._closed:
                    return None
                parcel = self._queue.popleft()
                self._waiting -= len(parcel.calls)
                self._room.notify_all()
                if parcel.done.set_running_or_notify_cancel():
                    parcel.taken = time.monotonic()
                    seat.parcel = parcel
                    return parcel

    def _leave(self, seat: _Seat, parcel: _Parcel) -> None:
        """`seat` is done with `parcel`."""
        with self._lock:
            seat.parcel = None
            if parcel.calls:
                took_s = (time.monotonic() - parcel.taken) / len(parcel.calls)
                self._call_s += _SMOOTHING * (took_s - self._call_s)
        if parcel.cancelled:
            seat.kill()  # its connection may have been ended after the last verdict

    # One thread for each worker.

    def _serve(self, seat: _Seat) -> None:
        while (parcel := self._next(seat)) is not None:
            try:
                try:
                    self._judge(seat, parcel)
                finally:
                    self._leave(seat, parcel)
            except Exception as error:  # noqa: BLE001
                # RequestError is the caller's; anything else a bug here. The caller gets either:
                # a thread that died of it would leave callers waiting for ever.
                seat.kill()
                parcel.done.set_exception(error)
            else:
                self._finish(parcel)
        seat.kill()

    def _judge(self, seat: _Seat, parcel: _Parcel) -> None:
        """Give every call a verdict, on as many workers as it takes."""
        todo = deque(call for call in parcel.calls if call.verdict is None)
        lost_early = 0
        if time.monotonic() >= parcel.deadline:
            _set_all(todo, _late())
            return
        while todo or parcel.key not in self._known:
            try:
                if self._ask(seat, parcel, todo):
                    return
            except TimeoutError:
                seat.kill()
                seat.killed += 1
                if time.monotonic() >= parcel.deadline:
                    _set_all(todo, _late())
                    return
                if parcel.key not in seat.ready:
                    why = f"not loaded in {self.load_timeout_s:g} s; the worker was killed"
                    _set_all(todo, fault(Status.TIMEOUT, "load_timeout", why))
                    return
                why = f"no verdict in {parcel.timeout_s:g} s; the worker was killed"
                todo[0].seconds = parcel.timeout_s
                todo.popleft().verdict = fault(Status.TIMEOUT, "deadline", why)
            except (OSError, EOFError, msgspec.DecodeError) as error:
                seat.kill()
                if self._closed:
                    _set_all(todo, _cancelled())
                    return
                if parcel.cancelled:
                    seat.killed += 1
                    _set_all(todo, fault(Status.CANCELLED, "cancelled", "the caller took it back"))
                    return
                seat.died += 1
                _log.warning("a worker of verifier %s died: %s", parcel.verifier, error)
                if parcel.key not in seat.ready:
                    # More often than a call: it says nothing about any submission.
                    lost_early += 1
                    if lost_early == _MAX_LOST_EARLY:
                        why = f"{lost_early} workers died before the verifier was loaded"
                        _set_all(todo, fault(Status.INFRA, "worker_died", why))
                        return
                    continue
                todo[0].deaths += 1
                if todo[0].deaths == 2:
                    why = "two workers died on this call"
                    todo.popleft().verdict = fault(Status.INFRA, "worker_died", why)

    def _ask(self, seat: _Seat, parcel: _Parcel, todo: deque[_Call]) -> bool:
        """Have the worker judge `todo`, taking off what is judged; True when that settles all."""
        channel = seat.channel()
        if parcel.cancelled:  # before there was a connection to end
            raise EOFError("taken back")
        loaded = parcel.key in seat.ready
        allowed_s = parcel.timeout_s if loaded else self.load_timeout_s
        deadline = min(time.monotonic() + allowed_s, parcel.deadline)
        raws = [msgspec.Raw(call.raw) for call in todo]
        channel.send(SentAsk(parcel.verifier, parcel.params, raws), deadline)
        began = time.monotonic()
        while True:
            answer = channel.receive_answer(deadline)
            now = time.monotonic()
            deadline = min(now + parcel.timeout_s, parcel.deadline)
            if isinstance(answer, Judged):
                todo[0].seconds = now - began
                call = todo.popleft()
                call.verdict = answer.verdict
                if parcel.tell is not None:
                    call.told = True
                    parcel.tell(call.place, answer.verdict)
            elif isinstance(answer, Ready):
                seat.ready.add(parcel.key)
                self._known[parcel.key] = answer
            elif isinstance(answer, Refused):
                raise RequestError(answer.message)
            elif isinstance(answer, Broken):
                _log.error("verifier %s cannot be loaded: %s", parcel.verifier, answer.message)
                _set_all(todo, fault(Status.VERIFIER_ERROR, "cannot_load", answer.message))
                return True
            began = now
            if not todo:
                return True

    def _finish(self, parcel: _Parcel) -> None:
        """Stamp the faults that were found here as the verifier would have, and hand all over."""
        ready = self._known.get(parcel.key)
        verdicts = []
        for call in parcel.calls:
            verdict = call.verdict
            assert verdict is not None
            if not verdict.verifier:
                name, stamp = parcel.verifier, ""
                if ready is not None:
                    name = f"{ready.description['id']}@{ready.description['version']}"
                    with contextlib.suppress(RequestError):  # no plain data, no digest
                        stamp = _stamp(ready, call)
                verdict = replace(verdict, verifier=name, digest=stamp)
            if self.cache is not None and not call.recalled:
                self.cache.put(verdict)
            verdicts.append(verdict)
            if parcel.tell is not None and not call.told:
                parcel.tell(call.place, verdict)
        if self.watch is not None and verdicts:
            trip = Trip(
                *(parcel.verifier, parcel.queued, parcel.taken, time.monotonic()),
                *(verdicts, [call.seconds for call in parcel.calls]),
            )
            parcel.context.run(self.watch, trip)
        parcel.done.set_result(verdicts)


class _Forks:
    """The fork server, started when first needed and again if it dies."""

    def __init__(self, preload: Sequence[str]) -> None:
        self._lock = threading.Lock()
        self._preload = preload
        self._server: ForkServer | None = None
        self._closed = False

    def fork(self) -> tuple[ForkServer, int, Channel]:
        with self._lock:
            if self._closed:
                raise OSError("the pool is closed")
            if self._server is None:
                self._server = ForkServer(self._preload)
            server = self._server
        try:
            pid, sock = server.fork()
        except OSError:
            with self._lock:
                if self._server is server:
                    self._server = None
                    # Perhaps an import ended or hung it: the next one lets the workers import.
                    self._preload = ()
            server.close()
            raise
        return server, pid, Channel(sock)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            server, self._server = self._server, None
        if server is not None:
            server.close()


class _Seat:
    """The place of one worker process; used by one thread."""

    def __init__(self, forks: _Forks) -> None:
        self._forks = forks
        self._server: ForkServer | None = None
        self._channel: Channel | None = None
        self.pid = 0
        self.parcel: _Parcel | None = None
        """What it judges; under the pool's lock."""
        self.ready: set[bytes] = set()
        self.started = self.killed = self.died = 0

    def channel(self) -> Channel:
        """The connection to the worker, which is started if there is none. Raises OSError."""
        if self._channel is None:
            self.ready = set()
            self._server, self.pid, self._channel = self._forks.fork()
            self.started += 1
        return self._channel

    def interrupt(self) -> None:
        """Have the thread that waits for the worker find the connection ended. From any thread."""
        channel = self._channel
        if channel is not None:
            channel.interrupt()

    def kill(self) -> None:
        """End the worker; the next `channel` starts another. `ready` stays until then."""
        if self._channel is not None and self._server is not None:
            self._server.kill(self.pid)
            self._channel.close()
        self._channel = None
        self.pid = 0


def _call(task: Task, submission: JSON) -> _Call:
    """Ready to be sent, or with the verdict that `Verifier.verify` gives where it cannot be."""
    refused = refusal(submission)
    try:
        if refused is not None:
            to_json(task)
            return _Call(task, submission, verdict=refused)
        return _Call(task, submission, to_json(Item(task, submission)))
    except RequestError as error:
        return _Call(task, submission, verdict=fault(Status.VERIFIER_ERROR, "not_json", str(error)))


def _stamp(ready: Ready, call: _Call) -> str:
    """The digest of the call's verdict. Raises RequestError for what is no plain data."""
    card = ready.description
    return identity(card["id"], card["version"], card["params"], call.task, call.submission)


def _cancelled() -> Verdict:
    return fault(Status.CANCELLED, "pool_closed", "the pool was closed before there was a verdict")


def _late() -> Verdict:
    return fault(Status.TIMEOUT, "deadline", "no verdict before the caller's own deadline")


def _set_all(calls: Sequence[_Call] | deque[_Call], verdict: Verdict) -> None:
    for call in calls:
        if call.verdict is None:
            call.verdict = verdict
