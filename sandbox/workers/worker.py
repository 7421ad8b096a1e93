"""One worker process as an event loop sees it: frames to and from it, its deadline and its end.

Everything here runs on the event loop, without locks. A worker that passes its deadline, dies or
breaks the protocol is killed, and its owner sends the requests that have no reply to another one.
`ALONE`, `AMONG_OTHERS` and `WAITING` are the blame that such a death puts on a request; with
`MAX_BLAME`, it is not sent again.
"""

from __future__ import annotations

import asyncio
import math
import socket
import time
from collections import deque
from collections.abc import Callable

from verigym.sandbox.workers.frames import FrameReader, frame
from verigym.sandbox.workers.spawner import Spawner, Started

ALONE, AMONG_OTHERS, WAITING, MAX_BLAME = 15, 10, 1, 30
"""The worker was executing this request alone, or this one among others, or had not begun it."""

_CHUNK = 1 << 16


class Worker:
    """A process that `spawner` has started.

    `on_reply` gets the body of each frame, `on_overdue` is called when the deadline has passed, and
    `on_lost` when the process is gone or has broken the protocol. None of them is called after `kill`.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        spawner: Spawner,
        started: Started,
        *,
        on_reply: Callable[[bytes], None],
        on_overdue: Callable[[], None],
        on_lost: Callable[[Exception], None],
    ) -> None:
        self._loop = loop
        self._spawner = spawner
        self._server, self.pid, sock = started
        self._on_reply = on_reply
        self._on_overdue = on_overdue
        self._on_lost = on_lost
        self._reader = FrameReader()
        self._unsent: deque[memoryview] = deque()
        self._deadline = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = math.inf
        sock.setblocking(False)
        self._sock: socket.socket | None = sock
        loop.add_reader(sock, self.read)

    def send(self, body: bytes) -> None:
        """Send a frame. Raises OSError if it is too large."""
        self._unsent.append(memoryview(frame(body)))
        if len(self._unsent) == 1:
            self._send()

    def read(self) -> None:
        """Handle what the worker has sent so far."""
        sock = self._sock
        if sock is None:
            return
        try:
            chunk = sock.recv(_CHUNK)
            if not chunk:
                raise EOFError("the other end is gone")
            bodies = self._reader.feed(chunk)
        except BlockingIOError:
            return
        except (OSError, EOFError) as error:
            self._lose(error)
            return
        for body in bodies:
            self._on_reply(body)
            if self._sock is None:
                return

    def set_deadline(self, deadline: float) -> None:
        """Replace the deadline, in `time.monotonic` seconds.

        A deadline that only moves away costs nothing: the timer is set again when it rings.
        """
        self._deadline = deadline
        if deadline < self._timer_at:
            self._set_timer()

    def clear_deadline(self) -> None:
        """Remove the deadline: the worker has nothing to do."""
        self._deadline = math.inf

    def end(self) -> None:
        """Send SIGKILL to the process; `on_lost` is called once all that it has sent has been read."""
        if self._sock is not None:
            self._spawner.kill(self._server, self.pid)

    def kill(self) -> None:
        """End the process and release everything; nothing if that has happened already."""
        if self._sock is None:
            return
        if not self._loop.is_closed():
            self._loop.remove_reader(self._sock)
            self._loop.remove_writer(self._sock)
        self._sock.close()
        self._sock = None
        if self._timer is not None:
            self._timer.cancel()
        self._spawner.kill(self._server, self.pid)

    def _lose(self, error: Exception) -> None:
        if self._sock is not None:
            self.kill()
            self._on_lost(error)

    def _send(self) -> None:
        while self._unsent and self._sock is not None:
            data = self._unsent[0]
            try:
                sent = self._sock.send(data)
            except BlockingIOError:
                self._loop.add_writer(self._sock, self._send_rest)
            except OSError as error:
                self._lose(error)
            else:
                if sent == len(data):
                    self._unsent.popleft()
                else:
                    self._unsent[0] = data[sent:]
                continue
            return

    def _send_rest(self) -> None:
        if self._sock is not None:
            self._loop.remove_writer(self._sock)
            self._send()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = self._deadline
        left_s = max(0.0, self._deadline - time.monotonic())
        self._timer = self._loop.call_later(left_s, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._timer_at = math.inf
        if self._deadline == math.inf:
            return
        if self._deadline > time.monotonic():
            self._set_timer()
        else:
            self._deadline = math.inf
            self._on_overdue()
