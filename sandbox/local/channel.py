"""A job whose standard streams stay open: what a session speaks through."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable

from verigym.errors import SandboxError
from verigym.sandbox.job import Result
from verigym.sandbox.local.child import NOBODY
from verigym.sandbox.local.judge import judge
from verigym.sandbox.local.order import send
from verigym.sandbox.local.server import Slot, WarmServer
from verigym.sandbox.local.watch import (
    GRACE_S,
    SETUP_S,
    TICK_S,
    Seen,
    WatchedStream,
    cpu_meter,
    note_start,
    take_message,
    tick,
)
from verigym.sandbox.step import ProgramRun


class LocalChannel:
    """`Channel` to `step` in `slot`; `release` is told at the end whether the slot may be used again.

    Raises SandboxError if the step does not start; the slot is released then too.
    """

    def __init__(
        self, step: ProgramRun, server: WarmServer, slot: Slot, release: Callable[[bool], None]
    ) -> None:
        self._step = step
        self._slot = slot
        self._release = release
        self._result: Result | None = None
        self._closing = threading.Lock()
        # Guards reading from the slot's socket, which `receive`, `interrupt` and `close` all do.
        self._control = threading.Lock()
        self._ended = threading.Event()
        self._interrupted = threading.Event()
        self._is_open = True
        read, self._stdin = os.pipe()
        try:
            os.set_blocking(self._stdin, False)
            if server.settings["as_root"]:
                os.fchown(read, NOBODY, NOBODY)
            fds = send(step, server, slot, read)
        except BaseException:
            os.close(self._stdin)
            release(False)
            raise
        finally:
            os.close(read)
        # Output goes to the caller, who bounds it.
        self._seen = Seen(WatchedStream(fds[0], 0), WatchedStream(fds[1], 0))
        try:
            self._await_start()
        except BaseException:
            self.close()
            raise
        # What a single process's limits do not bound has to be looked at, between cells too.
        self._watcher = threading.Thread(target=self._watch, name="verigym-session", daemon=True)
        self._watcher.start()

    def end_input(self) -> None:
        """End standard input."""
        with self._closing:
            if self._is_open and self._result is None:
                self._is_open = False
                os.close(self._stdin)

    def send(self, data: bytes, timeout_s: float = 10.0) -> None:
        """Write to standard input."""
        if not self._is_open:
            raise SandboxError("the step's input has ended; start another step")
        deadline = time.monotonic() + timeout_s
        rest = memoryview(data)
        while rest:
            if self._ended.is_set():
                raise SandboxError("the step has ended")
            try:
                rest = rest[os.write(self._stdin, rest) :]
            except BlockingIOError:
                wait_s = deadline - time.monotonic()
                if wait_s <= 0:
                    raise TimeoutError("the step does not read") from None
                poll = select.poll()
                poll.register(self._stdin, select.POLLOUT)
                poll.poll(min(wait_s, TICK_S) * 1000)
            except OSError as error:
                raise SandboxError(f"the step has ended: {error}") from error

    def receive(self, timeout_s: float) -> tuple[bytes, bytes] | None:
        """Return standard output and standard error since the last call; None at the end."""
        if self._result is not None:
            return None
        fds = (self._seen.stdout.fd, self._seen.stderr.fd)
        ended = self._ended.is_set()
        if not ended:
            poll = select.poll()
            for fd in (*fds, self._slot.control.fileno()):
                poll.register(fd, select.POLLIN)
            # `close` of another thread is noticed within a tick.
            deadline = time.monotonic() + timeout_s
            while not (ready := poll.poll(max(0.0, min(timeout_s, TICK_S)) * 1000)):
                if time.monotonic() >= deadline or self._result is not None:
                    break
            for fd, _ in ready:
                if fd == self._slot.control.fileno():
                    self._take()
                    break
                # A stream that was closed is always ready, and would keep this from waiting.
        out, err = (_read(fd) for fd in fds)
        if ended and not out and not err:
            return None
        return out or b"", err or b""

    def interrupt(self) -> None:
        """Send SIGINT to the process group of the step's first process; it is sent on return."""
        self._interrupted.clear()
        self._slot.tell(b"I%d" % self._slot.sequence)
        deadline = time.monotonic() + GRACE_S
        while time.monotonic() < deadline and not self._ended.is_set():
            if self._interrupted.is_set():
                return
            self._take(TICK_S)

    def close(self) -> Result:
        """End the step and all of its processes, and say how it ended."""
        with self._closing:
            if self._result is not None:
                return self._result
            if not self._ended.is_set():
                self._slot.tell(b"K%d" % self._slot.sequence)
                deadline = time.monotonic() + GRACE_S
                while not self._ended.is_set():
                    if time.monotonic() > deadline:
                        self._slot.kill()
                        deadline += GRACE_S
                    self._take(TICK_S)
            seen = self._seen
            note_start(self._slot, seen)
            if seen.started is not None:
                seen.wall_s = (time.monotonic() if seen.lost else seen.wall_s) - seen.started
            group = self._slot.group
            out_of_memory = group is not None and group.oom_kills() > 0
            if out_of_memory and group is not None and not seen.lost:
                group.reset()
            self._result = judge(self._step, seen, out_of_memory=out_of_memory)
            open_stdin = [self._stdin] if self._is_open else []
            for fd in (*open_stdin, seen.stdout.fd, seen.stderr.fd):
                os.close(fd)
            self._release(not seen.lost and seen.started is not None)
            return self._result

    def _await_start(self) -> None:
        poll = select.poll()
        poll.register(self._slot.jobs.fileno(), select.POLLIN)
        poll.register(self._slot.control.fileno(), select.POLLIN)
        poll.poll(SETUP_S * 1000)
        note_start(self._slot, self._seen)
        if self._seen.started is None:
            raise SandboxError(
                self._seen.error or f"the session's step did not start within {SETUP_S:g} s"
            )

    def _take(self, timeout_s: float = 0.0) -> None:
        """Read one message of the slot, if there is one."""
        with self._control:
            if self._ended.is_set():
                return
            poll = select.poll()
            poll.register(self._slot.control.fileno(), select.POLLIN)
            if not poll.poll(timeout_s * 1000):
                return
            if take_message(self._slot, self._seen) == b"I":
                self._interrupted.set()
            else:
                self._ended.set()

    def _watch(self) -> None:
        cpu_s = cpu_meter(self._slot)
        while not self._ended.wait(TICK_S) and self._result is None:
            with contextlib.suppress(OSError):
                tick(self._slot, self._step.limits, self._seen, cpu_s)
            if self._seen.killed is not None:
                self._slot.tell(b"K%d" % self._slot.sequence)
                return


def _read(fd: int) -> bytes | None:
    try:
        return os.read(fd, 1 << 16)
    except BlockingIOError:
        return b""
    except OSError:  # closed meanwhile
        return None
