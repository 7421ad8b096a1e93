"""The host processes as the event loop sees them: requests go out in batches, answers come back.

A request that takes longer than its time is answered with the fault `timeout` and its host is killed;
the host's other requests are sent to another one, and whoever owns them hears which sessions were lost.
The hanging request is known: a host reports slow requests, and shares a word of memory with the number of
the request that it began last, which is readable even if a request holds the interpreter's lock for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import mmap
import os
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

import msgspec

from verigym.sandbox.workers.spawner import Spawner, Started
from verigym.sandbox.workers.worker import AMONG_OTHERS, MAX_BLAME, WAITING, Worker
from verigym.server.envs.messages import (
    CURRENT,
    Answer,
    Message,
    Request,
    RequestFailed,
    SlowRequest,
    StepSession,
    decode_reports,
    encode,
)

_log = logging.getLogger(__name__)

_PAUSE_S = 1.0
_LONG = 1 << 16
_START_S = 60.0
"""Maximum seconds to wait for a host if none is running."""

Write: TypeAlias = Callable[[int, "Host"], Request]
"""Function that returns the request with this number, for this host."""
Then: TypeAlias = Callable[[Answer], None]


class Pending:
    """A request that has no answer yet."""

    __slots__ = ("blame", "expiry", "number", "then", "write")

    def __init__(self, number: int, write: Write, then: Then) -> None:
        self.number = number
        self.write = write
        self.then = then
        self.blame = 0
        """Blame for the death of hosts."""
        self.expiry: asyncio.TimerHandle | None = None
        """Timer while no host is running."""


class Host:
    """One process; `load` counts the sessions in it."""

    def __init__(self, hosts: Hosts, started: Started, memory: mmap.mmap) -> None:
        self.load = 0
        self.pending: dict[int, Pending] = {}
        """Requests without an answer, in the order they were sent."""
        self._hosts = hosts
        self._memory = memory
        self._slow: dict[int, float] = {}
        """Time at which the host reported each slow request, oldest first."""
        self._heard = 0.0
        self._out: list[Message] = []
        self._is_alone = True
        """True if the last frame held one message. An idle host then gets the next at once; where several
        come together, all are sent as one."""
        self._loop = asyncio.get_running_loop()
        self._worker = Worker(
            *(self._loop, hosts.spawner, started),
            on_reply=self._read,
            on_overdue=self._handle_timeout,
            on_lost=lambda error: hosts.replace(self),
        )
        self.pid = self._worker.pid

    def queue(self, message: Message) -> None:
        """Send together with all other messages of this turn of the event loop."""
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(message)
        if isinstance(message, StepSession) and (message.history or len(message.action) > _LONG):
            self._flush()  # frames are bounded

    def send(self, pending: Pending) -> None:
        """Send a request."""
        if not self.pending:
            self._heard = time.monotonic()
        self.pending[pending.number] = pending
        request = pending.write(pending.number, self)
        is_first = len(self.pending) == 1
        if is_first:
            self._set_deadline()
        if is_first and self._is_alone:
            self._out.append(request)
            self._flush()
        else:
            self.queue(request)

    def suspects(self) -> set[int]:
        """Return the numbers of the requests that the host may be executing."""
        return {self._current(), *self._slow}

    def kill(self) -> None:
        """End the process."""
        self._worker.kill()

    def _current(self) -> int:
        """Return the request that the host began last, among those not reported as slow."""
        number: int = CURRENT.unpack_from(self._memory, 0)[0]
        return number

    def _read(self, body: bytes) -> None:
        self._heard = time.monotonic()
        try:
            reports = decode_reports(body)
        except msgspec.DecodeError as error:
            _log.error("environment host %d broke the protocol: %s", self.pid, error)
            self.kill()
            self._hosts.replace(self)
            return
        for report in reports:
            if isinstance(report, SlowRequest):
                if report.request in self.pending:
                    self._slow[report.request] = self._heard
                continue
            pending = self.pending.pop(report.request, None)
            if pending is not None:
                self._slow.pop(report.request, None)
                pending.then(report)
        self._set_deadline()

    def _flush(self) -> None:
        out, self._out = self._out, []
        if out:
            self._is_alone = len(out) == 1
            self._worker.send(encode(out))

    def _set_deadline(self) -> None:
        if not self.pending:
            self._worker.clear_deadline()
            return
        since = next(iter(self._slow.values()), self._heard)
        self._worker.set_deadline(since + self._hosts.timeout_s)

    def _handle_timeout(self) -> None:
        """End the host, and answer the requests that exceeded their time."""
        now, timeout_s = time.monotonic(), self._hosts.timeout_s
        late = [number for number, since in self._slow.items() if since + timeout_s <= now]
        if not late:
            # It does not even report that a request is slow.
            late = [self._current()] if self._current() in self.pending else list(self.pending)[:1]
        for number in late:
            self._hosts.fail(self.pending.pop(number), "timeout", "deadline")
        self.kill()
        self._hosts.replace(self, is_blamed=False)


class Hosts:
    """`count` hosts with the environments `names` imported. On the event loop.

    They start in the background; requests wait for the first. `on_death` is called after the death of
    a host, before its requests are resent. `sql_engines` and `keep_env` are those of `VerifierPool`.
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
        grants = {"sql_engines": dict(sql_engines)}
        self.spawner = Spawner("verigym.server.envs.host", names, grants, keep_env)
        self.timeout_s = timeout_s
        self._on_death = on_death
        self._loop = asyncio.get_running_loop()
        self._live: list[Host] = []
        self._waiting: dict[int, Pending] = {}
        self._number = 0
        self._closing = asyncio.Event()
        self._starts: set[asyncio.Task[None]] = set()
        for _ in range(count):
            self._begin_start()

    @property
    def pids(self) -> list[int]:
        return [host.pid for host in self._live]

    @property
    def under_way(self) -> int:
        """Return the number of requests without an answer."""
        return len(self._waiting) + sum(len(host.pending) for host in self._live)

    def send(self, write: Write, then: Then, host: Host | None = None) -> None:
        """Send a request; `then` gets the answer, once, never before this method returns.

        If `host` is None, any host is used; a request that is resent may go to any host, too.
        """
        self._number += 1
        self._send(Pending(self._number, write, then), host or self._best())

    def fail(self, pending: Pending, status: str, reason: str) -> None:
        """Answer a request with a fault."""
        self._loop.call_soon(pending.then, RequestFailed(pending.number, status, reason))

    def replace(self, host: Host, *, is_blamed: bool = True) -> None:
        """Handle the end of `host`: start another, and resend its requests to others.

        If `is_blamed`, they get the blame for it.
        """
        self._live.remove(host)
        self._on_death(host)
        if not self._closing.is_set():
            _log.warning("environment host %d ended; its sessions are made again", host.pid)
            self._begin_start()
        suspects = host.suspects()
        requests, host.pending = list(host.pending.values()), {}
        for pending in requests:
            if is_blamed:
                pending.blame += AMONG_OTHERS if pending.number in suspects else WAITING
            if self._closing.is_set():
                self.fail(pending, "cancelled", "stopping")
            elif pending.blame >= MAX_BLAME:
                self.fail(pending, "infra", "worker_died")
            else:
                self._send(pending, self._best())

    async def close(self) -> None:
        """End all hosts; requests without an answer get a fault."""
        self._closing.set()
        for host in list(self._live):
            host.kill()
            self.replace(host)
        for pending in list(self._waiting.values()):
            self._give_up(pending, "cancelled", "stopping")
        await asyncio.to_thread(self.spawner.close)  # wakes a start that waits
        await asyncio.gather(*self._starts)

    def _best(self) -> Host | None:
        """Return the host with the fewest sessions; None if no host is running."""
        return min(self._live, key=lambda host: host.load, default=None)

    def _send(self, pending: Pending, host: Host | None) -> None:
        if host is not None:
            host.send(pending)
            return
        self._waiting[pending.number] = pending
        pending.expiry = self._loop.call_later(_START_S, self._give_up, pending, "infra", "no_host")

    def _give_up(self, pending: Pending, status: str, reason: str) -> None:
        self._stop_waiting(pending)
        self.fail(pending, status, reason)

    def _stop_waiting(self, pending: Pending) -> None:
        del self._waiting[pending.number]
        assert pending.expiry is not None
        pending.expiry.cancel()

    def _begin_start(self) -> None:
        task = asyncio.create_task(self._start())
        self._starts.add(task)
        task.add_done_callback(self._starts.discard)

    async def _start(self) -> None:
        """Start one host, with as many attempts as it takes."""
        while not self._closing.is_set():
            try:
                started = await asyncio.wrap_future(self.spawner.start())
                host = Host(self, started, _share_memory(started[2]))
            except OSError as error:
                if not self._closing.is_set():
                    _log.error("no environment host could be started: %s", error)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), _PAUSE_S)
                continue
            if self._closing.is_set():
                host.kill()
                return
            self._live.append(host)
            for pending in list(self._waiting.values()):
                self._stop_waiting(pending)
                self._send(pending, self._best())
            return


def _share_memory(sock: socket.socket) -> mmap.mmap:
    """Return memory for the current request that the host at `sock` shares. Raises OSError."""
    with open(os.memfd_create("verigym-host"), "r+b") as file:
        file.truncate(CURRENT.size)
        memory = mmap.mmap(file.fileno(), CURRENT.size)
        socket.send_fds(sock, [b"\0"], [file.fileno()])
    return memory
