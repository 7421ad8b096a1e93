"""`Generation`: forms batches of waiting episodes, and has the policy complete them in its own threads."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias

from verigym.agents import live as under_way
from verigym.agents.calls_in_flight import CallsInFlight
from verigym.agents.chat import Encoding
from verigym.agents.fork import Fork
from verigym.agents.live import Cohort, GenerationBatch
from verigym.agents.plan import Ledger, Settings
from verigym.agents.policy import Asynchronous, Policy
from verigym.agents.workers import PartialResult, ThreadCall, Workers
from verigym.episode import Episode

OnBatch: TypeAlias = Callable[[GenerationBatch, ThreadCall], None]


class Generation:
    """Batches of one game and the calls that complete them. `on_batch` gets each call that has ended.

    One batch runs at a time, or as many as the policy's `concurrency`.
    """

    def __init__(
        self,
        policy: Policy,
        encoding: Encoding,
        settings: Settings,
        ledger: Ledger,
        done: SimpleQueue[ThreadCall | PartialResult],
        on_fork: Callable[[Episode, Fork], None] | None,
        on_batch: OnBatch,
    ) -> None:
        self.policy, self.encoding, self.settings = policy, encoding, settings
        self.ledger, self.on_fork, self.on_batch = ledger, on_fork, on_batch
        self.concurrency = int(getattr(policy, "concurrency", 1))
        self.begin = policy.begin if isinstance(policy, Asynchronous) else None
        self.workers: Workers | CallsInFlight
        if self.begin is not None:
            self.workers = CallsInFlight(done)
        else:
            self.workers = Workers(self.concurrency, done, "verigym-generate")
        self.batches: deque[GenerationBatch] = deque()
        self.under_way = 0
        """Number of batches that the policy is completing."""

    def form_batches(self, cohort: Cohort) -> None:
        """Make batches of the cohort's waiting episodes; in lockstep of all its episodes or none."""
        if not cohort.ready:
            return
        size = self.policy.max_batch
        if self.settings.batching == "cohorts":
            if len(cohort.ready) < len(cohort.live):
                return
            ready = sorted(cohort.ready, key=lambda live: live.index)
            cohort.ready.clear()
            for first in range(0, len(ready), size):
                self.batches.append(GenerationBatch(members=ready[first : first + size]))
        else:
            while cohort.ready and self.under_way + len(self.batches) < self.concurrency:
                self.batches.append(GenerationBatch(members=cohort.ready[:size]))
                del cohort.ready[:size]

    def submit(self) -> None:
        """Hand batches to the policy, as many as it takes at once."""
        while self.batches and self.under_way < self.concurrency:
            batch = self.batches.popleft()
            self.under_way += 1
            if self.on_fork is not None:
                for live in batch.members:
                    self.on_fork(live.episode, under_way.fork(live))
            self.workers.submit(self.call(batch))

    def call(self, batch: GenerationBatch) -> ThreadCall:
        """Return the call that completes a batch."""
        envs = [live.resting_env for live in batch.members]

        def drop(job: ThreadCall) -> None:
            if job.overdue:
                for env in envs:
                    env.close()

        run: Callable[..., Any]
        asked = (batch.members, self.policy, self.encoding)
        if self.begin is not None:
            run = partial(under_way.begin_generating, *asked, self.begin)
        else:
            run = partial(under_way.generate, *asked)
        return ThreadCall(
            run=run,
            deadline_s=self.settings.generate_deadline_s,
            tag=partial(self._on_end, batch, time.perf_counter()),
            late=drop,
        )

    def note(self, began: float) -> None:
        """Record that a batch which began at `began` has ended."""
        self.under_way -= 1
        self.ledger.generate_s += time.perf_counter() - began
        self.ledger.batches += 1

    def _on_end(self, batch: GenerationBatch, began: float, job: ThreadCall) -> None:
        self.note(began)
        self.on_batch(batch, job)
