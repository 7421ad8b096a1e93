"""Warm start: recorded episodes, a teacher, and preferences (DPO)."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from tests.trainers.test_head import engine_of
from tests.trainers.test_train import tiny_config
from verigym import ConfigError, RequestError
from verigym.agents.loop import plan_groups, play
from verigym.agents.make_policy import make_policy
from verigym.agents.record import append_episodes, read_episodes
from verigym.episode import Episode, Fault, Turn
from verigym.trainers.batch import Row
from verigym.trainers.learner import Preference
from verigym.trainers.loss.dpo import dpo_loss
from verigym.trainers.pairs import make_pairs
from verigym.trainers.recorded import choose, in_text
from verigym.trainers.run import Progress, train


def test_the_loss_and_its_gradient_are_those_of_the_paper():
    torch.manual_seed(0)
    given = torch.randn(4, 7, dtype=torch.float64)
    beta = 0.3
    better, worse = (given[i].clone().requires_grad_() for i in (0, 1))
    loss = dpo_loss(better, worse, given[2], given[3], beta)
    loss.mean().backward()
    for i in range(7):
        w, worst, rw, rl = given[:, i].tolist()
        reward_w, reward_l = beta * (w - rw), beta * (worst - rl)
        assert loss[i].item() == pytest.approx(
            -math.log(1 / (1 + math.exp(reward_l - reward_w))), rel=1e-12
        )
        # The gradient in section 4: -beta sigmoid(r_l - r_w) [grad log pi(y_w) - grad log pi(y_l)].
        slope = -beta / (1 + math.exp(reward_w - reward_l)) / 7
        assert better.grad[i].item() == pytest.approx(slope, rel=1e-12)
        assert worse.grad[i].item() == pytest.approx(-slope, rel=1e-12)


def row(ids: list[int], prompt: int) -> Row:
    mask = [int(i >= prompt) for i in range(len(ids))]
    nothing = [0.0] * len(ids)
    return Row(
        ids=ids,
        mask=mask,
        logprobs=nothing,
        turn=[0 if on else -1 for on in mask],
        trajectory=0,
        advantage=nothing,
        old=nothing,
    )


PAIRS = [
    (row([1, 2, 3, 4, 5], 3), row([1, 2, 3, 6], 3)),
    (row([7, 8, 9], 1), row([7, 4, 2, 1, 1, 3], 1)),
    (row([5, 5, 6, 2], 2), row([5, 5, 1], 2)),
]


@pytest.mark.parametrize("tokens", [6, 1000])
def test_the_engines_gradient_is_that_of_whole_pairs_in_double_precision(tokens, monkeypatch):
    # The engine takes logits to float32, whatever the model's type is.
    monkeypatch.setattr(torch.Tensor, "float", lambda self: self)
    torch.manual_seed(1)
    config = GPT2Config(
        vocab_size=11, n_positions=16, n_embd=8, n_layer=2, n_head=2,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    model = GPT2LMHeadModel(config).double().eval()
    engine = engine_of(model, microbatch_tokens=tokens)
    reference = [-3.0, -4.0, -5.0, -20.0, -4.0, -2.0]
    found: list[torch.Tensor] = []
    engine._step = lambda: found.extend(p.grad.clone() for p in model.parameters()) or 0.0
    rows = [one for pair in PAIRS for one in pair]
    loss = engine.train_step(rows, Preference(reference=reference, beta=0.5)).loss

    def logp(one: Row) -> torch.Tensor:
        logits = (model(torch.tensor([one.ids])).logits[0, :-1] / 0.7).log_softmax(-1)
        chosen = logits.gather(-1, torch.tensor(one.ids[1:])[:, None])[:, 0]
        return (chosen * torch.tensor(one.mask[1:])).sum()

    model.zero_grad()
    terms = [
        -torch.nn.functional.logsigmoid(0.5 * ((logp(better) - rw) - (logp(worse) - rl)))
        for (better, worse), (rw, rl) in zip(
            PAIRS, zip(reference[::2], reference[1::2], strict=True), strict=True
        )
    ]
    wanted = sum(terms) / len(terms)
    wanted.backward()
    assert loss == pytest.approx(wanted.item(), rel=1e-12)
    for got, parameter in zip(found, model.parameters(), strict=True):
        assert (got - parameter.grad).norm() <= 1e-10 * max(1.0, float(parameter.grad.norm()))


def turn(said: str, reward: float, state: str = "s", prompt: int = 1) -> Turn:
    ids = [ord(letter) for letter in said]
    return Turn(
        observation="",
        response=said,
        action=said,
        reward=reward,
        state_key=state,
        prompt_ids=[prompt],
        response_ids=ids,
        logprobs=[0.0] * len(ids),
        mask=[1] * len(ids),
    )


def episode(*turns: Turn, **changes: object) -> Episode:
    made = Episode(
        id="e", env_id="v", task_id="t", seed=1, group_id="g", difficulty="1", split="train",
        turns=list(turns), env_kwargs={},
    )  # fmt: skip
    return replace(made, **changes)


def said(one: Row) -> str:
    return "".join(chr(i) for i, on in zip(one.ids, one.mask, strict=True) if on)


def test_pairs_compare_the_same_task_state_and_prompt():
    played = [
        episode(turn("a", 0.0), turn("x", 1.0, "later")),
        episode(turn("a", 0.0), turn("y", 0.0, "later")),
        episode(turn("b", 0.0), turn("z", 0.0, "end")),
        episode(turn("c", 1.0)),
        episode(turn("c", 0.0), task_id="other"),
        episode(turn("d", 5.0, prompt=2)),
    ]
    # In state s: c is worth 1, a 1/2 (the mean of two), b 0; later: x 1, y 0.
    assert sorted((said(a), said(b)) for a, b in make_pairs(played)) == [("c", "b"), ("x", "y")]
    assert make_pairs([episode(turn("a", 1.0)), episode(turn("b", 1.0))]) == []


def test_episodes_are_chosen_by_reward_split_and_novelty():
    fault = Fault(cause="x", detail="")
    good = episode(turn("a", 1.0))
    recorded = [
        good,
        episode(turn("a", 1.0), id="again"),
        episode(turn("b", 0.5)),
        episode(turn("c", 1.0), split="test"),
        episode(turn("d", 1.0), env_kwargs=None),
        episode(turn("e", 1.0), status="fault", fault=fault),
        episode(turn("f", 1.0)),
    ]
    kept, left_out = choose(recorded, 1.0, 1)
    assert kept == [good]
    assert left_out == Counter(
        {
            "the same as another": 1,
            "below the reward 1": 1,
            "of another split than train": 1,
            "without the environment's arguments": 1,
            "without an outcome": 1,
            "more than warmup.episodes": 1,
        }
    )


def test_messages_with_tool_calls_become_text():
    function = {"name": "python", "arguments": '{"code": "1"}'}
    message = {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [{"type": "function", "function": function}],
    }
    assert in_text(json.dumps(message)) == (
        'Let me see.\n<tool_call>{"name": "python", "arguments": {"code": "1"}}</tool_call>'
    )
    assert in_text('{"answer": 3}') == '{"answer": 3}'
    assert in_text("up") == "up"


def record(path: Path, policy: str, seeds: int, **plans: object) -> None:
    given = {"env_kwargs": {"max_turns": 20}, "split": "train", **plans}
    append_episodes(path, play(plan_groups("keydoor", range(seeds), **given), make_policy(policy)))


def run(folder: Path, **warmup: object) -> list[Progress]:
    heard: list[Progress] = []
    section = {"episodes": 0, "epochs": 2, "batch_rows": 16, **warmup}
    env = {"max_turns": 20}
    config = tiny_config(env=env, train={"steps": 0}, warmup=section, eval={"episodes": 2})
    train(config, folder, listen=heard.append)
    return heard


def losses(heard: list[Progress]) -> list[float]:
    return [
        float(one.text.removeprefix("loss "))
        for one in heard
        if one.stage == "warm-up" and one.text.startswith("loss ")
    ]


@pytest.mark.slow
def test_a_run_learns_from_recorded_episodes_by_reward(tmp_path: Path):
    path = tmp_path / "episodes.jsonl"
    record(path, "oracle", 12)
    record(path, "random", 4)
    heard = run(tmp_path / "run", source="episodes", paths=[str(path)], epochs=6)
    text = next(one.text for one in heard if one.text.startswith("learning"))
    assert text.startswith("learning from 12 of 16 recorded episodes; left out: 4 below the reward")
    found = losses(heard)
    assert found[-1] < 0.7 * found[0]
    assert (tmp_path / "run" / "last" / "model.safetensors").exists()


@pytest.mark.slow
def test_a_record_of_another_split_or_world_is_refused(tmp_path: Path):
    path = tmp_path / "episodes.jsonl"
    record(path, "oracle", 2, split="test")
    with pytest.raises(RequestError, match="2 of another split than train"):
        run(tmp_path / "run", source="episodes", paths=[str(path)])
    other = tmp_path / "changed.jsonl"
    record(other, "oracle", 1)
    (one,) = read_episodes(other)
    one.turns[-1].state_key = "0" * 32
    other.unlink()
    append_episodes(other, [one])
    with pytest.raises(RequestError, match="1 that come out otherwise now"):
        run(tmp_path / "run2", source="episodes", paths=[str(other)])


@pytest.mark.slow
def test_a_teachers_episodes_are_recorded_once(tmp_path: Path):
    heard = run(tmp_path / "run", source="teacher", teacher="oracle", episodes=6, samples=2)
    recorded = read_episodes(tmp_path / "run" / "teacher.jsonl")
    assert len(recorded) == 12
    assert {one.split for one in recorded} == {"train"}
    assert any("learning from 6 of 12 recorded episodes" in one.text for one in heard)


@pytest.mark.slow
def test_a_run_learns_preferences_between_recorded_episodes(tmp_path: Path):
    path = tmp_path / "episodes.jsonl"
    record(path, "oracle", 12)
    record(path, "random", 12)
    heard = run(
        tmp_path / "run",
        source="episodes",
        paths=[str(path)],
        loss="dpo",
        epochs=16,
        lr=3e-3,
        beta=0.5,
    )
    found = losses(heard)
    assert found[0] == pytest.approx(math.log(2), abs=1e-3)
    assert sum(found[-4:]) / 4 < 0.63
    only = tmp_path / "only.jsonl"
    record(only, "oracle", 2)
    with pytest.raises(RequestError, match="no two recorded episodes differ"):
        run(tmp_path / "run2", source="episodes", paths=[str(only)], loss="dpo")


def test_warm_starts_that_cannot_be_are_refused():
    with pytest.raises(ConfigError, match=r"unknown key warmup\.path; did you mean 'paths'"):
        tiny_config(warmup={"path": "x"})
