"""One host process: reads messages and executes them, for many sessions at once.

One thread, the leader, reads and works, so that a cheap step costs no thread switch. When a call
takes longer than `HAND_OVER_S`, the watchdog reports it to the service and makes another thread the
leader; the slow one answers when it is done. With `THREADS` slow calls at once, further calls wait.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from typing import Any

from verigym.making import make
from verigym.sandbox.workers.frames import FrameChannel
from verigym.server.envs.lent import LentSocket, LentSockets, LentStepRead
from verigym.server.envs.messages import (
    CURRENT,
    MEMORY_BYTES,
    Done,
    DropSessions,
    LendSocket,
    LentStep,
    Message,
    RecallSocket,
    Report,
    Request,
    SlowRequest,
    SocketBack,
    StepSession,
    decode_messages,
    encode,
)
from verigym.server.envs.stage import HostedSessions
from verigym.verifiers.sql import engines

THREADS = 8
"""Maximum number of calls that one host executes at once."""
HAND_OVER_S = 0.02
_FLUSH_BYTES = 1 << 16
_FLUSH_S = 0.002
_SWITCH_S = 0.001


def load(names: Sequence[str], grants: Mapping[str, Any] | None) -> None:
    """Import the environments `names` before hosts are forked; a broken one fails on its first use."""
    if grants is not None:
        engines.restrict(grants["sql_engines"])
    for name in names:
        with contextlib.suppress(Exception):
            make(name).reset(seed=0)  # also what is imported late


def work(sock: socket.socket) -> None:
    """Answer on `sock` until the service closes it.

    The first message on it brings the shared memory, and where sockets arrive that the service lends.
    """
    _, fds, _, _ = socket.recv_fds(sock, 1, 2)
    if not fds:  # the service stopped just now
        return
    memory = mmap.mmap(fds[0], MEMORY_BYTES)
    os.close(fds[0])
    os.set_inheritable(fds[1], False)
    arrivals = socket.socket(fileno=fds[1])
    # Beside a thread that computes without pause, the leader gets a turn in so many seconds.
    sys.setswitchinterval(_SWITCH_S)
    _Host(sock, arrivals, memory).run()


class _Host:
    def __init__(self, sock: socket.socket, arrivals: socket.socket, memory: mmap.mmap) -> None:
        self._channel = FrameChannel(sock)
        self._memory = memory
        self._stage = HostedSessions()
        self._lent = LentSockets(sock, arrivals, memory)
        self._ready: deque[Message | LentSocket] = deque()
        self._lock = threading.Lock()
        """Guards the following fields and everything that is sent."""
        self._out: list[Report] = []
        self._out_bytes = 0
        self._answers: list[tuple[LentSocket, bytes, bytes]] = []
        """Lent sockets whose steps have been played, with the answer and what was read behind the step."""
        self._sent = 0.0
        """Time at which the send queue was last empty."""
        self._leader = 0
        """Number of the leader; a former leader must touch nothing but the lock."""
        self._began = 0.0
        """Time at which the leader's call began; 0 between calls."""
        self._slow = 0
        self._appointed: SimpleQueue[int] = SimpleQueue()
        """Numbers of the next leaders, for the threads that wait to lead."""
        self._threads = 0
        self._ended = threading.Event()
        self._working = threading.Event()

    def run(self) -> None:
        threading.Thread(target=self._watch, daemon=True).start()
        self._appoint(0)
        self._ended.wait()

    def _appoint(self, number: int) -> None:
        self._appointed.put(number)
        # As many as were ever slow at once, and one more.
        if self._threads < self._slow + 1:
            self._threads += 1
            threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        # Threads do not end: what a sandbox starts dies with the thread that started it.
        while True:
            self._lead(self._appointed.get())

    def _lead(self, number: int) -> None:
        try:
            while self._leader == number:
                if not self._ready:
                    self._flush()
                    if not self._read():
                        break
                message = self._ready.popleft()
                match message:
                    case LentSocket():
                        leads = self._play(message, number)
                    case DropSessions():
                        for session in message.sessions:
                            self._recall(session)
                        self._stage.drop(message.sessions)
                        continue
                    case LendSocket():
                        self._take(message)
                        continue
                    case RecallSocket():
                        self._recall(message.session)
                        continue
                    case _:
                        leads = self._execute(message, number)
                if not leads:
                    return
        except OSError:
            pass  # the service closed the connection while we answered
        finally:
            if self._leader == number:
                self._ended.set()

    def _execute(self, request: Request, number: int) -> bool:
        """Execute `request`; return True if this thread still leads."""
        self._begin_call(request.request)
        answer = self._stage.answer(request)
        with self._lock:
            leads = self._end_call(number)
            self._out.append(answer)
            self._out_bytes += len(getattr(answer, "body", b""))
            # A quick batch is answered as one; nobody waits for the slow end of another.
            is_due = self._out_bytes > _FLUSH_BYTES or time.monotonic() - self._sent > _FLUSH_S
            if is_due or not leads:
                self._send()
        return leads

    def _play(self, lent: LentSocket, number: int) -> bool:
        """Play the step that has come on a lent socket; return True if this thread still leads."""
        if lent.is_released:
            return True
        step = lent.read()
        if step is None:
            self._lent.arm(lent)
            return True
        if not isinstance(step, LentStepRead):
            with self._lock:
                self._give_back(lent, SocketBack(lent.session, step))
            return True
        lent.is_busy = True
        self._begin_call(lent.number)
        answer = self._stage.answer(StepSession(lent.number, lent.session, step.action))
        if not isinstance(answer, Done) or answer.over:  # for the service to answer
            with self._lock:
                back = SocketBack(lent.session, step.rest, action=step.action, answer=answer)
                self._give_back(lent, back)
                return self._end_call(number)
        message = lent.write_answer(answer.body)
        report = LentStep(lent.session, step.action, answer.body, step.n_bytes, len(message))
        with self._lock:
            leads = self._end_call(number)
            self._out.append(report)
            self._answers.append((lent, message, step.rest))
            # As above: the answers of a batch wait for one report of all of it.
            if not leads or time.monotonic() - self._sent > _FLUSH_S:
                self._send()
        return leads

    def _take(self, given: LendSocket) -> None:
        if not self._lent.take(given):
            with self._lock:
                self._out.append(SocketBack(given.session))

    def _recall(self, session: int) -> None:
        lent = self._lent.find(session)
        if lent is None:
            return
        with self._lock:
            lent.is_wanted = True
            if not lent.is_busy:
                self._give_back(lent, SocketBack(session))

    def _give_back(self, lent: LentSocket, report: SocketBack) -> None:
        """Release a socket and say so. Needs the lock."""
        self._lent.release(lent)
        self._out.append(report)
        self._send()

    def _begin_call(self, number: int) -> None:
        self._current = number
        CURRENT.pack_into(self._memory, 0, number)
        self._began = time.monotonic()
        if not self._working.is_set():
            self._working.set()

    def _end_call(self, number: int) -> bool:
        """Note the end of a call; return True if leader `number` still leads. Needs the lock."""
        if self._leader == number:
            self._began = 0.0
            return True
        self._slow -= 1
        return False

    def _read(self) -> bool:
        """Wait for messages; return False if there will be no more."""
        self._working.clear()
        if self._lent and not self._channel.has_frame:
            lent, has_frame = self._lent.wait()
            self._ready.extend(lent)
            self._sent = time.monotonic()
            if not has_frame:
                return True
        body = self._channel.receive()
        if body is None:
            return False
        self._ready.extend(decode_messages(body))
        self._sent = time.monotonic()
        return True

    def _flush(self) -> None:
        if self._out:
            with self._lock:
                self._send()

    def _send(self) -> None:
        """Send all reports, and then the answers on lent sockets. Needs the lock."""
        answers, self._answers = self._answers, []
        for lent, _, _ in answers:
            lent.begin_answer()
        if self._out:
            body = encode(self._out)
            self._out = []
            self._out_bytes = 0
            self._channel.send(body)
        for lent, message, rest in answers:
            unsent = lent.answer(message)
            lent.is_busy = False
            if unsent or rest or lent.is_wanted:
                self._give_back(lent, SocketBack(lent.session, rest, unsent))
            else:
                self._lent.arm(lent)
        self._sent = time.monotonic()

    def _watch(self) -> None:
        """Make another thread the leader if the leader's call is slow."""
        while True:
            self._working.wait()
            time.sleep(HAND_OVER_S)
            with self._lock:
                began = self._began
                late = began and time.monotonic() - began >= HAND_OVER_S
                if not late or self._slow + 1 >= THREADS:
                    continue
                self._slow += 1
                self._leader += 1
                self._began = 0.0
                self._out.append(SlowRequest(self._current))
                try:
                    self._send()
                except OSError:
                    return
                self._appoint(self._leader)
