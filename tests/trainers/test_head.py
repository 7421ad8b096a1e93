"""The head over chunks, float32 copies of bfloat16 weights, and recomputed activations: equal gradients."""

from __future__ import annotations

import pytest
import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from tests.trainers.test_algorithms import batch
from verigym.trainers import head as heads
from verigym.trainers.batch import assign_credit, give_credit, make_rows
from verigym.trainers.config import AlgorithmSection, TrainSection
from verigym.trainers.engine import Engine
from verigym.trainers.head import Head
from verigym.trainers.learner import Reinforcement
from verigym.trainers.master import MasterAdamW

SIZES = {
    "vocab_size": 40,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": 2,
}


def model_of(name: str):
    torch.manual_seed(0)
    if name == "gpt2":
        return GPT2LMHeadModel(
            GPT2Config(vocab_size=40, n_embd=32, n_layer=2, n_head=2, n_positions=64)
        ).eval()
    kinds = {
        "llama": (LlamaConfig, LlamaForCausalLM, {}),
        "qwen2": (Qwen2Config, Qwen2ForCausalLM, {}),
        "qwen3": (Qwen3Config, Qwen3ForCausalLM, {"head_dim": 16}),
        "gemma2": (Gemma2Config, Gemma2ForCausalLM, {"head_dim": 16}),
    }
    config, model, more = kinds[name]
    return model(config(**SIZES, **more)).eval()


def engine_of(model, **train: object) -> Engine:
    return Engine(
        model,
        pad_id=0,
        temperature=0.7,
        train=TrainSection(lr=1e-3, max_grad_norm=1e9, **train),
        algorithm=AlgorithmSection(entropy_coef=0.01),
        max_tokens=4,
    )


def rows():
    episodes = batch()
    made = make_rows(episodes)
    return give_credit(made, assign_credit(episodes, AlgorithmSection(invalid_penalty=0.0), made))


def gradients(engine: Engine) -> dict[str, torch.Tensor]:
    taken: dict[str, torch.Tensor] = {}

    def keep() -> float:
        taken.update(
            {n: p.grad.clone() for n, p in engine.model.named_parameters() if p.grad is not None}
        )
        return 0.0

    engine._step = keep
    engine.train_step(rows(), Reinforcement())
    return taken


@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3", "gemma2", "gpt2"])
def test_chunks_of_tokens_give_the_gradient_of_whole_logits(name, monkeypatch):
    """In float64, to 1e-12 relative."""
    torch.set_default_dtype(torch.float64)
    try:
        whole = engine_of(model_of(name).double())
        assert whole.head.fits
        monkeypatch.setattr(heads, "_CHUNK_LOGITS", 40 * 3)  # three tokens a chunk
        monkeypatch.setattr(torch.Tensor, "float", lambda self: self)
        chunked = engine_of(model_of(name).double())
        whole.head.fits = False
        want = gradients(whole)
        got = gradients(chunked)
    finally:
        torch.set_default_dtype(torch.float32)
    assert want.keys() == got.keys()
    for key, one in want.items():
        scale = one.abs().max().clamp(min=1e-300)
        assert ((one - got[key]).abs().max() / scale) < 1e-12, key


def test_a_model_that_scales_its_logits_takes_the_models_own():
    model = model_of("llama")
    inner = model.forward
    model.forward = lambda **inputs: _scaled(inner(**inputs))
    assert not Head(model, 1.0).fits


def _scaled(result):
    result.logits = result.logits * 3.0
    return result


def test_recomputed_activations_give_the_same_gradient():
    want = gradients(engine_of(model_of("llama")))
    got = gradients(engine_of(model_of("llama"), gradient_checkpointing=True))
    for key, one in want.items():
        torch.testing.assert_close(one, got[key])


def test_small_steps_add_up_in_float32_copies_of_bfloat16_weights():
    weight = torch.nn.Parameter(torch.ones(4, dtype=torch.bfloat16))
    optimizer = MasterAdamW([weight], lr=1e-4, weight_decay=0.0)
    for _ in range(100):
        weight.grad = torch.ones_like(weight)
        optimizer.step()
    assert weight.float().tolist() == pytest.approx([0.99] * 4, abs=4e-3)
    assert not torch.equal(weight, torch.ones_like(weight))
    other = MasterAdamW([torch.nn.Parameter(torch.ones(4, dtype=torch.bfloat16))], lr=1e-4)
    other.load_state_dict(optimizer.state_dict())
    assert torch.equal(other.masters[0], optimizer.masters[0])
