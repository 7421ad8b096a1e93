"""`Client`: a verifier service for threads."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from verigym import service
from verigym.canonical import JSON
from verigym.client import calls
from verigym.client.calls import WAIT_S
from verigym.client.sender import Sender
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


class Client(Sender):
    """Blocking client; safe for any number of threads, and usable after a fork in both processes.

    `timeout_s` bounds a call with all its attempts; `key` is the service's bearer key, by default
    the value of VERIGYM_API_KEY. Calls other than `verify` and `verify_batch` raise VerifierFault
    if the service is unavailable, and all raise RequestError if it refuses the request.
    """

    def health(self) -> dict[str, Any]:
        """Return the service's health report."""
        return self.call(calls.health())

    def verifiers(self) -> list[VerifierInfo]:
        """Return the verifiers of the service."""
        return self.call(calls.verifiers())

    def card(self, verifier: str) -> dict[str, Any]:
        """Return the verifier's card: its error rates, by set of cases."""
        return self.call(calls.card(verifier))

    def verify(
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
        """Return the verdicts in order, from one request, which `timeout_s` bounds as a whole."""
        batch = VerdictBatch.of(verifier, items, params, self.timeout_s)
        if not batch.bodies:
            return batch.fill([])
        try:
            answer = self._send("POST", "/v1/verify/batch", batch.body())
            return batch.fill(service.read_verdicts(answer, verifier, len(batch.bodies)))
        except Failed as failed:
            return batch.fail(failed)

    def verify_group(
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
            return group.read(self._send("POST", "/v1/verify/group", group.body))
        except Failed as failed:
            return group.fail(failed)

    def verify_each(
        self,
        verifier: str,
        items: Iterable[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
    ) -> Iterator[Numbered]:
        """Yield each verdict of a batch with its place as soon as it arrives, in no fixed order.

        Leaving the loop early stops the work at the service.
        """
        stream = VerdictStream(VerdictBatch.of(verifier, items, params, self.timeout_s))
        yield from stream.here()
        deadline = time.monotonic() + self.timeout_s
        attempt = 1
        while stream.left:
            try:
                for chunk in self._chunks(stream.body(), deadline):
                    yield from stream.feed(chunk)
                stream.end()
            except Failed as failed:
                pause_s = failed.pause(attempt, deadline - time.monotonic())
                if pause_s is None:
                    yield from stream.fail(failed)
                    return
                time.sleep(pause_s)
                attempt += 1

    def submit(
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
        return self.call(
            calls.submit(
                *(verifier, items),
                params=params,
                timeout_s=timeout_s,
                idempotency_key=idempotency_key,
            )
        )

    def job(self, id: str) -> VerdictJob:
        """Return a job's current state."""
        return self.call(calls.job(id, 0.0))

    def wait(self, id: str, timeout_s: float | None = None) -> VerdictJob:
        """Return the job once it is finished. Raises VerifierFault with status `timeout` after `timeout_s`
        seconds; None waits indefinitely."""
        until = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while True:
            wait_s = min(max(0.0, until - time.monotonic()), WAIT_S)
            job = self.call(calls.job(id, wait_s), wait_s + self.timeout_s)
            if job.finished_s is not None:
                return job
            if time.monotonic() >= until:
                raise VerifierFault(calls.unfinished(job))

    def jobs(
        self, *, status: str | None = None, limit: int = 100, after: str = ""
    ) -> list[VerdictJob]:
        """Return the jobs of this key, newest first; `after` is the last id of the previous page."""
        return self.call(calls.jobs(status, limit, after))

    def drop_job(self, id: str) -> None:
        """Cancel an unfinished job; delete a finished one."""
        self.call(calls.drop_job(id))

    def envs(self) -> list[EnvInfo]:
        """Return the environments of the service."""
        return self.call(calls.envs())

    def env(self, name: str) -> EnvInfo:
        """Return one environment with its parameters."""
        return self.call(calls.env(name))

    def tasks(
        self,
        name: str,
        seeds: Sequence[int],
        *,
        difficulty: Difficulty | None = None,
        split: str | None = None,
    ) -> list[TaskInfo]:
        """Return the public part of the tasks of `seeds`."""
        return self.call(calls.tasks(name, seeds, difficulty, split))

    def create_sessions(
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
        return self.call(calls.create(env, seed=seed, options=options, params=params, count=count))

    def step(self, session: str, seq: int, action: str) -> Step:
        """Play step number `seq` of a session, the last number + 1; it happens once, even if sent again."""
        return self.call(calls.step(session, seq, action))

    def reset_session(
        self,
        session: str,
        seq: int,
        *,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Session:
        """Start another task in a session, as its step number `seq`."""
        return self.call(calls.reset(session, seq, seed=seed, options=options))

    def session(self, session: str) -> SessionState:
        """Return a session's current state."""
        return self.call(calls.state(session))

    def sessions(self) -> list[SessionState]:
        """Return the sessions of this key."""
        return self.call(calls.sessions())

    def renew_session(self, session: str) -> SessionState:
        """Extend a session by another lease; every use of it does so too."""
        return self.call(calls.renew(session))

    def close_session(self, session: str) -> None:
        """End a session."""
        self.call(calls.close(session))
