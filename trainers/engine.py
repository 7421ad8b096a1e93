"""The one-machine engine: log-probabilities, gradients and optimiser steps on token rows.

It shares its model with the policy that samples, so what is sampled next comes from what was
trained last. AdamW; micro-batches change memory, not the gradient.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor
from transformers import AutoModelForCausalLM

from verigym.agents.engines.sampler import Weights
from verigym.agents.engines.shards import Holders, OneHolder
from verigym.agents.policies.loading import without_progress_bars
from verigym.trainers.batch import Row
from verigym.trainers.config import AlgorithmSection, TrainSection
from verigym.trainers.forward import ForwardEngine
from verigym.trainers.imitation import imitate
from verigym.trainers.learner import DivergedError, Imitation, Preference, StepKind, StepStats
from verigym.trainers.master import MasterAdamW
from verigym.trainers.objective import Objective
from verigym.trainers.preference import prefer
from verigym.trainers.reinforcement import reinforce


class Engine(ForwardEngine):
    """Trains `model` in place. `temperature` is the one that rows are sampled at; `max_tokens` the most
    tokens that the policy samples at once, the constant of `dr-grpo` unless the algorithm has its own."""

    def __init__(
        self,
        model: Any,
        *,
        pad_id: int,
        temperature: float,
        train: TrainSection,
        algorithm: AlgorithmSection,
        max_tokens: int,
    ) -> None:
        super().__init__(
            model, pad_id=pad_id, temperature=temperature, train=train, algorithm=algorithm
        )
        self.max_tokens = algorithm.max_tokens or max_tokens
        self.objective = Objective(algorithm)
        self.optimizer = self._adamw(train.lr)
        self.holders: Holders = OneHolder(self._tensors)
        if train.gradient_checkpointing:
            recompute_activations(model)

    def start_reinforcement(self) -> None:
        """Reset the optimiser, and keep a frozen copy of the model if a KL term needs one."""
        self.optimizer = self._adamw(self.train.lr)
        if self.algorithm.kl_coef > 0:
            self.reference = self._frozen_copy()

    def set_lr(self, lr: float) -> None:
        """Set the learning rate of the next optimiser steps."""
        for group in self.optimizer.param_groups:
            group["lr"] = lr

    @torch.no_grad()
    def tax(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return kl_coef * k1 to the reference at each token of each row; 0 off the mask.

        k1 = logp - ref with the sampler's log-probabilities estimates KL(policy || reference).
        """
        reference = self.per_row(rows, lambda part: self.forward(self.reference, part)[0])
        return [
            [
                self.algorithm.kl_coef * (own - ref) if on else 0.0
                for own, ref, on in zip(row.logprobs, line, row.mask, strict=True)
            ]
            for row, line in zip(rows, reference, strict=True)
        ]

    def prepare(self, rows: Sequence[Row]) -> list[Row]:
        """Return all rows of a training step as the objective needs them, before the first update."""
        if not self.objective.recomputes:
            return list(rows)
        return self.objective.correct(rows, self.logprobs(rows))

    def train_step(self, rows: Sequence[Row], kind: StepKind) -> StepStats:
        """Take one optimiser step on `rows` (a mini-batch)."""
        if isinstance(kind, Imitation):
            return self._imitate(rows, kind)
        if isinstance(kind, Preference):
            return self._prefer(rows, kind)
        return self._reinforce(rows, kind.seed)

    def weights(self, version: int) -> Weights:
        """Return the model's weights under a version number; of LoRA, the adapter. They are not copied."""
        return Weights(
            version=version,
            tensors=self._tensors(),
            save=self.save,
            holders=self.holders,
            is_adapter=self._is_adapter(),
        )

    def _is_adapter(self) -> bool:
        return bool(getattr(self.model, "peft_config", None))

    def _tensors(self) -> dict[str, Tensor]:
        is_adapter = self._is_adapter()
        return {
            name: parameter.detach()
            for name, parameter in self.model.named_parameters()
            if parameter.requires_grad or not is_adapter
        }

    def save(self, folder: Path) -> None:
        """Write the model as a transformers folder; of LoRA the adapter alone."""
        with without_progress_bars():
            self.model.save_pretrained(folder)

    def load(self, folder: Path) -> None:
        """Take the weights of a folder that `save` wrote, bit for bit."""
        with without_progress_bars():
            found = AutoModelForCausalLM.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, dtype=self.model.dtype
            )
        self.model.load_state_dict(found.state_dict())

    def optimizer_state(self) -> dict[str, Any]:
        """Return the optimiser's state for a checkpoint."""
        return self.optimizer.state_dict()

    def load_optimizer_state(self, state: dict[str, Any]) -> None:
        """Take a state that `optimizer_state` returned."""
        self.optimizer.load_state_dict(state)

    def reference_state(self) -> dict[str, Any]:
        """Return the frozen copy's weights for a checkpoint; empty if there is none."""
        return {} if self.reference is None else {"reference": self.reference.state_dict()}

    def load_reference_state(self, state: dict[str, Any]) -> None:
        """Take weights that `reference_state` returned, if there is a frozen copy."""
        if self.reference is not None:
            self.reference.load_state_dict(state["reference"])

    def close(self) -> None:
        """Release what the engine holds outside of this process: nothing here."""

    def _imitate(self, rows: Sequence[Row], imitation: Imitation) -> StepStats:
        return self._take_step(lambda: imitate(self, rows, imitation))

    def _prefer(self, rows: Sequence[Row], preference: Preference) -> StepStats:
        return self._take_step(lambda: prefer(self, rows, preference))

    def _reinforce(self, rows: Sequence[Row], seed: Sequence[int]) -> StepStats:
        return self._take_step(lambda: reinforce(self, self.objective, rows, seed, self.max_tokens))

    def _take_step(self, add_gradient: Callable[[], StepStats]) -> StepStats:
        self.optimizer.zero_grad(set_to_none=True)
        return replace(add_gradient(), grad_norm=self._step())

    def _frozen_copy(self) -> Any:
        return copy.deepcopy(self.model).requires_grad_(False)

    def _step(self) -> float:
        """Clip the gradient, take the optimiser's step and return the norm before; 0 if nothing was learnt."""
        parameters = [p for p in self.model.parameters() if p.grad is not None]
        if not parameters:
            return 0.0
        found = torch.nn.utils.clip_grad_norm_(parameters, self.train.max_grad_norm)
        norm = float(found.full_tensor() if isinstance(found, DTensor) else found)
        if not norm < float("inf"):
            self.optimizer.zero_grad(set_to_none=True)
            raise DivergedError(
                f"the gradient's norm is {norm}; lower train.lr, or look at the last transcripts for "
                "rewards or log-probabilities that are not finite"
            )
        self.optimizer.step()
        return norm

    def _adamw(self, lr: float) -> torch.optim.AdamW | MasterAdamW:
        trained = [p for p in self.model.parameters() if p.requires_grad]
        kind = MasterAdamW if any(p.dtype != torch.float32 for p in trained) else torch.optim.AdamW
        return kind(trained, lr=lr, betas=(0.9, 0.95), weight_decay=self.train.weight_decay)


def recompute_activations(model: Any) -> None:
    """Keep no activations inside layers for the backward pass. Models do so only in training mode, so dropout
    is switched off for good: it would part the trainer's log-probabilities from the sampler's."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if hasattr(module, "attention_dropout"):
            module.attention_dropout = 0.0
    if hasattr(model, "activation_checkpointing_enable"):
        model.activation_checkpointing_enable({"use_reentrant": False})
    else:  # the name in older transformers
        model.gradient_checkpointing_enable({"use_reentrant": False})
    model.train()
