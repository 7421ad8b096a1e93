"""Replays of recorded episodes: honest ones are identical, any change in a record is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from verigym import Episode, Fault
from verigym.agents.loop import plan_groups, play
from verigym.agents.make_policy import make_policy
from verigym.agents.replay import replay
from verigym.judge import Judge
from verigym.verdict import Status, fault


@pytest.fixture(scope="module")
def episodes():
    """Played by the oracle and at random, with limits of the task and of the caller."""
    found = []
    for env, policy, kwargs in (
        ("keydoor", "oracle", {}),
        ("keydoor", "random", {"max_turns": 5}),
        ("countdown", "oracle", {}),
        ("connect-four", "random", {}),
    ):
        plans = plan_groups(env, range(2), env_kwargs=kwargs, split="test")
        found += play(plans, make_policy(policy))
    return [Episode.from_json(one.to_json()) for one in found]


def test_what_was_recorded_happens_again(episodes):
    assert [replay(one).outcome for one in episodes] == ["same"] * len(episodes)
    assert {one.status for one in episodes} == {"done", "truncated"}
    assert episodes[2].env_kwargs == {"max_turns": 5}
    assert all(one.final_observation is not None for one in episodes)


def at(number, **changes):
    """Return a change of one turn."""

    def change(episode):
        turns = list(episode.turns)
        turns[number] = replace(turns[number], **changes)
        return replace(episode, turns=turns)

    return change


def judged(**changes):
    """Return a change of the last verdict."""

    def change(episode):
        verdict = episode.turns[-1].verdict
        return at(-1, verdict=replace(verdict, **changes))(episode)

    return change


TAMPERED = {
    "reward": at(-1, reward=0.5),
    "reward of a turn between": at(1, reward=0.25),
    "observation": at(1, observation="elsewhere"),
    "first observation": at(0, observation="elsewhere"),
    "state key": at(1, state_key="0" * 32),
    "action": at(0, action="nonsense"),
    "validity": at(0, valid_action=False),
    "verdict removed": at(-1, verdict=None),
    "score": judged(score=0.5),
    "reason": judged(reason="lucky"),
    "digest": judged(digest="0" * 64),
    "verdict's verifier": judged(verifier="games/keydoor@99"),
    "part": judged(parts={"bonus": 1.0}),
    "status of the verdict": judged(status=Status.POLICY_FAULT),
    "last turn removed": lambda one: replace(one, turns=one.turns[:-1]),
    "last turn removed, said to be cut": lambda one: replace(
        one, turns=one.turns[:-1], status="truncated"
    ),
    "turn added": lambda one: replace(one, turns=[*one.turns, one.turns[-1]]),
    "no turn left": lambda one: replace(one, turns=[]),
    "first turn removed": lambda one: replace(one, turns=one.turns[1:]),
    "end": lambda one: replace(one, status="truncated"),
    "end as a fault": lambda one: replace(
        one, status="fault", fault=Fault(cause="env_timeout", detail="")
    ),
    "last observation": lambda one: replace(one, final_observation="you won"),
    "seed": lambda one: replace(one, seed=one.seed + 1),
    "difficulty": lambda one: replace(one, difficulty="hard"),
    "task": lambda one: replace(one, task_id="another"),
    "tags": lambda one: replace(one, tags=["easy"]),
    "version": lambda one: replace(one, versions={**one.versions, "verifier": "games/keydoor@99"}),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_changed_record_is_different(episodes, name):
    found = replay(TAMPERED[name](episodes[0]))
    assert found.outcome == "different"
    assert found.difference.recorded != found.difference.replayed
    assert "recorded" in str(found.difference)


def test_the_first_difference_is_named(episodes):
    broken = at(-1, reward=0.5)(at(1, observation="elsewhere")(episodes[0]))
    found = replay(broken)
    assert (found.difference.turn, found.difference.field) == (1, "observation")


def test_the_turns_before_a_fault_are_compared(episodes):
    cause = Fault(cause="policy_timeout", detail="")
    whole = episodes[0]
    cut = replace(
        whole,
        turns=whole.turns[:2],
        final_observation=whole.turns[2].observation,
        status="fault",
        fault=cause,
    )
    assert replay(cut).outcome == "same"
    assert replay(at(1, reward=1.0)(cut)).outcome == "different"
    assert replay(replace(cut, turns=[])).outcome == "empty"


def test_an_older_record_without_arguments_is_played(episodes):
    for one in episodes[:4]:
        assert replay(replace(one, env_kwargs=None, final_observation=None)).outcome == "same"


def test_a_world_that_cannot_be_made_proves_nothing(episodes):
    found = replay(replace(episodes[0], env_id="verigym/games/nothing-v0"))
    assert found.outcome == "unplayable"
    assert "unknown environment" in found.detail


def test_a_record_does_not_choose_who_judges(episodes):
    # Nothing listens there: the episode would fault.
    bought = replace(episodes[0], env_kwargs={"verifier": "http://127.0.0.1:9"})
    assert replay(bought).outcome == "same"


def test_no_verdict_this_time_is_no_difference(episodes):
    class Down(Judge):
        def __init__(self, own):
            self.id, self.version, self.params = own.id, own.version, own.params

        def verify_batch(self, items):
            return [fault(Status.INFRA, "unreachable", "nobody home") for _ in items]

    found = replay(episodes[0], Down)
    assert (found.outcome, found.difference) == ("fault", None)
    assert "unreachable" in found.detail
