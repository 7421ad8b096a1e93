"""Sockets that the service lent to this host, which reads plain steps from them and answers on them itself.

A step takes two wake-ups of a process then, the client's and this one's, and not four. The service hears of every
step before the client does, so that it can make the session again. Whatever is not a whole plain step goes back
to the service with the socket.
"""

from __future__ import annotations

import mmap
import os
import select
import socket
from typing import NamedTuple, Protocol

from verigym.server.envs.messages import (
    CURRENT,
    LENT_BYTES,
    LENT_NUMBER,
    LendSocket,
    Phase,
    PlainStep,
)
from verigym.server.envs.plain_frames import PlainFrames
from verigym.server.openenv.plain_steps import PlainSteps
from verigym.server.text_frames import read_text, text_frame

_CHUNK = 1 << 16
_ONCE = select.EPOLLIN | select.EPOLLONESHOT


class LentStepRead(NamedTuple):
    """A plain step as it was read."""

    action: str
    n_bytes: int
    """Length of its message."""
    rest: bytes
    """Bytes that were read behind it."""


class StepFormat(Protocol):
    """Format of the steps of a client and of their answers."""

    def read(self, data: bytes) -> PlainStep | None:
        """Return the step of a text; None for anything else."""
        ...

    def answer(self, body: bytes) -> bytes:
        """Return the text that answers the step that was read last; `body` is that of `Done`."""
        ...


class LentSocket:
    """One socket. One thread at a time uses it: it is armed again once its step has been answered."""

    def __init__(self, given: LendSocket, fd: int, memory: mmap.mmap) -> None:
        self.session = given.session
        self.number = LENT_NUMBER + given.session
        self.fd = fd
        self.is_busy = False
        """True while a step is under way."""
        self.is_wanted = False
        """True if it has to go back after the step under way."""
        self.is_released = False
        self._format: StepFormat = (
            PlainFrames(given.frames_of, given.seq) if given.frames_of else PlainSteps()
        )
        self._limit = given.limit
        self._memory = memory
        self._at = CURRENT.size + given.slot * LENT_BYTES

    def read(self) -> LentStepRead | bytes | None:
        """Read what has arrived: a step, or bytes that are for the service (none at the end); None if nothing has."""
        memory, at = self._memory, self._at
        memory[at] = Phase.READING
        try:
            data = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            memory[at] = Phase.WAITING
            return None
        except OSError:
            return b""  # the service will see the same
        found = read_text(data, 0, self._limit)
        step = None if found is None else self._format.read(found[0])
        if found is None or step is None:
            return data
        text, end = found
        rest = data[end:]
        n = len(step.id)
        if n:
            memory[at + 2 : at + 2 + n] = step.id
            memory[at + 1] = n
        if not rest:
            memory[at] = Phase.PLAYING
        return LentStepRead(step.action, len(text), rest)

    def write_answer(self, body: bytes) -> bytes:
        """Return the text that answers the step that was read last."""
        return self._format.answer(body)

    def begin_answer(self) -> None:
        """Note that the step is about to be reported and answered."""
        self._memory[self._at] = Phase.ANSWERING

    def answer(self, message: bytes) -> bytes:
        """Send a message; return what could not be sent without waiting."""
        data = text_frame(message)
        try:
            sent = os.write(self.fd, data)
        except BlockingIOError:
            sent = 0
        except OSError:
            sent = len(data)  # the client is gone, which the service will see
        self._memory[self._at] = Phase.WAITING
        return data[sent:]


class LentSockets:
    """The lent sockets of this host; waits for messages on them and on the channel, whatever comes first."""

    def __init__(self, channel: socket.socket, arrivals: socket.socket, memory: mmap.mmap) -> None:
        self._arrivals = arrivals
        """Channel on which the sockets themselves arrive, each before its `LendSocket`."""
        self._memory = memory
        self._by_session: dict[int, LentSocket] = {}
        self._by_fd: dict[int, LentSocket] = {}
        self._channel = channel.fileno()
        self._epoll = select.epoll()
        self._epoll.register(self._channel, select.EPOLLIN)

    def __len__(self) -> int:
        return len(self._by_session)

    def take(self, given: LendSocket) -> bool:
        """Take the socket that has arrived for `given`; return False if it was lost: too many files are open."""
        _, fds, _, _ = socket.recv_fds(self._arrivals, 1, 1)
        if not fds:
            return False
        # What an environment starts must not hold a client's connection; the flag of recv_fds is ignored in 3.11.
        os.set_inheritable(fds[0], False)
        lent = LentSocket(given, fds[0], self._memory)
        self._by_session[lent.session] = self._by_fd[lent.fd] = lent
        self._epoll.register(lent.fd, _ONCE)
        return True

    def find(self, session: int) -> LentSocket | None:
        """Return the socket of `session`; None if it has none."""
        return self._by_session.get(session)

    def arm(self, lent: LentSocket) -> None:
        """Wait for the next message on a socket."""
        self._epoll.modify(lent.fd, _ONCE)

    def release(self, lent: LentSocket) -> None:
        """Stop using a socket; the service still has it."""
        lent.is_released = True
        del self._by_session[lent.session], self._by_fd[lent.fd]
        self._epoll.unregister(lent.fd)
        os.close(lent.fd)

    def wait(self) -> tuple[list[LentSocket], bool]:
        """Wait until something has come; return the sockets that have a message, and True if the channel has."""
        ready = [fd for fd, _ in self._epoll.poll()]
        lent = [self._by_fd[fd] for fd in ready if fd in self._by_fd]
        return lent, self._channel in ready
