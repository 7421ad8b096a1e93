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
from verigym.client.streams import Stream
from verigym.client.types import EnvInfo, Job, Numbered, Session, SessionState, Step, TaskInfo
from verigym.service import Batch, Failed, VerifierInfo
from verigym.task import Task
from verigym.verdict import Verdict, VerifierFault


class Client(Sender):
    """Blocking; for any number of threads, and usable after a fork in both processes.

    `timeout_s` bounds a call with all its attempts; `key` is the service's bearer key, by default
    what VERIGYM_API_KEY holds. Calls other than `verify` and `verify_batch` raise VerifierFault
    where the service is away, and all raise RequestError for what it refuses.
    """

    def health(self) -> dict[str, Any]:
        """What the service says of itself."""
        return self.call(calls.health())

    def verifiers(self) -> list[VerifierInfo]:
        """What the service judges."""
        return self.call(calls.verifiers())

    def card(self, verifier: str) -> dict[str, Any]:
        """The verifier's card: how often it was wrong, and on what."""
        return self.call(calls.card(verifier))

    def verify(
        self,
        verifier: str,
        task: Task,
        submission: JSON,
        *,
        params: Mapping[str, JSON] | None = None,
    ) -> Verdict:
        """The verdict on one submission; a fault where there was none."""
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

    def verify_each(
        self,
        verifier: str,
        items: Iterable[tuple[Task, JSON]],
        *,
        params: Mapping[str, JSON] | None = None,
    ) -> Iterator[Numbered]:
        """As `verify_batch`, each verdict as soon as it is there, with its place; in no order.

        Leaving the loop early stops the work at the service.
        """
        stream = Stream(Batch.of(verifier, items, params, self.timeout_s))
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
    ) -> Job:
        """Have submissions judged in the service's own time; survives its crash.

        `timeout_s` is for judging one of them. With an `idempotency_key` of your own, the same job
        sent by another process, or after a crash of yours, is the same job.
        """
        return self.call(
            calls.submit(
                *(verifier, items),
                params=params,
                timeout_s=timeout_s,
                idempotency_key=idempotency_key,
            )
        )

    def job(self, id: str) -> Job:
        """How a job is doing."""
        return self.call(calls.job(id, 0.0))

    def wait(self, id: str, timeout_s: float | None = None) -> Job:
        """The job when it is finished. Raises VerifierFault with status `timeout` if that takes longer
        than `timeout_s`; None waits for ever."""
        until = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while True:
            wait_s = min(max(0.0, until - time.monotonic()), WAIT_S)
            job = self.call(calls.job(id, wait_s), wait_s + self.timeout_s)
            if job.finished_s is not None:
                return job
            if time.monotonic() >= until:
                raise VerifierFault(calls.unfinished(job))

    def jobs(self, *, status: str | None = None, limit: int = 100, after: str = "") -> list[Job]:
        """The jobs of this key, the newest first; `after` is the last one's id of the page before."""
        return self.call(calls.jobs(status, limit, after))

    def drop_job(self, id: str) -> None:
        """Cancel a job that is not finished, else forget it."""
        self.call(calls.drop_job(id))

    def envs(self) -> list[EnvInfo]:
        """The environments that the service plays."""
        return self.call(calls.envs())

    def env(self, name: str) -> EnvInfo:
        """One environment, with its parameters."""
        return self.call(calls.env(name))

    def tasks(
        self,
        name: str,
        seeds: Sequence[int],
        *,
        difficulty: str | None = None,
        split: str | None = None,
    ) -> list[TaskInfo]:
        """The public part of the tasks that `seeds` play."""
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
        """`count` sessions that start in the identical state, reset already.

        Where VerifierFault says that no answer came, there may be sessions that nobody knows; they
        end with their lease.
        """
        return self.call(calls.create(env, seed=seed, options=options, params=params, count=count))

    def step(self, session: str, seq: int, action: str) -> Step:
        """Step number `seq` of a session, the last number + 1; it happens once however often it is sent."""
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
        """Where a session stands."""
        return self.call(calls.state(session))

    def sessions(self) -> list[SessionState]:
        """The sessions of this key."""
        return self.call(calls.sessions())

    def renew_session(self, session: str) -> SessionState:
        """Let a session live for another lease; using it does so too."""
        return self.call(calls.renew(session))

    def close_session(self, session: str) -> None:
        """End a session."""
        self.call(calls.close(session))
