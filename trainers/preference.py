"""Gradient of direct preference optimisation on rows that are pairs."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from verigym.trainers.batch import Row
from verigym.trainers.forward import ForwardEngine
from verigym.trainers.learner import Preference, StepStats
from verigym.trainers.loss.dpo import dpo_loss


def prefer(engine: ForwardEngine, rows: Sequence[Row], preference: Preference) -> StepStats:
    """Add up the gradient of the mean of `dpo_loss` over pairs of rows.

    The gradient goes through the loss to the rows' sums first and from there to the tokens, so micro-batches may
    part a pair.
    """
    options = {"dtype": torch.float64, "device": engine.model.device}
    sums = [sum(line) for line in engine.logprobs(rows)]
    sums_P2 = torch.tensor(sums, **options).reshape(-1, 2).requires_grad_()
    reference_P2 = torch.tensor(preference.reference, **options).reshape(-1, 2)
    (better_P, worse_P), (was_better_P, was_worse_P) = sums_P2.T, reference_P2.T
    loss = dpo_loss(better_P, worse_P, was_better_P, was_worse_P, preference.beta).mean()
    (slope_P2,) = torch.autograd.grad(loss, sums_P2)
    slope_of = dict(zip(map(id, rows), slope_P2.flatten().tolist(), strict=True))
    with engine.reading_trees():
        for part in engine.parts(rows):
            slope_B = torch.tensor([slope_of[id(row)] for row in part.rows], **options)
            logp_BT = engine.forward(engine.model, part)[0]
            (logp_BT * slope_B[:, None]).sum().backward()  # type: ignore[no-untyped-call]
    return StepStats(
        loss=loss.item(),
        kl=0.0,
        clip_share=0.0,
        entropy=0.0,
        grad_norm=0.0,
        n_tokens=sum(map(sum, (row.mask for row in rows))),
    )
