"""The host processes as the event loop sees them: calls go out in batches, answers come back.

A call that takes longer than its time is answered with the fault `timeout` and its host is killed; the
host's other calls are sent to another one, and whoever owns them hears which sessions were lost.
The hanging call is known: a host reports slow calls, and shares a word of memory with the number of the
call that it began last, which is readable even if a call holds the interpreter's lock for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import mmap
import os
import socket
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, TypeAlias, cast

from verigym.sandbox.workers.forkserver import ForkServer
from verigym.server.envs.host import CURRENT, THREADS
from verigym.server.envs.messages import (
    Answer,
    Call,
    Fault,
    Frames,
    Order,
    Slow,
    Step,
    frame,
    read_reports,
)

_log = logging.getLogger(__name__)

_TICK_S = 0.1
_DEATH, _SUSPECT, _GUILTY = 1, 10, 30
"""Points that a host's death adds to a call: to any call, and to a call in progress. At `_GUILTY` points
the call is given up: after three deaths during its execution, or many of unknown cause."""
_PAUSE_S = 1.0
_LONG = 1 << 16
_START_S = 60.0
"""Maximum seconds to wait for a host if none is running."""

Write: TypeAlias = Callable[[int, "Host"], Call]
"""Function that returns the message of a call with this number, for this host."""
Then: TypeAlias = Callable[[Answer], None]


class Pending:
    """A call that has no answer yet."""

    __slots__ = ("began", "number", "suspicion", "then", "write")

    def __init__(self, number: int, write: Write, then: Then) -> None:
        self.number = number
        self.write = write
        self.then = then
        self.suspicion = 0
        self.began = 0.0


class Host(asyncio.Protocol):
    """One process; `load` counts the sessions in it."""

    def __init__(self, hosts: Hosts, pid: int, memory: mmap.mmap) -> None:
        self.pid = pid
        self.load = 0
        self.condemned = False
        """True if the host is being killed because of a known call."""
        self._memory = memory
        self.calls: dict[int, Pending] = {}
        """Calls without an answer, in the order they were sent."""
        self.slow: dict[int, float] = {}
        """Time at which the host reported each slow call."""
        self.heard = 0.0
        self._hosts = hosts
        self._out: list[Order] = []
        self._frames = Frames()
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None

    def order(self, order: Order) -> None:
        """Send together with all other orders of this turn of the event loop."""
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(order)
        if isinstance(order, Step) and (order.made or len(order.action) > _LONG):
            self._flush()  # frames are bounded

    def current(self) -> int:
        """Return the call that the host began last, among those not reported as slow."""
        number: int = CURRENT.unpack_from(self._memory, 0)[0]
        return number

    def close(self) -> None:
        """End the process: it exits when the connection closes."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.heard = self._loop.time()
        calls = self.calls
        for body in self._frames.feed(data):
            for report in read_reports(body):
                if isinstance(report, Slow):
                    if report.call in calls:
                        self.slow[report.call] = self.heard
                    continue
                pending = calls.pop(report.call, None)
                if pending is not None:
                    self.slow.pop(report.call, None)
                    pending.then(report)

    def connection_lost(self, error: Exception | None) -> None:
        self._out.clear()
        self._hosts.died(self)

    def _flush(self) -> None:
        if self._out and self._transport is not None:
            self._transport.write(frame(self._out))
            self._out.clear()


