"""`SandboxSession`: a stateful interpreter or shell in a sandbox, one cell at a time.

    with sandbox.session("python") as session:
        session.run("x = 6")
        session.run("x * 7").stdout  # b"42\\n", the value of a last expression is shown

A cell that fails leaves the session open, with the effects of the cell so far. A session ends when it is
closed, when its lifetime (`Limits.wall_s`) is over, when its process ends or is killed (memory,
`os._exit`, the shell's `exit`), and when a cell does not stop on request. `verigym.sandbox.framing`
describes what a cell can forge.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

from verigym.errors import RequestError, SandboxError
from verigym.sandbox import framing
from verigym.sandbox.framing import DIALECTS, End, FramedStream
from verigym.sandbox.job import MAX_SOURCE_BYTES, JobStatus, Limits, Result, check_name
from verigym.sandbox.step import Channel

_GRACE_S = 2.0
"""Maximum seconds for a cell to end after an interrupt."""
_START_S = 30.0
_SEND_S = 10.0
_SLICE_S = 0.2  # how late `interrupt` of another thread is noticed
_AGAIN_S = 0.4
"""Seconds until an interrupt is sent again: the first is lost if the driver had not started the cell."""


def driver(language: str) -> tuple[str, bytes, tuple[str, ...]]:
    """Return the driver of sessions of `language`: file name, content, command."""
    dialect = DIALECTS[language]
    return dialect.file, dialect.source(), dialect.argv


class NotStarted(SandboxError):
    """The session's process ended at once, usually because of its variables, files or limits."""


