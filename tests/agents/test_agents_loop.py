"""The episode loop: faults, deadlines, repeatability, order, interruption."""

from __future__ import annotations

import threading
import time
from collections import Counter as Tally
from dataclasses import replace

import pytest

from verigym import PolicyError, RequestError, Status
from verigym.agents.chat import StepRows
from verigym.agents.loop import EnvPool, FaultLimit, Ledger, Plan, Settings, plan_groups, play
from verigym.agents.policies.oracle import OraclePolicy
from verigym.agents.policies.random import RandomPolicy
from verigym.agents.policies.scripted import ScriptedPolicy
from verigym.agents.policy import Completion, PolicyRefusal

FAST = Settings(backoff_s=0.001, backoff_max_s=0.01, patience_s=30)


@pytest.mark.parametrize("batching", ["ready", "cohorts"])
def test_the_oracle_succeeds_everywhere_in_order(counter, make_verifier, batching):
    made = counter()
    plans = plan_groups(made, range(7), members=3, env_kwargs={"verifier": make_verifier()})
    seen, ended, ledger = [], [], Ledger()
    episodes = play(
        plans,
        OraclePolicy(),
        settings=replace(FAST, batching=batching),
        on_turn=lambda episode, turn: seen.append((episode.id, turn)),
        on_episode=lambda episode: ended.append(episode.id),
        ledger=ledger,
    )
    assert [e.id for e in episodes] == [p.id for p in plans]
    assert all(e.success and e.status == "done" and e.return_ == 1.0 for e in episodes)
    assert sorted(ended) == sorted(e.id for e in episodes)
    assert len(seen) == ledger.turns == sum(len(e.turns) for e in episodes)
    assert ledger.wall_s > 0
    assert ledger.abandoned_threads == 0
    for episode in episodes:
        assert [t for i, t in seen if i == episode.id] == episode.turns
        assert episode.versions.keys() == {"verigym", "env", "verifier", "policy", "policy_version"}
        assert episode.versions["verifier"] == "tests/counter@1"
        assert (episode.env_id, episode.split) == ("verigym/tests/counter-v0", "train")
        assert episode.task_id.endswith(f":{episode.seed}")
    for group in range(7):
        members = [e for e in episodes if e.group_id == str(group)]
        assert len({(e.task_id, e.turns[0].state_key) for e in members}) == 1
    assert made.closed <= len(plans)
    assert made.closed > 0


def test_turns_record_the_state_in_which_the_action_was_chosen(counter, make_verifier):
    (episode,) = play(
        plan_groups(counter(), [3], env_kwargs={"verifier": make_verifier()}),
        ScriptedPolicy(["up", "dance", "stop"]),
    )
    env = counter()(verifier=make_verifier())
    shown, info = env.reset(seed=3)
    for turn in episode.turns:
        assert (turn.observation, turn.state_key) == (shown, info["state_key"])
        shown, reward, _, _, info = env.step(turn.action)
        assert (turn.reward, turn.valid_action) == (reward, info["valid_action"])
        assert turn.verdict == info["verdict"]
    assert [t.valid_action for t in episode.turns] == [True, False, True]
    assert episode.verdict is not None


def test_the_turn_limit_is_truncation(counter, make_verifier):
    (episode,) = play(
        plan_groups(counter(), [3], env_kwargs={"verifier": make_verifier(), "max_turns": 4}),
        ScriptedPolicy(["up", "down"] * 2),
    )
    assert (episode.status, len(episode.turns), episode.success) == ("truncated", 4, False)


def test_difficulty_and_split_reach_the_environment(counter, make_verifier):
    made = counter()
    kwargs = {"verifier": make_verifier()}
    with EnvPool() as pool:
        for difficulty, split in (("hard", "test"), (None, None), ("medium", "validation")):
            plans = plan_groups(made, [5], env_kwargs=kwargs, difficulty=difficulty, split=split)
            (episode,) = play(plans, RandomPolicy(), envs=pool)
            assert (episode.difficulty, episode.split) == (difficulty or "easy", split or "train")


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


def test_no_plans_give_no_episodes():
    assert play([], OraclePolicy()) == []


class Batches(RandomPolicy):
    """Random play that notes which requests shared a batch."""

    def __init__(self):
        self.seen = []

    def complete(self, requests):
        self.seen.append([r.key for r in requests])
        return super().complete(requests)


def test_cohorts_make_the_same_batches_whatever_the_environments_do(
    counter, make_verifier, outage, bare
):
    """Steps that finish in any order, and faults that pass, change neither batches nor episodes."""
    lock, turn = threading.Lock(), [0]

    def shuffled(self, state, action):
        # Yield the processor a varying number of times, so that threads overtake each other.
        with lock:
            turn[0] = (turn[0] * 7 + 3) % 11
            n = turn[0]
        for _ in range(n * 20):
            time.sleep(0)
        return type(self).__mro__[1].transition(self, state, action)

    outcomes = []
    for trouble in (0, 0, 7):
        policy = Batches()
        episodes = play(
            plan_groups(
                counter(transition=shuffled),
                range(8),
                members=2,
                env_kwargs={"verifier": make_verifier(outage(trouble))},
            ),
            policy,
            settings=replace(FAST, batching="cohorts", n_cohorts=3, max_live=9, env_workers=5),
        )
        # Cohorts overlap freely; within each the sequence is fixed.
        batches = sorted(tuple(batch) for batch in policy.seen)
        outcomes.append((batches, bare(episodes)))
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert max(len(batch) for batch in outcomes[0][0]) == 3


