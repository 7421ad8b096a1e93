"""`ServerProcess`: a real service in its own process, for programs and tests on one machine."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Self

import msgspec

from verigym.errors import SandboxError

_STOP_S = 15.0
_KEY_ENV = "VERIGYM_SERVER_KEY"


class ServerProcess:
    """The service as a child process on a free port of the loopback address.

        with ServerProcess(verifiers=["games"]) as server:
            env = verigym.make("keydoor", verifier=server.url)

    `verifiers` and `envs` are globs of ids to serve, by default all verifiers and no environment.
    The child stops when this process ends, even by SIGKILL. `start_s` bounds every start, `key` is
    the bearer key to require, `env` adds to the child's environment, `options` are further options of
    `verigym serve`, such as `--sandbox`. Its log goes to `log`, else only warnings and errors to this
    process's standard error. Raises SandboxError if the service does not start.
    """

    def __init__(
        self,
        *,
        verifiers: Sequence[str] = ("*",),
        envs: Sequence[str] = ("none",),
        workers: int | None = None,
        port: int = 0,
        timeout_s: float = 30.0,
        key: str | None = None,
        start_s: float = 60.0,
        env: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
        log: IO[bytes] | None = None,
    ) -> None:
        self._options = ["--verifiers", ",".join(verifiers), "--envs", ",".join(envs)]
        self._options += ["--timeout-s", str(timeout_s)]
        if workers is not None:
            self._options += ["--workers", str(workers)]
        self._port = port
        self._start_s = start_s
        self._env = {**os.environ, **(env or {})}
        if key is not None:
            self._env[_KEY_ENV] = key
            self._options += ["--key-env", _KEY_ENV]
        if log is None:  # a line for each request would bury what this process says
            self._options += ["--log-level", "warning"]
        self._options += options
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._url = ""

    @property
    def url(self) -> str:
        """URL of the service; `restart` does not change it."""
        return self._url

    @property
    def pid(self) -> int:
        """Process id of the service; 0 if it does not run."""
        return self._process.pid if self._process is not None else 0

    def start(self) -> None:
        """Start the service and wait until it is healthy; it keeps its port if it ran before."""
        if self._process is not None:
            raise SandboxError("the service runs already")
        deadline = time.monotonic() + self._start_s
        self._process = subprocess.Popen(
            # -P: the current folder must not shadow installed packages.
            [
                *(sys.executable, "-P", "-m", "verigym", "serve", "--json", "--until-stdin-closes"),
                *("--port", str(self._port), *self._options),
            ],
            stdin=subprocess.PIPE,  # never written to; its end tells the child that we are gone
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=self._env,
            start_new_session=True,
        )
        try:
            line = self._first_line(deadline)
            self._url = msgspec.json.decode(line)["url"]
            self._port = int(self._url.rpartition(":")[2])
            self._wait_healthy(deadline)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> int:
        """Stop the service gracefully and return its exit code; kill it after 15 s."""
        if self._process is None:
            return 0
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_S)
        return self.kill()

    def kill(self) -> int:
        """Send SIGKILL, to simulate a crash, and return the exit code."""
        if self._process is None:
            return 0
        process, self._process = self._process, None
        process.kill()
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        return code

    def restart(self) -> None:
        """Restart the service on the same port, after `kill` or while it runs."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _first_line(self, deadline: float) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise SandboxError(f"the service did not start in {self._start_s:g} s")
            chunk = os.read(pipe, 4096)
            if not chunk:
                code = self._process.wait()
                raise SandboxError(f"the service ended with exit code {code}; see its log")
            line += chunk
        return line

    def _wait_healthy(self, deadline: float) -> None:
        # No proxy: the address is of this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        left = max(0.1, deadline - time.monotonic())
        try:
            with opener.open(f"{self._url}/healthz", timeout=left) as answer:
                answer.read()
        except (OSError, urllib.error.URLError) as error:
            raise SandboxError(f"the service does not answer: {error}") from error
