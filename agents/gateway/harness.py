"""A run of an agent program: a process with a deadline, in the sandbox on request.

The program gets the task in three ways, and uses which it likes: on standard input, as `{prompt}` in the arguments
of its command, and in the variable VERIGYM_PROMPT (left out beyond 100,000 bytes). It finds the model by the
variables that the clients of OpenAI, Anthropic and LiteLLM read, and the environment at VERIGYM_ENV_URL. What it
prints is its answer, for tasks that it does not act on over HTTP.

The program and all that it started are killed at the deadline, and when it ends. Without the sandbox, it runs as
the user who trains: a program that runs what the model writes needs `sandbox = true`, or one of its own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

from verigym.errors import RequestError, SandboxError
from verigym.sandbox.base import Cancellation, Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits

_KEPT_BYTES = 256 << 10
_LONGEST_VARIABLE = 100_000
_LOOK_S = 0.05
_SWEEPS = 5
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "VIRTUAL_ENV", "PYTHONPATH", "NODE_PATH")


@dataclass(frozen=True, kw_only=True)
class Harness:
    """An agent program, and how it is run.

    `deadline_s` are the seconds that it may take, without those in which it waits for the model. `answer` names
    what is judged if it took no action over HTTP: its standard output, or the model's last reply. `variables`
    are names of variables that it inherits. In the sandbox it sees `files` alone, by their names here.
    """

    command: tuple[str, ...]
    deadline_s: float = 300.0
    max_calls: int = 200
    concurrency: int = 8
    answer: Literal["stdout", "reply"] = "stdout"
    variables: tuple[str, ...] = ()
    sandbox: bool = False
    files: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.command or not all(self.command):
            raise RequestError("the command of an agent program must have no empty part")
        if self.files and not self.sandbox:
            raise RequestError("files are for a program in the sandbox; others read the disk")
        if not self.sandbox and shutil.which(self.command[0]) is None:
            raise RequestError(
                f"the agent program {self.command[0]!r} is not found or not executable"
            )


@dataclass(frozen=True, kw_only=True)
class HarnessEnd:
    """A run that ended. `exit_code` is None if it was killed at its deadline or could not be started."""

    exit_code: int | None
    stdout: str
    stderr: str


@dataclass(frozen=True, kw_only=True)
class HarnessRun:
    """Inputs of one run: the task, and the addresses of the model and the environment."""

    url: str
    session: str
    token: str
    model: str
    prompt: str
    has_env: bool = True
    waited_s: Callable[[], float] = field(default=lambda: 0.0)

    def command(self, harness: Harness) -> tuple[str, ...]:
        """Return the command with its placeholders filled."""
        values = {"{prompt}": self.prompt, "{model}": self.model, "{base_url}": self.base_url}
        return tuple(_filled(part, values) for part in harness.command)

    @property
    def base_url(self) -> str:
        """Address of the session for OpenAI's clients."""
        return f"{self.url}/s/{self.session}/v1"

    def variables(self) -> dict[str, str]:
        """Return the variables that clients read."""
        root = f"{self.url}/s/{self.session}"
        return {
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_API_BASE": self.base_url,
            "OPENAI_API_KEY": self.token,
            "OPENAI_MODEL": self.model,
            "ANTHROPIC_BASE_URL": root,
            "ANTHROPIC_API_KEY": self.token,
            "ANTHROPIC_MODEL": self.model,
            "NO_PROXY": "*",
            "VERIGYM_SESSION": self.session,
            **({"VERIGYM_ENV_URL": f"{root}/env"} if self.has_env else {}),
            **(
                {"VERIGYM_PROMPT": self.prompt}
                if len(self.prompt.encode()) < _LONGEST_VARIABLE and "\0" not in self.prompt
                else {}
            ),
        }