class SandboxSession:
    """A live interpreter; made by `Sandbox.session`. Safe to use from many threads, which take turns.

    `channel` leads to the driver of `language`. `limits` hold for the session as a whole, except that
    `output_bytes` bounds each stream of each cell. `release` is called once, after the session's end.
    Raises SandboxError if the driver does not answer; the caller then has to call `release`.
    """

    def __init__(
        self, language: str, channel: Channel, limits: Limits, release: Callable[[], object]
    ) -> None:
        self.language = language
        self.limits = limits
        self._channel = channel
        self._dialect = DIALECTS[language]
        self._release: Callable[[], object] = lambda: None
        self._deadline = time.monotonic() + limits.wall_s
        self._turn = threading.Lock()
        # Guards what follows; never held while waiting for a cell.
        self._state = threading.RLock()
        self._running = False
        self._interrupted_s: float | None = None
        self._signalled_s = 0.0
        self._ended: Result | None = None
        self._why = ""
        self._machine_failed = False
        self._strays = (b"", b"")
        self._expiry = threading.Timer(limits.wall_s, self._expire)
        self._expiry.daemon = True
        self._start()
        self._release = release
        self._expiry.start()

    @property
    def alive(self) -> bool:
        """True if the session's state exists, as far as known; a cell may find that it does not."""
        return self._ended is None

    def run(self, code: str, *, wall_s: float | None = None) -> Result:
        """Run one cell to its end or for `wall_s` seconds; blocks. The result holds its output only.

        The value of a last expression is shown on standard output, an exception with its traceback on
        standard error. Status `ok` or `nonzero_exit` (an exception, `sys.exit`, a failed command);
        `time_limit` and `output_limit` if it was interrupted for that; `memory_limit` and
        `disk_limit` if it was refused more; `sandbox_error` if `interrupt` stopped it. After each of
        these the session continues, unless `alive` is False; `detail` then gives the reason.

        Raises RequestError if the code cannot be sent or the session has ended, SandboxError if the
        machine ended it.
        """
        check_cell(code, wall_s)
        nonce = framing.nonce()
        frame = self._dialect.cell(nonce, code)
        with self._turn:
            return self._cell(nonce, frame, wall_s)

    async def run_async(self, code: str, *, wall_s: float | None = None) -> Result:
        """Run a cell from an event loop. Cancelling the task interrupts the cell and waits for its end."""
        running = asyncio.ensure_future(asyncio.to_thread(self.run, code, wall_s=wall_s))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            while not running.done():
                # It may be waiting for its turn still.
                await asyncio.to_thread(self.interrupt)
                await asyncio.wait([running], timeout=_SLICE_S)
            running.exception()
            raise

    def put(self, name: str, data: bytes) -> None:
        """Write a file into the session's folder. Raises RequestError if it cannot be written."""
        check_file(name, data, self.limits)
        nonce = framing.nonce()
        result = self._own_cell(nonce, self._dialect.put(nonce, name, data))
        if result.status is not JobStatus.OK:
            raise RequestError(f"file {name!r} cannot be written: {_said(result)}")

    def get(self, name: str) -> bytes:
        """Return a file of the session's folder, of at most `output_bytes`. Raises RequestError."""
        check_name(name)
        nonce = framing.nonce()
        result = self._own_cell(nonce, self._dialect.get(nonce, name))
        if result.stdout_truncated:
            raise RequestError(
                f"file {name!r} is larger than output_bytes {self.limits.output_bytes}"
            )
        if result.status is not JobStatus.OK:
            raise RequestError(f"file {name!r} cannot be read: {_said(result) or 'no such file'}")
        return result.stdout

    def interrupt(self) -> None:
        """Stop the running cell from another thread; its status becomes `sandbox_error`.

        Does nothing if no cell is running. The session is killed if the cell does not stop.
        """
        with self._state:
            if self._running and self._ended is None and self._interrupted_s is None:
                self._interrupted_s = self._signalled_s = time.monotonic()
                self._channel.interrupt()

    def close(self) -> None:
        """End the session, its running cell and all its processes. May be repeated."""
        self._end("it was closed", JobStatus.SANDBOX_ERROR)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _start(self) -> None:
        try:
            # An empty cell; also takes what an interactive shell says at first.
            nonce = framing.nonce()
            result = self._cell(nonce, self._dialect.cell(nonce, ""), _START_S)
        except BaseException:
            self._channel.close()
            raise
        if self._ended is not None or result.status is not JobStatus.OK:
            self._channel.close()
            machine = result.status is JobStatus.SANDBOX_ERROR or self._machine_failed
            raise (SandboxError if machine else NotStarted)(
                f"the {self.language} session did not start: {result.status.value}, "
                f"{result.detail or 'no detail'}, {_said(result) or 'no output'}"
            )

    def _own_cell(self, nonce: str, frame: bytes) -> Result:
        with self._turn:
            return self._cell(nonce, frame, None)

    def _cell(self, nonce: str, frame: bytes, wall_s: float | None) -> Result:
        """Send one frame and collect the output until its end. Holds `_turn`."""
        out, err = (FramedStream(nonce, self.limits.output_bytes) for _ in range(2))
        out.feed(self._strays[0])
        err.feed(self._strays[1])
        with self._state:
            self._check_alive()
            self._running, self._interrupted_s = True, None
        started = time.monotonic()
        try:
            status, detail = self._exchange(frame, out, err, started, wall_s)
        except BaseException:  # Ctrl-C here: what the cell says still will be the next one's
            self.interrupt()
            raise
        finally:
            with self._state:
                self._running = False
        self._strays = (out.left(), err.left())
        result = Result(
            status=JobStatus.OK,
            stdout=out.output(),
            stderr=err.output(),
            stdout_truncated=out.over,
            stderr_truncated=err.over,
            wall_s=time.monotonic() - started,
        )
        if out.end is None or err.end is None:
            return self._last(result, status, detail)
        end = framing.read_end(out.end)
        if end is None:
            self._end("a cell broke the framing", JobStatus.NONZERO_EXIT)
            return self._last(result, status, detail)
        return _ended_cell(result, end, status, detail)

    def _exchange(
        self,
        frame: bytes,
        out: FramedStream,
        err: FramedStream,
        started: float,
        wall_s: float | None,
    ) -> tuple[JobStatus | None, str]:
        """Run the cell; return status and reason if it was stopped. The cell may end the session."""
        limit = math.inf if wall_s is None else started + wall_s
        status: JobStatus | None = None
        detail = ""
        try:
            self._channel.send(frame, max(0.001, min(_SEND_S, self._deadline - started)))
        except TimeoutError:
            self._end("it does not read its cells any more", JobStatus.TIME_LIMIT)
            return None, ""
        except SandboxError:
            pass  # it ended before; what it still said is read below
        while out.end is None or err.end is None:
            now = time.monotonic()
            stopped = self._interrupted_s
            if status is None and stopped is not None:
                status, detail = JobStatus.SANDBOX_ERROR, "interrupted by the caller"
            elif status is None and now >= limit:
                status, detail = JobStatus.TIME_LIMIT, f"interrupted after {wall_s:g} s"
                self.interrupt()
            elif status is None and (out.over or err.over):
                status = JobStatus.OUTPUT_LIMIT
                detail = f"interrupted after {self.limits.output_bytes} bytes of output"
                self.interrupt()
            if now >= self._deadline:
                self._expire()
                return None, ""
            if stopped is not None and now >= stopped + _GRACE_S:
                self._end(f"a cell did not stop within {_GRACE_S:g} s of its interrupt", status)
                return status, detail
            if stopped is not None and now >= self._signalled_s + _AGAIN_S:
                self._interrupt_again()
            until = [now + _SLICE_S, self._deadline]
            until.append(limit if status is None else now + _SLICE_S)
            got = self._channel.receive(max(0.0, min(until) - now))
            if got is None:
                self._end("its process ended")
                return status, detail
            out.feed(got[0])
            err.feed(got[1])
        if status is None and self._interrupted_s is not None:
            return JobStatus.SANDBOX_ERROR, "interrupted by the caller"
        return status, detail

    def _interrupt_again(self) -> None:
        with self._state:
            if self._ended is None:
                self._signalled_s = time.monotonic()
                self._channel.interrupt()

    def _last(self, result: Result, status: JobStatus | None, detail: str) -> Result:
        """Return the result of the cell in which the session ended."""
        assert self._ended is not None
        ended = self._ended if status is None else replace(self._ended, exit_code=None, signal=None)
        why = f"the session's state is lost: {self._why}"
        return replace(
            ended,
            status=status or ended.status,
            stdout=result.stdout,
            stderr=result.stderr,
            stdout_truncated=result.stdout_truncated,
            stderr_truncated=result.stderr_truncated,
            wall_s=result.wall_s,
            detail=f"{detail}; {why}" if detail else why,
        )

    def _check_alive(self) -> None:
        if self._ended is not None:
            kind = SandboxError if self._machine_failed else RequestError
            raise kind(
                f"the session has ended and its state is lost: {self._why}; start another with "
                "Sandbox.session"
            )

    def _expire(self) -> None:
        self._end(f"its lifetime of {self.limits.wall_s:g} s is over", JobStatus.TIME_LIMIT)

    def _end(self, why: str, status: JobStatus | None = None) -> None:
        """Close the channel once and release the place. `status` None takes the step's own status."""
        with self._state:
            if self._ended is not None:
                return
            ended = self._channel.close()
            if status is None:
                self._machine_failed = ended.status is JobStatus.SANDBOX_ERROR
            else:
                ended = replace(ended, status=status, exit_code=None, signal=None)
            self._why = f"{why} ({ended.detail})" if ended.detail else why
            self._ended = ended
            self._expiry.cancel()
        self._release()


