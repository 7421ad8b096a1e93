"""A step that runs without any limit, and sessions on it."""

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from verigym import SandboxError
from verigym.sandbox.job import JobStatus, Limits, Result
from verigym.sandbox.remove import remove_tree
from verigym.sandbox.session import SandboxSession, driver
from verigym.sandbox.step import ProgramRun

LIMITS = Limits(wall_s=120.0, cpu_s=120.0, output_bytes=100_000)


class PlainChannel:
    """A step run without any limit: for what drivers and framing do, never for programs."""

    def __init__(self, step):
        self.folder = Path(tempfile.mkdtemp(prefix="verigym-test-"))
        for name, data in step.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.process = subprocess.Popen(
            step.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=self.folder,
            start_new_session=True,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **step.env},
        )
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            os.set_blocking(pipe.fileno(), False)
        self._pidfd = os.pidfd_open(self.process.pid)
        self._result = None
        self._lock = threading.Lock()  # a descriptor is not closed under a reader

    def send(self, data, timeout_s=10.0):
        deadline = time.monotonic() + timeout_s
        data = memoryview(data)
        pipe = self.process.stdin.fileno()
        while data:
            try:
                data = data[os.write(pipe, data) :]
            except BlockingIOError:
                ready = select.select([], [pipe], [], max(0.0, deadline - time.monotonic()))[1]
                if not ready:
                    raise TimeoutError("the step does not read") from None
            except OSError as error:
                raise SandboxError(f"the step has ended: {error}") from error

    def receive(self, timeout_s):
        with self._lock:
            if self._result is not None:
                return None
            pipes = [self.process.stdout.fileno(), self.process.stderr.fileno()]
            ready, _, _ = select.select([*pipes, self._pidfd], [], [], timeout_s)
            got = [b"", b""]
            for i, pipe in enumerate(pipes):
                with contextlib.suppress(BlockingIOError):
                    got[i] = os.read(pipe, 1 << 16)
            if not any(got) and self._pidfd in ready:
                return None
            return got[0], got[1]

    def interrupt(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGINT)

    def close(self):
        if self._result is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        with self._lock:
            if self._result is None:
                code = self.process.wait()
                for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                    pipe.close()
                os.close(self._pidfd)
                remove_tree(self.folder)
                status = JobStatus.SIGNAL if code < 0 else JobStatus.NONZERO_EXIT
                self._result = Result(
                    status=status if code else JobStatus.OK,
                    exit_code=code if code >= 0 else None,
                    signal=-code if code < 0 else None,
                )
        return self._result


def plain(language, limits=LIMITS, release=lambda: None, argv=None):
    name, source, command = driver(language)
    step = ProgramRun(argv=argv or command, files={name: source}, limits=limits)
    return SandboxSession(language, PlainChannel(step), limits, release)


def said(result, status=JobStatus.OK):
    assert result.status is status, (result.status, result.detail, result.stderr)
    return result.stdout
