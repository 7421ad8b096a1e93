"""Rows to a Tinker server and its answers, against the protocol's formulas and against what a real server answered."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

pytest.importorskip("tinker", reason="the extra tinker is not installed")

from tinker.types import SampledSequence

from verigym.agents.engines.sampler import EngineFault, Span, UpdateRefused, Weights
from verigym.agents.engines.shards import OneHolder
from verigym.agents.engines.tinker import (
    TinkerSampler,
    import_sdk,
    make_datum,
    read_sample,
)
from verigym.agents.policy import PolicyRefusal
from verigym.errors import ConfigError, MissingError, RequestError
from verigym.trainers.batch import Batch, Row
from verigym.trainers.config import parse_config
from verigym.trainers.loss.aggregate import Denominators, aggregate, trajectory_tokens
from verigym.trainers.objective import Objective
from verigym.trainers.outline_policy import OutlinePolicy
from verigym.trainers.tinker_learner import (
    gradient_data,
    plain_clip,
    ppo_data,
    token_shares,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "tinker.json").read_text())
LORA = {"lora": {"rank": 8}}
SERVED = {"name": "tinker", "url": "http://127.0.0.1:1"}


def config_of(**sections):
    tree = {"env": {"id": "games/keydoor"}, "policy": LORA, "engine": SERVED}
    return parse_config({**tree, **sections})


def sequence_of(tokens, logprobs, stop_reason="stop"):
    return SampledSequence(
        stop_reason=stop_reason,
        tokens_np=np.array(tokens, dtype=np.int32),
        logprobs_np=None if logprobs is None else np.array(logprobs),
    )


def rows_of():
    """Rows of several lengths, two of one episode, with a correction, a dropped token and no advantage."""
    rows = []
    for i, (length, n, advantage) in enumerate(
        [(7, 3, 1.5), (5, 2, -0.5), (9, 4, 0.3), (6, 2, 0.0)]
    ):
        mask = [0] * (length - n) + [1] * n
        old = [-0.4 * t * on for t, on in enumerate(mask)]
        row = Row(
            ids=list(range(10 + i, 10 + i + length)),
            mask=mask,
            logprobs=old,
            turn=[on - 1 for on in mask],
            trajectory=i // 2,
            advantage=[advantage * on for on in mask],
            old=old,
            weight=[1.0 + 0.1 * t for t in range(length)],
        )
        rows.append(row)
    rows[2] = replace(rows[2], dropped=[t == 6 for t in range(9)])
    return rows


def gradient_of_server(data, loss, clip, logp_BT, reduction):
    """Return the gradient of the server's loss by the log-probabilities, by the protocol's formulas."""
    leaf_BT = logp_BT.detach().clone().requires_grad_()
    total = torch.zeros(())
    for datum, logp_T in zip(data, leaf_BT, strict=True):
        inputs = {name: torch.tensor(one.data) for name, one in datum.loss_fn_inputs.items()}
        n = len(inputs["target_tokens"])
        ratio_T = (logp_T[1 : n + 1] - inputs["logprobs"]).exp()
        loss_T = -ratio_T * inputs["advantages"]
        if loss == "ppo":
            cut_T = ratio_T.clamp(clip["clip_low_threshold"], clip["clip_high_threshold"])
            loss_T = torch.maximum(loss_T, -cut_T * inputs["advantages"])
        total = total + (loss_T.sum() if reduction == "sum" else loss_T.mean() / len(data))
    total.backward()
    return leaf_BT.grad


@pytest.mark.parametrize("reduction", ["sum", "row-mean"])
@pytest.mark.parametrize(
    "aggregation", ["token-mean", "seq-mean-token-mean", "dr-grpo", "trajectory-mean"]
)
@pytest.mark.parametrize(
    ("name", "loss", "options"),
    [
        ("gigpo", "ppo", {}),
        ("gigpo", "ppo", {"clip_low": 0.1, "clip_high": 0.3}),
        ("gigpo", "ppo", {"dual_clip": 3.0}),
        ("grpo", "gspo", {}),
        ("gigpo", "cispo", {}),
        ("gigpo", "sapo", {}),
        ("gigpo", "dppo", {}),
    ],
)
def test_the_servers_gradient_is_that_of_our_loss(name, loss, options, aggregation, reduction):
    config = config_of(
        algorithm={
            "name": name,
            "loss": loss,
            "loss_options": options,
            "aggregation": aggregation,
        }
    )
    objective = Objective(config.algorithm)
    rows = rows_of()
    batch = Batch.of(rows, 0, torch.device("cpu"))
    names = batch.trajectory_B.tolist()
    denominators = Denominators.of(batch.mask_BT, max_tokens=4, trajectory=names)

    def reduce(x_BT):
        return aggregate(
            x_BT,
            batch.mask_BT,
            aggregation,
            denominators=denominators,
            trajectory_tokens_B=trajectory_tokens(batch.mask_BT, names),
        )

    noise_BT = 0.3 * torch.sin(torch.arange(batch.mask_BT.numel()).reshape(batch.mask_BT.shape))
    logp_BT = ((batch.old_BT + noise_BT) * batch.mask_BT).requires_grad_()
    loss_BT = objective.token_loss(batch, logp_BT, torch.zeros_like(logp_BT), None).loss_BT
    reduce(loss_BT).backward()
    clip = plain_clip(objective)
    assert (clip is None) == (loss != "ppo" or "dual_clip" in options)
    if clip is not None:
        kind, data = "ppo", ppo_data(rows, batch, token_shares(reduce, batch), reduction)
    else:
        kind = "importance_sampling"
        data = gradient_data(rows, logp_BT.detach(), logp_BT.grad, reduction)
    found_BT = gradient_of_server(data, kind, clip, logp_BT, reduction)
    torch.testing.assert_close(found_BT, logp_BT.grad)
    assert found_BT.abs().max() > 1e-3


def test_a_real_server_computed_what_we_sent():
    """Recorded from SkyRL 0.3.0: request and answer of `ppo`, and the sum that its reduction makes of it."""
    recorded = GOLDEN["ppo"]
    rows = [Row(**row) for row in recorded["rows"]]
    batch = Batch.of(rows, 0, torch.device("cpu"))
    objective = Objective(config_of().algorithm)
    whole = Denominators.of(batch.mask_BT)
    share_BT = token_shares(
        lambda x_BT: aggregate(x_BT, batch.mask_BT, "token-mean", denominators=whole), batch
    )
    sent = ppo_data(rows, batch, share_BT, "row-mean")
    for datum, wanted in zip(sent, recorded["request"], strict=True):
        assert datum.model_input.to_ints() == wanted["model_input"]
        for name, values in wanted["loss_fn_inputs"].items():
            assert datum.loss_fn_inputs[name].tolist() == pytest.approx(values, rel=1e-6)
        assert datum.loss_fn_inputs.keys() == wanted["loss_fn_inputs"].keys()
    reduced = sum(
        sum(one["elementwise_loss"]) / len(one["elementwise_loss"]) for one in recorded["answer"]
    )
    width = batch.mask_BT.shape[1]
    lines = [[0.0, *one["logprobs"]] for one in recorded["answer"]]
    logp_BT = (
        torch.tensor([[*line, *[0.0] * (width - len(line))] for line in lines]) * batch.mask_BT
    )
    loss_BT = objective.token_loss(batch, logp_BT, torch.zeros_like(logp_BT), None).loss_BT
    ours = aggregate(loss_BT, batch.mask_BT, "token-mean", denominators=whole)
    assert ours.item() == pytest.approx(reduced / len(rows), rel=1e-5)


def test_a_real_servers_sample_is_read():
    recorded = GOLDEN["sample"]
    one = sequence_of(recorded["tokens"], recorded["logprobs"], recorded["stop_reason"])
    sample = read_sample(one, 7)
    assert sample.ids == recorded["tokens"]
    assert sample.logprobs == recorded["logprobs"]
    assert sample.versions == [Span(7, 0, len(sample.ids))]
    assert sample.finish_reason == recorded["stop_reason"]


@pytest.mark.parametrize(
    ("tokens", "logprobs", "error"),
    [
        ([4, 5], None, EngineFault),
        ([4, 5], [-1.0], EngineFault),
        ([], [], EngineFault),
        ([4], [math.nan], PolicyRefusal),
        ([4], [-math.inf], PolicyRefusal),
    ],
)
def test_an_answer_that_cannot_be_trained_on_is_refused(tokens, logprobs, error):
    with pytest.raises(error):
        read_sample(sequence_of(tokens, logprobs), 0)


def test_each_token_is_the_target_of_those_before_it():
    datum = make_datum([5, 6, 7], advantages=[9.0, 0.5, -1.0])
    assert datum.model_input.to_ints() == [5, 6]
    assert datum.loss_fn_inputs["target_tokens"].tolist() == [6, 7]
    assert datum.loss_fn_inputs["advantages"].tolist() == [0.5, -1.0]


def test_weights_from_elsewhere_are_refused():
    sampler = TinkerSampler(SimpleNamespace(max_context=None), max_context=8, precision_nats=1e-5)
    tensors = {"a": torch.zeros(1)}
    weights = Weights(
        version=3,
        tensors=tensors,
        save=lambda folder: None,
        holders=OneHolder(lambda: tensors),
    )
    with pytest.raises(UpdateRefused, match="takes no weights"):
        sampler.update(weights)
    assert sampler.version == -1


@pytest.mark.parametrize("key", [None, "", "sk-wrong"])
def test_a_missing_key_is_named(monkeypatch, key):
    monkeypatch.delenv("TINKER_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("TINKER_API_KEY", key)
    with pytest.raises(MissingError, match="TINKER_API_KEY"):
        import_sdk()


def test_a_folder_without_configuration_is_named(tmp_path):
    with pytest.raises(RequestError, match="has no tokenizer"):
        OutlinePolicy.outline(tmp_path, max_new_tokens=2)


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"policy": {}}, r"add \[policy.lora\]"),
        ({"policy": {"lora": {"rank": 8, "alpha": 16}}}, "alpha at 32"),
        ({"policy": {"lora": {"rank": 8, "targets": ["q_proj"]}}}, "chooses the layers"),
        ({"policy": {"lora": {"rank": 8, "merge": True}}}, "stay on the server"),
        ({"policy": {**LORA, "temperature": 0.7}}, "temperature 1"),
        ({"policy": {**LORA, "device": "cuda"}}, "policy.device"),
        ({"engine": {"name": "tinker"}}, "engine.url"),
        ({"engine": {**SERVED, "transfer": "disk"}}, "engine.transfer is for engine vllm"),
        ({"engine": {"name": "vllm", "base_model": "m"}}, "engine.base_model is for engine tinker"),
        ({"engine": {"reduction": "row-mean"}}, "engine.reduction is for engine tinker"),
        ({"algorithm": {"name": "ppo"}}, "trains no critic"),
        ({"algorithm": {"name": "sdpo"}}, "compares them"),
        ({"algorithm": {"name": "gigpo", "kl_coef": 0.1}}, "reference model"),
        ({"algorithm": {"name": "gigpo", "entropy_coef": 0.1}}, "entropy_coef"),
        ({"algorithm": {"name": "gigpo", "entropy_control": "high-entropy"}}, "entropy_control"),
        ({"algorithm": {"name": "gigpo", "off_policy_threshold": 0.1}}, "off_policy_threshold"),
        ({"algorithm": {"name": "branch", "branch": {"states": "entropy"}}}, "uniform"),
        ({"reward": {"policy": {"name": "entropy"}}}, "reward.policy"),
        ({"warmup": {"episodes": 4, "smoothing": 0.1}}, "smoothing"),
        (
            {"warmup": {"source": "episodes", "paths": ["a"], "loss": "dpo"}},
            "reference model",
        ),
        ({"train": {"gradient_checkpointing": True}}, "gradient_checkpointing"),
        ({"train": {"mode": "one-step-off"}}, "train.mode"),
    ],
)
def test_settings_that_the_protocol_lacks_are_refused(sections, reason):
    with pytest.raises(ConfigError, match=reason):
        config_of(**sections)
