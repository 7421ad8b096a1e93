"""Talks to a verifier service: `RemoteVerifier` for environments, `Client` and `AsyncClient`.

    env = verigym.make("countdown", verifier="http://127.0.0.1:8080")   # uses RemoteVerifier

    with Client("http://127.0.0.1:8080") as client:
        verdict = client.verify("math/countdown", task, reply)

What the network or the service does wrong is a verdict without a score, never a 0 and never an
exception of `verify`: status `timeout` where no answer came in `timeout_s`, else `infra`. What the
caller does wrong (unknown verifier or parameter, wrong key) raises RequestError with the service's
own message. Judging is pure, so a request that failed is sent again, after a pause with jitter, while
`timeout_s` allows. The HTTP library is imported by the first request.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar
from urllib.parse import urlsplit

from verigym import service
from verigym.canonical import JSON
from verigym.errors import RequestError, VerifierFault
from verigym.service import Batch, Failed, VerifierInfo
from verigym.task import Task
from verigym.verdict import Status, Verdict
from verigym.verifier import Verifier

if TYPE_CHECKING:
    import httpx2

__all__ = ["AsyncClient", "Client", "RemoteVerifier", "VerifierInfo"]

BATCH = 64
"""Submissions in one request of `RemoteVerifier.verify_batch`."""

_MAX_ANSWER_BYTES = 64 << 20
_MAX_CONNECTIONS = 256
_KEEPALIVE_S = 30.0

Read = TypeVar("Read")


class _Address:
    """Where the service is and how to speak to it; the common part of both clients."""

    def __init__(self, url: str, *, key: str | None = None, timeout_s: float = 30.0) -> None:
        try:
            parts = urlsplit(url)
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a port that is no number
            good = False
        if not good:
            raise RequestError(f"the URL of a service reads http://host:port, got {url!r}")
        if not timeout_s > 0:
            raise RequestError(f"timeout_s must be above 0, got {timeout_s}")
        self.url = url.rstrip("/")
        self.timeout_s = timeout_s
        self._headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        # A proxy named in the environment cannot reach this machine's own addresses.
        self._use_proxy = parts.hostname not in ("localhost", "127.0.0.1", "::1")

    def _read(self, status: int, headers: Mapping[str, str], body: bytes) -> bytes:
        """The body of a good answer. Raises RequestError or Failed."""
        return service.read_answer(status, headers, body)

    def _options(self) -> dict[str, Any]:
        import httpx2

        limits = httpx2.Limits(
            max_connections=_MAX_CONNECTIONS,
            max_keepalive_connections=_MAX_CONNECTIONS,
            keepalive_expiry=_KEEPALIVE_S,
        )
        return {"headers": self._headers, "trust_env": self._use_proxy, "limits": limits}

    def _fail(self, error: Exception) -> NoReturn:
        """Say in our terms what the HTTP library raised."""
        import httpx2

        if isinstance(error, (httpx2.ReadTimeout, httpx2.WriteTimeout, TimeoutError)):
            evidence = f"no answer from {self.url} in {self.timeout_s:g} s"
            raise Failed(Status.TIMEOUT, "no_answer", evidence) from error
        if isinstance(error, httpx2.PoolTimeout):
            evidence = f"all {_MAX_CONNECTIONS} connections to {self.url} were in use"
            raise Failed(Status.INFRA, "no_connection", evidence) from error
        evidence = f"{self.url} cannot be reached: {str(error) or type(error).__name__}"
        raise Failed(Status.INFRA, "unreachable", evidence, again=True) from error


class Client(_Address):
    """Blocking; for any number of threads, and usable after a fork in both processes.

    `timeout_s` bounds a call with all its attempts; `key` is the service's bearer key.
    """

    def __init__(self, url: str, *, key: str | None = None, timeout_s: float = 30.0) -> None:
        super().__init__(url, key=key, timeout_s=timeout_s)
        self._connections = _Connections()

    def health(self) -> dict[str, Any]:
        """What the service says of itself. Raises VerifierFault where it is away."""
        return self._get("/healthz", service.read_health)

    def verifiers(self) -> list[VerifierInfo]:
        """What the service judges. Raises VerifierFault where it is away."""
        return self._get("/v1/verifiers", service.read_infos)

    def verify(
        self,
        verifier: str,
        task: Task,
        submission: JSON,
        *,
        params: Mapping[str, JSON] | None = None,
    ) -> Verdict:
        """The verdict on one submission."""
        batch = Batch.of(verifier, [(task, submission)], params, self.timeout_s)
        if not batch.bodies:
            return batch.fill([])[0]
        try:
            answer = self._send("POST", "/v1/verify", bytes(batch.bodies[0]))
            return service.read_verdict(answer, verifier)
        except Failed as failed:
            return batch.fail(failed)[0]

    def verify_batch(
        self,
        verifier: str,
        items: Iterable[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
    ) -> list[Verdict]:
        """Verdicts in order, from one request, which `timeout_s` bounds as a whole."""
        batch = Batch.of(verifier, items, params, self.timeout_s)
        if not batch.bodies:
            return batch.fill([])
        try:
            answer = self._send("POST", "/v1/verify/batch", batch.body())
            return batch.fill(service.read_verdicts(answer, verifier, len(batch.bodies)))
        except Failed as failed:
            return batch.fail(failed)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _get(self, path: str, read: Callable[[bytes], Read]) -> Read:
        try:
            return read(self._send("GET", path, b""))
        except Failed as failed:
            raise VerifierFault(failed.verdict) from failed

    def _send(self, method: str, path: str, body: bytes) -> bytes:
        deadline = time.monotonic() + self.timeout_s
        attempt = 1
        while True:
            try:
                return self._attempt(method, path, body, deadline)
            except Failed as failed:
                pause_s = failed.pause(attempt, deadline - time.monotonic())
                if pause_s is None:
                    raise
            time.sleep(pause_s)
            attempt += 1

    def _attempt(self, method: str, path: str, body: bytes, deadline: float) -> bytes:
        if self._connections.pid != os.getpid():
            # What came through a fork, locks and sockets, is the other process's.
            self._connections = _Connections(inherited=self._connections)
        http = self._connections.get(self._options)
        import httpx2

        left_s = max(0.001, deadline - time.monotonic())
        received = bytearray()
        try:
            with http.stream(method, self.url + path, content=body, timeout=left_s) as answer:
                # The library's timeout is for each read; one that trickles is cut off here.
                for chunk in answer.iter_raw():
                    received += chunk
                    if time.monotonic() > deadline:
                        raise TimeoutError
                    _check_size(received)
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            self._fail(error)
        return self._read(answer.status_code, answer.headers, bytes(received))


class AsyncClient(_Address):
    """As `Client`, for one event loop at a time."""

    def __init__(self, url: str, *, key: str | None = None, timeout_s: float = 30.0) -> None:
        super().__init__(url, key=key, timeout_s=timeout_s)
        self._http: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def health(self) -> dict[str, Any]:
        """What the service says of itself. Raises VerifierFault where it is away."""
        return await self._get("/healthz", service.read_health)

    async def verifiers(self) -> list[VerifierInfo]:
        """What the service judges. Raises VerifierFault where it is away."""
        return await self._get("/v1/verifiers", service.read_infos)

    async def verify(
        self,
        verifier: str,
        task: Task,
        submission: JSON,
        *,
        params: Mapping[str, JSON] | None = None,
    ) -> Verdict:
        """The verdict on one submission."""
        batch = Batch.of(verifier, [(task, submission)], params, self.timeout_s)
        if not batch.bodies:
            return batch.fill([])[0]
        try:
            answer = await self._send("POST", "/v1/verify", bytes(batch.bodies[0]))
            return service.read_verdict(answer, verifier)
        except Failed as failed:
            return batch.fail(failed)[0]

    async def verify_batch(
        self,
        verifier: str,
        items: Iterable[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
    ) -> list[Verdict]:
        """Verdicts in order, from one request, which `timeout_s` bounds as a whole."""
        batch = Batch.of(verifier, items, params, self.timeout_s)
        if not batch.bodies:
            return batch.fill([])
        try:
            answer = await self._send("POST", "/v1/verify/batch", batch.body())
            return batch.fill(service.read_verdicts(answer, verifier, len(batch.bodies)))
        except Failed as failed:
            return batch.fail(failed)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _get(self, path: str, read: Callable[[bytes], Read]) -> Read:
        try:
            return read(await self._send("GET", path, b""))
        except Failed as failed:
            raise VerifierFault(failed.verdict) from failed

    async def _send(self, method: str, path: str, body: bytes) -> bytes:
        deadline = time.monotonic() + self.timeout_s
        attempt = 1
        while True:
            try:
                return await self._attempt(method, path, body, deadline)
            except Failed as failed:
                pause_s = failed.pause(attempt, deadline - time.monotonic())
                if pause_s is None:
                    raise
            await asyncio.sleep(pause_s)
            attempt += 1

    async def _attempt(self, method: str, path: str, body: bytes, deadline: float) -> bytes:
        import httpx2

        loop = asyncio.get_running_loop()
        if self._http is None or self._loop is not loop:
            self._http, self._loop = httpx2.AsyncClient(**self._options()), loop
        left_s = max(0.001, deadline - time.monotonic())
        received = bytearray()
        try:
            async with (
                asyncio.timeout(left_s),
                self._http.stream(method, self.url + path, content=body, timeout=left_s) as answer,
            ):
                async for chunk in answer.aiter_raw():
                    received += chunk
                    _check_size(received)
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            self._fail(error)
        return self._read(answer.status_code, answer.headers, bytes(received))


class RemoteVerifier(Verifier):
    """A verifier of a service, used as one of this process: equal verdicts, equal digests.

    `version` and `params` are the service's own, asked for when first needed (VerifierFault where it
    is away). Verdicts carry the version of the service that gave them, so one that differs from the
    version installed here shows in `Verdict.verifier`. Evidence of faults differs from in process:
    the service keeps it in its log.
    """

    def __init__(
        self,
        url: str,
        id: str,
        *,
        params: Mapping[str, JSON] | None = None,
        key: str | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        # Not super().__init__: which parameters there are is known to the service only.
        self.id = id  # type: ignore[misc]  # of the instance here, of the class elsewhere
        self.client = Client(url, key=key, timeout_s=timeout_s)
        self._given = dict(params or {})
        self._info: VerifierInfo | None = None

    @property
    def version(self) -> int:  # type: ignore[override]
        """The service's version of the verifier."""
        return self.info().version

    @property
    def params(self) -> dict[str, JSON]:  # type: ignore[override]
        """All parameters, the service's defaults included."""
        return {**self.info().params, **self._given}

    @property
    def about(self) -> str:  # type: ignore[override]
        """One line for people."""
        return self.info().about

    @property
    def evidence(self) -> str:  # type: ignore[override]
        """What the score rests on."""
        return self.info().evidence

    @property
    def weights(self) -> dict[str, float]:  # type: ignore[override]
        """The parts of a verdict and what they count."""
        return self.info().weights

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the parameters."""
        return self.info().schema

    def info(self) -> VerifierInfo:
        """What the service lists. RequestError if it has no such verifier, VerifierFault if away."""
        if self._info is None:
            known = {info.id: info for info in self.client.verifiers()}
            if self.id not in known:
                from verigym.errors import suggestion

                raise RequestError(
                    f"{self.client.url} has no verifier {self.id!r}; {suggestion(self.id, known)}"
                )
            self._info = known[self.id]
        return self._info

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """As `verify`."""
        return self.verify(task, submission)

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """Have the service judge. RequestError where it refuses verifier, parameters or key."""
        verdict = self.client.verify(self.id, task, submission, params=self._given)
        return self._stamped(verdict, task, submission)

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """`verify` for each pair, in order, many to a request."""
        verdicts: list[Verdict] = []
        rest = list(items)
        for start in range(0, len(rest), BATCH):
            part = rest[start : start + BATCH]
            answers = self.client.verify_batch(self.id, part, params=self._given)
            for (task, submission), verdict in zip(part, answers, strict=True):
                verdicts.append(self._stamped(verdict, task, submission))
        return verdicts

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self.client.close()

    def _stamped(self, verdict: Verdict, task: Task, submission: JSON) -> Verdict:
        """Name verifier and digest on a fault found on this side, as far as they are known here."""
        if verdict.verifier:
            if self._info is not None and verdict.verifier != self.name:
                self._info = None  # the service was updated; ask again when needed
            return verdict
        if verdict.fault and verdict.reason == "not_json":
            return replace(verdict, verifier=self.name)
        if verdict.fault and self._info is None:  # the service may be away
            return replace(verdict, verifier=self.id)
        return replace(verdict, verifier=self.name, digest=self.digest(task, submission))


class _Connections:
    """The HTTP library's client of one process, made when first needed."""

    def __init__(self, inherited: _Connections | None = None) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._http: httpx2.Client | None = None
        # Kept: collecting it here would close connections that the other process uses.
        self._inherited = inherited

    def get(self, options: Callable[[], dict[str, Any]]) -> httpx2.Client:
        with self._lock:
            if self._http is None:
                import httpx2

                self._http = httpx2.Client(**options())
                # An environment that is dropped without close() leaves no open socket.
                weakref.finalize(self, _close, self._http, self.pid)
            return self._http

    def close(self) -> None:
        with self._lock:
            http, self._http = self._http, None
        if http is not None:
            _close(http, self.pid)


def _close(http: httpx2.Client, pid: int) -> None:
    if pid == os.getpid():
        http.close()


def _check_size(received: bytearray) -> None:
    if len(received) > _MAX_ANSWER_BYTES:
        raise service.bad_answer(f"more than {_MAX_ANSWER_BYTES} bytes")
