"""One job's talk with its keeper, from the first file to the report, and what the report amounts to."""

from __future__ import annotations

import fnmatch
import os
import signal
import time
from dataclasses import dataclass, field
from itertools import chain

from verigym.errors import RequestError
from verigym.sandbox.base import Cancellation
from verigym.sandbox.docker.container import Container
from verigym.sandbox.docker.frames import FrameError, frame, frames_of, job_frames, read_json
from verigym.sandbox.job import JobStatus, Limits, Result, check_name
from verigym.sandbox.step import ProgramRun

SETUP_S = 60.0
"""Maximum seconds to send the job's files to the container and start its program."""
GRACE_S = 10.0
"""Seconds after the keeper's own deadline until the container is killed from outside."""

_SIGXCPU, _SIGXFSZ = int(signal.SIGXCPU), int(signal.SIGXFSZ)


@dataclass(kw_only=True)
class Ending:
    """State of a job, as reported so far."""

    started: bool = False
    filtered: bool = True
    reason: str = ""
    """The keeper's word for why it ended; empty until it has reported."""
    status: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_mib: float = 0.0
    full: bool = False
    cut: frozenset[str] = frozenset()
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    files: dict[str, bytearray] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    failure: str = ""
    """The machine's; says nothing about the program."""
    _file: str = ""

    @property
    def over(self) -> bool:
        """True if no further report will come."""
        return bool(self.reason or self.failure)

    def take(self, kind: bytes, payload: bytes, step: ProgramRun) -> None:
        """Note one frame. Raises FrameError for what no keeper of ours would say."""
        match kind:
            case b"O" | b"E":
                self._take_output(kind, payload, step.limits)
            case b"S":
                self.started = True
                self.filtered = read_json(payload).get("filtered") is True
            case b"N":
                self._begin_file(read_json(payload), step)
            case b"D":
                if self._file not in self.files:
                    raise FrameError("the container sent data of no file")
                data = self.files[self._file]
                data += payload
                if len(data) > step.limits.output_bytes:
                    raise FrameError(f"the container sent too much of {self._file!r}")
            case b"R":
                told = read_json(payload)
                self.refused[str(told.get("name"))] = str(told.get("why"))
            case b"X":
                self._take_report(read_json(payload))
            case b"K":
                pass  # the program interrupted itself, by its keeper
            case b"Q":
                self.failure = payload.decode("utf-8", "replace")
            case _:
                raise FrameError(f"the container sent a frame of unknown kind {kind!r}")

    def _take_output(self, kind: bytes, payload: bytes, limits: Limits) -> None:
        output = self.stdout if kind == b"O" else self.stderr
        output += payload
        if len(output) > limits.output_bytes:
            raise FrameError("the container sent more output than its limit")

    def _begin_file(self, told: dict[str, object], step: ProgramRun) -> None:
        name = told.get("name")
        if not isinstance(name, str) or name in self.files:
            raise FrameError(f"the container sent a file named {name!r}")
        try:
            check_name(name)
        except RequestError as error:
            raise FrameError(f"the container sent a file: {error}") from error
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in step.fetch):
            raise FrameError(f"the container sent {name!r}, which nobody asked for")
        held = sum(map(len, self.files.values()))
        if len(self.files) >= step.limits.inodes or held > step.limits.disk_mib << 20:
            raise FrameError("the container sent more files than its disk can hold")
        self._file = name
        self.files[name] = bytearray()

    def _take_report(self, told: dict[str, object]) -> None:
        try:
            self.status = int(str(told["status"]))
            self.wall_s = float(str(told["wall_s"]))
            self.cpu_s = float(str(told["cpu_s"]))
            self.memory_mib = float(str(told["memory_mib"]))
            self.full = told["full"] is True
            self.cut = frozenset(str(told["cut"]))
            self.reason = str(told["reason"])
        except (KeyError, ValueError) as error:
            raise FrameError(f"the container sent the report {told!r}") from error


