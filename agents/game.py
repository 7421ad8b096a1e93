"""`Game`: plays many episodes at once; generation never waits for an environment.

One control thread (the caller's) owns all state. Environment steps run in worker threads, generation in
its own. All report to one queue. A judge in this process is asked within the step. A judge that prefers
batches, such as a service, is asked about the moves of all waiting episodes at once (submission_queue.py), in a
further thread; each episode goes on when its own verdict has arrived. Batches for the policy are formed in
generation.py, and calls that failed wait in retries.py. While one episode runs at a time, one worker
plays it without coming back here for each call (alone.py).

Handling of failures (law 1; none is ever a reward):

    VerifierFault        the same step is repeated, with growing pauses, for `patience_s`; then the
                         episode faults with `verifier:<status>:<reason>`
    EnvLost              the worker of the environment is gone: the episode is played again from its start, for
                         `patience_s`; then fault `env_lost`
    exception in an env  fault `env_error:<type>`; the instance is dropped
    step over deadline   fault `env_timeout`; the thread is abandoned (see workers.py). The same for a
                         request with the submissions of several steps
    PolicyError          the batch is repeated likewise, then faults with `policy_error`
    batch over deadline  fault `policy_timeout`
    RequestError         the caller's own mistake (unknown id, first prompt too long for the model):
                         raised at once, unless a step raises it, which is the environment's
    any other exception from a policy is a bug: raised at once

A prompt that outgrows the policy's context ends its episode as `truncated`.
With `batching="cohorts"` results are a pure function of plans, policy, encoding and settings, bit
for bit, as long as no episode faults.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from verigym.agents import live as under_way
from verigym.agents.alone import Alone
from verigym.agents.chat import Encoding
from verigym.agents.envpool import EnvLost, EnvPool
from verigym.agents.fork import Fork
from verigym.agents.generation import Generation
from verigym.agents.live import (
    Cohort,
    GenerationBatch,
    LiveEpisode,
    Proposed,
    Started,
    Stepped,
    Trouble,
)
from verigym.agents.plan import Ledger, Plan, Settings, check_plans
from verigym.agents.policy import Policy, PolicyRefusal
from verigym.agents.retries import Retries
from verigym.agents.source import PlanSource
from verigym.agents.submission_queue import SubmissionQueue
from verigym.agents.workers import PartialResult, ThreadCall, Workers
from verigym.episode import Episode, Fault, Turn
from verigym.errors import PolicyError, RequestError
from verigym.missing import REASON as NOT_INSTALLED
from verigym.moves import ask
from verigym.verdict import Status, Verdict, VerifierFault

# How long a call that is under way may go on once the loop is interrupted.
_STOP_S = 2.0
# A verifier's client may itself repeat a call for a while before it gives up; say so meanwhile.
_SLOW_STEP_S = 3.0


@dataclass(kw_only=True)
class Game:
    """State of one `play`; only the control thread uses it."""

    plans: Sequence[Plan]
    policy: Policy
    encoding: Encoding
    settings: Settings
    parse: Callable[[str], str] | None
    pool: EnvPool
    on_turn: Callable[[Episode, Turn], None] | None
    on_episode: Callable[[Episode], None] | None
    on_wait: Callable[[str], None]
    on_fork: Callable[[Episode, Fork], None] | None
    ledger: Ledger
    source: PlanSource | None = None

    def __post_init__(self) -> None:
        self.done: SimpleQueue[ThreadCall | PartialResult] = SimpleQueue()
        self.steppers = Workers(self.settings.env_workers, self.done, "verigym-env")
        self.generation = Generation(
            self.policy,
            self.encoding,
            self.settings,
            self.ledger,
            self.done,
            self.on_fork,
            self._on_batch,
        )
        self.retries = Retries(self.settings, self.on_wait)
        self.askers = Workers(self.settings.env_workers, self.done, "verigym-ask")
        self.queues: dict[int, SubmissionQueue] = {}
        self.lives: list[LiveEpisode] = []
        self.cohorts: list[Cohort] = []
        self._deal()
        self.width = max(1, self.settings.max_live // max(1, len(self.cohorts)))
        self.unfinished = len(self.lives)
        self.first_keys: dict[str, str] = {}
        self.expires = 0.0
        """Time on the monotonic clock before which no call is over its deadline."""
        self.alone: Alone | None = None
        """The worker that plays while one episode runs at a time; it owns the state until it hands back."""
        self.runs_one = (
            self.source is None
            and self.on_fork is None
            and len(self.cohorts) == 1
            and min(self.width, len(self.lives)) == 1
        )
        if self.source is not None:
            self.cohorts.append(Cohort())
            self.source.watch(lambda: self.done.put(PartialResult(act=lambda: None)))

    def _deal(self) -> None:
        """Assign neighbouring plans to one cohort; groups stay together as far as sizes allow."""
        n = self.settings.n_cohorts if self.settings.batching == "cohorts" else 1
        size = max(1, -(-len(self.plans) // n))
        for index, plan in enumerate(self.plans):
            if index % size == 0:
                self.cohorts.append(Cohort())
            live = under_way.new_live(plan, index, self.cohorts[-1], self.policy)
            self.cohorts[-1].todo.append(live)
            self.lives.append(live)

    # The control loop.

    def run(self) -> list[Episode]:
        began = time.perf_counter()
        try:
            while self._goes_on():
                if self.runs_one and not self.cohorts[0].live:
                    self._play_alone()
                    continue
                for cohort in self.cohorts:
                    self._fill(cohort)
                    self.generation.form_batches(cohort)
                self.generation.submit()
                for queue in self.queues.values():
                    self._submit_ask(queue)
                self.retries.make(self._take_results())
        finally:
            self.ledger.wall_s += time.perf_counter() - began
        return [live.episode for live in self.lives]

    def _play_alone(self) -> None:
        """Let one worker play the episodes one after another, until it has something to decide here."""
        began, generated_s = time.perf_counter(), self.ledger.generate_s
        self.alone = Alone(self)
        self.steppers.submit(self.alone.job)
        while self.alone is not None:
            self._take_results()
        waited_s = time.perf_counter() - began
        self.ledger.idle_s += waited_s - (self.ledger.generate_s - generated_s)

    def close(self) -> None:
        """Stop the threads. Idle environments return to the pool now, others when their call ends."""
        if self.alone is not None:
            self.alone.stop()
        for workers in (self.generation.workers, self.askers, self.steppers):
            workers.close(_STOP_S)
            self.ledger.abandoned_threads += workers.abandoned
        while not self.done.empty():
            self.done.get().drop()
        for live in self.lives:
            if live.env is not None and not live.busy:
                self.pool.release(live.plan, live.env)

    def _expire(self, now: float) -> None:
        """Deliver the calls that are over their deadline, and find out when the next one may be."""
        everyone = (self.steppers, self.askers, self.generation.workers)
        for workers in everyone:
            for job in workers.expire():
                job.deliver()
        # A call that has not started yet will have at least this long.
        shortest_s = min(self.settings.step_deadline_s, self.settings.generate_deadline_s)
        ends = [at for one in everyone if (at := one.next_deadline()) is not None]
        self.expires = min([now + shortest_s, *ends])

    def _take_results(self) -> float:
        """Wait for a result, a deadline or a timer; then take all results and all overdue calls.

        Returns the time on the monotonic clock.
        """
        began = time.perf_counter()
        job = self._next_result()
        if not self.generation.under_way and self.alone is None:
            self.ledger.idle_s += time.perf_counter() - began
        while job is not None:
            job.deliver()
            job = None if self.done.empty() else self.done.get()
        now = time.monotonic()
        if now >= self.expires:
            self._expire(now)
        return now

    def _next_result(self) -> ThreadCall | PartialResult | None:
        due = [self.expires]
        due += [queue.due for queue in self.queues.values() if queue.due is not None]
        if self.retries.due is not None:
            due.append(self.retries.due)
        try:
            # Now and then even without any, to say what is waited for.
            return self.done.get(timeout=min(1.0, max(0.0, min(due) - time.monotonic())))
        except Empty:
            self._report_slow_step()
            return None

    def _report_slow_step(self) -> None:
        if self.alone is not None and self.generation.under_way:
            return  # the one call under way is not a step
        waited_s = max(self.steppers.oldest_s(), self.askers.oldest_s())
        if waited_s > _SLOW_STEP_S:
            self.retries.report(
                f"an environment step, with its verifier, under way for {waited_s:.0f} s"
            )

    def _goes_on(self) -> bool:
        """Return True if there is more to play; take further plans from the source, if there is one."""
        if self.source is None:
            return self.unfinished > 0
        plans = self.source.take(self.settings.max_live - self.unfinished)
        if plans is None:
            return False
        check_plans(plans)
        (cohort,) = self.cohorts
        for plan in plans:
            live = under_way.new_live(plan, len(self.lives), cohort, self.policy)
            cohort.todo.append(live)
            self.lives.append(live)
            self.unfinished += 1
        return True

    # Environments.

    def _fill(self, cohort: Cohort) -> None:
        while cohort.todo and len(cohort.live) < self.width:
            live = cohort.todo.popleft()
            cohort.live.add(live)
            self._submit_start(live)

    def _submit_start(self, live: LiveEpisode) -> None:
        self.steppers.submit(self.start_call(live))

    def start_call(self, live: LiveEpisode) -> ThreadCall:
        """Return the call that starts an episode."""
        return ThreadCall(
            run=partial(under_way.start, live.plan, self.pool),
            deadline_s=self.settings.step_deadline_s,
            tag=partial(self._on_start, live),
            late=_close_started,
        )

    def _on_start(self, live: LiveEpisode, job: ThreadCall) -> None:
        if isinstance(job.error, RequestError):
            raise job.error
        if not isinstance(job.result, Started):
            self._on_env_failure(live, job, partial(self._submit_start, live), job.began)
            return
        live.trouble = None
        under_way.begin(live, job.result)
        first = self.first_keys.setdefault(live.episode.group_id, live.state_key)
        if first != live.state_key:
            self._fault(
                live,
                "env_error:TaskError",
                f"{live.episode.env_id} started seed {live.plan.seed} in two different states; "
                "members of a group must start alike, so it draws from more than np_random",
            )
            return
        live.cohort.ready.append(live)

    def _submit_step(self, live: LiveEpisode) -> None:
        env = live.resting_env
        queue = None
        if under_way.joins_batches(env):
            judge = env.verifier
            queue = self.queues.setdefault(id(judge), SubmissionQueue(judge=judge))
            queue.joining.add(live)
        self.steppers.submit(self.step_call(live, queue))

    def step_call(self, live: LiveEpisode, queue: SubmissionQueue | None = None) -> ThreadCall:
        """Return the call that plays the episode's last action."""
        run = partial(under_way.step, live.resting_env, live.talk.actions[-1])
        return self._env_call(live, run, partial(self._on_step, live, queue))

    def _env_call(
        self, live: LiveEpisode, run: Callable[[], Any], tag: Callable[[ThreadCall], None]
    ) -> ThreadCall:
        env = live.resting_env
        live.busy = True
        return ThreadCall(
            run=run,
            deadline_s=self.settings.step_deadline_s,
            tag=tag,
            late=lambda job: env.close(),
        )

    def _on_step(self, live: LiveEpisode, queue: SubmissionQueue | None, job: ThreadCall) -> None:
        if queue is not None:
            queue.joining.discard(live)
        if queue is not None and isinstance(job.result, Proposed):
            live.busy = False
            queue.unsent.append((live, job.result))
        else:
            self._on_stepped(live, job.began, job)

    def _on_stepped(self, live: LiveEpisode, began: float, job: ThreadCall) -> None:
        if not job.overdue:
            live.busy = False
        if not isinstance(job.result, Stepped):
            self._on_env_failure(live, job, partial(self._submit_step, live), began)
            return
        live.trouble = None
        self.ledger.step_s += job.result.step_s
        self.ledger.turns += 1
        turn = under_way.advance(live, job.result)
        self._tell(self.on_turn, live.episode, turn)
        if job.result.terminated or job.result.truncated:
            self.finish(live, "done" if job.result.terminated else "truncated")
        else:
            live.cohort.ready.append(live)

    # Judges that prefer batches.

    def _submit_ask(self, queue: SubmissionQueue) -> None:
        batch = queue.take(self.settings.env_workers, time.monotonic())
        if not batch:
            return
        began = time.monotonic()

        def run() -> None:
            for place, found in ask(queue.judge, [proposed.move for _, proposed in batch]):
                live, proposed = batch[place]
                verify_s = time.monotonic() - began
                act = partial(self._on_verdict, queue, live, proposed, found, began, verify_s)
                self.done.put(PartialResult(act=act))

        self.askers.submit(
            ThreadCall(
                run=run,
                deadline_s=self.settings.step_deadline_s,
                tag=partial(self._on_asked, queue, [live for live, _ in batch]),
            )
        )

    def _on_verdict(
        self,
        queue: SubmissionQueue,
        live: LiveEpisode,
        proposed: Proposed,
        found: Verdict | Exception,
        began: float,
        verify_s: float,
    ) -> None:
        if live not in queue.asked:  # the request was over its deadline
            return
        queue.asked.remove(live)
        run = partial(under_way.commit, live.resting_env, proposed, found, verify_s)
        self.steppers.submit(self._env_call(live, run, partial(self._on_stepped, live, began)))

    def _on_asked(
        self, queue: SubmissionQueue, lives: Sequence[LiveEpisode], job: ThreadCall
    ) -> None:
        for live in lives:
            if live not in queue.asked:  # verdicts arrive before this
                continue
            queue.asked.remove(live)
            if job.overdue:
                limit_s = self.settings.step_deadline_s
                self._fault(live, "env_timeout", f"the verifier took more than {limit_s:g} s")
            else:
                self._on_env_failure(live, job, partial(self._submit_step, live), job.began)

    def _on_env_failure(
        self, live: LiveEpisode, job: ThreadCall, again: Callable[[], None], began: float
    ) -> None:
        error = job.error
        if isinstance(error, VerifierFault):
            verdict = error.verdict
            live.trouble = trouble = live.trouble or Trouble(since=began)
            hopeless = verdict.status is Status.VERIFIER_ERROR and (
                trouble.tries >= self.settings.error_retries or verdict.reason == NOT_INSTALLED
            )
            detail = f"verifier {verdict.verifier}: {verdict.status.value}, {verdict.reason}"
            if not hopeless and self.retries.schedule(trouble, detail, again):
                live.episode.retries += 1
                self.ledger.verifier_retries += 1
            else:
                self._fault(live, f"verifier:{verdict.status.value}:{verdict.reason}", str(error))
        elif isinstance(error, EnvLost):
            self._play_again(live, error, began)
        elif job.overdue:
            live.env = None  # the abandoned thread has it, and closes it when the call returns
            limit_s = self.settings.step_deadline_s
            self._fault(live, "env_timeout", f"an environment step took more than {limit_s:g} s")
        else:
            if live.env is not None:
                live.env.close()
                live.env = None  # no telling what state it is in
            self._fault(live, f"env_error:{type(error).__name__}", str(error))

    def _play_again(self, live: LiveEpisode, error: EnvLost, began: float) -> None:
        """Play an episode from its start, since the worker that had its environment is gone."""
        live.trouble = trouble = live.trouble or Trouble(since=began)
        live.env = None
        if self.retries.schedule(trouble, str(error), partial(self._submit_start, live)):
            if (forget := getattr(self.policy, "forget", None)) is not None:
                forget(live.plan.key)
            under_way.start_over(live, self.policy)
        else:
            self._fault(live, "env_lost", str(error))

    # Generation.

    def _on_batch(self, batch: GenerationBatch, job: ThreadCall) -> None:
        error = job.error
        if job.overdue:
            limit_s = self.settings.generate_deadline_s
            for live in batch.members:
                # The late call may still look at the environments, so they are not used again.
                live.env = None
                self._fault(live, "policy_timeout", f"a completion took more than {limit_s:g} s")
        elif isinstance(error, EnvLost):
            # A policy looked into an environment that is gone; the others wait for the next batch.
            lost = [one for one in batch.members if getattr(one.env, "is_lost", False)]
            for live in batch.members:
                if live in lost or not lost:
                    self._play_again(live, error, job.began)
                else:
                    live.cohort.ready.append(live)
        elif isinstance(error, PolicyError):
            batch.trouble = trouble = batch.trouble or Trouble(since=job.began)
            detail = f"policy {self.policy.name}: {error}"
            again = partial(self.generation.batches.append, batch)
            if not isinstance(error, PolicyRefusal) and self.retries.schedule(
                trouble, detail, again
            ):
                self.ledger.policy_retries += 1
                for live in batch.members:
                    live.episode.retries += 1
            else:
                for live in batch.members:
                    self._fault(live, "policy_error", str(error))
        elif error is not None:
            raise error
        else:
            for live, (prompt, answer) in zip(batch.members, job.result, strict=True):
                if answer is None:
                    self.finish(live, "truncated")
                else:
                    under_way.answered(live, prompt, answer, self.parse)
                    self._submit_step(live)

    # Ends.

    def _fault(self, live: LiveEpisode, cause: str, detail: str) -> None:
        live.episode.fault = Fault(cause=cause, detail=detail)
        self.finish(live, "fault")

    def finish(self, live: LiveEpisode, status: str) -> None:
        """End an episode, and give its environment back."""
        live.episode.status = status
        live.cohort.live.remove(live)
        self.unfinished -= 1
        if (forget := getattr(self.policy, "forget", None)) is not None:
            forget(live.plan.key)
        if live.env is not None:
            self.pool.release(live.plan, live.env)
            live.env = None
        if self.source is not None:
            self.lives.remove(live)  # nobody asks for it again, and a stream has no end
            if all(live.episode.group_id != other.episode.group_id for other in self.lives):
                self.first_keys.pop(live.episode.group_id, None)
        self._tell(self.on_episode, live.episode)

    def _tell(self, callback: Callable[..., None] | None, *about: Any) -> None:
        """Call back in the control thread, if there is a callback."""
        if callback is None:
            return
        if self.alone is None:
            callback(*about)
        else:
            self.alone.tell(callback, *about)


def _close_started(job: ThreadCall) -> None:
    if isinstance(job.result, Started):
        job.result.env.close()
