"""`Job` and `Result`: a request to a sandbox, and its outcome as observed from outside."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from verigym.errors import RequestError

MAX_SOURCE_BYTES = 4 << 20
MAX_STDIN_BYTES = 64 << 20
MAX_FILES = 2000
# <linux/limits.h>, less what the job's own folder takes.
_MAX_NAME, _MAX_PATH = 255, 3072
# The most for one argument or variable is MAX_ARG_STRLEN of execve(2), 128 KiB.
_MAX_TEXT = 120_000


class JobStatus(StrEnum):
    """Outcome of a job, and so who is at fault: the program, except for `sandbox_error`."""

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
    """Limits of one job: finite numbers above 0. Seconds may be fractions; the others are integers.

    `wall_s` and `cpu_s` are seconds (CPU of all processes together), `memory_mib` holds for all
    processes together, `processes` counts threads too, `disk_mib` and `inodes` bound the private
    folder. The needs of a language's runtime are added (`needs` in its TOML file).
    """

    wall_s: float = 10.0
    cpu_s: float = 10.0
    memory_mib: int = 512
    processes: int = 16
    open_files: int = 64
    disk_mib: int = 32
    inodes: int = 4096
    output_bytes: int = 1 << 20
    """Maximum size in bytes of standard output, of standard error and of each fetched file."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            kinds = (int, float) if name in ("wall_s", "cpu_s") else (int,)
            if isinstance(value, bool) or not isinstance(value, kinds):
                wanted = "a number" if float in kinds else "a whole number"
                raise RequestError(f"{name} must be {wanted}, got {value!r}")
            if not value > 0 or not math.isfinite(value):
                raise RequestError(f"{name} must be above 0 and finite, got {value}")
            if value > 1 << 50:
                raise RequestError(f"{name} must be at most 2**50, got {value}")


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run of one program in a fresh private folder.

    Either `source`, a program in `language`, or `command`, an argument list whose first entry is
    found on the sandbox's own PATH. `args` follow the program. `files` are put into the folder, by
    relative name, before it starts. The caller's environment is not passed on; `env` adds to a
    minimal one. `fetch` names the files to fetch, relative names or `fnmatch` patterns in which `*`
    also crosses folders ("out/*.csv"). A sandbox refuses `network` unless it was made with
    `allow_network=True`.

    `partner` is another program, which runs beside it in a folder of its own: what one prints is what the other
    reads, in place of `stdin`, and they share nothing else. A job with a partner fetches no files and needs a
    sandbox that holds channels (local, Docker).

    Raises RequestError if the job is invalid.
    """

    source: str | None = None
    language: str = "python"
    command: tuple[str, ...] = ()
    stdin: bytes = b""
    args: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    network: bool = False
    fetch: tuple[str, ...] = ()
    partner: Job | None = None

    def __post_init__(self) -> None:
        if self.partner is not None:
            both = (self, self.partner)
            if self.partner.partner is not None or any(job.stdin or job.fetch for job in both):
                raise RequestError(
                    "a job with a partner, and the partner itself, have no stdin and fetch nothing, "
                    "and a partner has no partner of its own"
                )
        if (self.source is None) == (not self.command):
            raise RequestError("a job has either source or command: give one of the two")
        if self.source is not None and not isinstance(self.source, str):
            raise RequestError(f"source must be text, got {type(self.source).__name__}")
        if len(self.source_bytes) > MAX_SOURCE_BYTES:
            raise RequestError(
                f"source has {len(self.source_bytes)} bytes, at most {MAX_SOURCE_BYTES} are "
                "allowed; put data into files or stdin"
            )
        if not isinstance(self.stdin, bytes):
            raise RequestError(
                f"stdin must be bytes, got {type(self.stdin).__name__}; text needs .encode()"
            )
        if len(self.stdin) > MAX_STDIN_BYTES:
            raise RequestError(
                f"stdin has {len(self.stdin)} bytes, at most {MAX_STDIN_BYTES} are allowed"
            )
        for name in ("args", "command", "fetch"):
            values = getattr(self, name)
            if isinstance(values, str) or not all(isinstance(value, str) for value in values):
                raise RequestError(f"{name} must be a tuple of texts, got {values!r}")
        check_texts("args", self.args)
        check_texts("command", self.command)
        check_env(self.env)
        check_files(self.files, self.limits)
        for name in self.fetch:
            check_name(name)

    @property
    def source_bytes(self) -> bytes:
        """The program in bytes, as written to its file; empty for a command."""
        # A program is any text, lone surrogates included; the language says whether it is one.
        return (self.source or "").encode("utf-8", "surrogatepass")


@dataclass(frozen=True, kw_only=True)
class Result:
    """Result of a job. `exit_code` is set for an exit, `signal` for a death by signal.

    `wall_s` and `cpu_s` are seconds, `memory_mib` the peak of the job's memory. `files` holds the plain
    files that the job left and `Job.fetch` names; `refused` gives, by name, the reason why another file
    was not fetched (a link, a device, too large). `detail` explains `sandbox_error` and `compile_error`.
    """

    status: JobStatus
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_mib: float = 0.0
    detail: str = ""
    partner: Result | None = None
    """Result of the job's partner; None if it has none."""


