"""`DockerChannel`: a step whose streams stay open, for a session."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

from verigym.errors import SandboxError
from verigym.sandbox.docker.container import Container
from verigym.sandbox.docker.conversation import GRACE_S, SETUP_S, Ending, judge
from verigym.sandbox.docker.engine import errors
from verigym.sandbox.docker.frames import FrameError, frame, frames_of, job_frames
from verigym.sandbox.job import JobStatus, Result
from verigym.sandbox.step import ProgramRun

_CLOSE_S = 5.0
_SLICE_S = 0.05
_MOST_BYTES = 1 << 20
"""Output that is held until it is received; what comes beyond waits in the container."""


class DockerChannel:
    """Speaks to the program in `container`, which it owns: `discard` is called once, at the end, and
    told whether the job ended by itself. Thread-safe.

    Raises SandboxError if the program cannot be started.
    """

    def __init__(
        self, container: Container, step: ProgramRun, discard: Callable[[Container, bool], None]
    ) -> None:
        self._container = container
        self._step = step
        self._discard = discard
        self._ending = Ending()
        self._result: Result | None = None
        self._out, self._err = bytearray(), bytearray()
        self._interrupts = 0
        # Whoever holds it speaks to the container, for a slice of time at most.
        self._line = threading.Lock()
        self._closing = threading.Lock()
        container.idle = False
        container.queue(job_frames(step, container.machine, stream=True))
        self._deadline = time.monotonic() + SETUP_S
        try:
            while not self._ending.started and self._alive():
                self._turn(_SLICE_S)
        except BaseException:
            self.close()
            raise
        if not self._ending.started:
            raise SandboxError(f"the session did not start: {self.close().detail}")
        self._deadline = time.monotonic() + step.limits.wall_s + GRACE_S

    def end_input(self) -> None:
        """End standard input; see `Channel.end_input`."""
        with self._line:
            if self._alive():
                self._container.queue([frame(b"C")])

    def send(self, data: bytes, timeout_s: float = 10.0) -> None:
        """Write to standard input; see `Channel.send`. What was not taken in time is dropped."""
        until = time.monotonic() + timeout_s
        with self._line:
            if self._alive():
                self._container.queue(frames_of(b"I", data))
        while self._alive():
            if not self._container.sending:
                return
            if time.monotonic() >= until:
                raise TimeoutError(f"the step took no more input within {timeout_s:g} s")
            self._turn(_SLICE_S)
        raise SandboxError("the step has ended; close the channel and start another")

    def receive(self, timeout_s: float) -> tuple[bytes, bytes] | None:
        """Return standard output and standard error since the last call, waiting up to `timeout_s` seconds
        for any; two empty strings after the timeout, None at the end."""
        until = time.monotonic() + timeout_s
        while True:
            with self._line:
                if self._out or self._err:
                    got = bytes(self._out), bytes(self._err)
                    self._out.clear()
                    self._err.clear()
                    return got
            if not self._alive():
                return None
            left_s = until - time.monotonic()
            if left_s <= 0:
                return b"", b""
            self._turn(min(left_s, _SLICE_S))

    def interrupt(self) -> None:
        """Send SIGINT to the group of the step's first process, by way of the keeper."""
        before = self._interrupts
        until = time.monotonic() + _CLOSE_S
        try:
            self._container.signal("SIGINT")
        except errors() as error:
            if self._alive():
                raise SandboxError(f"the engine sent no interrupt: {error}") from error
        # It is on its way only; an answer says that it did not come late, to the next cell.
        while self._interrupts == before and self._alive() and time.monotonic() < until:
            self._turn(_SLICE_S)

    def close(self) -> Result:
        """End the step and all of its processes, and say how it ended. Repeatable."""
        with self._closing:
            if self._result is not None:
                return self._result
            asked = self._alive()
            if asked:
                with contextlib.suppress(*errors()):
                    self._container.signal("SIGTERM")
                until = time.monotonic() + _CLOSE_S
                while self._alive() and time.monotonic() < until:
                    self._turn(_SLICE_S)
                    with self._line:
                        self._out.clear()
                        self._err.clear()
            with self._line:
                ended = self._ending.reason not in ("", "wall")
                if asked and not self._ending.over:
                    self._ending.failure = "it was closed, and did not end by itself"
                try:
                    self._result = judge(self._ending, self._step, self._container)
                except errors() as error:
                    self._result = Result(
                        status=JobStatus.SANDBOX_ERROR, detail=f"the Docker engine fails: {error}"
                    )
                finally:
                    self._discard(self._container, ended)
            return self._result

    def _alive(self) -> bool:
        return self._result is None and self._container.open and not self._ending.over

    def _turn(self, timeout_s: float) -> None:
        with self._line:
            if not self._alive():
                return
            if time.monotonic() > self._deadline:
                if self._ending.started:
                    self._ending.reason, self._ending.wall_s = "wall", self._step.limits.wall_s
                else:
                    self._ending.failure = f"the program was not started within {SETUP_S:g} s"
                return
            held = len(self._out) + len(self._err)
            try:
                for kind, payload in self._container.turn(timeout_s, reading=held < _MOST_BYTES):
                    self._take(kind, payload)
            except FrameError as error:
                self._ending.failure = str(error)

    def _take(self, kind: bytes, payload: bytes) -> None:
        if kind == b"O":
            self._out += payload
        elif kind == b"E":
            self._err += payload
        elif kind == b"K":
            self._interrupts += 1
        else:
            self._ending.take(kind, payload, self._step)
