"""`Job` and `Result`: what is asked of a sandbox and what was observable from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Protocol

from verigym.errors import RequestError, suggestion


class JobStatus(StrEnum):
    """How a job ended, and so whose fault it was. All but `sandbox_error` are the program's."""

    OK = "ok"
    NONZERO_EXIT = "nonzero_exit"
    SIGNAL = "signal"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    DISK_LIMIT = "disk_limit"
    COMPILE_ERROR = "compile_error"
    SANDBOX_ERROR = "sandbox_error"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one job may use. All must be above 0."""

    wall_s: float = 10.0
    cpu_s: float = 10.0
    memory_mib: int = 512
    processes: int = 16
    open_files: int = 64
    disk_mib: int = 32
    output_bytes: int = 1 << 20
    """Of standard output and of standard error, each."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise RequestError(f"{name} must be above 0, got {value}")


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run of one program in a fresh private folder, without a network.

    `source` is the program in `language`; `files` are put beside it, by relative name. Nothing of
    the caller's environment is passed on; `env` adds to a minimal one.
    """

    source: str
    language: str = "python"
    stdin: bytes = b""
    args: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for name in self.files:
            path = PurePosixPath(name)
            if not name or path.is_absolute() or ".." in path.parts or "\0" in name:
                raise RequestError(
                    f"file name {name!r} must be relative and stay inside the job's folder"
                )
        if any("\0" in text for text in (*self.args, *self.env, *self.env.values())):
            raise RequestError("arguments and environment must not hold NUL characters")


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a job did. `exit_code` is set for an exit, `signal` for a death by signal.

    `wall_s` and `cpu_s` are seconds, `memory_mib` the peak resident size of the largest process.
    `detail` says more for `sandbox_error` and `compile_error`.
    """

    status: JobStatus
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_mib: float = 0.0
    detail: str = ""


class Sandbox(Protocol):
    """A place to run untrusted programs."""

    languages: frozenset[str]

    def run(self, job: Job) -> Result:
        """Run `job` to its end or its limits; blocks, is safe to call from many threads.

        Raises RequestError for a job that cannot be run as asked (unknown language), before
        anything starts. Failures of the machine are `sandbox_error`.
        """


def check_language(job: Job, sandbox: Sandbox) -> None:
    """Raise RequestError with suggestions where `sandbox` does not run the job's language."""
    if job.language not in sandbox.languages:
        raise RequestError(
            f"unknown language {job.language!r}; {suggestion(job.language, sandbox.languages)}"
        )