class Hosts:
    """`count` hosts with the environments `names` imported. On the event loop.

    They start in the background; calls wait for the first. `on_death` is called after the death of a
    host, before its calls are resent. `sql_engines` and `keep_env` are those of `VerifierPool`.
    """

    def __init__(
        self,
        names: Sequence[str],
        count: int,
        *,
        timeout_s: float,
        on_death: Callable[[Host], None],
        sql_engines: Mapping[str, str],
        keep_env: Collection[str] = (),
    ) -> None:
        self._names = names
        self._sql_engines = dict(sql_engines)
        self._keep_env = keep_env
        self._timeout_s = timeout_s
        self._on_death = on_death
        self._loop = asyncio.get_running_loop()
        self._forks: ForkServer | None = None
        self._live: list[Host] = []
        self._waiting: deque[Pending] = deque()
        self._number = 0
        self._ticking = False
        self._closing = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        for _ in range(count):
            self._begin(self._spawn())

    @property
    def pids(self) -> list[int]:
        return [host.pid for host in self._live]

    @property
    def under_way(self) -> int:
        """Return the number of calls without an answer."""
        return len(self._waiting) + sum(len(host.calls) for host in self._live)

    def best(self) -> Host | None:
        """Return the host with the fewest sessions; None if no host is running."""
        return min(self._live, key=lambda host: host.load, default=None)

    def call(self, write: Write, then: Then, host: Host | None = None) -> None:
        """Send a call; `then` gets the answer, once, never before this method returns.

        If `host` is None, any host is used; a call that is resent may go to any host, too.
        """
        self._number += 1
        pending = Pending(self._number, write, then)
        if host is None:
            host = self.best()
        self._send(pending, host)

    async def close(self) -> None:
        """End all hosts; calls without an answer get a fault."""
        self._closing.set()
        for host in list(self._live):
            host.close()
        for pending in self._waiting:
            self._fail(pending, Fault(pending.number, "cancelled", "stopping"))
        self._waiting.clear()
        if self._forks is not None:
            await asyncio.to_thread(self._forks.close)  # wakes who waits for it, too
        await asyncio.gather(*self._tasks)

    def died(self, host: Host) -> None:
        """Handle the death of `host`: start another, and resend its calls to others."""
        if host not in self._live:
            return
        self._live.remove(host)
        self._on_death(host)
        if not self._closing.is_set():
            _log.warning("environment host %d ended; its sessions are made again", host.pid)
            self._begin(self._spawn())
        suspects = {host.current(), *host.slow}
        calls, host.calls = list(host.calls.values()), {}
        for pending in calls:
            if not host.condemned:
                pending.suspicion += _SUSPECT if pending.number in suspects else _DEATH
            if self._closing.is_set():
                self._fail(pending, Fault(pending.number, "cancelled", "stopping"))
            elif pending.suspicion >= _GUILTY:
                self._fail(pending, Fault(pending.number, "infra", "worker_died"))
            else:
                self._send(pending, self.best())

    def _send(self, pending: Pending, host: Host | None) -> None:
        if not self._ticking:
            self._ticking = True
            self._loop.call_later(_TICK_S, self._tick)
        if host is None:
            pending.began = self._loop.time()
            self._waiting.append(pending)
            return
        if not host.calls:
            host.heard = self._loop.time()
        host.calls[pending.number] = pending
        host.order(pending.write(pending.number, host))

    def _fail(self, pending: Pending, fault: Fault) -> None:
        self._loop.call_soon(pending.then, fault)

    async def _spawn(self) -> None:
        """Start one host, with as many attempts as it takes."""
        while not self._closing.is_set():
            try:
                await self._start()
                return
            except OSError as error:
                if not self._closing.is_set():
                    _log.error("no environment host could be started: %s", error)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), _PAUSE_S)

    async def _start(self) -> None:
        if self._forks is None:
            self._forks = ForkServer(
                self._names,
                body="verigym.server.envs.host",
                grants={"sql_engines": self._sql_engines},
                keep=self._keep_env,
            )
        forks = self._forks
        try:
            pid, sock = await asyncio.to_thread(forks.fork)
        except OSError:
            if self._forks is forks and not self._closing.is_set():
                self._forks = None
                # Perhaps an import ended or hung it: the next one lets the hosts import.
                self._names = ()
                await asyncio.to_thread(forks.close)
            raise
        with open(os.memfd_create("verigym-host"), "r+b") as file:
            file.truncate(CURRENT.size)
            memory = mmap.mmap(file.fileno(), CURRENT.size)
            socket.send_fds(sock, [b"\0"], [file.fileno()])
        sock.setblocking(False)
        host = Host(self, pid, memory)
        await self._loop.create_unix_connection(lambda: host, sock=sock)
        if self._closing.is_set():
            host.close()
            return
        self._live.append(host)
        waiting, self._waiting = self._waiting, deque()
        for pending in waiting:
            self._send(pending, self.best())

    def _tick(self) -> None:
        """Kill hosts whose calls exceed their time limit, and refuse calls that no host accepts."""
        now = self._loop.time()
        for host in list(self._live):
            guilty = self._overdue(host, now)
            if guilty:
                self._end(host, guilty)
        while self._waiting and now - self._waiting[0].began > _START_S:
            pending = self._waiting.popleft()
            self._fail(pending, Fault(pending.number, "infra", "no_host"))
        self._ticking = bool(self._waiting) or any(host.calls for host in self._live)
        if self._ticking:
            self._loop.call_later(_TICK_S, self._tick)

    def _overdue(self, host: Host, now: float) -> list[Pending]:
        late = [number for number, since in host.slow.items() if now - since > self._timeout_s]
        if not late and len(host.slow) < THREADS and now - host.heard > self._timeout_s:
            # It does not even say that a call is slow.
            waiting = [number for number in host.calls if number not in host.slow]
            late = [host.current()] if host.current() in waiting else waiting[:1]
        return [host.calls[number] for number in late]

    def _end(self, host: Host, guilty: Sequence[Pending]) -> None:
        """Kill `host` because of the calls `guilty`; its other calls are not blamed."""
        for pending in guilty:
            del host.calls[pending.number]
            self._fail(pending, Fault(pending.number, "timeout", "deadline"))
        host.condemned = True
        if self._forks is not None:
            self._begin(asyncio.to_thread(self._forks.kill, host.pid))
        host.close()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
