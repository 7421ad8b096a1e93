"""One worker process of a pool: the messages sent to it, its answers, and its end.

Everything here runs on the pool's event loop, without threads or locks; only starting and killing,
which may wait for the fork server, run in a thread.
"""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, TypeAlias

import msgspec

from verigym.errors import MissingError, RequestError
from verigym.missing import REASON
from verigym.sandbox.workers.forkserver import ForkServer
from verigym.verdict import Status, fault
from verigym.verifiers.pool_parcels import Call, Parcel, closed, late, settle
from verigym.verifiers.wire import (
    Broken,
    Frames,
    Judged,
    Ready,
    Refused,
    SentAsk,
    decode_answer,
    frame,
)

_log = logging.getLogger(__name__)

_MAX_LOST_EARLY = 4
"""Maximum number of workers that may die while they load a verifier."""
_CHUNK = 1 << 16

Started: TypeAlias = tuple[ForkServer, int, socket.socket]


class Forks:
    """Fork server, started when first needed and again if it dies. Thread-safe."""

    def __init__(
        self,
        preload: Sequence[str],
        grants: Mapping[str, Any] | None = None,
        keep_env: Collection[str] = (),
    ) -> None:
        self._lock = threading.Lock()
        self._preload = preload
        self._grants = grants
        self._keep_env = keep_env
        self._server: ForkServer | None = None
        self.closed = False

    def fork(self) -> Started:
        """Start a worker. Raises OSError; TimeoutError if none starts in time."""
        with self._lock:
            if self.closed:
                raise OSError("the pool is closed")
            if self._server is None:
                self._server = ForkServer(self._preload, grants=self._grants, keep=self._keep_env)
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
        return server, pid, sock

    def close(self) -> None:
        """End the server and all workers; wakes callers that wait in `fork`."""
        with self._lock:
            self.closed = True
            server, self._server = self._server, None
        if server is not None:
            server.close()


