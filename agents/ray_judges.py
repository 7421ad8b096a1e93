"""Verifiers on other machines: `RayVerifierPool` keeps environments here and has their verdicts found in Ray actors.

    with RayVerifierPool(actors=8, address="auto") as envs:
        play(plans, policy, settings=Settings(env_workers=64), envs=envs)

For environments that are cheap to step and costly to judge: programs that are run, proofs that are checked. Each
submission is one call. A verifier is pure, so what a lost actor was judging is judged again by another, and the episode
does not notice. A call that takes longer than `timeout_s` kills its actor and is a verdict without a score.

Needs the extra `ray`; tried with Ray 2.60. Objects travel pickled: connect only to a cluster of your own.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from typing_extensions import override

from verigym.agents.plan import Plan
from verigym.agents.ray_actors import RayActor, RayActors
from verigym.agents.ray_pool import RayPool
from verigym.canonical import JSON, digest
from verigym.env import Env
from verigym.errors import RequestError
from verigym.judge import Judge
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault
from verigym.verifier import Verifier

_WAIT_S = 30.0
"""Seconds to wait for an actor; then the submission is a fault, and the loop waits on."""
_TRIES = 4
"""Actors that may be lost under one submission before it is a fault."""


class RayVerifierHost:
    """The verifiers of one actor, by key. Plain Python: the driver makes it an actor."""

    def __init__(self) -> None:
        self._verifiers: dict[str, Verifier[Any]] = {}
        self._lock = threading.Lock()

    def ping(self) -> None:
        """Return at once."""

    def verify(self, key: str, verifier: Verifier[Any], task: Task, submission: JSON) -> Verdict:
        """Return the verdict of the verifier that came first under `key`."""
        with self._lock:
            kept = self._verifiers.setdefault(key, verifier)
        return kept.verify(task, submission)


@dataclass(eq=False, kw_only=True)
class _Asked:
    place: int
    task: Task
    submission: JSON
    actor: RayActor
    ends: float
    tries: int


class RayJudge(Judge):
    """Asks `verifier` in `actors`, under `key`. Verdicts and digests are those of the verifier in this process."""

    id: str
    version: int
    params: Mapping[str, JSON]
    prefers_batches: ClassVar[bool] = True

    def __init__(
        self, verifier: Verifier[Any], key: str, actors: RayActors, timeout_s: float
    ) -> None:
        self.id, self.version, self.params = verifier.id, verifier.version, verifier.params
        self.own = verifier
        self._key = key
        self._actors = actors
        self._timeout_s = timeout_s
        try:
            self._sent = actors.ray.put(verifier)
        except (TypeError, AttributeError) as error:
            raise RequestError(
                f"verifier {verifier.name} cannot be sent to Ray, as it cannot be pickled: {error}"
            ) from error

    @override
    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        found = dict(self.verify_each(items))
        return [found[place] for place in sorted(found)]

    @override
    def verify_each(self, items: Iterable[tuple[Task, JSON]]) -> Iterator[tuple[int, Verdict]]:
        waiting = deque(enumerate(items))
        under_way: dict[Any, _Asked] = {}
        while waiting or under_way:
            # Not more than the slots, as what waits in an actor's queue would wait under its deadline.
            while waiting and (not under_way or self._actors.has_room):
                place, (task, submission) = waiting.popleft()
                if (lost := self._ask(under_way, place, task, submission, tries=1)) is not None:
                    yield place, lost
            if not under_way:
                continue
            wait_s = min(asked.ends for asked in under_way.values()) - time.monotonic()
            ready, _ = self._actors.ray.wait(list(under_way), timeout=max(0.0, wait_s))
            now = time.monotonic()
            late = [ref for ref, asked in under_way.items() if asked.ends <= now]
            for ref in ready or late:
                asked = under_way.pop(ref)
                if (verdict := self._answer(ref, asked, under_way, is_late=not ready)) is not None:
                    yield asked.place, verdict

    def _ask(
        self, under_way: dict[Any, _Asked], place: int, task: Task, submission: JSON, tries: int
    ) -> Verdict | None:
        """Send a submission to the actor of the least load; a fault if there is none."""
        actor = self._actors.take(_WAIT_S)
        if actor is None:
            return self._fault("no_actor", f"no actor of Ray came up in {_WAIT_S:g} s")
        ref = actor.handle.verify.remote(self._key, self._sent, task, submission)
        ends = time.monotonic() + self._timeout_s
        under_way[ref] = _Asked(
            place=place, task=task, submission=submission, actor=actor, ends=ends, tries=tries
        )
        return None

    def _answer(
        self, ref: Any, asked: _Asked, under_way: dict[Any, _Asked], is_late: bool
    ) -> Verdict | None:
        """Return the verdict that has come; None if the submission was sent to another actor."""
        with self._actors.lock:
            asked.actor.load -= 1
        if is_late:
            self._actors.lose(asked.actor)
            detail = f"took more than {self._timeout_s:g} s, and its actor was killed"
            return fault(Status.TIMEOUT, "deadline", detail).stamped(self.name, "")
        errors = self._actors.ray.exceptions
        try:
            verdict: Verdict = self._actors.ray.get(ref)
            return verdict
        except errors.RayTaskError as error:  # a verifier raises nothing: it could not be unpickled
            why = f"{type(error.cause).__name__}: {error.cause}"
            return fault(Status.VERIFIER_ERROR, "crashed", why).stamped(self.name, "")
        except errors.RayError as error:
            self._actors.lose(asked.actor)
            if asked.tries >= _TRIES:
                return self._fault(
                    "actor_lost", f"{asked.tries} actors were lost under it: {error}"
                )
        return self._ask(under_way, asked.place, asked.task, asked.submission, asked.tries + 1)

    def _fault(self, reason: str, detail: str) -> Verdict:
        return fault(Status.INFRA, reason, detail).stamped(self.name, "")


class RayVerifierPool(RayPool):
    """Environments of this process whose verifiers are asked in Ray actors; the arguments are `RayPool`'s.

    Environments with one verifier and equal parameters share a judge, so the loop sends what they submit at
    the same time together. A verifier that is a service, or any other judge, stays what it is.
    """

    host = RayVerifierHost

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._judges: dict[object, RayJudge] = {}

    @override
    def acquire(self, plan: Plan) -> Env[Any]:
        env = super().acquire(plan)
        verifier = env.verifier
        if isinstance(verifier, Verifier):
            with self._lock:
                # One that the caller made may hold more than its parameters say.
                is_own = plan.env_kwargs.get("verifier") is verifier
                key = f"{id(verifier)}" if is_own else _key(verifier)
                if key not in self._judges:
                    self._judges[key] = RayJudge(verifier, key, self.actors, self.timeout_s)
                env.verifier = self._judges[key]
        return env


def _key(verifier: Verifier[Any]) -> str:
    """Return what verifiers that judge alike have in common."""
    kind = type(verifier)
    return f"{kind.__module__}.{kind.__qualname__} {digest(verifier.id, verifier.version, verifier.params)}"
