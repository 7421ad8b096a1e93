"""Every estimator and every loss by name: what they give on a small batch, and one step of training."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from verigym import ConfigError
from verigym.cli.main import app
from verigym.episode import Episode, Fault, Turn
from verigym.trainers.batch import (
    Batch,
    TokenStatistics,
    assign_credit,
    give_credit,
    make_rows,
)
from verigym.trainers.config import AlgorithmSection, parse_config
from verigym.trainers.credit.reinforce import kl_in_reward, reinforce_pp
from verigym.trainers.credit.table import ESTIMATORS
from verigym.trainers.losses import LOSSES
from verigym.trainers.objective import Objective
from verigym.trainers.policy_rewards import POLICY_REWARDS
from verigym.verdict import Status, Verdict

EVERY = sorted(ESTIMATORS)
ADVANTAGES = [name for name in EVERY if name != "sdpo"]
POSSIBLE = sorted(name for name, loss in LOSSES.items() if not loss.distils)


def judged_as(score: float) -> Verdict:
    return Verdict(status=Status.OK, score=score, parts={"right": score}, reason="x", digest="x")


def turn(state: str, reward: float, tokens: int, seed: int, judged: bool = False) -> Turn:
    rng = np.random.default_rng(seed)
    return Turn(
        observation="",
        response="x",
        action="x",
        reward=reward,
        state_key=state,
        valid_action=seed % 5 != 0,
        prompt_ids=[1, 2],
        response_ids=[3] * tokens,
        logprobs=(-rng.random(tokens)).tolist(),
        mask=[1] * tokens,
        verdict=judged_as(reward) if judged else None,
    )


def episode(number: int, group: str, rewards: list[float], states: str) -> Episode:
    last = len(rewards) - 1
    turns = [
        turn(state, reward, 1 + (number + t) % 3, 10 * number + t + 1, t == last)
        for t, (reward, state) in enumerate(zip(rewards, states, strict=True))
    ]
    return Episode(
        id=str(number),
        env_id="e",
        task_id=group,
        seed=0,
        group_id=group,
        difficulty="easy",
        split="train",
        turns=turns,
    )


def batch() -> list[Episode]:
    episodes = [
        episode(0, "a", [0, 0, 1], "stu"),
        episode(1, "a", [0, 0], "st"),
        episode(2, "a", [1], "s"),
        episode(3, "b", [0, 1], "sv"),
        episode(4, "b", [0, 0, 0], "svv"),
        episode(5, "b", [0], "s"),
    ]
    episodes[5].status, episodes[5].fault = "fault", Fault(cause="x", detail="x")
    return episodes


def credit_of(name: str, episodes: list[Episode], **options: object):
    algorithm = AlgorithmSection(name=name, options=options, invalid_penalty=0.0)
    heads = len(ESTIMATORS[name].heads)
    rows = [replace(row, values=[[0.1] * heads for _ in row.ids]) for row in make_rows(episodes)]
    values = [[0.5 * on for on in row.mask] for row in rows]
    statistics = TokenStatistics(logprobs=[row.logprobs for row in rows], sum_pi_sq=values)
    return rows, assign_credit(episodes, algorithm, rows, statistics)


@pytest.mark.parametrize("name", ADVANTAGES)
def test_every_estimator_credits_every_turn(name):
    rows, credit = credit_of(name, batch())
    assert [len(found) for found in credit] == [3, 2, 1, 2, 3, 1]
    assert not any(turn.advantage for turn in credit[5])
    given = give_credit(rows, credit)
    assert any(any(row.advantage) for row in given)
    for row in given:
        off = [a for a, on in zip(row.advantage, row.mask, strict=True) if not on]
        assert not any(off)
        assert np.isfinite(row.advantage).all()


@pytest.mark.parametrize("name", EVERY)
def test_a_faulted_episode_changes_nothing(name):
    """Law 1: what a fault earned, and if it was played at all, is the same for the others."""
    episodes = batch()
    _, with_fault = credit_of(name, episodes)
    paid = batch()
    for one in paid[5].turns:
        one.reward = 1.0
    _, with_reward = credit_of(name, paid)
    _, without = credit_of(name, episodes[:5])
    # A critic's head that learns nothing has NaN, which equals nothing, as its target.
    assert repr(with_fault[:5]) == repr(with_reward[:5]) == repr(without)


@pytest.mark.parametrize("name", [n for n in EVERY if ESTIMATORS[n].level == "episode"])
def test_estimators_of_episodes_treat_its_turns_alike(name):
    _, credit = credit_of(name, batch())
    for found in credit:
        assert len({turn.advantage for turn in found}) <= 1


@pytest.mark.parametrize("name", EVERY)
def test_equal_outcomes_teach_nothing_relative_to_the_group(name):
    if name in ("w-reinforce", "spa-rl"):
        pytest.skip("has no baseline by its definition, or pays actions that could be carried out")
    same = [episode(n, "a", [0.0], "s") for n in (0, 3, 6)]
    _, credit = credit_of(name, same)
    assert all(abs(turn.advantage) < 1e-9 for found in credit for turn in found)


def inputs(seed: int = 0):
    rows, credit = credit_of("gigpo", batch())
    rows = give_credit(rows, credit)
    rng = np.random.default_rng(seed)
    rows = [
        replace(
            row,
            old=[p + 0.1 * rng.normal() * on for p, on in zip(row.logprobs, row.mask, strict=True)],
        )
        for row in rows
    ]
    made = Batch.of(rows, 0, torch.device("cpu"))
    logp = (made.rollout_BT.double() + 0.1).requires_grad_(True)
    return rows, made, logp


@pytest.mark.parametrize("name", POSSIBLE)
def test_every_loss_has_a_gradient_on_sampled_tokens_alone(name):
    _, made, logp = inputs()
    objective = Objective(AlgorithmSection(loss=name, demonstrations=int(LOSSES[name].imitates)))
    found = objective.token_loss(made, logp, torch.zeros_like(logp), None)
    found.loss_BT.sum().backward()
    assert logp.grad.abs().sum() > 0
    assert not logp.grad[~made.mask_BT].any()


@pytest.mark.parametrize(
    "options",
    [
        {"correction": {"level": "token"}},
        {"correction": {"level": "sequence", "action": "mask", "batch_normalize": True}},
        {"correction": {"reject": {"seq_mean_k3": 1e-6}}},
        {"correction": {"veto_high": 1.0001}},
        {"m2po_threshold": 1e-6},
    ],
)
def test_corrections_reach_the_rows(options):
    rows, _, _ = inputs()
    objective = Objective(AlgorithmSection(**options))
    assert objective.recomputes
    own = [row.old for row in rows]
    found = objective.correct([replace(row, old=row.logprobs) for row in rows], own)
    assert [row.old for row in found] == own
    if "level" in options.get("correction", {}):
        assert any(w not in (0.0, 1.0) for row in found for w in row.weight)
    else:
        assert any(any(row.dropped or ()) for row in found)


@pytest.mark.parametrize("control", ["high-entropy", "clip-cov", "kl-cov"])
def test_entropy_control_chooses_tokens(control):
    rows, _, _ = inputs()
    objective = Objective(AlgorithmSection(entropy_control=control, entropy_fraction=0.3))
    entropy = [[0.1 * i * on for i, on in enumerate(row.mask)] for row in rows]
    chosen, marks = objective.select(rows, [row.old for row in rows], entropy, (1, 2))
    again, _ = objective.select(rows, [row.old for row in rows], entropy, (1, 2))
    assert chosen == again
    if control == "kl-cov":
        assert any(map(any, marks))
    elif control == "high-entropy":
        assert any(any(row.dropped or ()) for row in chosen)


def test_rollout_weights_reach_every_policy_term():
    _, made, logp = inputs()
    half = replace(made, weight_BT=torch.full(made.mask_BT.shape, 0.5))
    objective = Objective(AlgorithmSection(entropy_control="kl-cov"))
    for marks in (None, made.mask_BT):
        plain, weighed = (
            objective.token_loss(batch, logp, torch.zeros_like(logp), None, marks).loss_BT
            for batch in (made, half)
        )
        torch.testing.assert_close(weighed, 0.5 * plain)


def test_clip_cov_heeds_the_bounds_of_the_loss():
    """A token that the clip has cut already is no candidate."""
    rows, _, _ = inputs()
    rows = [replace(row, advantage=[5.0 * a for a in row.advantage]) for row in rows]
    moved = [
        [p + 0.4 * np.sign(a) for p, a in zip(row.old, row.advantage, strict=True)] for row in rows
    ]
    zero = [[0.0] * len(row.ids) for row in rows]

    def dropped(low=1.0, high=5.0, **bounds):
        chosen = AlgorithmSection(
            entropy_control="clip-cov",
            entropy_fraction=1.0,
            clip_cov_bounds=(low, high),
            loss_options=bounds,
        )
        objective = Objective(chosen)
        found, _ = objective.select(rows, moved, zero, (1,))
        return sum(sum(row.dropped or ()) for row in found)

    assert dropped(clip_low=0.9, clip_high=9.0) > 0
    assert dropped(clip_low=0.1, clip_high=0.1) == 0
    assert dropped(90.0, 99.0, clip_low=0.9, clip_high=9.0) == 0


def test_kl_cov_weighs_the_distance_by_its_coefficient():
    _, made, logp = inputs()
    zero, losses = torch.zeros_like(logp), []
    for coef in (0.0, 1.0, 3.0):
        objective = Objective(AlgorithmSection(entropy_control="kl-cov", kl_cov_coef=coef))
        losses.append(objective.token_loss(made, logp, zero, None, made.mask_BT).loss_BT)
    gap = torch.where(made.mask_BT, (logp - made.old_BT).abs(), zero)
    torch.testing.assert_close(losses[1] - losses[0], gap)
    torch.testing.assert_close(losses[2] - losses[0], 3 * gap)


def test_a_kl_term_in_the_reward_is_taken_off_where_the_tokens_stand():
    """As `kl_in_reward` for tokens, and their sum for turns; a faulted episode pays nothing."""
    episodes, beta = batch(), 0.3
    rows = make_rows(episodes)
    gap = [[0.7 * on + 0.1 * i * on for i, on in enumerate(row.mask)] for row in rows]
    tax = [[beta * x for x in line] for line in gap]
    algorithm = AlgorithmSection(name="reinforce++", invalid_penalty=0.0)
    taxed = assign_credit(episodes, algorithm, rows, tax=tax)
    played = [e for e in episodes if e.status != "fault"]
    width = max(sum(len(t.response_ids) for t in e.turns) for e in played)
    reward, mask, k1 = (np.zeros((len(played), width)) for _ in range(3))
    for number, one in enumerate(played):
        mine = [i for i, row in enumerate(rows) if row.trajectory == number]
        line = [x for i in mine for x, on in zip(gap[i], rows[i].mask, strict=True) if on]
        ends = np.cumsum([len(t.response_ids) for t in one.turns]) - 1
        reward[number, ends] = [t.reward for t in one.turns]
        k1[number, : len(line)], mask[number, : len(line)] = line, 1
    none = np.zeros(len(played))
    penalty = kl_in_reward(none, k1, np.zeros_like(k1), mask, beta=beta)
    wanted = reinforce_pp(reward + penalty, mask)[0]
    for number, one in enumerate(played):
        got = [a for found in taxed[number] for a in found.tokens]
        assert got == pytest.approx(wanted[number, : len(got)].tolist())
        assert len(taxed[number]) == len(one.turns)

    turns = AlgorithmSection(name="grpo", invalid_penalty=0.0)
    paid = [[t.reward for t in one.turns] for one in episodes]
    for row, line in zip(rows, tax, strict=True):
        for number, x in zip(row.turn, line, strict=True):
            if number >= 0:
                paid[row.trajectory][number] -= x
    same = zip(
        assign_credit(episodes, turns, rows, tax=tax),
        assign_credit(episodes, turns, rewards=paid),
        strict=True,
    )
    for one, other in same:
        assert [x.advantage for x in one] == pytest.approx([x.advantage for x in other])


def test_kl_and_entropy_terms_add_up():
    _, made, logp = inputs()
    ref = made.rollout_BT.double()
    plain = Objective(AlgorithmSection()).token_loss(made, logp, torch.zeros_like(logp), None)
    for kind in ("k1", "k2", "k3", "k3+", "unbiased"):
        objective = Objective(AlgorithmSection(kl=kind, kl_coef=2.0))
        with_kl = objective.token_loss(made, logp, torch.zeros_like(logp), ref)
        assert (with_kl.loss_BT - plain.loss_BT)[made.mask_BT].sum() > 0
    bonus = Objective(AlgorithmSection(entropy_coef=0.5))
    with_bonus = bonus.token_loss(made, logp, torch.ones_like(logp), None)
    lower = (plain.loss_BT - with_bonus.loss_BT)[made.mask_BT]
    torch.testing.assert_close(lower, torch.full_like(lower, 0.5))


@pytest.mark.parametrize(
    ("algorithm", "said"),
    [
        ({"name": "gppo"}, "unknown algorithm.name 'gppo'; did you mean"),
        ({"loss": "gspoo"}, "unknown algorithm.loss 'gspoo'; did you mean 'gspo'"),
        ({"options": {"gama": 1}}, "unknown key algorithm.options.gama; did you mean 'gamma'"),
        ({"gamma": 0.9}, "unknown key algorithm.gamma; it belongs in [algorithm.options]"),
        (
            {"clip_low": 0.1},
            "unknown key algorithm.clip_low; it belongs in [algorithm.loss_options]",
        ),
        ({"options": {"gamma": 2}}, "algorithm.options.gamma: Input should be less than or equal"),
        ({"loss_options": {"clip": 1}}, "unknown key algorithm.loss_options.clip; did you mean"),
        (
            {"name": "otb", "loss": "gspo"},
            "each token an advantage of its own; use a loss per token",
        ),
        ({"loss": "dppo", "old_logprobs": "recomputed"}, "anchored on the sampler's"),
        ({"loss": "gspo", "entropy_control": "kl-cov"}, "defined for loss ppo"),
        ({"correction": {"reject": {"seq_k1": 1}}}, "unknown quantity 'seq_k1'; did you mean"),
        ({"clip_cov_bounds": [5, 1]}, "clip_cov_bounds must rise"),
        ({"name": "g2po", "kl": "reward"}, "g2po tells a success by its reward"),
    ],
)
def test_impossible_settings_are_refused_with_the_reason(algorithm, said):
    with pytest.raises(ConfigError) as caught:
        parse_config({"env": {"id": "keydoor"}, "algorithm": algorithm})
    assert said in str(caught.value)


def test_one_ratio_per_row_needs_one_advantage_per_row():
    tree = {"env": {"id": "keydoor"}, "policy": {"encoding": "transcript"}}
    parse_config({**tree, "algorithm": {"name": "grpo", "loss": "gspo"}})
    with pytest.raises(ConfigError, match="turns whose advantages differ under gigpo"):
        parse_config({**tree, "algorithm": {"name": "gigpo", "loss": "gspo"}})


def test_the_list_of_names_is_printed():
    found = CliRunner().invoke(app, ["train", "--list"])
    assert found.exit_code == 0, found.output
    for name in (*ESTIMATORS, *LOSSES):
        assert name in found.output


def _one_step(tmp_path: Path, *settings: str) -> dict[str, object]:
    path = tmp_path / "c.toml"
    path.write_text('[env]\nid = "keydoor"\nmax_turns = 4\n[policy]\nmax_new_tokens = 2\n')
    small = ("train.steps=1", "train.groups=2", "train.group_size=3", "warmup.episodes=0")
    rest = ("eval.episodes=2", "train.threads=1", "policy.show_task=false", "train.lr=0.001")
    arguments = ["train", str(path), "--out", str(tmp_path / "run")]
    for one in (*small, *rest, *settings):
        arguments += ["--set", one]
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0, found.output
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    return json.loads(lines[-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_one_step_with_every_estimator_and_its_loss(name, tmp_path):
    line = _one_step(tmp_path, f"algorithm.name={name}")
    assert line["step"] == 1
    assert line["n_tokens"] > 0
    assert ("value_loss" in line) == bool(ESTIMATORS[name].heads)


@pytest.mark.slow
def test_a_kl_term_in_the_reward_changes_the_second_step_alone(tmp_path):
    """The policy is its reference at first, so the first step pays nothing."""
    name, steps = "algorithm.name=reinforce++", "train.steps=2"
    for folder in ("with", "without"):
        (tmp_path / folder).mkdir()
    plain = _one_step(tmp_path / "without", name, steps)
    taxed = _one_step(
        tmp_path / "with", name, steps, "algorithm.kl=reward", "algorithm.kl_coef=5.0"
    )
    first = [
        json.loads((tmp_path / f / "run" / "metrics.jsonl").read_text().splitlines()[0])[
            "grad_norm"
        ]
        for f in ("with", "without")
    ]
    assert first[0] == pytest.approx(first[1], rel=1e-3, abs=1e-6)
    assert taxed["grad_norm"] != pytest.approx(plain["grad_norm"], rel=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("name", POSSIBLE)
def test_one_step_with_every_loss(name, tmp_path):
    shown = f"algorithm.demonstrations={int(LOSSES[name].imitates)}"
    line = _one_step(tmp_path, "algorithm.name=grpo", f"algorithm.loss={name}", shown)
    assert np.isfinite(line["grad_norm"])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(POLICY_REWARDS))
def test_one_step_with_every_reward_from_the_policy(name, tmp_path):
    line = _one_step(tmp_path, "algorithm.name=grpo", f"reward.policy.name={name}")
    assert np.isfinite(line["grad_norm"])
    # Nobody reasons or states a confidence here, and a model without training earns no reward.
    assert (line["groups_without_signal"] < 2) == (name in ("entropy", "confidence", "likelihood"))


@pytest.mark.slow
def test_one_step_with_hints(tmp_path):
    line = _one_step(tmp_path, "algorithm.name=grpo", "sampling.hints=2", "env.max_turns=16")
    assert line["hints"]["1"]["groups"] == 2
    assert line["episodes"] == 6  # those without a hint
    assert line["env_steps"] > 6 * 16
