"""`ProgramRun`: one command in a fresh folder, the unit that a backend runs; `Channel`: a running step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from verigym.sandbox.job import Limits, Result


@dataclass(frozen=True, kw_only=True)
class ProgramRun:
    """A program for a backend to run in a fresh private folder, its working directory, HOME and TMPDIR.

    A job is one step, or two where its language compiles. `argv[0]` is a name on the sandbox's PATH
    or a path that begins with "./". `files` are put into the folder first, those named in
    `executable` with the execute bit. `env` holds all variables beside PATH, HOME, TMPDIR and LANG.
    `address_space_mib` bounds each process's virtual size (Go, Java and GHC reserve far more than
    they use). `python` names the file among `files` that `argv` gives to the sandbox's own Python:
    a backend may run it in a process forked ahead of time instead of starting `argv`.
    """

    argv: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    executable: frozenset[str] = frozenset()
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    address_space_mib: int | None = None
    network: bool = False
    fetch: tuple[str, ...] = ()
    python: str | None = None


class Channel(Protocol):
    """A running step with open standard streams, through which a `SandboxSession` communicates."""

    def send(self, data: bytes, timeout_s: float = 10.0) -> None:
        """Write to standard input. Raises SandboxError if the step has ended, TimeoutError if it did
        not take the data in time."""

    def end_input(self) -> None:
        """End standard input; nothing can be sent afterwards. Repeatable."""

    def receive(self, timeout_s: float) -> tuple[bytes, bytes] | None:
        """Return standard output and standard error since the last call, at once if there is any; two
        empty strings after `timeout_s`; None once the step has ended and all output was returned.

        Read-ahead is bounded: a step whose output nobody receives has to wait.
        """

    def interrupt(self) -> None:
        """Send SIGINT to the process group of the step's first process before returning."""

    def close(self) -> Result:
        """End the step and all of its processes; return its result without output. Repeatable.

        Another thread may be in `receive`, which then soon returns None.
        """
