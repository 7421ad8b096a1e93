"""`RemoteSandbox`: programs in the sandbox of another machine's `verigym serve --sandbox`.

The service confines the programs; this side sends whole jobs and trusts its answers. A failure of the
network or the service is `sandbox_error` with the reason, never a program's fault. If a job's request
is cancelled, times out or breaks off, the service kills the job; if the service is busy or unavailable,
the job is sent again while time is left, which is safe, since a job leaves no state behind. A cell of a
session is sent once, because it does.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from verigym import service
from verigym.client import Client
from verigym.errors import RequestError, SandboxError
from verigym.sandbox import wire
from verigym.sandbox.base import Cancellation, Sandbox
from verigym.sandbox.job import (
    Job,
    JobStatus,
    Limits,
    Result,
    check_env,
    check_files,
    check_name,
)
from verigym.sandbox.session import SandboxSession, check_cell, check_file
from verigym.sandbox.step import Channel, ProgramRun
from verigym.service import Failed
from verigym.verdict import Status

_CANCEL_EVERY_S = 0.2
_CLOSE_S = 30.0

Answer = TypeVar("Answer")


class RemoteSandbox(Sandbox):
    """Runs jobs at `url`, a service started with `--sandbox`; `key` is its bearer key.

    `timeout_s` bounds queueing, compiling and the network, beside the job's own `wall_s`. `max_jobs`
    bounds the concurrent requests. Limits above the service's caps raise RequestError. For any number
    of threads; usable after a fork in both processes.
    """

    name = "remote"

    def __init__(
        self, url: str, *, key: str | None = None, timeout_s: float = 120.0, max_jobs: int = 64
    ) -> None:
        super().__init__(max_jobs=max_jobs, languages={})
        self._http = _Http(url, key=key, timeout_s=timeout_s)
        self._card: wire.SandboxCard | None = None
        self._closed = False
        # With the process that began them: after a fork they are the other's to end.
        self._jobs: set[tuple[int, Cancellation]] = set()
        self._ended = threading.Condition()
        self._sessions: weakref.WeakSet[RemoteSession] = weakref.WeakSet()

    @property
    def languages(self) -> frozenset[str]:
        """Languages that the service runs. Raises SandboxError if the service is unavailable."""
        return frozenset(self.card().languages)

    def card(self) -> wire.SandboxCard:
        """Return the service's description, requested on first use."""
        card = self._card
        if card is None:
            answer = self._http.ask("GET", "/v1/sandbox", None, self._http.timeout_s)
            card = self._card = _read(answer, wire.SandboxCard)
        return card

    def describe(self) -> dict[str, Any]:
        """Return the service's URL and description as JSON."""
        card: dict[str, Any] = msgspec.to_builtins(self.card())
        return {"backend": self.name, "url": self._http.url, **card}

    def run(self, job: Job, *, cancellation: Cancellation | None = None) -> Result:
        """Run `job` at the service, which also compiles it; blocks.

        Raises RequestError if the service refuses the job.
        """
        cancellation = cancellation or Cancellation()
        body = wire.job_body(job)
        body.id = secrets.token_hex(16)
        done = threading.Event()
        canceller = threading.Thread(target=self._cancel, args=(body.id, done), daemon=True)

        with self._turns:
            if cancellation.cancelled:
                return _failed("cancelled by the caller")
            under_way = (os.getpid(), cancellation)
            self._jobs.add(under_way)
            try:
                if self._closed:
                    return _failed("the sandbox is closed")
                with cancellation.calling(lambda: _start_once(canceller)):
                    answer = self._http.ask(
                        *("POST", "/v1/sandbox/run", body),
                        job.limits.wall_s + self._http.timeout_s,
                        stopped=lambda: cancellation.cancelled,
                    )
                result = _result(_read(answer, wire.ResultBody))
                _check_files(answer, result, job)
                return result
            except SandboxError as error:
                self._card = None  # the service may come back as another one
                return _failed(str(error))
            finally:
                done.set()
                if canceller.ident is not None:
                    canceller.join()
                with self._ended:
                    self._jobs.discard(under_way)
                    self._ended.notify_all()

    def session(
        self,
        language: str = "python",
        *,
        limits: Limits | None = None,
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> SandboxSession:
        """Start a session at the service, which also ends it if it is idle longer than its lease."""
        check_files(files or {}, limits or Limits())
        check_env(env or {})
        body = wire.SessionBody(
            language=language,
            limits=None if limits is None else wire.limits_body(limits),
            files={name: wire.blob(data) for name, data in (files or {}).items()},
            env=dict(env or {}),
        )
        if not self._turns.acquire(timeout=60.0):
            raise SandboxError(f"all {self.max_jobs} requests were under way for 60 s")
        try:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            answer = self._http.ask("POST", "/v1/sandbox/sessions", body, self._http.timeout_s)
            card = _read(answer, wire.SessionCard)
        except BaseException:
            self._turns.release()
            raise
        session = RemoteSession(self._http, card, self._turns.release)
        self._sessions.add(session)
        return session

    def close(self) -> None:
        """Kill this object's jobs at the service, end its sessions, close the connections."""
        self._closed = True
        for _, cancellation in self._jobs_here():
            cancellation.cancel()
        with self._ended:
            self._ended.wait_for(lambda: not self._jobs_here(), _CLOSE_S)
        for session in list(self._sessions):
            if session.pid == os.getpid():
                session.close()
        super().close()
        self._http.close()

    def _jobs_here(self) -> list[tuple[int, Cancellation]]:
        return [job for job in list(self._jobs) if job[0] == os.getpid()]

    def _cancel(self, id: str, done: threading.Event) -> None:
        while True:
            # It may not have arrived there yet, or have ended since.
            with contextlib.suppress(RequestError, SandboxError):
                self._http.ask("DELETE", f"/v1/sandbox/jobs/{id}", None, 10.0, repeat=False)
            if done.wait(_CANCEL_EVERY_S):
                return

    def _execute(self, step: ProgramRun, cancellation: Cancellation) -> Result:
        raise SandboxError("a remote sandbox takes whole jobs; use run")

    def _connect(self, step: ProgramRun) -> Channel:
        raise SandboxError("a remote sandbox takes whole sessions; use session")


class RemoteSession(SandboxSession):
    """A session at a service; made by `RemoteSandbox.session`."""

    def __init__(self, http: _Http, card: wire.SessionCard, release: Callable[[], object]) -> None:
        # Not super().__init__: the channel is at the service.
        self.language = card.language
        self.limits = wire.to_limits(card.limits)
        self.lease_s = card.lease_s
        self._http = http
        self._path = f"/v1/sandbox/sessions/{card.id}"
        self._deadline = time.monotonic() + self.limits.wall_s
        self._turn = threading.Lock()
        self._closing = threading.Lock()
        self._closed = False
        self._alive = True
        self._lost = ""
        self._release = release
        self.pid = os.getpid()

    @property
    def alive(self) -> bool:
        """True if the session's state exists, as far as known; a cell may find that it does not."""
        return self._alive

    def run(self, code: str, *, wall_s: float | None = None) -> Result:
        """Run one cell at the service. If its answer does not arrive, the session ends."""
        check_cell(code, wall_s)
        data = code.encode("utf-8", "surrogatepass")
        body = wire.CellBody(code=wire.blob(data), wall_s=wall_s)
        left_s = max(0.0, self._deadline - time.monotonic())
        timeout_s = min(left_s, wall_s or left_s) + self._http.timeout_s
        with self._turn:
            self._check_known()
            try:
                answer = self._http.ask("POST", f"{self._path}/run", body, timeout_s, repeat=False)
                cell = _read(answer, wire.CellResult)
                result = _result(cell.result)
            except (_Ended, _EndedByCell):
                self._alive = False
                raise
            except SandboxError as error:
                self._lost = str(error)
                self.close()
                return _failed(f"the session's state is lost: {error}")
            self._alive = cell.alive
            return result

    def put(self, name: str, data: bytes) -> None:
        """Write a file into the session's folder at the service."""
        check_file(name, data, self.limits)
        self._file(wire.FileBody(name=name, data=wire.blob(data)))

    def get(self, name: str) -> bytes:
        """Return a file of the session's folder at the service."""
        check_name(name)
        return self._file(wire.FileBody(name=name))

    def interrupt(self) -> None:
        """Stop the running cell at the service."""
        if self._alive and not self._closed:
            with contextlib.suppress(_Ended):  # then nothing runs
                self._http.ask("POST", f"{self._path}/interrupt", None, 30.0, repeat=False)

    def close(self) -> None:
        """End the session at the service; if the service is unavailable, the lease ends it."""
        with self._closing:
            if self._closed:
                return
            self._closed, self._alive = True, False
        try:
            self._http.ask("DELETE", self._path, None, 10.0, repeat=False)
        except (RequestError, SandboxError):
            pass  # it is gone already, or goes with its lease
        finally:
            self._release()

    def _file(self, body: wire.FileBody) -> bytes:
        with self._turn:
            self._check_known()
            answer = self._http.ask("POST", f"{self._path}/files", body, self._http.timeout_s)
        with _answering():
            return _read(answer, wire.Blob).to_bytes()

    def _check_known(self) -> None:
        if self._lost:
            raise SandboxError(f"the session has ended and its state is lost: {self._lost}")
        if self._closed:
            raise RequestError("the session has ended and its state is lost: it was closed")


class _Ended(SandboxError):
    """The session is unknown to the service, or its machine ended it."""


class _EndedByCell(RequestError):
    """The session has ended because of its cells or its limits."""


class _Error(msgspec.Struct):
    code: str
    message: str
    where: str = ""


class _Envelope(msgspec.Struct):
    error: _Error


class _Http(Client):
    """Sends requests with pooled connections, retries and deadlines like the verifier client."""

    def ask(
        self,
        method: str,
        path: str,
        body: Any,
        timeout_s: float,
        *,
        repeat: bool = True,
        stopped: Callable[[], bool] = lambda: False,
    ) -> bytes:
        """Return the answer. Raises RequestError for a refusal, SandboxError if there is no answer."""
        data = b"" if body is None else msgspec.json.encode(body)
        deadline = time.monotonic() + timeout_s
        attempt = 1
        while True:
            try:
                return self._attempt(method, path, data, deadline)
            except Failed as failed:
                if stopped():
                    raise SandboxError("cancelled by the caller") from failed
                pause_s = failed.pause(attempt, deadline - time.monotonic()) if repeat else None
                if pause_s is None:
                    if failed.verdict.status is Status.TIMEOUT:
                        raise SandboxError(
                            f"no answer from {self.url} in {timeout_s:g} s"
                        ) from failed
                    raise SandboxError(failed.verdict.evidence) from failed
            time.sleep(pause_s)
            attempt += 1

    def _read(self, status: int, headers: Mapping[str, str], body: bytes) -> bytes:
        try:
            error = msgspec.json.decode(body, type=_Envelope).error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return service.read_answer(status, headers, body)
        match (status, error.code):
            case (404, "not_found"):
                raise RequestError(
                    f"{self.url} runs no programs; start it with: verigym serve --sandbox"
                )
            case (404, "unknown_session") | (409, "session_failed"):
                raise _Ended(error.message)
            case (409, "session_ended"):
                raise _EndedByCell(error.message)
            case (422, _):
                where = error.where.removeprefix("$")
                raise RequestError(f"{error.message} (at {where})" if where else error.message)
        return service.read_answer(status, headers, body)


def _read(answer: bytes, kind: type[Answer]) -> Answer:
    with _answering():
        return msgspec.json.decode(answer, type=kind)


def _result(body: wire.ResultBody) -> Result:
    with _answering():
        return body.to_result()


def _check_files(answer: bytes, result: Result, job: Job) -> None:
    """Raise SandboxError if the answer has files that `job` did not request, or two of one name.

    The names come from a program, and the caller writes files under them.
    """
    if not result.files:
        return
    with _answering():
        for name, data in result.files.items():
            check_name(name)
            if not any(fnmatch.fnmatchcase(name, wanted) or name == wanted for wanted in job.fetch):
                raise RequestError(f"it sent file {name[:100]!r}, which nobody asked for")
            if len(data) > job.limits.output_bytes:
                raise RequestError(f"it sent {len(data)} bytes of file {name[:100]!r}")
        json.loads(answer, object_pairs_hook=_without_twins)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise RequestError("its answer has two values of one name")
    return found


@contextlib.contextmanager
def _answering() -> Iterator[None]:
    """Turn decoding errors within the block into the service's fault."""
    try:
        yield
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, RequestError) as error:
        raise SandboxError(
            f"the address does not answer like a service with a sandbox: {error}"
        ) from error


def _start_once(thread: threading.Thread) -> None:
    """Start `thread` unless it has started; repeated cancellations come one at a time."""
    if thread.ident is None:
        thread.start()


def _failed(detail: str) -> Result:
    return Result(status=JobStatus.SANDBOX_ERROR, detail=detail)
