"""Rows read as a prefix tree give the gradients, statistics and values of rows read one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GemmaConfig,
    GemmaForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from tests.trainers.test_head import SIZES, engine_of, model_of
from verigym.agents import onednn_linear
from verigym.agents.prefix_tree import count_distinct
from verigym.trainers.batch import Row
from verigym.trainers.config import AlgorithmSection, CriticSection, TrainSection
from verigym.trainers.credit.options import Sdpo
from verigym.trainers.critic import Critic
from verigym.trainers.engine import Engine
from verigym.trainers.learner import Imitation, Reinforcement
from verigym.trainers.reading import split

WINDOWS = {"head_dim": 16, "sliding_window": 5, "num_hidden_layers": 2}
KINDS = {
    "llama": (LlamaConfig, LlamaForCausalLM, {}),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM, {"attention_dropout": 0.0}),
    "qwen2 with windows": (
        Qwen2Config,
        Qwen2ForCausalLM,
        {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1},
    ),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM, {"head_dim": 16}),
    "gemma": (GemmaConfig, GemmaForCausalLM, {"head_dim": 16}),
    "gemma2": (Gemma2Config, Gemma2ForCausalLM, WINDOWS),
    "gemma3": (
        Gemma3TextConfig,
        Gemma3ForCausalLM,
        {**WINDOWS, "layer_types": ["sliding_attention", "full_attention"]},
    ),
}


def model(name: str):
    config, kind, more = KINDS[name]
    torch.manual_seed(0)
    return kind(config(**{**SIZES, **more})).eval()


def row(ids: list[int], sampled: set[int], trajectory: int) -> Row:
    on = [int(i in sampled) for i in range(len(ids))]
    return Row(
        ids=ids,
        mask=on,
        logprobs=[-2.0 * m for m in on],
        turn=[0 if m else -1 for m in on],
        trajectory=trajectory,
        advantage=[m * (0.5 - 0.3 * trajectory) for m in on],
        old=[-2.0 * m for m in on],
    )


TRUNK = [5, 9, 3, 7, 11, 4, 8]
ROWS = [
    row([*TRUNK, 6, 12, 2], {7, 8, 9}, 0),
    row([*TRUNK, 6, 13, 14, 2], {7, 8, 9, 10}, 1),  # its first sampled token is another row's too
    row([*TRUNK, 6, 12, 2], {7, 8, 9}, 2),  # equal to the first
    row([*TRUNK, 6, 12, 2, 20, 21, 15, 2], {7, 8, 9, 12, 13}, 3),  # a further turn of a transcript
    row([5, 9, 30, 31, 32], {3, 4}, 4),  # another state of the same task
    row([17, 18], {1}, 5),
]


def gradients(engine: Engine, do) -> torch.Tensor:
    taken = []

    def keep() -> float:
        parameters = engine.model.parameters()
        taken.extend(p.grad.flatten().clone() for p in parameters if p.grad is not None)
        return 0.0

    engine._step = keep
    do(engine)
    return torch.cat(taken)


def distance(found: torch.Tensor, want: torch.Tensor) -> float:
    return float((found - want).norm() / want.norm())


def both(make, do, limit: float) -> None:
    shared, plain = make(), make()
    assert shared.unshared is None
    plain.unshared = "compared"
    assert distance(gradients(shared, do), gradients(plain, do)) < limit


def reinforce(engine: Engine) -> None:
    engine.train_step(ROWS, Reinforcement())


@pytest.mark.parametrize("tokens", [1000, 20])
@pytest.mark.parametrize("name", list(KINDS))
def test_gradients_equal_those_of_plain_rows(name, tokens):
    both(lambda: engine_of(model(name), microbatch_tokens=tokens), reinforce, 1e-6)


@pytest.mark.skipif(
    not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="this build of torch has no oneDNN"
)
def test_gradients_of_layers_by_onednn_equal_those_of_plain_rows(monkeypatch):
    monkeypatch.setattr(onednn_linear, "is_faster", lambda: True)
    rows = [replace(r, ids=[*range(40), *range(40), *r.ids], **_later(r, 80)) for r in ROWS]

    def make(*, fast: bool) -> Engine:
        own = model("llama")
        if fast:
            onednn_linear.use_onednn(own)
        return engine_of(own)

    def step(engine: Engine) -> None:
        engine.train_step(rows, Reinforcement())

    shared, plain = make(fast=True), make(fast=False)
    plain.unshared = "compared"
    assert distance(gradients(shared, step), gradients(plain, step)) < 1e-6


def _later(one: Row, n: int) -> dict[str, list]:
    """Return the lists of a row with `n` tokens before it."""
    fills = {"mask": 0, "logprobs": 0.0, "turn": -1, "advantage": 0.0, "old": 0.0}
    return {name: [*[fill] * n, *getattr(one, name)] for name, fill in fills.items()}


@pytest.mark.parametrize("name", list(KINDS))
def test_gradients_equal_those_of_plain_rows_in_double_precision(name, monkeypatch):
    # Models compute norms, angles and softmax in float32 whatever their type is.
    softmax, to = torch.nn.functional.softmax, torch.Tensor.to
    monkeypatch.setattr(torch.nn.functional, "softmax", lambda x, dim, dtype=None: softmax(x, dim))
    monkeypatch.setattr(torch.Tensor, "float", lambda self: self)
    monkeypatch.setattr(
        torch.Tensor,
        "to",
        lambda self, *args, **options: (
            self if args == (torch.float32,) else to(self, *args, **options)
        ),
    )
    torch.set_default_dtype(torch.float64)
    try:
        both(lambda: engine_of(model(name).double()), reinforce, 1e-12)
    finally:
        torch.set_default_dtype(torch.float32)


def test_gradients_are_equal_with_recomputed_activations():
    both(lambda: engine_of(model("llama"), gradient_checkpointing=True), reinforce, 1e-6)


def test_gradients_of_imitation_are_equal():
    both(
        lambda: engine_of(model("llama")),
        lambda engine: engine.train_step(ROWS, Imitation(smoothing=0.1, used_ids=[2, 6])),
        1e-6,
    )


def test_gradients_of_self_distillation_are_equal():
    rows = [replace(ROWS[0], teacher=[22, 23]), ROWS[1], replace(ROWS[2], teacher=[24])]

    def make() -> Engine:
        return Engine(
            model("llama"),
            pad_id=0,
            temperature=1.0,
            train=TrainSection(lr=1e-3, max_grad_norm=1e9),
            algorithm=AlgorithmSection(name="sdpo"),
            max_tokens=4,
        )

    assert isinstance(make().algorithm.estimator_options, Sdpo)
    both(make, lambda engine: engine.train_step(rows, Reinforcement()), 1e-6)


def test_log_probabilities_and_squares_are_equal():
    shared, plain = engine_of(model("llama")), engine_of(model("llama"))
    plain.unshared = "compared"
    for found, want in zip(
        (shared.statistics(ROWS).logprobs, shared.statistics(ROWS).sum_pi_sq),
        (plain.statistics(ROWS).logprobs, plain.statistics(ROWS).sum_pi_sq),
        strict=True,
    ):
        for one, other in zip(found, want, strict=True):
            assert one == pytest.approx(other, abs=1e-6)


def test_a_critic_values_and_learns_alike():
    rows = [replace(r, targets=[[float(i % 3)] for i in range(len(r.ids))]) for r in ROWS]
    found = []
    for tree in (True, False):
        torch.manual_seed(1)
        critic = Critic(
            model("llama"),
            ["value"],
            pad_id=0,
            critic=CriticSection(),
            train=TrainSection(),
            tree=tree,
        )
        torch.nn.init.normal_(critic.heads.weight)
        valued = critic.evaluate(rows)
        stats = critic.fit(valued)[0]
        found.append(([v for r in valued for v in r.values], stats.loss, stats.grad_norm))
    assert torch.allclose(torch.tensor(found[0][0]), torch.tensor(found[1][0]), atol=1e-5)
    assert found[0][1:] == pytest.approx(found[1][1:], rel=1e-5)


def test_every_distinct_token_is_computed_once():
    stats = engine_of(model("llama")).train_step(ROWS, Reinforcement())
    assert stats.computed == stats.distinct == 7 + 3 + 3 + 4 + 3 + 2


def test_other_architectures_read_plain_rows_and_say_so():
    engine = engine_of(model_of("gpt2"))
    assert "gpt2 are not supported" in engine.unshared
    stats = engine.train_step(ROWS, Reinforcement())
    assert stats.computed == len(ROWS) * 14


def test_small_micro_batches_hardly_compute_a_token_twice():
    def rows_of(prompt: int, answer: int) -> list[list[int]]:
        return [[g] * prompt + [10 + m] * answer for g in range(6) for m in range(8)]

    def computed(rows: list[list[int]], device: str) -> list[int]:
        parts = split(rows, None, torch.device(device), tree=True)
        return [count_distinct([rows[i] for i in part]) for part in parts]

    short, long = rows_of(50, 100), rows_of(1500, 300)
    assert max(computed(short, "cpu")) <= 2048
    assert max(computed(long, "cpu")) > 2048
    for rows in (short, long):
        assert sum(computed(rows, "cpu")) <= 1.05 * count_distinct(rows)
    assert computed(short, "cuda") == [count_distinct(short)]
