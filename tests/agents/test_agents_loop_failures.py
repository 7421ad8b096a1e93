"""Failures in the episode loop: outages, hangs, bugs and mistakes of callers; none is a zero."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from verigym import PolicyError, Status
from verigym.agents.loop import FaultLimit, Ledger, Plan, Settings, plan_groups, play
from verigym.agents.policies.oracle import OraclePolicy
from verigym.agents.policies.scripted import ScriptedPolicy
from verigym.agents.policy import PolicyRefusal

FAST = Settings(backoff_s=0.001, backoff_max_s=0.01, patience_s=30)


def test_an_outage_is_waited_for_and_costs_nothing(counter, make_verifier, outage, bare):
    verifier = make_verifier(outage(9) + outage(2, Status.TIMEOUT) + outage(2, Status.CANCELLED))
    plans = plan_groups(counter(), range(4), env_kwargs={"verifier": verifier})
    ledger, told = Ledger(), []
    episodes = play(plans, OraclePolicy(), settings=FAST, ledger=ledger, on_wait=told.append)
    assert all(e.success for e in episodes)
    assert ledger.verifier_retries == sum(e.retries for e in episodes) == 13
    assert "tests/counter@1: infra, unreachable" in told[0]
    calm = play(
        plan_groups(counter(), range(4), env_kwargs={"verifier": make_verifier()}), OraclePolicy()
    )
    assert bare(episodes) == bare(calm)


def test_an_outage_beyond_patience_is_a_fault_and_never_a_zero(counter, make_verifier, outage):
    broken, well = make_verifier(outage(10_000)), make_verifier()
    made = counter()
    plans = [
        Plan(id=str(i), env=made, seed=i, env_kwargs={"verifier": broken if i < 2 else well})
        for i in range(4)
    ]
    settings = replace(FAST, patience_s=0.05, fault_limit=0.5)
    episodes = play(plans, OraclePolicy(), settings=settings)
    assert [e.status for e in episodes] == ["fault", "fault", "done", "done"]
    for episode in episodes[:2]:
        assert episode.fault.cause == "verifier:infra:unreachable"
        assert "nobody home" in episode.fault.detail
        # The step that could not be judged left no turn, so nothing of it can be trained.
        assert all(t.reward == 0 and t.verdict is None and t.valid_action for t in episode.turns)
        assert episode.turns[-1].action == "up"
        assert not episode.success
    with pytest.raises(FaultLimit, match=r"2 of 4 episodes.*verifier:infra:unreachable \(2\)") as e:
        play(plans, OraclePolicy(), settings=replace(settings, fault_limit=0.49))
    assert e.value.causes == {"verifier:infra:unreachable": 2}
    assert [episode.id for episode in e.value.episodes] == ["0", "1", "2", "3"]


def test_a_verifiers_own_error_is_repeated_a_few_times_only(counter, make_verifier, outage):
    broken = make_verifier(outage(10_000, Status.VERIFIER_ERROR, "crashed"))
    plans = plan_groups(counter(), [1], env_kwargs={"verifier": broken})
    settings = replace(FAST, error_retries=2, fault_limit=1.0)
    (episode,) = play(plans, OraclePolicy(), settings=settings)
    assert episode.fault.cause == "verifier:verifier_error:crashed"
    assert broken.calls == 3


def test_an_exception_in_an_environment_is_a_fault_that_names_it(counter, make_verifier):
    def transition(self, state, action):
        if self.task.seed == 1 and action == "stop":
            raise KeyError("lost")
        return type(self).__mro__[1].transition(self, state, action)

    made = counter(transition=transition)
    plans = plan_groups(made, range(3), env_kwargs={"verifier": make_verifier()})
    episodes = play(plans, OraclePolicy(), settings=FAST)
    assert [e.status for e in episodes] == ["done", "fault", "done"]
    assert episodes[1].fault.cause == "env_error:KeyError"
    assert "lost" in episodes[1].fault.detail


def test_an_exception_at_reset_is_a_fault(counter, make_verifier):
    def initial(self, task):
        if task.seed == 1:
            raise ZeroDivisionError("no world")
        return 0

    plans = plan_groups(
        counter(initial=initial), range(3), env_kwargs={"verifier": make_verifier()}
    )
    episodes = play(plans, OraclePolicy(), settings=FAST)
    assert [e.fault and e.fault.cause for e in episodes] == [
        None,
        "env_error:ZeroDivisionError",
        None,
    ]
    assert episodes[1].turns == []


@pytest.mark.parametrize("batching", ["ready", "cohorts"])
def test_a_hung_step_is_abandoned_and_the_others_play_on(counter, make_verifier, gate, batching):
    def transition(self, state, action):
        if self.task.seed == 1:
            gate.pass_through()
        return type(self).__mro__[1].transition(self, state, action)

    made = counter(transition=transition)
    plans = plan_groups(made, range(4), env_kwargs={"verifier": make_verifier()})
    ledger = Ledger()
    # One worker: if its thread were not replaced, nobody else could move.
    settings = replace(FAST, step_deadline_s=0.3, env_workers=1, batching=batching)
    episodes = play(plans, OraclePolicy(), settings=settings, ledger=ledger)
    assert [e.fault and e.fault.cause for e in episodes] == [None, "env_timeout", None, None]
    assert ledger.abandoned_threads == 1
    closed = made.closed
    gate.open.set()  # the abandoned thread now returns, closes its environment and ends
    for thread in threading.enumerate():
        if thread.name == "verigym-env":
            thread.join(30)
    assert made.closed == closed + 1
    assert not [t for t in threading.enumerate() if t.name.startswith("verigym-")]


def test_a_group_that_starts_in_two_states_is_the_environments_fault(counter, make_verifier):
    starts = iter(range(100))
    made = counter(initial=lambda self, task: next(starts))
    plans = plan_groups(made, [1], members=3, env_kwargs={"verifier": make_verifier()})
    with pytest.raises(FaultLimit, match="two different states"):
        play(plans, ScriptedPolicy(["stop"]), settings=FAST)


class Flaky:
    """Plays the oracle after `failures` errors."""

    name, max_batch, version = "flaky", 3, 4

    def __init__(self, failures, error=PolicyError):
        self.failures, self.error, self.calls = failures, error, 0

    def complete(self, requests):
        self.calls += 1
        assert 0 < len(requests) <= self.max_batch
        if self.calls <= self.failures:
            raise self.error("model server is down")
        return OraclePolicy().complete(requests)


@pytest.mark.parametrize("batching", ["ready", "cohorts"])
def test_a_model_server_that_comes_back_costs_nothing(counter, make_verifier, batching):
    plans = plan_groups(counter(), range(5), env_kwargs={"verifier": make_verifier()})
    told, ledger = [], Ledger()
    settings = replace(FAST, batching=batching)
    episodes = play(plans, Flaky(6), settings=settings, on_wait=told.append, ledger=ledger)
    assert all(e.success for e in episodes)
    assert ledger.policy_retries == 6
    assert "model server is down" in told[0]
    assert episodes[0].versions["policy_version"] == "4"


def test_a_model_server_that_stays_away_is_a_fault(counter, make_verifier):
    plans = plan_groups(counter(), range(3), env_kwargs={"verifier": make_verifier()})
    with pytest.raises(FaultLimit) as caught:
        play(plans, Flaky(10**9), settings=replace(FAST, patience_s=0.05))
    assert caught.value.causes == {"policy_error": 3}


def test_a_refusal_is_not_repeated(counter, make_verifier):
    plans = plan_groups(counter(), [1], env_kwargs={"verifier": make_verifier()})
    policy = Flaky(10**9, PolicyRefusal)
    with pytest.raises(FaultLimit, match="policy_error"):
        play(plans, policy, settings=FAST)
    assert policy.calls == 1


def test_a_hung_policy_is_a_fault(counter, make_verifier, gate):
    class Hung(OraclePolicy):
        def complete(self, requests):
            gate.pass_through()
            return super().complete(requests)

    made = counter()
    plans = plan_groups(made, range(3), env_kwargs={"verifier": make_verifier()})
    ledger = Ledger()
    with pytest.raises(FaultLimit) as caught:
        play(plans, Hung(), settings=replace(FAST, generate_deadline_s=0.2), ledger=ledger)
    assert caught.value.causes == {"policy_timeout": 3}
    assert ledger.abandoned_threads >= 1


def test_a_bug_in_a_policy_is_raised(counter, make_verifier):
    class Buggy(OraclePolicy):
        def complete(self, requests):
            raise IndexError("off by one")

    with pytest.raises(IndexError, match="off by one"):
        play(plan_groups(counter(), [1], env_kwargs={"verifier": make_verifier()}), Buggy())


def test_a_policy_that_miscounts_is_a_fault(counter, make_verifier):
    class Short(OraclePolicy):
        def complete(self, requests):
            return []

    with pytest.raises(FaultLimit, match="0 completions for 1 requests"):
        play(
            plan_groups(counter(), [1], env_kwargs={"verifier": make_verifier()}),
            Short(),
            settings=replace(FAST, patience_s=0),
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"env": "games/keydor-v0"}, "did you mean"),
        ({"difficulty": "impossible"}, "no difficulty 'impossible'"),
        ({"split": "exam"}, "no split 'exam'"),
    ],
)
def test_the_callers_mistakes_are_raised_at_once(counter, make_verifier, refused, change, message):
    plan = Plan(id="0", env=counter(), seed=1, env_kwargs={"verifier": make_verifier()})
    if "env" in change:
        plan = replace(plan, env_kwargs={})
    with refused(message):
        play([replace(plan, **change)], OraclePolicy())


def test_plans_that_contradict_each_other_are_refused(counter, refused):
    made = counter()
    with refused("two plans have the id"):
        play([Plan(id="0", env=made, seed=1)] * 2, OraclePolicy())
    with refused("another world than its group"):
        play(
            [Plan(id=str(i), env=made, seed=i, group_id="g") for i in range(2)],
            OraclePolicy(),
        )
    with refused("members must be at least 1"):
        plan_groups(made, [1], members=0)


@pytest.mark.parametrize(
    "change",
    [{"batching": "some"}, {"n_cohorts": 0}, {"step_deadline_s": 0}, {"patience_s": -1}],
)
def test_impossible_settings_are_refused(refused, change):
    with refused(next(iter(change))):
        Settings(**change)


@pytest.mark.parametrize("where", ["on_turn", "on_episode", "policy"])
def test_an_interrupt_stops_cleanly(counter, make_verifier, where):
    def interrupt(*_):
        raise KeyboardInterrupt

    class Interrupted(OraclePolicy):
        def complete(self, requests):
            if where == "policy":
                interrupt()
            return super().complete(requests)

    made = counter()
    hooks = {} if where == "policy" else {where: interrupt}
    with pytest.raises(KeyboardInterrupt):
        play(
            plan_groups(made, range(6), env_kwargs={"verifier": make_verifier()}),
            Interrupted(),
            settings=FAST,
            **hooks,
        )
    assert made.closed > 0
    assert not [t for t in threading.enumerate() if t.name.startswith("verigym-")]


def test_scripts_that_are_too_short_say_so(counter, make_verifier, refused):
    with refused("has 1 actions and the episode asks for number 2"):
        play(
            plan_groups(counter(), [1], env_kwargs={"verifier": make_verifier()}),
            ScriptedPolicy(["up"]),
        )
