"""Delivery of a learner's weights to a sampler, proved by equality after each update and each wake.

That an engine answers "updated", or that its numbers changed, proves nothing: a tied head may keep its old
copy, a cache its old keys. So fixed rows of tokens, the probe, must have the log-probabilities that
the learner gives them, within the engine's stated precision; otherwise the run stops.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from verigym.agents.engines.sampler import (
    EngineDead,
    Sampler,
    SamplingParams,
    is_replicated,
)
from verigym.agents.sampling import generator
from verigym.errors import VerigymError
from verigym.trainers.batch import Row
from verigym.trainers.learner import Learner

_ROWS = 2
_PROMPT_TOKENS = 20
_ANSWER_TOKENS = 6
_KNOWN_VERSIONS = 8
# Failures of the engine at one version; the run stops with the next.
_MAX_FAILURES = 2


class DeliveryError(VerigymError):
    """The engine does not hold the weights that it was sent, or cannot be kept alive."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """Result of one delivery: the largest gap to the learner on the probe, and how far the update moved the
    learner there since the last proof, both in nats; None for the first. `sent_bytes` went to the engine."""

    version: int
    gap_nats: float
    change_nats: float | None
    sent_bytes: int
    seconds: float


class Delivery:
    """Keeps `sampler` at the weights of `learner`. `version` returns the learner's version; `n_tokens` is the
    size of its vocabulary; `learning` is a lock that is held while its weights change."""

    def __init__(
        self,
        learner: Learner,
        sampler: Sampler,
        *,
        version: Callable[[], int],
        params: SamplingParams,
        n_tokens: int,
        seed: int,
        on_proof: Callable[[Proof], None] = lambda proof: None,
        learning: AbstractContextManager[object] | None = None,
    ) -> None:
        self.learner = learner
        self.sampler = sampler
        self.version = version
        self.params = params
        self.on_proof = on_proof
        self.probe = probe_rows(n_tokens, seed)
        self.known: dict[int, list[float]] = {}
        """The log-probabilities that the learner gave the probe, by version; the newest last."""
        self.proved: int | None = None
        self.lost = False
        self.failures = 0
        self._failed_at: int | None = None
        self.held = False
        """If True, the engine goes on with the weights that it has; one that lost them gets the newest."""
        self._learning = learning if learning is not None else nullcontext()
        self._lock = threading.Lock()

    def ensure(self) -> None:
        """Deliver the learner's weights unless the engine has them, and prove that it has.

        An engine that died is started anew by the next call. Raises DeliveryError if the engine does not hold
        the weights afterwards or fails again and again, EngineDead if it failed once.
        """
        with self._lock:
            if self.sampler.revive():
                self.lost, self.proved = True, None
            if self.proved is not None and (self.held or self.proved == self.version()):
                return
        # Both locks in this order, so that an update in progress is waited for without blocking other requests.
        with self._learning, self._lock:
            version = self.version()
            if self.proved == version:  # another thread delivered meanwhile
                return
            if version != self._failed_at:
                self.failures, self._failed_at = 0, version
            self.proved, lost, self.lost = None, self.lost, False
            try:
                if lost:
                    self._count_failure(version, "it lost the weights that it was sent")
                self._deliver(version)
            except EngineDead as error:
                self._count_failure(version, str(error))
                raise

    def sleep(self) -> None:
        """Let the engine give its memory to the learner, if it shares a device and is to do so."""
        if self.sampler.sleep():
            self.proved = None

    def _count_failure(self, version: int, why: str) -> None:
        self.failures += 1
        if self.failures > _MAX_FAILURES:
            raise DeliveryError(
                f"engine {self.sampler.name} failed {self.failures} times at version {version}; the last "
                f"time: {why}"
            )

    def _deliver(self, version: int) -> None:
        began = time.perf_counter()
        weights = self.learner.weights(version)
        self.sampler.update(weights)
        gap, change = self._compare(version)
        self.proved = version
        self.on_proof(
            Proof(
                version=version,
                gap_nats=gap,
                change_nats=change,
                sent_bytes=getattr(self.sampler, "sent_bytes", weights.n_bytes),
                seconds=time.perf_counter() - began,
            )
        )

    def _compare(self, version: int) -> tuple[float, float | None]:
        """Return gap and change on the probe. Raises DeliveryError if the gap is too large."""
        wanted = [
            p
            for row, line in zip(self.probe, self.learner.logprobs(self.probe), strict=True)
            for p, on in zip(line, row.mask, strict=True)
            if on
        ]
        split = [row.mask.index(1) for row in self.probe]
        found = _logprobs_of_each(
            self.sampler,
            [row.ids[:at] for row, at in zip(self.probe, split, strict=True)],
            [row.ids[at:] for row, at in zip(self.probe, split, strict=True)],
            self.params,
        )
        last = next(reversed(self.known.values())) if self.known else None
        self.known.pop(version, None)
        self.known[version] = wanted
        while len(self.known) > _KNOWN_VERSIONS:
            del self.known[next(iter(self.known))]
        gaps = []
        for name, lines in found.items():
            got = [p for line in lines for p in line]
            gaps.append(distance(got, wanted))
            if not gaps[-1] <= self.sampler.precision_nats:
                raise DeliveryError(self._explain(name, version, got, gaps[-1]))
        return max(gaps), None if last is None else distance(last, wanted)

    def _explain(self, name: str, version: int, got: Sequence[float], gap: float) -> str:
        limit = self.sampler.precision_nats
        held = [name for name, values in self.known.items() if distance(got, values) <= limit]
        holds = (
            f"those of version {held[-1]}"
            if held
            else "those of no version that it was sent, so the update arrived in part"
        )
        return (
            f"engine {name} was sent version {version} and says that it holds version "
            f"{self.sampler.version}, but its log-probabilities are {holds}: on the probe they differ from "
            f"the learner's by up to {gap:.2g} nats, and {limit:.2g} is its precision"
        )


def _logprobs_of_each(
    sampler: Sampler,
    prompts: Sequence[Sequence[int]],
    answers: Sequence[Sequence[int]],
    params: SamplingParams,
) -> dict[str, list[list[float]]]:
    """Return `logprobs` of each engine that `sampler` consists of, by name."""
    if is_replicated(sampler):
        return sampler.logprobs_of_each(prompts, answers, params)
    return {sampler.name: sampler.logprobs(prompts, answers, params)}


def probe_rows(n_tokens: int, seed: int) -> list[Row]:
    """Return rows of random ids below `n_tokens`, which every update of the weights moves."""
    length = _PROMPT_TOKENS + _ANSWER_TOKENS
    mask = [0] * _PROMPT_TOKENS + [1] * _ANSWER_TOKENS
    zeros = [0.0] * length
    return [
        Row(
            ids=generator((seed, number)).integers(0, n_tokens, length).tolist(),
            mask=mask,
            logprobs=zeros,
            turn=[on - 1 for on in mask],
            trajectory=number,
            advantage=zeros,
            old=zeros,
        )
        for number in range(_ROWS)
    ]


def distance(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the largest absolute difference; infinite if one is not finite."""
    gaps = [abs(x - y) for x, y in zip(a, b, strict=True)]
    return max(gaps) if all(math.isfinite(gap) for gap in gaps) else math.inf
