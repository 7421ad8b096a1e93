"""The episode loop: turns, limits, batches, cohorts, instances."""

from __future__ import annotations

import threading
import time
from collections import Counter as Tally
from dataclasses import replace

import pytest

from verigym import RequestError
from verigym.agents.chat import StepRows
from verigym.agents.loop import EnvPool, Ledger, Settings, plan_groups, play
from verigym.agents.policies.oracle import OraclePolicy
from verigym.agents.policies.random import RandomPolicy
from verigym.agents.policies.scripted import ScriptedPolicy
from verigym.agents.policy import Completion

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

    asked, opened = [], []

    class Watch(OraclePolicy):
        def complete(self, requests):
            asked.append({r.env.task.seed for r in requests})
            if not gate.open.is_set() and asked.count({3, 4}) >= 3 and {0, 5} in asked:
                opened.extend(asked)
                gate.open.set()  # the second cohort went on alone
            return super().complete(requests)

    episodes = play(
        plan_groups(
            counter(transition=held), [0, 5, 3, 4], env_kwargs={"verifier": make_verifier()}
        ),
        Watch(),
        settings=replace(FAST, batching="cohorts", n_cohorts=2),
    )
    assert all(e.success for e in episodes)
    assert opened.count({3, 4}) >= 3
    assert opened.count({0, 5}) == 1


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


@pytest.mark.parametrize("env", ["keydoor", "countdown"])
def test_real_environments_play_by_id(env):
    episodes = play(plan_groups(env, range(3), members=2, split="test"), OraclePolicy())
    assert all(e.success and e.split == "test" for e in episodes)
    with pytest.raises(RequestError):
        play(plan_groups(env, [1], env_kwargs={"colour": "red"}), OraclePolicy())
