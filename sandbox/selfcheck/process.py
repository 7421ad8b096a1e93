"""`WorkerProcess`: starts a worker (worker.py) as root or as an ordinary user, and speaks to it."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any

from verigym.sandbox.selfcheck.canaries import TOKEN_NAME
from verigym.sandbox.selfcheck.ordinary import NOBODY

_READY_S = 90.0
_CLOSE_S = 30.0


class WorkerGone(Exception):
    """A worker ended, or did not answer in time; the text says which."""


class WorkerProcess:
    """A worker process: `ask` it one line at a time, `finish` it, or `stop` it."""

    def __init__(
        self, backend: str, options: Mapping[str, Any], token: str, *, ordinary: bool
    ) -> None:
        self._plan = {"backend": backend, "options": dict(options)}
        self.folder = tempfile.mkdtemp(prefix=f"verigym-selfcheck-{os.getpid()}-", dir="/tmp")
        if ordinary:
            os.chown(self.folder, NOBODY, NOBODY)
        module = "ordinary" if ordinary else "worker"
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", f"verigym.sandbox.selfcheck.{module}"),
                str(os.getpid()),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, TOKEN_NAME: token, "TMPDIR": self.folder},
            start_new_session=True,  # Ctrl-C is for the one who asked; it ends the workers in order
        )
        self.pid = self._process.pid
        self._pending = bytearray()
        self._complaints = bytearray()

    def start(self) -> dict[str, Any]:
        """Say the plan; the answer is `ready` or `unavailable`. Raises WorkerGone."""
        return self.ask(self._plan, _READY_S)

    def ask(self, message: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send one line, wait for one line."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
        except BrokenPipeError as error:
            raise WorkerGone(self._ending()) from error
        return self._receive(timeout_s)

    def finish(self) -> list[str]:
        """Close the sandbox, return what it left behind, and end the process."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            left = list(self._receive(_CLOSE_S).get("left", ()))
            self._process.wait(_CLOSE_S)
        except (WorkerGone, subprocess.TimeoutExpired) as error:
            left = [f"the supervisor did not end in order: {error}"]
        finally:
            self.stop()
        return left + [f"temporary file {name}" for name in self._remove()]

    def stop(self) -> None:
        """End the process whatever it is doing."""
        for number, wait_s in ((signal.SIGINT, 10.0), (signal.SIGKILL, 10.0)):
            if self._process.poll() is not None:
                break
            self._process.send_signal(number)
            try:
                self._process.wait(wait_s)
            except subprocess.TimeoutExpired:
                continue
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def discard(self) -> None:
        """Stop the process and remove its folder."""
        self.stop()
        self._remove()

    def _remove(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        # What the worker had started may still be dying, and write for a moment longer.
        deadline = time.monotonic() + _CLOSE_S
        while os.path.exists(self.folder) and time.monotonic() < deadline:
            shutil.rmtree(self.folder, ignore_errors=True)
            time.sleep(0.01)
        return names

    def _receive(self, timeout_s: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        deadline = time.monotonic() + timeout_s
        streams = [self._process.stdout, self._process.stderr]
        while b"\n" not in self._pending:
            ready, _, _ = select.select(streams, [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise WorkerGone(f"the supervisor did not answer within {timeout_s:g} s")
            for stream in ready:
                chunk = os.read(stream.fileno(), 1 << 16)
                if stream is self._process.stderr:
                    self._complaints += chunk
                    del self._complaints[:-4000]
                    if not chunk:
                        streams.remove(stream)
                elif not chunk:
                    raise WorkerGone(self._ending())
                else:
                    self._pending += chunk
        line, _, rest = bytes(self._pending).partition(b"\n")
        self._pending[:] = rest
        return dict(json.loads(line))

    def _ending(self) -> str:
        try:
            code = self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            return "the supervisor closed its output"
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        self._complaints += self._process.stderr.read() or b""
        said = " ".join(self._complaints.decode("utf-8", "replace").split())[-400:]
        return f"the supervisor ended with code {code}: {said}"