def _filled(part: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        part = part.replace(name, value.replace("\0", ""))
    return part


def run_harness(harness: Harness, run: HarnessRun, stop: threading.Event) -> HarnessEnd:
    """Run the program once, and return when nothing of it runs any more.

    Raises SandboxError if it cannot be started. `stop` kills it.
    """
    inherited = (*_INHERITED, *harness.variables)
    passed = {name: os.environ[name] for name in inherited if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="verigym-harness-", ignore_cleanup_errors=True) as tmp:
        env = {**passed, "TMPDIR": tmp, **run.variables()}
        try:
            process = subprocess.Popen(
                run.command(harness),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"the agent program cannot be started: {error}") from error
        out, err = _Tail(process.stdout), _Tail(process.stderr)
        feeding = threading.Thread(target=_feed, args=(process, run.prompt), daemon=True)
        feeding.start()
        began = time.monotonic()
        try:
            while process.poll() is None:
                own_s = time.monotonic() - began - run.waited_s()
                if own_s > harness.deadline_s or stop.is_set():
                    break
                try:
                    process.wait(_LOOK_S)
                except subprocess.TimeoutExpired:
                    continue
            code = process.poll()
        finally:
            _kill(process, run.session)
        feeding.join(1.0)
        return HarnessEnd(exit_code=code, stdout=out.text(), stderr=err.text())


def run_in_sandbox(
    harness: Harness, run: HarnessRun, sandbox: Sandbox, stop: threading.Event
) -> HarnessEnd:
    """Run the program as a job with the host's network, which it needs for the gateway."""
    files = {}
    for name in harness.files:
        try:
            files[name] = Path(name).read_bytes()
        except OSError as error:
            raise SandboxError(f"file {name!r} of the agent program: {error}") from error
    job = Job(
        command=run.command(harness),
        stdin=run.prompt.encode(),
        files=files,
        env=run.variables(),
        # The model's time is not the program's: `watch` below keeps the deadline.
        limits=Limits(wall_s=100 * harness.deadline_s, cpu_s=harness.deadline_s, processes=64),
        network=True,
    )
    cancellation, done = Cancellation(), threading.Event()
    began = time.monotonic()

    def watch() -> None:
        while not done.wait(_LOOK_S):
            own_s = time.monotonic() - began - run.waited_s()
            if own_s > harness.deadline_s or stop.is_set():
                cancellation.cancel()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        found = sandbox.run(job, cancellation=cancellation)
    finally:
        done.set()
        watcher.join()
    if found.status is JobStatus.SANDBOX_ERROR and not cancellation.cancelled:
        raise SandboxError(f"the sandbox could not run the agent program: {found.detail}")
    return HarnessEnd(
        exit_code=None if cancellation.cancelled else found.exit_code,
        stdout=found.stdout.decode(errors="replace"),
        stderr=found.stderr.decode(errors="replace"),
    )


class _Tail:
    """Reads a stream to its end, and keeps the last part of it."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        self._kept = b""
        self._stream = stream
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._stream is not None
        try:
            while part := os.read(self._stream.fileno(), 65536):
                self._kept = (self._kept + part)[-_KEPT_BYTES:]
        except (OSError, ValueError):
            return

    def text(self) -> str:
        """Return what was kept, once the stream has ended."""
        self._thread.join(2.0)
        if self._stream is not None and not self._thread.is_alive():
            self._stream.close()
        return self._kept.decode(errors="replace")


def _feed(process: subprocess.Popen[bytes], text: str) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(text.encode())
        process.stdin.close()
    except OSError:  # it does not read its input
        return


def _kill(process: subprocess.Popen[bytes], session: str) -> None:
    """Kill the program, its process group, and what left the group but kept the session's variables."""
    with contextlib.suppress(OSError):  # all of its group have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for _ in range(_SWEEPS):
        left = [pid for pid in _own_processes() if _is_of(pid, session)]
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not left:
            return


def _is_of(pid: int, session: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"VERIGYM_SESSION={session}".encode() in file.read().split(b"\0")
    except OSError:  # it has ended, or is another user's
        return False


def _own_processes() -> Sequence[int]:
    try:
        found = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []
    return [pid for pid in found if pid != os.getpid()]
