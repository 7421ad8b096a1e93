"""Plays episodes by running an agent program once for each; what `agents/loop.play` is to built-in prompts.

Faults and rewards (laws 1 and 10). A fault, so no reward: the model's engine, the environment or its verifier
failed, the program could not be started, or it ended without having asked the model once. Everything else is
judged with what there is: a program that crashes or hangs on the model's reply leaves the task undone, and its
episode ends as `truncated`. Otherwise a model would learn to break the program instead of losing.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from verigym.agents import live as under_way
from verigym.agents.envpool import EnvPool
from verigym.agents.gateway.episodes import fill
from verigym.agents.gateway.gateway import Gateway
from verigym.agents.gateway.harness import (
    Harness,
    HarnessEnd,
    HarnessRun,
    run_harness,
    run_in_sandbox,
)
from verigym.agents.gateway.served import ServedEnv, ServedFault
from verigym.agents.gateway.session import GatewaySession, new_id
from verigym.agents.live import Cohort, LiveEpisode
from verigym.agents.plan import FaultLimit, Plan
from verigym.agents.policy import Policy
from verigym.episode import Episode, Fault, Turn
from verigym.errors import RequestError, SandboxError
from verigym.sandbox.base import Sandbox

_LOOK_S = 1.0
_SHOWN = 1000
_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class HarnessPlayer:
    """Plays with a gateway and an agent program. Close it, or use `with`."""

    gateway: Gateway
    harness: Harness
    policy: Policy
    envs: EnvPool
    sandbox: Sandbox | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        if self.harness.sandbox and self.sandbox is None:
            from verigym.sandbox.local.client import LocalSandbox

            self.sandbox = LocalSandbox(
                allow_network=True, max_jobs=self.harness.concurrency, warm=()
            )

    def close(self) -> None:
        """Stop the gateway and the sandbox."""
        self.gateway.close()
        if self.sandbox is not None:
            self.sandbox.close()

    def play(
        self,
        plans: Sequence[Plan],
        *,
        on_turn: Callable[[Episode, Turn], None] | None = None,
        on_episode: Callable[[Episode], None] | None = None,
        on_wait: Callable[[str], None] | None = None,
    ) -> list[Episode]:
        """Play one episode per plan; return them in the order of the plans.

        The callbacks run in the calling thread: `on_turn` with the last turn of each episode that ended,
        `on_wait` while all go on. Raises FaultLimit after all have finished, RequestError for mistakes in
        the plans. What the engine raises besides PolicyError is a bug, and raised at once.
        """
        self._stop.clear()
        found: dict[int, Episode] = {}
        with ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(self.harness.concurrency, "harness"))
            # Leaving for whatever reason, no program goes on.
            stack.callback(self._stop.set)
            left: dict[Future[Episode], int] = {
                pool.submit(self._one, plan, index): index for index, plan in enumerate(plans)
            }
            stack.callback(lambda: [future.cancel() for future in left])
            while left:
                done, _ = wait(left, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
                if not done and on_wait is not None:
                    on_wait(f"agent programs, {len(found)} of {len(plans)} have ended")
                for future in done:
                    episode = found[left.pop(future)] = future.result()
                    if on_turn is not None and episode.turns:
                        on_turn(episode, episode.turns[-1])
                    if on_episode is not None:
                        on_episode(episode)
        if not self.gateway.settle(self.gateway.settings.generate_deadline_s):
            raise SandboxError("a batch that no agent program waits for does not end")
        episodes = [found[index] for index in range(len(plans))]
        faulted = sum(episode.status == "fault" for episode in episodes)
        if faulted > self.gateway.settings.fault_limit * len(episodes):
            raise FaultLimit(episodes, self.gateway.settings.fault_limit)
        return episodes

    def _one(self, plan: Plan, index: int) -> Episode:
        live = under_way.new_live(plan, index, Cohort(), self.policy)
        live.episode.versions["harness"] = " ".join(self.harness.command)
        try:
            started = under_way.start(plan, self.envs)
        except RequestError:
            raise
        except Exception as error:  # noqa: BLE001 - the environment's, whatever it is
            live.episode.status = "fault"
            live.episode.fault = Fault(cause=f"env_error:{type(error).__name__}", detail=str(error))
            return live.episode
        under_way.begin(live, started)
        served = ServedEnv(started, self.gateway.settings)
        session = self.gateway.open(
            key=plan.key, token=new_id(), served=served, max_calls=self.harness.max_calls
        )
        try:
            ran = self._run(session, served, plan.hint)
        except SandboxError as error:
            ran = None
            session.fault = session.fault or Fault(cause="harness:not_started", detail=str(error))
        finally:
            self.gateway.end(session)
        return self._finished(live, session, served, ran)

    def _run(self, session: GatewaySession, served: ServedEnv, hint: str) -> HarnessEnd:
        run = HarnessRun(
            url=self.gateway.url,
            session=session.id,
            token=session.token or "",
            model=self.gateway.model,
            prompt="\n\n".join(part for part in (hint, served.task) if part),
            waited_s=lambda: session.waited_s,
        )
        if self.sandbox is not None:
            return run_in_sandbox(self.harness, run, self.sandbox, self._stop)
        return run_harness(self.harness, run, self._stop)

    def _finished(
        self, live: LiveEpisode, session: GatewaySession, served: ServedEnv, ran: HarnessEnd | None
    ) -> Episode:
        """Judge what the program left, and return the episode. Raises an engine's bug."""
        if session.bug is not None:
            raise session.bug
        deadline_s = self.gateway.settings.step_deadline_s
        is_idle = served.rest(deadline_s)
        if ran is not None and ran.exit_code != 0:
            ended = "was killed" if ran.exit_code is None else f"exited with {ran.exit_code}"
            _log.warning(
                "%s: the agent program %s: %s", live.episode.id, ended, ran.stderr[-_SHOWN:]
            )
        if session.fault is None and not is_idle:
            session.fault = Fault(
                cause="env_timeout", detail=f"an environment step took more than {deadline_s:g} s"
            )
        if session.fault is None and ran is not None and not session.turns:
            detail = f"it ended without asking the model: {ran.stderr[-_SHOWN:]}"
            session.fault = Fault(cause="harness:no_call", detail=detail)
        if session.fault is None and ran is not None and not served.paid:
            self._judge(session, served, ran, deadline_s)
        is_done = served.is_done and not served.paid[-1].stepped.truncated
        episode = fill(live.episode, session, "done" if is_done else "truncated")
        if episode.fault is None:
            self.envs.release(live.plan, served.env)
        elif is_idle:
            served.env.close()
        return episode

    def _judge(
        self, session: GatewaySession, served: ServedEnv, ran: HarnessEnd, deadline_s: float
    ) -> None:
        """Take the program's answer as its only action."""
        said = ran.stdout if self.harness.answer == "stdout" else session.turns[-1].action
        act = partial(served.finish, served.env.action_in(said.strip()), len(session.turns) - 1)
        failed: list[Exception] = []

        def finish() -> None:
            try:
                act()
            except Exception as error:  # noqa: BLE001 - looked at below
                failed.append(error)

        thread = threading.Thread(target=finish, daemon=True)
        thread.start()
        thread.join(deadline_s + self.gateway.settings.patience_s)
        if thread.is_alive():
            detail = f"an environment step took more than {deadline_s:g} s"
            session.fault = Fault(cause="env_timeout", detail=detail)
        elif failed and isinstance(failed[0], ServedFault):
            session.fault = failed[0].fault
        elif failed:
            raise failed[0]
