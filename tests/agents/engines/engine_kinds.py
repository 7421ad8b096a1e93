"""Engines under test: a learner of torch, and samplers that take its weights."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from verigym.agents.engines.sampler import EngineFault, SamplingParams, UpdateRefused, Weights
from verigym.agents.engines.shapes import misfit
from verigym.agents.engines.shard_files import ShardError, ShardReader, ShardWriter
from verigym.agents.engines.torch import TorchSampler
from verigym.agents.policies.hf import HFPolicy
from verigym.trainers import tiny
from verigym.trainers.config import parse_config
from verigym.trainers.delivery import Delivery, probe_rows
from verigym.trainers.engine import Engine
from verigym.trainers.learner import Imitation

HAS_VLLM = importlib.util.find_spec("vllm") is not None
needs_vllm = pytest.mark.skipif(not HAS_VLLM, reason="vLLM has a venv of its own: make test-vllm")


def build_folder(folder: Path, *, tied: bool, width: int = 64) -> Path:
    """A tiny model; untied, its head is made anew."""
    tiny.build(folder, seed=1, width=width)
    if not tied:
        model = AutoModelForCausalLM.from_pretrained(folder)
        model.config.tie_word_embeddings = False
        state = model.state_dict()
        torch.manual_seed(2)
        state["lm_head.weight"] = torch.randn_like(state["lm_head.weight"]) * 0.05
        untied = type(model)(model.config)
        untied.load_state_dict(state)
        untied.save_pretrained(folder)
    return folder


def load_policy(folder: Path, dtype: str = "float32") -> HFPolicy:
    return HFPolicy.load(folder, max_new_tokens=8, dtype=dtype)


def learner_of(policy: HFPolicy, lr: float = 1e-2, **policy_keys: object) -> Engine:
    config = parse_config(
        {
            "env": {"id": "games/keydoor"},
            "policy": {"max_new_tokens": 8, **policy_keys},
            "train": {"lr": lr},
        }
    )
    return Engine(
        policy.model,
        pad_id=0,
        temperature=config.policy.temperature,
        train=config.train,
        algorithm=config.algorithm,
        max_tokens=8,
    )


def params_of(policy: HFPolicy, **changed: object) -> SamplingParams:
    keys = {"max_tokens": 8, "end_ids": policy.end_ids, **changed}
    return SamplingParams(**keys)


def teach(learner: Engine, seed: int = 0) -> None:
    """One optimiser step on rows that nobody played."""
    rows = probe_rows(100, 1000 + seed)
    learner.train_step(rows, Imitation(smoothing=0.0, used_ids=[5]))


def delivery_of(learner, sampler, policy, counter, proofs):
    """A delivery whose version is `counter[0]`; proofs are appended."""
    return Delivery(
        learner,
        sampler,
        version=lambda: counter[0],
        params=params_of(policy),
        n_tokens=len(policy.tokenizer),
        seed=7,
        on_proof=proofs.append,
    )


class TakesShards(TorchSampler):
    """A sampler with weights of its own, which come through a folder, each process's rows in a file."""

    def __init__(self, policy: HFPolicy, scratch: Path, *, keeps: bool = True) -> None:
        super().__init__(policy)
        self.scratch, self.keeps, self.reader = scratch, keeps, ShardReader(keeps)
        self.is_open = False
        self.sent: list[int] = []

    @property
    def sent_bytes(self) -> int:
        return sum(self.sent)

    def update(self, weights: Weights) -> None:
        shapes = {n: tuple(p.shape) for n, p in self.policy.model.named_parameters()}
        if found := misfit(weights.tensors, shapes):
            raise UpdateRefused(found)
        if not self.is_open:
            weights.holders.open(ShardWriter, self.keeps)
            self.is_open = True
        try:
            self.sent = weights.holders.send(weights.version, self.scratch)
            self.reader.check(self.scratch, weights.version, weights.holders.n, shapes)
        except (ShardError, EngineFault) as error:
            self.is_open = False
            raise UpdateRefused(str(error)) from error
        super().update(replace(weights, tensors=dict(self.reader.tensors())))


def torch_copy(folder: Path) -> TorchSampler:
    """A sampler with weights of its own."""
    return TorchSampler(load_policy(folder))


def on_ray(folder: Path, **options: object):
    """A sampler of two engines in actors of Ray, of torch unless `make` starts another."""
    from verigym.agents.engines.ray_sampler import RaySampler
    from verigym.agents.engines.ray_sampler_host import StartTorch

    make = StartTorch(folder=folder, dtype="float32", device="cpu", max_batch=64)
    return RaySampler(options.pop("make", make), slots=1, **{"timeout_s": 120.0, **options})


def vllm_on_ray(folder: Path):
    """A sampler of two engines of vLLM, each a child of an actor of Ray."""
    from verigym.agents.engines.ray_sampler_host import StartVllm

    make = StartVllm(
        folder=folder,
        dtype="float32",
        transfer="gloo",
        max_sequences=16,
        cache_gib=0.25,
        deadline_s=120.0,
        start_deadline_s=600.0,
    )
    return on_ray(folder, make=make)
