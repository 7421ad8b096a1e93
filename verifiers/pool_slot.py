"""Slot of a pool: makes one worker judge one request after another.

Everything here runs on the pool's event loop, without threads or locks.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from verigym.errors import MissingError, RequestError
from verigym.missing import REASON
from verigym.sandbox.workers.spawner import Spawner, Started
from verigym.sandbox.workers.worker import ALONE, MAX_BLAME, Worker
from verigym.verdict import Status, fault
from verigym.verifiers.pool_messages import (
    EncodedWork,
    ItemJudged,
    Loaded,
    LoadFailed,
    Rejected,
    decode_reply,
    encode,
)
from verigym.verifiers.pool_requests import JudgeRequest, PoolCall, closed, late, settle

_log = logging.getLogger(__name__)

_MAX_LOST_EARLY = 4
"""Maximum number of workers that may die while they load a verifier."""


class PoolSlot:
    """Slot with one worker at a time; `on_free` is called when it has finished a request.

    `known` gets each verifier's description of itself. If the worker dies or breaks the protocol,
    the current call ends in a fault: never in a score, and never in a caller who waits for ever.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        spawner: Spawner,
        known: dict[bytes, Loaded],
        load_timeout_s: float,
        on_free: Callable[[PoolSlot, JudgeRequest, BaseException | None], None],
    ) -> None:
        self._loop = loop
        self._spawner = spawner
        self._known = known
        self._load_timeout_s = load_timeout_s
        self._on_free = on_free
        self.request: JudgeRequest | None = None
        self._todo: deque[PoolCall] = deque()
        self._lost_early = 0
        self._began = 0.0
        self._worker: Worker | None = None
        self._loaded: set[bytes] = set()
        """Verifiers that the worker has made; kept after its death until the next one starts."""
        self.started = self.killed = self.died = 0

    @property
    def pid(self) -> int:
        """Pid of the worker; 0 if none runs."""
        return self._worker.pid if self._worker is not None else 0

    def take(self, request: JudgeRequest) -> None:
        """Judge `request`; the slot must be free."""
        self.request = request
        request.taken = time.monotonic()
        self._todo = deque(call for call in request.calls if call.verdict is None)
        self._lost_early = 0
        self._guard(self._go_on)

    def read(self) -> None:
        """Handle the worker's messages received so far."""
        if self._worker is not None:
            self._worker.read()

    def cancel(self) -> None:
        """End the work on the current request, and the worker with it."""
        if self.request is None:
            return
        self.request.cancelled = True
        if self._worker is not None:  # else it is being started, and finds out then
            self._guard(self._end_cancelled)

    def close(self) -> None:
        """End the worker, because the pool has ended."""
        self._kill()
        if self.request is not None:
            settle(self._todo, closed())
            self._end()

    # Progress of a request.

    def _go_on(self) -> None:
        """Make the worker judge the remaining calls; start a worker first if none runs."""
        request = self.request
        assert request is not None
        if not self._todo and request.key in self._known:
            self._end()
        elif time.monotonic() >= request.deadline:
            settle(self._todo, late())
            self._end()
        elif self._worker is None:
            self._start()
        elif request.cancelled:
            self._end_cancelled()
        else:
            raws = [msgspec.Raw(call.raw) for call in self._todo]
            work = EncodedWork(request.verifier, request.params, raws, request.timeout_s)
            self._began = time.monotonic()
            loaded = request.key in self._loaded
            self._allow(request.timeout_s if loaded else self._load_timeout_s)
            try:
                self._worker.send(encode(work))
            except OSError as error:
                settle(self._todo, fault(Status.INFRA, "too_large", str(error)))
                self._end()

    def _end(self, error: BaseException | None = None) -> None:
        """Finish the request: nothing is left to do, or nothing can be done."""
        request, self.request = self.request, None
        self._todo.clear()
        if self._worker is not None:
            self._worker.clear_deadline()
        assert request is not None
        self._on_free(self, request, error)

    def _end_cancelled(self) -> None:
        self._kill()
        self.killed += 1
        settle(self._todo, fault(Status.CANCELLED, "cancelled", "the caller took it back"))
        self._end()

    def _allow(self, seconds: float) -> None:
        """Set the deadline for the worker's next message to `seconds` from now."""
        assert self.request is not None
        assert self._worker is not None
        self._worker.set_deadline(min(time.monotonic() + seconds, self.request.deadline))

    def _on_reply(self, body: bytes) -> None:
        self._guard(self._handle, body)

    def _handle(self, body: bytes) -> None:
        try:
            reply = decode_reply(body)
        except msgspec.DecodeError as error:
            self._handle_death(error)
            return
        request = self.request
        if request is None:
            self._handle_death(OSError("it sent a reply without a request"))
        elif isinstance(reply, ItemJudged):
            now = time.monotonic()
            call = self._todo.popleft()
            call.seconds, self._began = now - self._began, now
            call.verdict = reply.verdict
            if request.on_verdict is not None:
                call.reported = True
                request.on_verdict(call.place, reply.verdict)
            self._await_next(request)
        elif isinstance(reply, Loaded):
            self._loaded.add(request.key)
            self._known[request.key] = reply
            self._began = time.monotonic()
            self._await_next(request)
        elif isinstance(reply, Rejected):
            self._end(RequestError(reply.message))
        elif isinstance(reply, LoadFailed):
            _log.error("verifier %s cannot be loaded: %s", request.verifier, reply.message)
            settle(self._todo, fault(Status.VERIFIER_ERROR, reply.reason, reply.message))
            # A request for a description has no verdict that could carry it.
            is_missing = reply.reason == REASON and not request.calls
            self._end(MissingError(reply.message) if is_missing else None)

    def _await_next(self, request: JudgeRequest) -> None:
        if self._todo:
            self._allow(request.timeout_s)
        else:
            self._end()

    def _handle_timeout(self) -> None:
        """Handle the timeout of the current call."""
        request = self.request
        assert request is not None
        self._kill()
        self.killed += 1
        if time.monotonic() >= request.deadline:
            settle(self._todo, late())
            self._end()
        elif request.key not in self._loaded:
            why = f"not loaded in {self._load_timeout_s:g} s; the worker was killed"
            settle(self._todo, fault(Status.TIMEOUT, "load_timeout", why))
            self._end()
        else:
            why = f"no verdict in {request.timeout_s:g} s; the worker was killed"
            self._todo[0].seconds = request.timeout_s
            self._todo.popleft().verdict = fault(Status.TIMEOUT, "deadline", why)
            self._go_on()

    def _handle_death(self, error: Exception) -> None:
        """Handle a worker that died or broke the protocol."""
        self._kill()
        request = self.request
        if self._spawner.closed and request is not None:
            settle(self._todo, closed())
            self._end()
            return
        self.died += 1
        if request is None:  # idle: the next request gets a fresh one
            return
        _log.warning("a worker of verifier %s died: %s", request.verifier, error)
        if request.cancelled:
            self._end_cancelled()
        elif request.key not in self._loaded:
            # More often than a call: it says nothing about any submission.
            self._lost_early += 1
            if self._lost_early == _MAX_LOST_EARLY:
                why = f"{_MAX_LOST_EARLY} workers died before the verifier was loaded"
                settle(self._todo, fault(Status.INFRA, "worker_died", why))
                self._end()
            else:
                self._go_on()
        else:
            self._todo[0].blame += ALONE
            if self._todo[0].blame >= MAX_BLAME:
                why = "two workers died on this call"
                self._todo.popleft().verdict = fault(Status.INFRA, "worker_died", why)
            self._go_on()

    # The worker.

    def _start(self) -> None:
        self._loaded = set()
        starting = asyncio.wrap_future(self._spawner.start(), loop=self._loop)
        starting.add_done_callback(lambda future: self._guard(self._on_started, future))

    def _on_started(self, future: asyncio.Future[Started]) -> None:
        if future.cancelled() or self.request is None:  # closed meanwhile
            return
        try:
            started = future.result()
        except TimeoutError:
            self._handle_timeout()
            return
        except OSError as error:
            self._handle_death(error)
            return
        self.started += 1
        self._worker = Worker(
            *(self._loop, self._spawner, started),
            on_reply=self._on_reply,
            on_overdue=lambda: self._guard(self._handle_timeout),
            on_lost=lambda error: self._guard(self._handle_death, error),
        )
        self._go_on()

    def _kill(self) -> None:
        """End the worker; the next request starts another."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

    def _guard(self, act: Callable[..., None], *given: Any) -> None:
        """Run `act`; if it raises, pass the error to the caller, who would otherwise wait for
        ever."""
        try:
            act(*given)
        except Exception as error:
            self._kill()
            if self.request is None:
                raise
            self._end(error)
