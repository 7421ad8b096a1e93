"""`AsyncClient`: a verifier service for an event loop."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from verigym import service
from verigym.canonical import JSON
from verigym.client import calls
from verigym.client.async_sender import AsyncSender
from verigym.client.calls import WAIT_S
from verigym.client.streams import VerdictStream
from verigym.client.types import (
    EnvInfo,
    Numbered,
    Session,
    SessionState,
    Step,
    TaskInfo,
    VerdictJob,
)
from verigym.levels import Difficulty
from verigym.service import Failed, GroupBatch, VerdictBatch, VerifierInfo
from verigym.task import Task
from verigym.verdict import Verdict, VerifierFault


class AsyncClient(AsyncSender):
    """Asynchronous counterpart of `Client`, for one event loop at a time."""

    async def health(self) -> dict[str, Any]:
        """Return the service's health report."""
        return await self.call(calls.health())

    async def verifiers(self) -> list[VerifierInfo]:
        """Return the verifiers of the service."""
        return await self.call(calls.verifiers())

    async def card(self, verifier: str) -> dict[str, Any]:
        """Return the verifier's card: its error rates, by set of cases."""
        return await self.call(calls.card(verifier))

    async def verify(
        self,
        verifier: str,
        task: Task,
        submission: JSON,
        *,
        params: Mapping[str, JSON] | None = None,
    ) -> Verdict:
        """Return the verdict on one submission; a fault if the service gave none."""
        batch = VerdictBatch.of(verifier, [(task, submission)], params, self.timeout_s)
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
        """Return the verdicts in order, from one request, which `timeout_s` bounds as a whole."""
        batch = VerdictBatch.of(verifier, items, params, self.timeout_s)
        if not batch.bodies:
            return batch.fill([])
        try:
            answer = await self._send("POST", "/v1/verify/batch", batch.body())
            return batch.fill(service.read_verdicts(answer, verifier, len(batch.bodies)))
        except Failed as failed:
            return batch.fail(failed)

    async def verify_group(
        self,
        verifier: str,
        task: Task,
        submissions: Sequence[JSON],
        *,
        of: str | Mapping[str, JSON],
        params: Mapping[str, JSON] | None = None,
    ) -> list[Verdict]:
        """Return the verdicts on the members of a group in order, judged by a group verifier.

        `of` is the verifier that it asks: an id, or `{"verifier": id, "params": {...}}`.
        """
        group = GroupBatch.of(verifier, of, task, submissions, params, self.timeout_s)
        try:
            return group.read(await self._send("POST", "/v1/verify/group", group.body))
        except Failed as failed:
            return group.fail(failed)

    async def verify_each(
        self,
        verifier: str,
        items: Iterable[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
    ) -> AsyncIterator[Numbered]:
        """Yield each verdict of a batch with its place as soon as it arrives, in no fixed order.

        Closing the iterator early stops the work at the service; see `contextlib.aclosing`.
        """
        stream = VerdictStream(VerdictBatch.of(verifier, items, params, self.timeout_s))
        for numbered in stream.here():
            yield numbered
        deadline = time.monotonic() + self.timeout_s
        attempt = 1
        while stream.left:
            try:
                async with aclosing(self._chunks(stream.body(), deadline)) as chunks:
                    async for chunk in chunks:
                        for numbered in stream.feed(chunk):
                            yield numbered
                stream.end()
            except Failed as failed:
                pause_s = failed.pause(attempt, deadline - time.monotonic())
                if pause_s is None:
                    for numbered in stream.fail(failed):
                        yield numbered
                    return
                await asyncio.sleep(pause_s)
                attempt += 1

    async def submit(
        self,
        verifier: str,
        items: Iterable[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
        timeout_s: float | None = None,
        idempotency_key: str | None = None,
    ) -> VerdictJob:
        """Submit a durable background job of submissions; it survives a crash of the service.

        `timeout_s` bounds the judging of one submission. With your own `idempotency_key`, another
        process, or yours after a crash, can send the job again without starting a second one.
        """
        return await self.call(
            calls.submit(
                *(verifier, items),
                params=params,
                timeout_s=timeout_s,
                idempotency_key=idempotency_key,
            )
        )

    async def job(self, id: str) -> VerdictJob:
        """Return a job's current state."""
        return await self.call(calls.job(id, 0.0))

    async def wait(self, id: str, timeout_s: float | None = None) -> VerdictJob:
        """Return the job once it is finished. Raises VerifierFault with status `timeout` after `timeout_s`
        seconds; None waits indefinitely."""
        until = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while True:
            wait_s = min(max(0.0, until - time.monotonic()), WAIT_S)
            job = await self.call(calls.job(id, wait_s), wait_s + self.timeout_s)
            if job.finished_s is not None:
                return job
            if time.monotonic() >= until:
                raise VerifierFault(calls.unfinished(job))

    async def jobs(
        self, *, status: str | None = None, limit: int = 100, after: str = ""
    ) -> list[VerdictJob]:
        """Return the jobs of this key, newest first; `after` is the last id of the previous page."""
        return await self.call(calls.jobs(status, limit, after))

    async def drop_job(self, id: str) -> None:
        """Cancel an unfinished job; delete a finished one."""
        await self.call(calls.drop_job(id))

    async def envs(self) -> list[EnvInfo]:
        """Return the environments of the service."""
        return await self.call(calls.envs())

    async def env(self, name: str) -> EnvInfo:
        """Return one environment with its parameters."""
        return await self.call(calls.env(name))

    async def tasks(
        self,
        name: str,
        seeds: Sequence[int],
        *,
        difficulty: Difficulty | None = None,
        split: str | None = None,
    ) -> list[TaskInfo]:
        """Return the public part of the tasks of `seeds`."""
        return await self.call(calls.tasks(name, seeds, difficulty, split))

    async def create_sessions(
        self,
        env: str,
        *,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
        params: Mapping[str, JSON] | None = None,
        count: int = 1,
    ) -> list[Session]:
        """Create `count` sessions in the identical start state, already reset.

        If VerifierFault says that no answer came, the service may hold unknown sessions; they end with
        their lease.
        """
        return await self.call(
            calls.create(env, seed=seed, options=options, params=params, count=count)
        )

    async def step(self, session: str, seq: int, action: str) -> Step:
        """Play step number `seq` of a session, the last number + 1; it happens once, even if sent again."""
        return await self.call(calls.step(session, seq, action))

    async def reset_session(
        self,
        session: str,
        seq: int,
        *,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Session:
        """Start another task in a session, as its step number `seq`."""
        return await self.call(calls.reset(session, seq, seed=seed, options=options))

    async def session(self, session: str) -> SessionState:
        """Return a session's current state."""
        return await self.call(calls.state(session))

    async def sessions(self) -> list[SessionState]:
        """Return the sessions of this key."""
        return await self.call(calls.sessions())

    async def renew_session(self, session: str) -> SessionState:
        """Extend a session by another lease; every use of it does so too."""
        return await self.call(calls.renew(session))

    async def close_session(self, session: str) -> None:
        """End a session."""
        await self.call(calls.close(session))