def test_one_cohort_generates_while_another_steps(counter, make_verifier, gate):
    """The second cohort still gets its turn while the steps of the first are held."""

    def held(self, state, action):
        if self.task.seed == 0:
            gate.pass_through()
        return type(self).__mro__[1].transition(self, state, action)

    asked = []

    class Watch(OraclePolicy):
        def complete(self, requests):
            asked.append({r.env.task.seed for r in requests})
            if len(asked) > 3:
                gate.open.set()  # cohort 1 went on alone
            return super().complete(requests)

    episodes = play(
        plan_groups(
            counter(transition=held), [0, 5, 3, 4], env_kwargs={"verifier": make_verifier()}
        ),
        Watch(),
        settings=replace(FAST, batching="cohorts", n_cohorts=2),
    )
    assert all(e.success for e in episodes)
    assert asked[:4].count({3, 4}) >= 3
    assert asked[:4].count({0, 5}) == 1


def test_ready_episodes_go_on_while_one_waits(counter, make_verifier, gate):
    def held(self, state, action):
        if self.task.seed == 1:
            gate.pass_through()
        return type(self).__mro__[1].transition(self, state, action)

    plans = plan_groups(
        counter(transition=held), range(4), env_kwargs={"verifier": make_verifier()}
    )
    ended = []

    def note(episode):
        ended.append(episode.seed)
        if len(ended) == 3:
            gate.open.set()

    play(plans, OraclePolicy(), settings=FAST, on_episode=note)
    assert ended[-1] == 1


def test_max_live_bounds_what_is_under_way(counter, make_verifier):
    made, alive, most = counter(), set(), []

    def note(episode, turn):
        alive.add(episode.id)
        most.append(len(alive))

    episodes = play(
        plan_groups(made, range(20), env_kwargs={"verifier": make_verifier()}),
        OraclePolicy(),
        settings=replace(FAST, max_live=3),
        on_turn=note,
        on_episode=lambda episode: alive.discard(episode.id),
    )
    assert all(e.success for e in episodes)
    assert max(most) <= 3
    assert made.closed <= 3  # instances were handed on


def test_a_pool_keeps_instances_between_calls(counter, make_verifier, bare):
    made = counter()
    plans = plan_groups(made, range(4), env_kwargs={"verifier": make_verifier()})
    with EnvPool() as pool:
        first = play(plans, OraclePolicy(), envs=pool)
        second = play(plans, OraclePolicy(), envs=pool)
        assert made.closed == 0
        assert bare(first) == bare(second)
    assert 0 < made.closed <= 4


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


def test_a_prompt_that_outgrows_the_context_truncates(counter, make_verifier, refused):
    class Words(OraclePolicy):
        max_context = 60

        def tokenize(self, messages):
            return [1] * len(messages[-1]["content"])

    kwargs = {"verifier": make_verifier()}
    (episode,) = play(
        plan_groups(counter(), [4], env_kwargs=kwargs),
        Words(),
        StepRows(history=9, show_legal=False),
    )
    assert episode.status == "truncated"
    assert 1 <= len(episode.turns) < 6
    with refused("first prompt of .* has 4 tokens"):
        short = Words()
        short.max_context = 4
        play(plan_groups(counter(), [4], env_kwargs=kwargs), short, StepRows(show_legal=False))


def test_text_that_no_verifier_could_read_stays_the_policys_affair(counter, make_verifier):
    """A lone surrogate, as JSON from a server may hold, must not become a verifier's fault."""

    class Odd(OraclePolicy):
        def complete(self, requests):
            return [Completion(text="\ud800 \ud83d\ude00") for _ in requests]

    made = counter(submission=lambda self, state: "x")
    (episode,) = play(
        plan_groups(made, [1], env_kwargs={"verifier": make_verifier(), "max_turns": 2}), Odd()
    )
    assert episode.status == "truncated"
    assert episode.turns[0].response == "\ufffd \U0001f600"
    assert episode.to_json()


def test_policies_may_take_several_batches_at_once(counter, make_verifier):
    """Three calls run at the same time with `concurrency` 3 and batches of one."""
    together = threading.Barrier(3)

    class Three(OraclePolicy):
        max_batch, concurrency = 1, 3

        def complete(self, requests):
            if requests[0].key[-1] == 0:
                together.wait(60)
            return super().complete(requests)

    plans = plan_groups(counter(), range(3), env_kwargs={"verifier": make_verifier()})
    assert all(e.success for e in play(plans, Three(), settings=FAST))


def test_random_play_differs_by_member_and_repeats_by_key(counter, make_verifier, bare):
    plans = plan_groups(counter(), [2], members=6, env_kwargs={"verifier": make_verifier()})
    first, second = (play(plans, RandomPolicy(), settings=FAST) for _ in range(2))
    assert bare(first) == bare(second)
    assert len(Tally(tuple(t.action for t in e.turns) for e in first)) > 1


def test_scripts_that_are_too_short_say_so(counter, make_verifier, refused):
    with refused("has 1 actions and the episode asks for number 2"):
        play(
            plan_groups(counter(), [1], env_kwargs={"verifier": make_verifier()}),
            ScriptedPolicy(["up"]),
        )


@pytest.mark.parametrize("env", ["keydoor", "countdown"])
def test_real_environments_play_by_id(env):
    episodes = play(plan_groups(env, range(3), members=2, split="test"), OraclePolicy())
    assert all(e.success and e.split == "test" for e in episodes)
    with pytest.raises(RequestError):
        play(plan_groups(env, [1], env_kwargs={"colour": "red"}), OraclePolicy())
