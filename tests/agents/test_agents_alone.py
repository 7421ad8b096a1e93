"""One episode at a time is played by one worker, with the deadlines and faults of all play."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from verigym.agents.alone import Alone
from verigym.agents.envpool import EnvPool
from verigym.agents.loop import FaultLimit, Ledger, Settings, plan_groups, play
from verigym.agents.policies.oracle import OraclePolicy
from verigym.agents.policies.random import RandomPolicy

FAST = Settings(max_live=1, backoff_s=0.01, backoff_max_s=0.02, patience_s=30, fault_limit=1.0)


@pytest.fixture
def turns_of_worker(monkeypatch):
    """Return the list of the worker's turns."""
    taken = []
    made = Alone.__init__

    def noted(self, game):
        taken.append(self)
        made(self, game)

    monkeypatch.setattr(Alone, "__init__", noted)
    return taken


def threads():
    return [t.name for t in threading.enumerate() if t.name.startswith("verigym-")]


def test_episodes_are_those_of_play_at_once(counter, make_verifier, bare, turns_of_worker):
    plans = plan_groups(counter(), range(8), members=2, env_kwargs={"verifier": make_verifier()})
    together = play(plans, RandomPolicy(), settings=replace(FAST, max_live=16))
    assert turns_of_worker == []
    ledger = Ledger()
    alone = play(plans, RandomPolicy(), settings=FAST, ledger=ledger)
    assert len(turns_of_worker) == 1
    assert bare(alone) == bare(together)
    assert ledger.batches == ledger.turns == sum(len(e.turns) for e in alone)
    assert 0 < ledger.generate_s < ledger.wall_s
    assert ledger.generate_s + ledger.idle_s == pytest.approx(ledger.wall_s, rel=0.2, abs=0.05)


def test_callbacks_run_in_the_thread_that_called(counter, make_verifier):
    seen = []

    def note(*about):
        seen.append((threading.current_thread(), len(about[0].turns)))

    plans = plan_groups(counter(), range(3), env_kwargs={"verifier": make_verifier()})
    episodes = play(plans, OraclePolicy(), settings=FAST, on_turn=note, on_episode=note)
    assert {thread for thread, _ in seen} == {threading.current_thread()}
    # Each callback found the episode as it was left for it.
    assert [n for _, n in seen] == [
        n for e in episodes for n in [*range(1, len(e.turns) + 1), len(e.turns)]
    ]


@pytest.mark.parametrize("stage", ["start", "generate", "step"])
def test_a_call_that_hangs_is_abandoned_and_the_rest_plays_on(
    counter, make_verifier, gate, turns_of_worker, stage
):
    def initial(self, task):
        if stage == "start" and task.seed == 1:
            gate.pass_through()
        return 0

    def transition(self, state, action):
        if stage == "step" and self.task.seed == 1:
            gate.pass_through()
        return type(self).__mro__[1].transition(self, state, action)

    class Policy(OraclePolicy):
        def complete(self, requests):
            if stage == "generate" and requests[0].env.task.seed == 1:
                gate.pass_through()
            return super().complete(requests)

    made = counter(initial=initial, transition=transition)
    plans = plan_groups(made, range(3), env_kwargs={"verifier": make_verifier()})
    settings = replace(FAST, step_deadline_s=0.3, generate_deadline_s=0.3, env_workers=1)
    ledger = Ledger()
    episodes = play(plans, Policy(), settings=settings, ledger=ledger)
    fault = "policy_timeout" if stage == "generate" else "env_timeout"
    assert [e.fault and e.fault.cause for e in episodes] == [None, fault, None]
    assert all(e.success for e in episodes[::2])
    assert ledger.abandoned_threads == 1
    assert len(turns_of_worker) == 2
    closed = made.closed
    gate.open.set()  # the abandoned worker returns, closes its environment and plays nothing more
    for thread in threading.enumerate():
        if thread.name == "verigym-env":
            thread.join(30)
    assert made.closed == closed + 1
    assert threads() == []
    assert episodes[1].turns == []


def test_an_outage_is_repeated_and_the_worker_goes_on(
    counter, make_verifier, outage, turns_of_worker
):
    verifier = make_verifier(outage(3))
    ledger = Ledger()
    plans = plan_groups(counter(), range(3), env_kwargs={"verifier": verifier})
    episodes = play(plans, OraclePolicy(), settings=FAST, ledger=ledger)
    assert all(e.success for e in episodes)
    assert [e.retries for e in episodes] == [3, 0, 0]
    assert ledger.verifier_retries == 3
    assert len(turns_of_worker) == 2


def test_a_request_that_hangs_is_broken_off(counter, make_verifier, turns_of_worker):
    class Silent(OraclePolicy):
        """Asynchronous; answers nothing about seed 1 until the request is cancelled."""

        cancelled = 0

        def begin(self, requests, done):
            if requests[0].env.task.seed != 1:
                done(self.complete(requests))
                return lambda: None

            def cancel():
                self.cancelled += 1
                done(TimeoutError("broken off"))

            return cancel

    policy = Silent()
    made = counter()
    plans = plan_groups(made, range(3), env_kwargs={"verifier": make_verifier()})
    ledger = Ledger()
    settings = replace(FAST, generate_deadline_s=0.3)
    episodes = play(plans, policy, settings=settings, ledger=ledger)
    assert [e.fault and e.fault.cause for e in episodes] == [None, "policy_timeout", None]
    assert policy.cancelled == 1
    assert ledger.abandoned_threads == 0
    assert len(turns_of_worker) == 2


@pytest.mark.parametrize("where", ["on_turn", "on_episode", "policy", "request"])
def test_an_interrupt_ends_the_worker(counter, make_verifier, gate, where):
    def interrupt(*_):
        raise KeyboardInterrupt

    class Interrupted(OraclePolicy):
        def complete(self, requests):
            if where == "policy":
                interrupt()
            return super().complete(requests)

    class Waiting(Interrupted):
        def begin(self, requests, done):
            if where == "request" and len(requests[0].key) and requests[0].key[-1] == 1:
                done(KeyboardInterrupt())
            else:
                done(self.complete(requests))
            return lambda: None

    made = counter()
    hooks = {where: interrupt} if where.startswith("on_") else {}
    policy = Waiting() if where == "request" else Interrupted()
    plans = plan_groups(made, range(4), env_kwargs={"verifier": make_verifier()})
    with EnvPool() as pool:
        with pytest.raises(KeyboardInterrupt):
            play(plans, policy, settings=FAST, envs=pool, **hooks)
        assert threads() == []
        assert made.closed == 0  # it went back to the pool, whole
    assert made.closed == 1


def test_a_fault_of_each_episode_is_counted(counter, make_verifier):
    def transition(self, state, action):
        raise ZeroDivisionError("a bug")

    plans = plan_groups(
        counter(transition=transition), range(3), env_kwargs={"verifier": make_verifier()}
    )
    with pytest.raises(FaultLimit) as caught:
        play(plans, OraclePolicy(), settings=replace(FAST, fault_limit=0.5))
    assert caught.value.causes == {"env_error:ZeroDivisionError": 3}
