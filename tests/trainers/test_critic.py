"""The critic, and the estimators that learn one: what its heads are to become, and how it gets there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.trainers.test_algorithms import batch, episode
from verigym.trainers import tiny
from verigym.trainers.batch import assign_credit, give_credit, make_rows
from verigym.trainers.config import AlgorithmSection, CriticSection, TrainSection
from verigym.trainers.credit.table import ESTIMATORS
from verigym.trainers.critic import Critic, value_loss
from verigym.trainers.subgoals import ACTION, SUBGOAL, SWITCH, opens_subgoal, token_kinds

WITH_CRITIC = sorted(name for name, one in ESTIMATORS.items() if one.heads)


def critic_of(heads=("value",), *, tokens: int = 10_000, lr: float = 1e-2) -> Critic:
    model = tiny.build_model(16, seed=1, width=32, layers=1, end_id=2, pad_id=0)
    section = CriticSection(lr=lr, clip=None)
    train = TrainSection(microbatch_tokens=tokens, max_grad_norm=1e9)
    return Critic(model, heads, pad_id=0, critic=section, train=train)


def rows_for(critic: Critic, name: str = "ppo", episodes=None):
    episodes = batch() if episodes is None else episodes
    rows = critic.evaluate(make_rows(episodes))
    algorithm = AlgorithmSection(name=name, invalid_penalty=0.0)
    return give_credit(rows, assign_credit(episodes, algorithm, rows))


def test_values_start_at_zero_and_learn_the_returns():
    critic = critic_of()
    episodes = [episode(0, "a", [0.0, 1.0], "st"), episode(1, "b", [0.0], "s")]
    for one in episodes:
        for n, turn in enumerate(one.turns):
            turn.prompt_ids = [1, 4 + 2 * one.seed + n + (5 if one.group_id == "b" else 0)]
    rows = rows_for(critic, episodes=episodes)
    assert all(v == 0.0 for row in rows for line in row.values for v in line)
    first = critic.fit(rows)[0].loss
    for _ in range(60):
        last = critic.fit(rows)[0].loss
    assert last < 0.02 < first
    after = rows_for(critic, episodes=episodes)
    for row in after:
        wanted = 1.0 if row.trajectory == 0 else 0.0
        found = [v[0] for v, on in zip(row.values, row.mask, strict=True) if on]
        assert np.allclose(found, wanted, atol=0.35)


def test_the_cut_into_micro_batches_does_not_change_the_gradient():
    grads = []
    for tokens in (1, 10_000):
        critic = critic_of(("contribution", "value"), tokens=tokens)
        rows = rows_for(critic, "spa-rl")
        critic.fit(rows)
        grads.append([p.grad.clone() for p in critic.parameters() if p.grad is not None])
    for one, other in zip(*grads, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("name", WITH_CRITIC)
def test_targets_stand_on_sampled_tokens_alone(name):
    critic = critic_of(ESTIMATORS[name].heads)
    rows = rows_for(critic, name)
    learnt = 0
    for row in rows:
        for target, on in zip(row.targets, row.mask, strict=True):
            known = [t for t in target if not np.isnan(t)]
            assert on or not known
            learnt += len(known)
    assert learnt > 0


def test_contributions_of_an_episode_are_pulled_to_its_return():
    critic = critic_of(("contribution", "value"))
    rows = rows_for(critic, "spa-rl")
    sums: dict[int, float] = {}
    for row in rows:
        for target in row.targets:
            if not np.isnan(target[0]):
                sums[row.trajectory] = sums.get(row.trajectory, 0.0) + target[0]
    assert sums == pytest.approx({0: 1.0, 1: 0.0, 2: 1.0, 3: 1.0, 4: 0.0})


def test_ppo_over_turns_values_the_end_of_the_prompt():
    critic = critic_of()
    episodes = batch()
    rows = critic.evaluate(make_rows(episodes))
    options = {"level": "turn", "gamma": 1.0, "lam": 1.0, "whiten": False}
    algorithm = AlgorithmSection(name="ppo", options=options, invalid_penalty=0.0)
    credit = assign_credit(episodes, algorithm, rows)
    assert [turn.advantage for turn in credit[0]] == [1.0, 1.0, 1.0]  # values are 0
    assert [turn.targets[0][0] for turn in credit[3]] == [1.0, 1.0]


def test_value_loss_clips_and_passes_over_what_is_not_learnt():
    value = torch.tensor([1.0, 5.0, 3.0], requires_grad=True)
    target = torch.tensor([2.0, 2.0, float("nan")])
    old = torch.tensor([0.0, 0.0, 0.0])
    loss = value_loss(value, old, target, clip=0.5)
    assert loss.tolist() == pytest.approx([0.5 * 2.25, 4.5, 0.0])
    loss.sum().backward()
    assert value.grad.tolist() == pytest.approx([0.0, 3.0, 0.0])


@pytest.mark.parametrize(
    ("reply", "opens"),
    [
        ("up", False),
        ("<subgoal>find a key</subgoal>up", True),
        ("<switch>KEEP</switch><subgoal>find a key</subgoal>up", False),
        ("<switch> switch </switch>up", True),
        ("<switch>maybe</switch>up", False),
    ],
)
def test_replies_that_set_a_subgoal(reply, opens):
    assert opens_subgoal(reply) is opens


def test_tokens_are_told_apart_by_the_tags_around_them():
    text = "<switch>KEEP</switch><subgoal>a</subgoal>up"
    pieces = ["<switch>", "KE", "EP</switch>", "<sub", "goal>a</subgoal>", "up"]
    kinds = token_kinds(range(len(pieces)), lambda ids: "".join(pieces[i] for i in ids))
    assert "".join(pieces) == text
    assert kinds.tolist() == [SWITCH, SWITCH, SWITCH, SUBGOAL, SUBGOAL, ACTION]


def test_hae_gives_each_kind_of_token_its_own_advantage():
    episodes = [episode(0, "a", [0, 0, 1], "stu"), episode(1, "a", [0, 0], "st")]
    for one in episodes:
        for turn in one.turns:
            turn.response_ids, turn.logprobs, turn.mask = [7, 8, 9], [0.0] * 3, [1] * 3
            turn.response = "<subgoal>k</subgoal>up"
    texts = {7: "<switch>SWITCH</switch>", 8: "<subgoal>k</subgoal>", 9: "up"}
    rows = [replace(row, values=[[0.1, 0.3, 0.5]] * len(row.ids)) for row in make_rows(episodes)]
    algorithm = AlgorithmSection(name="hae", options={"whiten": False}, invalid_penalty=0.0)
    credit = assign_credit(
        episodes, algorithm, rows, decode=lambda ids: "".join(texts[i] for i in ids)
    )
    term, high, low = credit[0][2].tokens
    assert (term, high, low) == pytest.approx((0.5, 0.7, 0.9))
