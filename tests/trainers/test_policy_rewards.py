"""Rewards from the policy: each formula on known probabilities, and how they join the others."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from verigym import ConfigError
from verigym.agents.plan import Plan
from verigym.episode import Episode, Fault, Turn
from verigym.trainers.config import parse_config
from verigym.trainers.policy_rewards import (
    POLICY_REWARDS,
    PlayedBatch,
    last_replies,
    reasoning,
    stated_confidence,
)
from verigym.trainers.rewards import shape_rewards
from verigym.trainers.sections import PolicyRewardSection, RewardSection
from verigym.verdict import Status, Verdict


def episode(number: int, response: str, score: float = 1.0, logprobs=(-0.5, -1.0)) -> Episode:
    verdict = Verdict(status=Status.OK, score=score, parts={}, reason="x", digest="x")
    turn = Turn(
        observation="",
        response=response,
        action=response,
        reward=score,
        state_key="s",
        prompt_ids=[1, 2],
        response_ids=[3] * len(logprobs),
        logprobs=list(logprobs),
        mask=[1] * len(logprobs),
        verdict=verdict,
    )
    return Episode(
        id=str(number),
        env_id="e",
        task_id="t",
        seed=0,
        group_id="g",
        difficulty="",
        split="train",
        turns=[turn],
    )


class Engine:
    """Entropy 0.25 at each token; a token is as likely as the row before it is long: length / 10."""

    def entropies(self, rows):
        return [[0.25 * on for on in row.mask] for row in rows]

    def logprobs(self, rows):
        return [[np.log(row.mask.index(1) / 10) * on for on in row.mask] for row in rows]


def reading(episodes, references=()):
    return PlayedBatch(
        episodes=episodes,
        engine=Engine(),
        encode=lambda text: [ord(letter) for letter in text],
        references=lambda: list(references),
    )


def value(name: str, read: PlayedBatch) -> list[float]:
    return POLICY_REWARDS[name](read).tolist()


def test_entropy_confidence_and_likelihood():
    read = reading([episode(0, "a"), episode(1, "b", logprobs=(-2.0,))])
    assert value("entropy", read) == [-0.5, -0.25]
    assert value("confidence", read) == [-0.25, -0.25]
    assert value("likelihood", read) == [-1.5, -2.0]


def test_the_reference_is_valued_by_what_the_reasoning_adds():
    replies = ["so<answer>7</answer>", "<answer>7</answer>", "<think>so</think>7", "7", ""]
    read = reading(
        [episode(i, reply) for i, reply in enumerate(replies)],
        ["<answer>42</answer>", "42", "42", "42", None],
    )
    # What precedes the answer raises each probability by a tenth of its length: "so<answer>", "<answer>".
    np.testing.assert_allclose(value("reference-likelihood", read), [1.0, 0.8, 1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("reply", "before"),
    [
        ("so <answer>7</answer>", "so <answer>"),
        ("<think>7 or 8</think>8", "<think>7 or 8</think>"),
        ("8", ""),
        ("", ""),
    ],
)
def test_the_reasoning_ends_where_the_answer_begins(reply, before):
    assert reasoning(reply) == before


@pytest.mark.parametrize(
    ("reply", "q"),
    [
        ("7 <confidence>0.8</confidence>", 0.8),
        ("7 <confidence> 80 % </confidence>", 0.8),
        ("<confidence>0.1</confidence> no <CONFIDENCE>1</CONFIDENCE>", 1.0),
        ("<confidence>1.5</confidence>", None),
        ("<confidence>80</confidence>", None),
        ("<confidence>high</confidence>", None),
        ("<confidence>-1</confidence>", None),
        ("<confidence>nan</confidence>", None),
        ("7", None),
    ],
)
def test_confidence_is_read_from_its_tag(reply, q):
    assert stated_confidence(reply) == q


def test_calibration_pays_honesty_and_silence_least():
    said = "<confidence>0.8</confidence>"
    read = reading([episode(0, said), episode(1, said, score=0.0), episode(2, "7")])
    np.testing.assert_allclose(value("calibration", read), [-0.04, -0.64, -1.0])


def test_it_is_added_or_takes_the_place_and_leaves_faults_and_records_alone():
    episodes = [episode(0, "a"), episode(1, "b", score=0.0), episode(2, "c")]
    episodes[2].status, episodes[2].fault = "fault", Fault(cause="x", detail="x")
    for replace, base in ((False, [1.0, 0.0]), (True, [0.0, 0.0])):
        policy = PolicyRewardSection(name="entropy", weight=2.0, replace=replace)
        paid = shape_rewards(episodes, RewardSection(policy=policy), reading)
        assert [line[-1] for line in paid] == [base[0] - 1.0, base[1] - 1.0, 1.0]
    assert [e.turns[0].reward for e in episodes] == [1.0, 0.0, 1.0]


def test_references_are_the_oracles_last_replies_to_solved_tasks():
    plans = [Plan(id=f"{g}.{m}", env="e", seed=0, group_id=g) for g in "gh" for m in range(2)]

    def play_oracle(chosen):
        assert [plan.group_id for plan in chosen] == ["g", "h"]
        out = [episode(0, "42"), episode(1, "wrong", score=0.0)]
        out[1].group_id = "h"
        return out

    other = episode(3, "x")
    other.group_id = "h"
    assert last_replies(plans, [episode(2, "y"), other], play_oracle) == ["42", None]


def test_names_and_combinations():
    assert set(get_args(PolicyRewardSection.model_fields["name"].annotation)) == set(POLICY_REWARDS)
    tree = {"env": {"id": "keydoor"}, "reward": {"policy": {"name": "entropy"}}}
    assert parse_config(tree).reward.is_used
    with pytest.raises(ConfigError, match="cannot pay the oracle"):
        parse_config({**tree, "algorithm": {"loss": "luffy", "demonstrations": 1}})
    with pytest.raises(ConfigError, match=r"unknown key reward\.policy\.nam"):
        parse_config({"env": {"id": "keydoor"}, "reward": {"policy": {"nam": "entropy"}}})
