"""The loss of a run, put together from the tables: policy term, corrections, KL and entropy.

What depends on a whole batch (weights that are normalised, tokens that are ranked) is decided before the
batch is cut into micro-batches, so the cut changes no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from verigym.trainers.batch import Batch, Row
from verigym.trainers.config import AlgorithmSection
from verigym.trainers.loss.compute import COMPUTE, Inputs
from verigym.trainers.loss.correction import (
    Reject,
    accepted,
    m2po_mask,
    off_policy_mask,
    rollout_weight,
)
from verigym.trainers.loss.covariance import (
    clip_cov_candidates,
    covariance,
    kl_cov,
    kl_cov_selected,
)
from verigym.trainers.loss.decoupled import proximal_logp
from verigym.trainers.loss.entropy import entropy_mask, entropy_threshold
from verigym.trainers.loss.kl import kl, kl_terms, unbiased_kl
from verigym.trainers.loss.tokens import PolicyLoss, keep


@dataclass(frozen=True, eq=False)
class TokenLoss:
    """Loss per token, [B, T], with its gradient, and what to report: k3 and the tokens clipped."""

    loss_BT: Tensor
    k3_BT: Tensor
    clipped_BT: Tensor


class Objective:
    """The loss that `algorithm` asks for. Pure but for the draw of `clip-cov`, which takes a seed."""

    def __init__(self, algorithm: AlgorithmSection) -> None:
        self.algorithm = algorithm
        self.loss = algorithm.policy_loss
        self.options = algorithm.policy_loss_options
        fraction = algorithm.entropy_fraction
        usual = 0.2 if algorithm.entropy_control == "high-entropy" else 2e-4
        self.fraction = usual if fraction is None else fraction

    @property
    def recomputes(self) -> bool:
        """True if rows need the trainer's own log-probabilities at the start of the update."""
        algorithm = self.algorithm
        return (
            (self.loss.recomputes and algorithm.old_logprobs != "loglinear")
            or algorithm.old_logprobs == "recomputed"
            or algorithm.correction.is_used
            or algorithm.m2po_threshold is not None
        )

    @property
    def ranks_tokens(self) -> bool:
        """True if `select` must see the current policy on the whole mini-batch."""
        return (
            self.algorithm.entropy_control != "none"
            or self.algorithm.off_policy_threshold is not None
        )

    @torch.no_grad()
    def correct(self, rows: Sequence[Row], logprobs: Sequence[Sequence[float]]) -> list[Row]:
        """Return all rows of a training step with `old`, `weight` and `dropped`, from the trainer's own
        log-probabilities before the update."""
        if not rows:
            return []
        rows = [replace(row, old=list(own)) for row, own in zip(rows, logprobs, strict=True)]
        algorithm, found = self.algorithm, self.algorithm.correction
        batch = Batch.of(rows, 0, torch.device("cpu"))
        train, rollout = batch.old_BT.double(), batch.rollout_BT.double()
        dropped = torch.zeros_like(batch.mask_BT)
        if found.is_used:
            rules = [Reject(option=name, upper=bound) for name, bound in found.reject.items()]
            kept = accepted(
                train,
                rollout,
                batch.mask_BT,
                reject=rules,
                veto_low=found.veto_low,
                veto_high=found.veto_high,
            )
            dropped = dropped | (batch.mask_BT & ~kept)
        if algorithm.m2po_threshold is not None:
            _, kept = m2po_mask(rollout, train, batch.mask_BT, threshold=algorithm.m2po_threshold)
            dropped = dropped | (batch.mask_BT & ~kept)
        if found.level is not None:
            weights = rollout_weight(
                train,
                rollout,
                batch.mask_BT,
                level=found.level,
                action=found.action,
                c_max=found.c_max,
                c_min=found.c_min,
                batch_normalize=found.batch_normalize,
            ).tolist()
            rows = [
                replace(row, weight=line[: len(row.ids)])
                for row, line in zip(rows, weights, strict=True)
            ]
        return _with_dropped(rows, dropped)

    @torch.no_grad()
    def select(
        self,
        rows: Sequence[Row],
        logprobs: Sequence[Sequence[float]],
        entropy: Sequence[Sequence[float]],
        seed: Sequence[int],
    ) -> tuple[list[Row], list[list[bool]] | None]:
        """Return the rows of a mini-batch with `dropped`, and the tokens that `kl-cov` treats.

        `logprobs` and `entropy` are those of the policy as it is now.
        """
        algorithm = self.algorithm
        batch = Batch.of(rows, 0, torch.device("cpu"))
        width = batch.mask_BT.shape[1]
        logp = torch.tensor([[*line, *[0.0] * (width - len(line))] for line in logprobs])
        drop = torch.zeros_like(batch.mask_BT)
        chosen: Tensor | None = None
        if algorithm.off_policy_threshold is not None:
            on = batch.mask_BT
            adv_B = batch.advantage_BT.sum(-1) / on.sum(-1).clamp(min=1)
            _, kept_B = off_policy_mask(
                logp, batch.rollout_BT, adv_B, on, threshold=algorithm.off_policy_threshold
            )
            drop = drop | (on & ~kept_B[:, None])
        if algorithm.entropy_control == "high-entropy":
            spread = torch.tensor([[*line, *[0.0] * (width - len(line))] for line in entropy])
            threshold = entropy_threshold(spread, batch.mask_BT, rho=self.fraction)
            drop = drop | (batch.mask_BT & ~entropy_mask(spread, batch.mask_BT, threshold))
        elif algorithm.entropy_control == "clip-cov":
            clips = self.options.model_dump(include={"clip_low", "clip_high"})
            lower, upper = algorithm.clip_cov_bounds
            _, candidates, n_drop = clip_cov_candidates(
                logp,
                batch.old_BT,
                batch.advantage_BT,
                batch.mask_BT,
                fraction=self.fraction,
                lower=lower,
                upper=upper,
                **clips,
            )
            at = candidates.reshape(-1).nonzero()[:, 0].numpy()
            drawn = np.random.default_rng(tuple(seed)).permutation(at)[:n_drop]
            drop.view(-1)[torch.from_numpy(drawn)] = True
        elif algorithm.entropy_control == "kl-cov":
            cov = covariance(logp, batch.advantage_BT, batch.mask_BT)
            chosen = kl_cov_selected(cov, batch.mask_BT, fraction=self.fraction)
        return _with_dropped(rows, drop), None if chosen is None else chosen.tolist()

    def token_loss(
        self,
        batch: Batch,
        logp_BT: Tensor,
        entropy_BT: Tensor,
        ref_BT: Tensor | None,
        kl_cov_BT: Tensor | None = None,
        distilled_BT: Tensor | None = None,
    ) -> TokenLoss:
        """Return the loss of each token of a micro-batch. `entropy_BT` carries a gradient if the bonus is
        on; `ref_BT` are the reference's log-probabilities, None without a KL term; `distilled_BT` is the
        policy term of a loss on distributions."""
        algorithm, mask_BT = self.algorithm, batch.mask_BT
        if distilled_BT is None:
            policy = self._policy(batch, logp_BT, kl_cov_BT)
        else:
            policy = PolicyLoss(distilled_BT, torch.ones_like(logp_BT), torch.zeros_like(mask_BT))
        loss_BT = keep(policy.loss_BT, mask_BT & ~batch.dropped_BT)
        k3_BT = torch.zeros_like(logp_BT)
        if ref_BT is not None:
            k3_BT = kl_terms(logp_BT, ref_BT, mask_BT)[2]
            if algorithm.kl == "unbiased":
                term_BT = unbiased_kl(logp_BT, batch.old_BT, ref_BT, mask_BT)[1]
            else:
                assert algorithm.kl != "reward"
                term_BT = kl(logp_BT, ref_BT, mask_BT, kind=algorithm.kl)
            loss_BT = loss_BT + algorithm.kl_coef * term_BT
        if algorithm.entropy_coef > 0:
            loss_BT = loss_BT - algorithm.entropy_coef * keep(entropy_BT, mask_BT)
        return TokenLoss(loss_BT, k3_BT.detach(), (policy.clipped_BT | batch.dropped_BT) & mask_BT)

    def _policy(self, batch: Batch, logp_BT: Tensor, kl_cov_BT: Tensor | None) -> PolicyLoss:
        if kl_cov_BT is not None:
            found = kl_cov(
                logp_BT,
                batch.old_BT,
                batch.advantage_BT,
                batch.mask_BT,
                kl_cov_BT,
                coef=self.algorithm.kl_cov_coef,
            )
            if batch.weight_BT is None:
                return found
            return replace(found, loss_BT=batch.weight_BT * found.loss_BT)
        old_BT = batch.old_BT
        if self.algorithm.old_logprobs == "loglinear" and batch.staleness_BT is not None:
            newest = int(batch.staleness_BT.max())
            version_BT = newest - batch.staleness_BT
            _, old_BT = proximal_logp(batch.rollout_BT, logp_BT, version_BT, newest)
        inputs = Inputs(
            logp_BT=logp_BT,
            old_BT=old_BT,
            rollout_BT=batch.rollout_BT,
            adv_BT=batch.advantage_BT,
            mask_BT=batch.mask_BT,
            weight_BT=batch.weight_BT,
            demonstration_BT=batch.demonstration_B[:, None] & batch.mask_BT,
        )
        return COMPUTE[self.algorithm.loss_name](inputs, self.options)


def _with_dropped(rows: Sequence[Row], dropped_BT: Tensor) -> list[Row]:
    if not bool(dropped_BT.any()):
        return list(rows)
    return [
        replace(
            row,
            dropped=[
                a or b for a, b in zip(row.dropped or [False] * len(row.ids), line, strict=False)
            ],
        )
        for row, line in zip(rows, dropped_BT.tolist(), strict=True)
    ]
