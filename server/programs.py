"""State that the sandbox routes share: running programs, and sessions with their leases.

A program runs in the sandbox of this machine, in a thread that waits for it, never on the event
loop. If its request is dropped or cancelled, the program is killed. Sessions are leased: a session is
closed if it is not used for `sandbox_lease_s` seconds, and all are closed when the service stops.

Programs and sessions belong to the caller who started them: to others, their ids are unknown. Waiting
programs of different callers take turns (turns.py), and callers share the session limit (shares.py).
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from verigym.errors import RequestError, SandboxError
from verigym.sandbox import wire
from verigym.sandbox.base import Cancellation, Sandbox
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.sandbox.session import NotStarted, SandboxSession
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings
from verigym.server.shares import Share
from verigym.server.turns import Turns

Done = TypeVar("Done")

_DEFAULT = Limits(wall_s=600.0, cpu_s=600.0)
_CANCELLED = Result(status=JobStatus.SANDBOX_ERROR, detail="cancelled by the caller")


@dataclass
class _Running:
    """A running program; `asked` is done once a caller requests its end."""

    cancellation: Cancellation
    asked: asyncio.Future[None]


@dataclass
class _Lease:
    """A session with its owner, and the time at which it ends if it is not used."""

    session: SandboxSession
    owner: str
    users: int = 0
    expiry: asyncio.TimerHandle | None = None


class ProgramService:
    """State that the routes share while the application runs. For the event loop, except `close`."""

    def __init__(
        self, settings: ServerSettings, sandbox: Sandbox, n_callers: Callable[[], int] = lambda: 1
    ) -> None:
        self.settings = settings
        self.sandbox = sandbox
        self.ended: Counter[str] = Counter()
        """Programs that ran, by the status of their results."""
        self._turns = Turns(settings.sandbox_jobs)
        self._queue = Share(settings.max_queue, n_callers)
        self._threads = ThreadPoolExecutor(most_at_once(settings), "verigym-programs")
        self._running: dict[tuple[str, str], _Running] = {}
        """Running programs by caller and the id that the caller chose."""
        self._leases: dict[str, _Lease] = {}
        self._places = Share(settings.sandbox_sessions, n_callers)
        self._closing: set[asyncio.Future[None]] = set()

    @property
    def open_sessions(self) -> int:
        """Interpreters that are open or starting."""
        return self._places.taken

    @property
    def waiting(self) -> int:
        """Programs that wait for their turn."""
        return self._queue.taken

    def card(self) -> wire.SandboxCard:
        """Return the languages and limits of this sandbox."""
        return wire.SandboxCard(
            languages=sorted(self.sandbox.languages),
            caps=wire.limits_body(self.settings.sandbox_caps),
            max_jobs=self.settings.sandbox_jobs,
            max_sessions=self.settings.sandbox_sessions,
            lease_s=self.settings.sandbox_lease_s,
            allow_network=self.sandbox.allow_network,
            about=self.sandbox.describe(),
        )

    async def run(self, owner: str, job: Job, id: str, gone: asyncio.Future[None]) -> bytes:
        """Return the result of `job`, encoded. It is killed when `gone` is done. Raises Refusal."""
        if not self._turns.may_start(owner) and not self._queue.has_room(owner):
            message = "the queue is full, or this key's share of it; try again later"
            raise Refusal(429, "busy", message, headers={"Retry-After": "1"})
        running = _Running(Cancellation(), asyncio.get_running_loop().create_future())
        if id and self._running.setdefault((owner, id), running) is not running:
            # The same job sent again, while the end of its first connection is not noticed yet.
            message = "a job of this id is under way; try again later"
            raise Refusal(429, "busy", message, "$.id", {"Retry-After": "1"})
        turn = self._turns.enter(owner)
        try:
            self._queue.take(owner)
            try:
                await _first(turn.ready, gone, running.asked)
            finally:
                self._queue.give_back(owner)
            if gone.done():
                raise Refusal(400, "disconnected", "the client left")
            if not turn.ready.done():
                return _encoded(_CANCELLED)
            with refusing():
                status, data = await self._until(
                    gone,
                    lambda: _run(self.sandbox, job, running.cancellation),
                    running.cancellation.cancel,
                )
            self.ended[status] += 1
            return data
        finally:
            self._turns.leave(turn)
            self._running.pop((owner, id), None)

    async def cancel(self, owner: str, id: str) -> None:
        """Kill a program, also one that waits for its turn. Raises Refusal if `owner` has none."""
        running = self._running.get((owner, id))
        if running is None:
            raise Refusal(404, "unknown_job", "no job of this id is under way")
        await self._kill(running)

    async def _kill(self, running: _Running) -> None:
        if not running.asked.done():
            running.asked.set_result(None)
        await asyncio.to_thread(running.cancellation.cancel)

    async def start(
        self, owner: str, ask: wire.SessionBody, gone: asyncio.Future[None]
    ) -> wire.SessionCard:
        """Start a session. Raises Refusal."""
        limits = self._session_limits(ask)
        if not self._places.has_room(owner):
            most = self.settings.sandbox_sessions
            message = (
                f"all {most} sessions, or this key's share of them, are open; "
                "close one or try again later"
            )
            raise Refusal(429, "busy", message, headers={"Retry-After": "1"})
        self._places.take(owner)
        started = False
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
            started = True
        except NotStarted as error:
            raise Refusal(422, "not_started", str(error)) from error
        except SandboxError as error:
            raise Refusal(503, "sandbox_error", str(error)) from error
        finally:
            if not started:
                self._places.give_back(owner)
        id = secrets.token_urlsafe(16)
        self._leases[id] = _Lease(session, owner)
        self._renew(id)
        return wire.SessionCard(
            id=id,
            language=session.language,
            limits=wire.limits_body(session.limits),
            lease_s=self.settings.sandbox_lease_s,
        )

    def checked(self, body: Any) -> Limits:
        """Return the limits of a request. Raises Refusal for one above its cap."""
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
        owner: str,
        id: str,
        gone: asyncio.Future[None],
        call: Callable[[SandboxSession], Done],
        stop: Callable[[SandboxSession], None] = lambda session: None,
    ) -> Done:
        """Call `call` with a session, renew its lease and return the result. Raises Refusal."""
        lease = self._lease(owner, id)
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

    async def interrupt(self, owner: str, id: str) -> None:
        """Stop the cell that a session runs. Raises Refusal if `owner` has no such session."""
        await asyncio.to_thread(self._lease(owner, id).session.interrupt)

    def drop(self, owner: str, id: str) -> asyncio.Future[None]:
        """Begin to close a session; done when it is. Raises Refusal if `owner` has none of this id."""
        lease = self._lease(owner, id)
        del self._leases[id]
        self._places.give_back(owner)
        if lease.expiry is not None:
            lease.expiry.cancel()
        # Not in `_threads`, which may all be waiting for cells.
        closing = asyncio.ensure_future(asyncio.to_thread(lease.session.close))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        return closing

    async def close(self) -> None:
        """Kill the running programs and close the sandbox."""
        for running in list(self._running.values()):
            await self._kill(running)
        for id, lease in list(self._leases.items()):
            self.drop(lease.owner, id)
        await asyncio.gather(*self._closing)
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self.sandbox.close)

    def _lease(self, owner: str, id: str) -> _Lease:
        lease = self._leases.get(id)
        if lease is None or lease.owner != owner:
            most = self.settings.sandbox_lease_s
            message = f"no such session; one that is not used for {most:g} s is closed"
            raise Refusal(404, "unknown_session", message)
        return lease

    def _session_limits(self, ask: wire.SessionBody) -> Limits:
        """Return the requested limits, or else the defaults, capped by the settings."""
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
            lease.expiry = loop.call_later(
                self.settings.sandbox_lease_s, self.drop, lease.owner, id
            )

    async def _until(
        self,
        gone: asyncio.Future[None],
        call: Callable[[], Done],
        stop: Callable[[], object],
        undo: Callable[[Done], object] = lambda done: None,
    ) -> Done:
        """Run `call` in a thread and return its result. If `gone` is done or the task is cancelled, call
        `stop`, wait for `call` to end and pass its result to `undo`."""
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


def most_at_once(settings: ServerSettings) -> int:
    """Return the programs and sessions that the sandbox may have to run at once."""
    return settings.sandbox_jobs + settings.sandbox_sessions + 1  # see turns.py


async def _first(*futures: asyncio.Future[Any]) -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


@contextmanager
def refusing(where: str = "$") -> Iterator[None]:
    """Turn a RequestError within the block into a Refusal that names `where`."""
    try:
        yield
    except RequestError as error:
        raise Refusal(422, "invalid_request", str(error), where) from error


def _run(sandbox: Sandbox, job: Job, cancellation: Cancellation) -> tuple[str, bytes]:
    """Run the program; return its status and the encoded result for the caller."""
    result = sandbox.run(job, cancellation=cancellation)
    return result.status.value, _encoded(result)


def _encoded(result: Result) -> bytes:
    return msgspec.json.encode(wire.result_body(result))
