"""What the sandbox routes share: programs under way, and sessions with their leases.

A program runs in the sandbox of this machine, in a thread that waits for it, never on the event
loop. A request that is dropped or cancelled kills its program. Sessions are leased: one that is not
used for `sandbox_lease_s` is closed, and so are all of them when the service stops.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from verigym.errors import RequestError, SandboxError
from verigym.sandbox import wire
from verigym.sandbox.base import Cancellation, Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.sandbox.session import NotStarted, Session
from verigym.server.refusals import Refusal
from verigym.server.settings import Settings

Done = TypeVar("Done")

_DEFAULT = Limits(wall_s=600.0, cpu_s=600.0)
_CANCELLED = Result(status=JobStatus.SANDBOX_ERROR, detail="cancelled by the caller")


@dataclass
class _Running:
    """A program under way; `asked` is done when somebody asks for its end."""

    cancellation: Cancellation
    asked: asyncio.Future[None]


@dataclass
class _Lease:
    """A session, and when it ends if nobody uses it."""

    session: Session
    users: int = 0
    expiry: asyncio.TimerHandle | None = None


class Programs:
    """What the routes share while the application runs. All but `close` on the event loop."""

    def __init__(self, settings: Settings, sandbox: Sandbox) -> None:
        self.settings = settings
        self.sandbox = sandbox
        self.waiting = 0
        self.ended: Counter[str] = Counter()
        """Programs that ran, by the status of their results."""
        self._turns = asyncio.Semaphore(settings.sandbox_jobs)
        self._threads = ThreadPoolExecutor(
            settings.sandbox_jobs + settings.sandbox_sessions, "verigym-programs"
        )
        self._running: dict[str, _Running] = {}
        self._leases: dict[str, _Lease] = {}
        self._starting = 0
        self._closing: set[asyncio.Future[None]] = set()

    @property
    def open_sessions(self) -> int:
        """Interpreters that are open or starting."""
        return len(self._leases) + self._starting

    def card(self) -> wire.SandboxCard:
        """What is run here."""
        return wire.SandboxCard(
            languages=sorted(self.sandbox.languages),
            caps=wire.limits_body(self.settings.sandbox_caps),
            max_jobs=self.settings.sandbox_jobs,
            max_sessions=self.settings.sandbox_sessions,
            lease_s=self.settings.sandbox_lease_s,
            allow_network=self.sandbox.allow_network,
            about=self.sandbox.describe(),
        )

    async def run(self, job: Job, id: str, gone: asyncio.Future[None]) -> bytes:
        """The result of `job`, encoded. It is killed when `gone` is done. Raises Refusal."""
        if self._turns.locked() and self.waiting >= self.settings.max_queue:
            message = "the queue is full; try again later"
            raise Refusal(429, "busy", message, headers={"Retry-After": "1"})
        running = _Running(Cancellation(), asyncio.get_running_loop().create_future())
        if id and self._running.setdefault(id, running) is not running:
            # The same job sent again, while the end of its first connection is not noticed yet.
            message = "a job of this id is under way; try again later"
            raise Refusal(429, "busy", message, "$.id", {"Retry-After": "1"})
        try:
            self.waiting += 1
            try:
                if not await _before(self._turns.acquire(), gone, running.asked):
                    return _encoded(_CANCELLED)
            finally:
                self.waiting -= 1
            try:
                with refusing():
                    status, data = await self._until(
                        gone,
                        lambda: _run(self.sandbox, job, running.cancellation),
                        running.cancellation.cancel,
                    )
                self.ended[status] += 1
                return data
            finally:
                self._turns.release()
        finally:
            self._running.pop(id, None)

    async def cancel(self, id: str) -> None:
        """Kill a program, also one that waits for its turn. Raises Refusal where there is none."""
        running = self._running.get(id)
        if running is None:
            raise Refusal(404, "unknown_job", "no job of this id is under way")
        if not running.asked.done():
            running.asked.set_result(None)
        await asyncio.to_thread(running.cancellation.cancel)

    async def start(self, ask: wire.SessionBody, gone: asyncio.Future[None]) -> wire.SessionCard:
        """Start a session. Raises Refusal."""
        limits = self._session_limits(ask)
        if self.open_sessions >= self.settings.sandbox_sessions:
            most = self.settings.sandbox_sessions
            message = f"all {most} sessions are open; close one or try again later"
            raise Refusal(429, "busy", message, headers={"Retry-After": "1"})
        self._starting += 1
        try:
            with refusing():
                session = await self._until(
                    gone,
                    lambda: self.sandbox.session(
                        ask.language,
                        limits=limits,
                        files={name: data.to_bytes() for name, data in ask.files.items()},
                        env=ask.env,
                    ),
                    lambda: None,
                    undo=lambda session: session.close(),
                )
        except NotStarted as error:
            raise Refusal(422, "not_started", str(error)) from error
        except SandboxError as error:
            raise Refusal(503, "sandbox_error", str(error)) from error
        finally:
            self._starting -= 1
        id = secrets.token_urlsafe(16)
        self._leases[id] = _Lease(session)
        self._renew(id)
        return wire.SessionCard(
            id=id,
            language=session.language,
            limits=wire.limits_body(session.limits),
            lease_s=self.settings.sandbox_lease_s,
        )

    def checked(self, body: Any) -> Limits:
        """Limits of a request. Raises Refusal for one above its cap."""
        with refusing("$.limits"):
            limits = wire.to_limits(body)
        for name, value in vars(limits).items():
            cap = getattr(self.settings.sandbox_caps, name)
            if value > cap:
                message = f"{name} may be at most {cap:g} at this service, got {value:g}"
                raise Refusal(422, "above_cap", message, f"$.limits.{name}")
        return limits

    async def use(
        self,
        id: str,
        gone: asyncio.Future[None],
        call: Callable[[Session], Done],
        stop: Callable[[Session], None] = lambda session: None,
    ) -> Done:
        """What `call` gives of a session, whose lease is renewed. Raises Refusal."""
        lease = self._lease(id)
        lease.users += 1
        try:
            return await self._until(gone, lambda: call(lease.session), lambda: stop(lease.session))
        except SandboxError as error:
            raise Refusal(409, "session_failed", str(error)) from error
        except RequestError as error:
            if lease.session.alive:
                raise Refusal(422, "invalid_request", str(error), "$") from error
            raise Refusal(409, "session_ended", str(error)) from error
        finally:
            lease.users -= 1
            self._renew(id)

    async def interrupt(self, id: str) -> None:
        """Stop the cell that a session runs. Raises Refusal where there is no such session."""
        await asyncio.to_thread(self._lease(id).session.interrupt)

    def drop(self, id: str) -> asyncio.Future[None]:
        """Begin to close a session; done when it is. Raises Refusal where there is none of this id."""
        lease = self._lease(id)
        del self._leases[id]
        if lease.expiry is not None:
            lease.expiry.cancel()
        # Not in `_threads`, which may all be waiting for cells.
        closing = asyncio.ensure_future(asyncio.to_thread(lease.session.close))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        return closing

    async def close(self) -> None:
        """Kill what runs and close the sandbox."""
        for id in list(self._running):
            await self.cancel(id)
        for id in list(self._leases):
            self.drop(id)
        await asyncio.gather(*self._closing)
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self.sandbox.close)

    def _lease(self, id: str) -> _Lease:
        if id not in self._leases:
            most = self.settings.sandbox_lease_s
            message = f"no such session; one that is not used for {most:g} s is closed"
            raise Refusal(404, "unknown_session", message)
        return self._leases[id]

    def _session_limits(self, ask: wire.SessionBody) -> Limits:
        """Those asked for, or else as much of the default as may be."""
        if ask.limits is not None:
            return self.checked(ask.limits)
        caps = vars(self.settings.sandbox_caps)
        return Limits(**{name: min(cap, getattr(_DEFAULT, name)) for name, cap in caps.items()})

    def _renew(self, id: str) -> None:
        lease = self._leases.get(id)
        if lease is None:
            return
        if lease.expiry is not None:
            lease.expiry.cancel()
            lease.expiry = None
        if not lease.users:
            loop = asyncio.get_running_loop()
            lease.expiry = loop.call_later(self.settings.sandbox_lease_s, self.drop, id)

    async def _until(
        self,
        gone: asyncio.Future[None],
        call: Callable[[], Done],
        stop: Callable[[], object],
        undo: Callable[[Done], object] = lambda done: None,
    ) -> Done:
        """What `call` gives, in a thread. When `gone` is done, or the task cancelled, `stop` is called,
        the end of `call` awaited and its result given to `undo`."""
        work = asyncio.get_running_loop().run_in_executor(self._threads, call)
        try:
            await _first(work, gone)
            if work.done():
                return work.result()
        except asyncio.CancelledError:
            await self._stop(work, stop, undo)
            raise
        await self._stop(work, stop, undo)
        raise Refusal(400, "disconnected", "the client left")

    async def _stop(
        self, work: asyncio.Future[Done], stop: Callable[[], object], undo: Callable[[Done], object]
    ) -> None:
        await asyncio.to_thread(stop)
        await asyncio.wait({work})
        if work.exception() is None:
            await asyncio.to_thread(undo, work.result())


async def _before(
    getting: Coroutine[Any, Any, bool], gone: asyncio.Future[None], asked: asyncio.Future[None]
) -> bool:
    """Whether `getting` was done before anybody asked for the end. Raises Refusal when `gone` is."""
    task = asyncio.ensure_future(getting)
    try:
        await _first(task, gone, asked)
    finally:
        got = task.done()
        task.cancel()
    if got:
        return True
    if gone.done():
        raise Refusal(400, "disconnected", "the client left")
    return False


async def _first(*futures: asyncio.Future[Any]) -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


@contextmanager
def refusing(where: str = "$") -> Iterator[None]:
    """Within the block, a RequestError becomes a Refusal that names `where`."""
    try:
        yield
    except RequestError as error:
        raise Refusal(422, "invalid_request", str(error), where) from error


def _run(sandbox: Sandbox, job: Job, cancellation: Cancellation) -> tuple[str, bytes]:
    """How the program ended, and its result for the caller."""
    result = sandbox.run(job, cancellation=cancellation)
    return result.status.value, _encoded(result)


def _encoded(result: Result) -> bytes:
    return msgspec.json.encode(wire.result_body(result))
