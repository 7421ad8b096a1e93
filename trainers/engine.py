"""The one-machine engine: log-probabilities, gradients and optimiser steps on token rows.

It shares its model with the policy that samples, so what is sampled next comes from what was
trained last. AdamW; micro-batches change memory, not the gradient.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from verigym.errors import VerigymError
from verigym.trainers.batch import Batch, Row, microbatches
from verigym.trainers.config import AlgorithmSection, TrainSection
from verigym.trainers.loss import kl_terms, ppo
from verigym.trainers.loss.aggregate import Denominators, aggregate, trajectory_tokens


class DivergedError(VerigymError):
    """The loss or a gradient is not finite; the weights were not touched by it."""


@dataclass(frozen=True, kw_only=True)
class StepStats:
    """Statistics of one optimiser step. Means over its sampled tokens, weighted by `n_tokens`.

    `loss` is the objective; `kl` k3 to the reference, 0 without one; `clip_share` of tokens at which
    clipping was in force; `entropy` in nats; `grad_norm` before clipping.
    """

    loss: float
    kl: float
    clip_share: float
    entropy: float
    grad_norm: float
    n_tokens: int


class Engine:
    """Trains `model` in place. `temperature` is the one that rows are sampled at."""

    def __init__(
        self,
        model: Any,
        *,
        pad_id: int,
        temperature: float,
        train: TrainSection,
        algorithm: AlgorithmSection,
    ) -> None:
        self.model = model
        self.pad_id = pad_id
        self.temperature = temperature
        self.train = train
        self.algorithm = algorithm
        self.reference: Any | None = None
        self.optimizer = self._adamw(train.lr)
        self._keeps_some = "logits_to_keep" in inspect.signature(model.forward).parameters

    def start_reinforcement(self) -> None:
        """Fresh optimiser state, and a frozen copy of the model where a KL term needs one."""
        self.optimizer = self._adamw(self.train.lr)
        if self.algorithm.kl_coef > 0:
            self.reference = copy.deepcopy(self.model).requires_grad_(False)

    def set_lr(self, lr: float) -> None:
        """Learning rate of the next optimiser steps."""
        for group in self.optimizer.param_groups:
            group["lr"] = lr

    @torch.no_grad()
    def logprobs(self, rows: Sequence[Row]) -> list[list[float]]:
        """Log-probability of each token of each row under the current weights; 0 off the mask."""
        out: dict[int, list[float]] = {}
        for part in microbatches(rows, self.train.microbatch_tokens):
            batch = self._batch(part)
            logp_BT, _ = self._forward(self.model, batch)
            for row, line in zip(part, logp_BT.tolist(), strict=True):
                out[id(row)] = line[: len(row.ids)]
        return [out[id(row)] for row in rows]

    def reinforce(self, rows: Sequence[Row]) -> StepStats:
        """One optimiser step on the clipped policy loss of `rows` (a mini-batch)."""
        algorithm = self.algorithm
        whole = self._batch(rows)
        denominators = Denominators.of(whole.mask_BT, trajectory=whole.trajectory_B.tolist())
        per_trajectory_B = trajectory_tokens(whole.mask_BT, whole.trajectory_B.tolist())
        share_of = {id(row): n for row, n in zip(rows, per_trajectory_B.tolist(), strict=True)}
        # A row without advantage has no policy gradient; it still counts in the denominators.
        live = [row for row in rows if self.reference is not None or any(row.advantage)]
        sums = dict.fromkeys(("loss", "kl", "clipped", "entropy"), 0.0)
        seen = 0
        self.optimizer.zero_grad(set_to_none=True)
        for part in microbatches(live, self.train.microbatch_tokens):
            batch = self._batch(part)
            logp_BT, entropy_BT = self._forward(self.model, batch)
            policy = ppo(
                logp_BT,
                batch.old_logp_BT,
                batch.advantage_BT,
                batch.mask_BT,
                clip_low=algorithm.clip_low,
                clip_high=algorithm.clip_high,
                dual_clip_c=algorithm.dual_clip,
            )
            token_loss_BT = policy.loss_BT
            if self.reference is not None:
                with torch.no_grad():
                    ref_BT, _ = self._forward(self.reference, batch)
                k3_BT = kl_terms(logp_BT, ref_BT, batch.mask_BT)[2]
                token_loss_BT = token_loss_BT + algorithm.kl_coef * k3_BT
                sums["kl"] += k3_BT.detach().sum().item()
            loss = aggregate(
                token_loss_BT,
                batch.mask_BT,
                algorithm.aggregation,
                denominators=denominators,
                trajectory_tokens_B=torch.tensor(
                    [share_of[id(row)] for row in part], device=whole.mask_BT.device
                ),
            )
            loss.backward()  # type: ignore[no-untyped-call]
            sums["loss"] += loss.item()
            sums["clipped"] += float((policy.clipped_BT & batch.mask_BT).sum())
            sums["entropy"] += float((entropy_BT * batch.mask_BT).sum())
            seen += int(batch.mask_BT.sum())
        grad_norm = self._step() if live else 0.0
        return StepStats(
            loss=sums["loss"],
            kl=sums["kl"] / max(seen, 1),
            clip_share=sums["clipped"] / max(seen, 1),
            entropy=sums["entropy"] / max(seen, 1),
            grad_norm=grad_norm,
            n_tokens=denominators.tokens,
        )

    def imitate(self, rows: Sequence[Row], smoothing: float, used_ids: Sequence[int]) -> float:
        """One optimiser step of supervised learning on the masked tokens; mean loss in nats.

        `smoothing` of each target's probability is spread evenly over `used_ids`.
        Source: Szegedy et al. 2016, arXiv 1512.00567, section 7.
        """
        denominators = Denominators.of(self._batch(rows).mask_BT)
        used = torch.tensor(used_ids, device=self.model.device)
        total = 0.0
        self.optimizer.zero_grad(set_to_none=True)
        for part in microbatches(rows, self.train.microbatch_tokens):
            batch = self._batch(part)
            logp_BPV, at_P = self._distribution(self.model, batch)
            target_BP = logp_BPV.gather(-1, batch.ids_BT[:, at_P][..., None])[..., 0]
            spread_BP = logp_BPV[..., used].mean(-1)
            loss = aggregate(
                -(1 - smoothing) * target_BP - smoothing * spread_BP,
                batch.mask_BT[:, at_P],
                "token-mean",
                denominators=denominators,
            )
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        self._step()
        return total

    def _batch(self, rows: Sequence[Row]) -> Batch:
        return Batch.of(rows, self.pad_id, self.model.device)

    def _distribution(self, model: Any, batch: Batch) -> tuple[Tensor, Tensor]:
        """Log-probabilities [B, P, V] of the tokens at the P places `at_P` where a row is trained."""
        # Logits only where some row has a token to train: for step rows that is the tail.
        at_P = batch.mask_BT.any(0).nonzero()[:, 0]
        inputs = {"input_ids": batch.ids_BT, "attention_mask": batch.attention_BT}
        if self._keeps_some:
            logits_BPV = model(**inputs, logits_to_keep=at_P - 1).logits
        else:
            logits_BPV = model(**inputs).logits[:, at_P - 1]
        return (logits_BPV.float() / self.temperature).log_softmax(-1), at_P

    def _forward(self, model: Any, batch: Batch) -> tuple[Tensor, Tensor]:
        """Log-probability of each masked token given what is before it, and entropy there; [B, T]."""
        logp_BPV, at_P = self._distribution(model, batch)
        chosen_BP = logp_BPV.gather(-1, batch.ids_BT[:, at_P][..., None])[..., 0]
        detached_BPV = logp_BPV.detach()
        entropy_BP = -(detached_BPV.exp() * detached_BPV).sum(-1)
        zero_BT = torch.zeros(batch.mask_BT.shape, device=batch.mask_BT.device)
        logp_BT = torch.where(batch.mask_BT, zero_BT.index_copy(1, at_P, chosen_BP), zero_BT)
        return logp_BT, zero_BT.index_copy(1, at_P, entropy_BP)

    def _step(self) -> float:
        parameters = [p for p in self.model.parameters() if p.grad is not None]
        norm = float(torch.nn.utils.clip_grad_norm_(parameters, self.train.max_grad_norm))
        if not norm < float("inf"):
            self.optimizer.zero_grad(set_to_none=True)
            raise DivergedError(
                f"the gradient's norm is {norm}; lower train.lr, or look at the last transcripts for "
                "rewards or log-probabilities that are not finite"
            )
        self.optimizer.step()
        return norm

    def _adamw(self, lr: float) -> torch.optim.AdamW:
        return torch.optim.AdamW(
            self.model.parameters(),
            lr=lr,
            betas=(0.9, 0.95),
            weight_decay=self.train.weight_decay,
        )