def check_texts(what: str, texts: Iterable[str]) -> None:
    """Raise RequestError if a text cannot be an argument or a variable of a process."""
    for text in texts:
        if not isinstance(text, str):
            raise RequestError(f"{what} must hold texts, got {text!r}")
        if "\0" in text:
            raise RequestError(f"{what} must not hold NUL characters: {text[:50]!r}")
        try:
            size = len(text.encode())
        except UnicodeEncodeError as error:
            raise RequestError(f"{what} must be Unicode text: {error}") from error
        if size > _MAX_TEXT:
            raise RequestError(f"{what} holds {size} bytes in one text, at most {_MAX_TEXT} fit")


def check_env(env: Mapping[str, str]) -> None:
    """Raise RequestError if `env` cannot be the environment of a process."""
    check_texts("env", (*env, *env.values()))
    for name in env:
        if not name or "=" in name:
            raise RequestError(f"environment variable name {name!r} must not be empty or hold =")


def check_files(files: Mapping[str, bytes], limits: Limits) -> None:
    """Raise RequestError if `files` cannot be put into a job's folder."""
    if len(files) > MAX_FILES:
        raise RequestError(f"a job may bring at most {MAX_FILES} files, got {len(files)}")
    for name, data in files.items():
        check_name(name)
        if not isinstance(data, bytes):
            raise RequestError(f"file {name!r} must be bytes, got {type(data).__name__}")
    _check_tree(files, limits.inodes)
    size = sum(len(data) + 4096 for data in files.values())
    if size > limits.disk_mib << 20:
        raise RequestError(
            f"the job's files take {size >> 10} KiB, more than disk_mib {limits.disk_mib}"
        )


_Folder: TypeAlias = "dict[str, _Folder | None]"


def _check_tree(names: Iterable[str], inodes: int) -> None:
    """Raise RequestError if `names` and their folders exceed `inodes`, or a name is file and folder."""
    # Parts are kept, not paths: the paths of deep folders would take hundreds of megabytes.
    top: _Folder = {}
    count = 0
    for name in names:
        *parents, last = name.split("/")
        here = top
        for depth, part in enumerate(parents):
            if part not in here:
                here[part] = {}
                count += 1
            below = here[part]
            if below is None:
                path = "/".join(parents[: depth + 1])
                raise RequestError(f"file {path!r} is also the folder of another file")
            here = below
        if last in here:
            raise RequestError(f"file {name!r} is also the folder of another file")
        here[last] = None
        count += 1
        if count > inodes:
            raise RequestError(f"the job's files and their folders are more than inodes {inodes}")


def check_name(name: str) -> None:
    """Raise RequestError if `name` is not a relative path inside the job's folder."""
    if not isinstance(name, str):
        raise RequestError(f"file name {name!r} must be text")
    parts = name.split("/")
    try:
        too_long = len(name.encode()) > _MAX_PATH or any(len(p.encode()) > _MAX_NAME for p in parts)
    except UnicodeEncodeError as error:
        raise RequestError(f"file name {name!r} must be Unicode text") from error
    if too_long:
        raise RequestError(f"file name {name[:50]!r}... is too long")
    if name.startswith("/") or "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise RequestError(
            f"file name {name!r} must be relative and stay inside the job's folder, "
            'without empty parts, "." or ".."'
        )