class Seat:
    """Slot of a pool: makes one worker judge one parcel after another; `left` is called when it is
    free again.

    `known` gets each verifier's description of itself. If the worker dies or breaks the protocol,
    the current call ends in a fault: never in a score, and never in a caller who waits for ever.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        forks: Forks,
        threads: Executor,
        known: dict[bytes, Ready],
        load_timeout_s: float,
        left: Callable[[Seat, Parcel, BaseException | None], None],
    ) -> None:
        self._loop = loop
        self._forks = forks
        self._threads = threads
        self._known = known
        self._load_timeout_s = load_timeout_s
        self._left = left
        self.parcel: Parcel | None = None
        self._todo: deque[Call] = deque()
        self._lost_early = 0
        self._began = 0.0
        self._deadline = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._rings_at = math.inf
        self._server: ForkServer | None = None
        self._sock: socket.socket | None = None
        self._frames = Frames()
        self._unsent = memoryview(b"")
        self._ready: set[bytes] = set()
        """Verifiers that the worker has made; kept after its death until the next one starts."""
        self.pid = 0
        self.started = self.killed = self.died = 0

    def take(self, parcel: Parcel) -> None:
        """Judge `parcel`; the worker must be free."""
        self.parcel = parcel
        parcel.taken = time.monotonic()
        self._todo = deque(call for call in parcel.calls if call.verdict is None)
        self._lost_early = 0
        self._guarded(self._go_on)

    def look(self) -> None:
        """Read the worker's messages received so far."""
        if self._sock is not None:
            self._readable()

    def take_back(self) -> None:
        """End the work on the current parcel, and the worker with it."""
        parcel = self.parcel
        if parcel is None:
            return
        parcel.cancelled = True
        if self._sock is not None:  # else it is being started, and finds out then
            self._guarded(self._taken_back)

    def shut(self) -> None:
        """End the worker, because the pool has ended."""
        self._drop()
        if self.parcel is not None:
            settle(self._todo, closed())
            self._end()

    # The way of a parcel.

    def _go_on(self) -> None:
        """Make the worker judge the remaining calls; start a worker first if none runs."""
        parcel = self.parcel
        assert parcel is not None
        if not self._todo and parcel.key in self._known:
            self._end()
        elif time.monotonic() >= parcel.deadline:
            settle(self._todo, late())
            self._end()
        elif self._sock is None:
            self._start()
        elif parcel.cancelled:
            self._taken_back()
        else:
            raws = [msgspec.Raw(call.raw) for call in self._todo]
            try:
                data = frame(SentAsk(parcel.verifier, parcel.params, raws, parcel.timeout_s))
            except OSError as error:
                settle(self._todo, fault(Status.INFRA, "too_large", str(error)))
                self._end()
                return
            self._began = time.monotonic()
            loaded = parcel.key in self._ready
            self._allow(parcel.timeout_s if loaded else self._load_timeout_s)
            self._send(memoryview(data))

    def _end(self, error: BaseException | None = None) -> None:
        """Finish the parcel: nothing is left to do, or nothing can be done."""
        parcel, self.parcel = self.parcel, None
        self._todo.clear()
        self._deadline = math.inf
        assert parcel is not None
        self._left(self, parcel, error)

    def _taken_back(self) -> None:
        self._kill()
        self.killed += 1
        settle(self._todo, fault(Status.CANCELLED, "cancelled", "the caller took it back"))
        self._end()

    def _overdue(self) -> None:
        """Handle the timeout of the current call."""
        parcel = self.parcel
        assert parcel is not None
        self._kill()
        self.killed += 1
        if time.monotonic() >= parcel.deadline:
            settle(self._todo, late())
            self._end()
        elif parcel.key not in self._ready:
            why = f"not loaded in {self._load_timeout_s:g} s; the worker was killed"
            settle(self._todo, fault(Status.TIMEOUT, "load_timeout", why))
            self._end()
        else:
            why = f"no verdict in {parcel.timeout_s:g} s; the worker was killed"
            self._todo[0].seconds = parcel.timeout_s
            self._todo.popleft().verdict = fault(Status.TIMEOUT, "deadline", why)
            self._go_on()

    def _lost(self, error: Exception) -> None:
        """Handle a worker that died or broke the protocol."""
        self._kill()
        parcel = self.parcel
        if self._forks.closed and parcel is not None:
            settle(self._todo, closed())
            self._end()
            return
        self.died += 1
        if parcel is None:  # idle: the next parcel gets a fresh one
            return
        _log.warning("a worker of verifier %s died: %s", parcel.verifier, error)
        if parcel.cancelled:
            self._taken_back()
        elif parcel.key not in self._ready:
            # More often than a call: it says nothing about any submission.
            self._lost_early += 1
            if self._lost_early == _MAX_LOST_EARLY:
                why = f"{_MAX_LOST_EARLY} workers died before the verifier was loaded"
                settle(self._todo, fault(Status.INFRA, "worker_died", why))
                self._end()
            else:
                self._go_on()
        else:
            self._todo[0].deaths += 1
            if self._todo[0].deaths == 2:
                why = "two workers died on this call"
                self._todo.popleft().verdict = fault(Status.INFRA, "worker_died", why)
            self._go_on()

    def _answered(self, data: bytes) -> None:
        answer = decode_answer(data)
        parcel = self.parcel
        if parcel is None:
            self._lost(OSError("it answered what nobody asked"))
        elif isinstance(answer, Judged):
            now = time.monotonic()
            call = self._todo.popleft()
            call.seconds, self._began = now - self._began, now
            call.verdict = answer.verdict
            if parcel.tell is not None:
                call.told = True
                parcel.tell(call.place, answer.verdict)
            if self._todo:
                self._allow(parcel.timeout_s)
            else:
                self._end()
        elif isinstance(answer, Ready):
            self._ready.add(parcel.key)
            self._known[parcel.key] = answer
            self._began = time.monotonic()
            if self._todo:
                self._allow(parcel.timeout_s)
            else:
                self._end()
        elif isinstance(answer, Refused):
            self._end(RequestError(answer.message))
        elif isinstance(answer, Broken):
            _log.error("verifier %s cannot be loaded: %s", parcel.verifier, answer.message)
            settle(self._todo, fault(Status.VERIFIER_ERROR, answer.reason, answer.message))
            # One that asked for a description has no verdict to learn it from.
            lacks = answer.reason == REASON and not parcel.calls
            self._end(MissingError(answer.message) if lacks else None)

    def _guarded(self, act: Callable[[], None]) -> None:
        """Run `act`; if it raises, pass the error to the caller, who would otherwise wait for
        ever."""
        try:
            act()
        except Exception as error:
            self._kill()
            if self.parcel is None:
                raise
            self._end(error)

    # The time that a call has.

    def _allow(self, seconds: float) -> None:
        """Set the deadline for the worker's next message to `seconds` from now."""
        parcel = self.parcel
        assert parcel is not None
        self._deadline = min(time.monotonic() + seconds, parcel.deadline)
        if self._deadline < self._rings_at:
            self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._rings_at = self._deadline
        left_s = max(0.0, self._deadline - time.monotonic())
        self._timer = self._loop.call_later(left_s, self._rings)

    def _rings(self) -> None:
        self._timer = None
        self._rings_at = math.inf
        if self._deadline == math.inf:
            return
        if self._deadline > time.monotonic():
            self._set_timer()
        else:
            self._guarded(self._overdue)

    # The worker.

    def _start(self) -> None:
        self._ready = set()
        starting = self._loop.run_in_executor(self._threads, self._forks.fork)
        starting.add_done_callback(lambda future: self._guarded(lambda: self._has_started(future)))

    def _has_started(self, future: asyncio.Future[Started]) -> None:
        if future.cancelled() or self.parcel is None:  # shut meanwhile
            return
        try:
            self._server, self.pid, self._sock = future.result()
        except TimeoutError:
            self._overdue()
            return
        except OSError as error:
            self._lost(error)
            return
        self.started += 1
        self._frames = Frames()
        self._sock.setblocking(False)
        self._loop.add_reader(self._sock, self._readable)
        self._go_on()

    def _kill(self) -> None:
        """End the worker; the next parcel starts another."""
        server, pid = self._server, self.pid
        self._drop()
        if server is not None and pid and not self._forks.closed:
            self._threads.submit(server.kill, pid)

    def _drop(self) -> None:
        """Release the worker."""
        if self._sock is not None:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._sock)
                self._loop.remove_writer(self._sock)
            self._sock.close()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._sock = self._server = None
        self._unsent = memoryview(b"")
        self._deadline = self._rings_at = math.inf
        self.pid = 0

    def _send(self, data: memoryview) -> None:
        assert self._sock is not None
        try:
            sent = self._sock.send(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self._lost(error)
            return
        self._unsent = data[sent:]
        if self._unsent:
            self._loop.add_writer(self._sock, self._writable)

    def _writable(self) -> None:
        assert self._sock is not None
        self._loop.remove_writer(self._sock)
        self._guarded(lambda: self._send(self._unsent))

    def _readable(self) -> None:
        self._guarded(self._read)

    def _read(self) -> None:
        sock = self._sock
        assert sock is not None
        try:
            chunk = sock.recv(_CHUNK)
            if not chunk:
                raise EOFError("the other end is gone")
            for data in self._frames.split(chunk):
                self._answered(data)
                if self._sock is not sock:
                    return
        except BlockingIOError:
            return
        except (OSError, EOFError, msgspec.DecodeError) as error:
            self._lost(error)
