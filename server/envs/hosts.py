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
from verigym.server.envs.loans import Loan, Loans
from verigym.server.envs.messages import (
    CURRENT,
    LENT_NUMBER,
    MEMORY_BYTES,
    Answer,
    LendSocket,
    LentStep,
    Message,
    RecallSocket,
    Request,
    RequestFailed,
    SlowRequest,
    SocketBack,
    StepSession,
    decode_reports,
    encode,
)

_log = logging.getLogger(__name__)

_PAUSE_S = 1.0
_LONG = 1 << 16
_START_S = 60.0
"""Maximum seconds to wait for a host if none is running."""
_LAST_WORDS_S = 2.0
"""Maximum seconds to wait for what a host has sent before it was killed."""
_LOOK_S = 1.0
"""Seconds between looks at the steps on lent sockets, at most; less if steps have less time than four of it."""

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

    def __init__(
        self, hosts: Hosts, started: Started, memory: mmap.mmap, arrivals: socket.socket
    ) -> None:
        self.load = 0
        self.loans = Loans(memory)
        self.pending: dict[int, Pending] = {}
        """Requests without an answer, in the order they were sent."""
        self._hosts = hosts
        self._memory = memory
        self._arrivals = arrivals
        """Channel on which lent sockets are sent."""
        self._look: asyncio.TimerHandle | None = None
        """Timer of the next look at the steps on lent sockets."""
        self._is_blamed = True
        """False if the death of the host is due to calls that are known."""
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
            on_lost=lambda error: hosts.replace(self, is_blamed=self._is_blamed),
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

    def lend(self, loan: Loan) -> bool:
        """Have the host answer the plain steps on a socket; return False if that is not possible now."""
        if not self._is_blamed or not self.loans.add(loan):
            return False
        fd = loan.connection.lend(lambda: self.recall(loan))
        if fd is not None:
            try:
                socket.send_fds(self._arrivals, [b"\0"], [fd])
            except OSError:  # too many are on their way, or the host is dead
                loan.connection.take_back()
            else:
                limit = self._hosts.longest_message
                what = (loan.session, loan.slot, limit, loan.frames_of, loan.seq)
                self.queue(
                    LendSocket(*what)
                )  # if the host is dead, that is noticed once we have returned
                self._begin_looking()
                return True
        self.loans.remove(loan)
        return False

    def recall(self, loan: Loan) -> None:
        """Ask for a lent socket; `on_back` is called when it is here."""
        if not loan.is_wanted:
            loan.is_wanted = True
            self.queue(RecallSocket(loan.session))

    def end_loans(self) -> None:
        """Take back all sockets; the host is dead."""
        if self._look is not None:
            self._look.cancel()
        for loan in self.loans.all():
            phase = self.loans.phase(loan)
            self.loans.remove(loan)
            loan.on_lost(phase, loan.is_late)

    def suspects(self) -> set[int]:
        """Return the numbers of the requests that the host may be executing."""
        return {self._current(), *self._slow}

    def kill(self) -> None:
        """End the process and release everything."""
        self._worker.kill()
        self._arrivals.close()

    def end(self) -> None:
        """Kill the process for calls that exceeded their time; it is replaced once all that it sent has been read."""
        self._is_blamed = False
        self._worker.clear_deadline()
        self._hosts.retire(self)
        self._worker.end()
        self._loop.call_later(_LAST_WORDS_S, self._give_up)

    def _give_up(self) -> None:
        """Replace a host that is dead, or should be, and of which nothing was heard."""
        if self._hosts.is_known(self):
            self._hosts.replace(self, is_blamed=False)

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
            self._hosts.replace(self)
            return
        for report in reports:
            if isinstance(report, SlowRequest):
                if report.request in self.pending:
                    self._slow[report.request] = self._heard
                continue
            if isinstance(report, (LentStep, SocketBack)):
                self._read_of_loan(report)
                continue
            pending = self.pending.pop(report.request, None)
            if pending is not None:
                self._slow.pop(report.request, None)
                pending.then(report)
        self._set_deadline()

    def _read_of_loan(self, report: LentStep | SocketBack) -> None:
        loan = self.loans.find(report.session)
        if loan is None:
            return
        if isinstance(report, LentStep):
            loan.n_steps += 1
            loan.on_step(report)
        else:
            self.loans.remove(loan)
            loan.on_back(report)

    def _begin_looking(self) -> None:
        if self._look is None:
            every_s = min(_LOOK_S, self._hosts.timeout_s / 4)
            self._look = self._loop.call_later(every_s, self._look_at_loans)

    def _look_at_loans(self) -> None:
        self._look = None
        late = self.loans.find_late(self._hosts.timeout_s)
        for loan in late:
            loan.is_late = True
        if late:
            self.end()
        elif self.loans:
            self._begin_looking()

    def _flush(self) -> None:
        out, self._out = self._out, []
        if out:
            self._is_alone = len(out) == 1
            self._worker.send(encode(out))

    def _set_deadline(self) -> None:
        if not self.pending or not self._is_blamed:
            self._worker.clear_deadline()
            return
        since = next(iter(self._slow.values()), self._heard)
        self._worker.set_deadline(since + self._hosts.timeout_s)

    def _handle_timeout(self) -> None:
        """End the host, and answer the requests that exceeded their time."""
        now, timeout_s = time.monotonic(), self._hosts.timeout_s
        late = [number for number, since in self._slow.items() if since + timeout_s <= now]
        if not late:
            # It does not even report that a call is slow.
            current = self._current()
            loan = self.loans.find(current - LENT_NUMBER)
            if loan is not None:
                loan.is_late = True
            else:
                late = [current] if current in self.pending else list(self.pending)[:1]
        for number in late:
            self._hosts.fail(self.pending.pop(number), "timeout", "deadline")
        self.end()


