"""Passes input and output between the program and the owner, without ever blocking."""

from __future__ import annotations

import os
import select
import struct
from typing import Any

from verigym.sandbox.docker.inside.processes import kill_all
from verigym.sandbox.docker.inside.wire import CHUNK, frame


class Streams:
    """The program's streams and what passes between them and the owner, without ever blocking."""

    def __init__(self, job: dict[str, Any], stdin: int, stdout: int, stderr: int) -> None:
        for fd in (0, 1, stdin, stdout, stderr):
            os.set_blocking(fd, False)
        self.stdin: int | None = stdin
        self.outputs = {stdout: b"O", stderr: b"E"}
        self.most = None if job["stream"] else job["limits"]["output_bytes"]
        self.counts = {b"O": 0, b"E": 0}
        self.inbox = bytearray()  # frames of the owner, not yet whole
        self.todo = bytearray()  # for the program
        self.outbox = bytearray()  # for the owner
        self.ending = False  # no more input after `todo`
        self.cut: set[bytes] = set()

    def turn(self, wake: int, timeout_s: float) -> None:
        """Move what can be moved, waiting for the first of it."""
        reads = [wake]
        writes = [1] if self.outbox else []
        if len(self.todo) < CHUNK:
            reads.append(0)
        if len(self.outbox) < 4 * CHUNK:
            reads += self.outputs
        if self.stdin is not None and self.todo:
            writes.append(self.stdin)
        readable, writable, _ = select.select(reads, writes, [], timeout_s)
        if wake in readable:
            os.read(wake, 4096)
        if 1 in writable:
            del self.outbox[: os.write(1, self.outbox[:CHUNK])]
        if 0 in readable:
            self._take_input()
        for fd in list(self.outputs):
            if fd in readable:
                self.pass_output(fd)
        if self.stdin is not None and (self.stdin in writable or (self.ending and not self.todo)):
            self._feed()

    def _take_input(self) -> None:
        data = os.read(0, CHUNK)
        if not data:
            kill_all()
            os._exit(0)  # the owner is gone
        self.inbox += data
        while len(self.inbox) >= 5:
            kind, size = struct.unpack(">cL", self.inbox[:5])
            if len(self.inbox) < 5 + size:
                break
            if kind == b"I":
                self.todo += self.inbox[5 : 5 + size]
            else:
                self.ending = True
            del self.inbox[: 5 + size]

    def _feed(self) -> None:
        assert self.stdin is not None
        try:
            if self.todo:
                del self.todo[: os.write(self.stdin, self.todo[:CHUNK])]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.todo.clear()
            self.ending = True
        if self.ending and not self.todo:
            os.close(self.stdin)
            self.stdin = None

    def pass_output(self, fd: int) -> bool:
        """Pass on what the program wrote; False at its end."""
        kind = self.outputs[fd]
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            del self.outputs[fd]
            return False
        if self.most is not None:
            room = self.most - self.counts[kind]
            if len(data) > room:
                self.cut.add(kind)
            data = data[:room]
        self.counts[kind] += len(data)
        if data:
            self.outbox += frame(kind, data)
        return True