def check_cell(code: str, wall_s: float | None) -> None:
    """Raise RequestError if `code` is not a valid cell or `wall_s` not a valid limit."""
    if not isinstance(code, str):
        raise RequestError(f"code must be text, got {type(code).__name__}")
    if len(code) > MAX_SOURCE_BYTES:
        raise RequestError(
            f"the cell has {len(code)} characters, at most {MAX_SOURCE_BYTES} are allowed; "
            "put data into files"
        )
    if wall_s is not None and (isinstance(wall_s, bool) or not isinstance(wall_s, int | float)):
        raise RequestError(f"wall_s must be a number, got {wall_s!r}")
    if wall_s is not None and not (wall_s > 0 and math.isfinite(wall_s)):
        raise RequestError(f"wall_s must be above 0 and finite, got {wall_s}")


def check_file(name: str, data: bytes, limits: Limits) -> None:
    """Raise RequestError if the file cannot be put into a session under `limits`."""
    check_name(name)
    if not isinstance(data, bytes):
        raise RequestError(f"file {name!r} must be bytes, got {type(data).__name__}")
    if len(data) > limits.disk_mib << 20:
        raise RequestError(f"file {name!r} is larger than disk_mib {limits.disk_mib}")


def _ended_cell(result: Result, end: End, status: JobStatus | None, detail: str) -> Result:
    """Return `result` with the driver's report; `status` is not None if the cell was stopped."""
    if status is None and (result.stdout_truncated or result.stderr_truncated):
        status, detail = JobStatus.OUTPUT_LIMIT, "it ended before it could be interrupted"
    return replace(
        result,
        status=status or end.status,
        exit_code=end.exit_code if status is None else None,
        cpu_s=end.cpu_s,
        memory_mib=end.memory_mib,
        detail=detail,
    )


def _said(result: Result) -> str:
    return result.stderr[-500:].decode("utf-8", "replace").strip()