class Hosts:
    """`count` hosts with the environments `names` imported. On the event loop.

    They start in the background; requests wait for the first. `on_death` is called after the death of
    a host, before its requests are resent. `longest_message` bounds those on lent sockets, in bytes. `sql_engines` and `keep_env` are those of `VerifierPool`.
    """

    def __init__(
        self,
        names: Sequence[str],
        count: int,
        *,
        timeout_s: float,
        longest_message: int,
        on_death: Callable[[Host], None],
        sql_engines: Mapping[str, str],
        keep_env: Collection[str] = (),
    ) -> None:
        grants = {"sql_engines": dict(sql_engines)}
        self.spawner = Spawner("verigym.server.envs.host", names, grants, keep_env)
        self.timeout_s = timeout_s
        self.longest_message = longest_message
        self._on_death = on_death
        self._loop = asyncio.get_running_loop()
        self._live: list[Host] = []
        self._retired: list[Host] = []
        """Hosts that were killed, but may have sent something that is still unread."""
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
        hosts = [*self._live, *self._retired]
        return len(self._waiting) + sum(len(host.pending) for host in hosts)

    @property
    def n_lent(self) -> int:
        """Return the number of lent sockets."""
        return sum(len(host.loans) for host in [*self._live, *self._retired])

    def recall_all(self) -> None:
        """Ask for all lent sockets."""
        for host in self._live:
            for loan in host.loans.all():
                host.recall(loan)

    def send(self, write: Write, then: Then, host: Host | None = None) -> None:
        """Send a request; `then` gets the answer, once, never before this method returns.

        If `host` is None, any host is used; a request that is resent may go to any host, too.
        """
        self._number += 1
        self._send(Pending(self._number, write, then), host or self._best())

    def fail(self, pending: Pending, status: str, reason: str) -> None:
        """Answer a request with a fault."""
        self._loop.call_soon(pending.then, RequestFailed(pending.number, status, reason))

    def retire(self, host: Host) -> None:
        """Send no further requests to `host`, unless sessions are in it, and start another."""
        if host not in self._live:
            return
        self._live.remove(host)
        self._retired.append(host)
        if not self._closing.is_set():
            _log.warning("environment host %d ended; its sessions are made again", host.pid)
            self._begin_start()

    def is_known(self, host: Host) -> bool:
        """Tell if `host` has not been replaced yet."""
        return host in self._live or host in self._retired

    def replace(self, host: Host, *, is_blamed: bool = True) -> None:
        """End `host`, start another, and resend its requests to others.

        If `is_blamed`, they get the blame for it.
        """
        host.kill()
        self.retire(host)
        self._retired.remove(host)
        self._on_death(host)
        host.end_loans()
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
        for host in [*self._live, *self._retired]:
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
                host = Host(self, started, *_share(started[2]))
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


def _share(sock: socket.socket) -> tuple[mmap.mmap, socket.socket]:
    """Return memory that the host at `sock` shares, and the way on which it takes sockets. Raises OSError."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    with theirs, open(os.memfd_create("verigym-host"), "r+b") as file:
        file.truncate(MEMORY_BYTES)
        memory = mmap.mmap(file.fileno(), MEMORY_BYTES)
        try:
            socket.send_fds(sock, [b"\0"], [file.fileno(), theirs.fileno()])
        except OSError:
            ours.close()
            raise
    return memory, ours