def converse(container: Container, step: ProgramRun, cancellation: Cancellation) -> Ending:
    """Give the job to the keeper and hear it out, at most to the job's deadline."""
    container.idle = False
    ending = Ending()
    job = job_frames(step, container.machine, stream=False)
    container.queue(chain(job, frames_of(b"I", step.stdin), [frame(b"C")]))
    wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
    try:
        with cancellation.calling(lambda: os.eventfd_write(wake, 1)):
            _listen(container, step, cancellation, ending, wake)
    except FrameError as error:
        ending.failure = str(error)
        ending.reason = ""
    finally:
        os.close(wake)
    return ending


def _listen(
    container: Container, step: ProgramRun, cancellation: Cancellation, ending: Ending, wake: int
) -> None:
    deadline = time.monotonic() + SETUP_S
    while not ending.over and container.open:
        left_s = deadline - time.monotonic()
        if cancellation.cancelled:
            ending.failure = "cancelled by the caller"
            return
        if left_s <= 0:
            if ending.started:
                ending.reason, ending.wall_s = "wall", step.limits.wall_s
            else:
                ending.failure = f"the program was not started within {SETUP_S:g} s"
            return
        before = ending.started
        for kind, payload in container.turn(left_s, wake):
            ending.take(kind, payload, step)
        if ending.started and not before:
            deadline = time.monotonic() + step.limits.wall_s + GRACE_S


def judge(ending: Ending, step: ProgramRun, container: Container) -> Result:
    """Return as a result whose fault the end was."""
    status, number, failure = _status(ending, step.limits, container)
    exited = ending.reason == "exit"
    return Result(
        status=status,
        exit_code=ending.status >> 8 if exited and number is None else None,
        signal=number,
        stdout=bytes(ending.stdout),
        stderr=bytes(ending.stderr),
        stdout_truncated="O" in ending.cut,
        stderr_truncated="E" in ending.cut,
        files={name: bytes(data) for name, data in ending.files.items()},
        refused=ending.refused,
        wall_s=ending.wall_s,
        cpu_s=ending.cpu_s,
        memory_mib=ending.memory_mib,
        detail=failure,
    )


def _status(
    ending: Ending, limits: Limits, container: Container
) -> tuple[JobStatus, int | None, str]:
    """Status, signal and, where the machine failed, how."""
    if ending.failure:
        return JobStatus.SANDBOX_ERROR, None, ending.failure
    match ending.reason:
        case "wall" | "cpu":
            return JobStatus.TIME_LIMIT, None, ""
        case "memory":
            return JobStatus.MEMORY_LIMIT, None, ""
        case "output":
            return JobStatus.OUTPUT_LIMIT, None, ""
        case "exit":
            return (*_of_exit(ending, limits, container), "")
        case "term":  # sent by the program itself: a channel that we end does not ask
            return JobStatus.SIGNAL, int(signal.SIGTERM), ""
    if ending.started and container.ran_out_of_memory():
        return JobStatus.MEMORY_LIMIT, int(signal.SIGKILL), ""
    if ending.started and not ending.filtered:
        # Nothing kept the program from killing its keeper, and it must not gain by that.
        return JobStatus.SIGNAL, int(signal.SIGKILL), ""
    return JobStatus.SANDBOX_ERROR, None, container.last_words()


def _of_exit(ending: Ending, limits: Limits, container: Container) -> tuple[JobStatus, int | None]:
    number = ending.status & 0x7F
    if number == _SIGXCPU:
        return JobStatus.TIME_LIMIT, number
    if number == _SIGXFSZ:
        return JobStatus.DISK_LIMIT, number
    if ending.status == 0:
        return JobStatus.OK, None
    # What is killed for want of memory shows SIGKILL only, or its parent fails without it. That the
    # engine knows of it may take a moment, so the figures decide where they are plain.
    if number == signal.SIGKILL and ending.memory_mib >= 0.9 * limits.memory_mib:
        return JobStatus.MEMORY_LIMIT, number
    if ending.memory_mib >= 0.5 * limits.memory_mib and container.ran_out_of_memory():
        return JobStatus.MEMORY_LIMIT, number or None
    if number:
        return JobStatus.SIGNAL, number
    return (JobStatus.DISK_LIMIT if ending.full else JobStatus.NONZERO_EXIT), None
