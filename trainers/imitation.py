"""Gradient of supervised learning on the masked tokens of rows."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from verigym.trainers.batch import Row
from verigym.trainers.forward import ForwardEngine
from verigym.trainers.learner import Imitation, StepStats
from verigym.trainers.loss.aggregate import Denominators, aggregate


def imitate(engine: ForwardEngine, rows: Sequence[Row], imitation: Imitation) -> StepStats:
    """Add up the gradient of the mean cross-entropy in nats, with label smoothing.

    Source: Szegedy et al. 2016, arXiv 1512.00567, section 7.
    """
    smoothing = imitation.smoothing
    denominators = Denominators.of(engine.batch(rows).mask_BT)
    used = torch.tensor(imitation.used_ids, device=engine.model.device)

    def target_and_spread(logp_NV: Tensor, ids_N: Tensor) -> tuple[Tensor, Tensor]:
        return logp_NV.gather(-1, ids_N[:, None])[:, 0], logp_NV[:, used].mean(-1)

    total = 0.0
    with engine.reading_trees():
        for part in engine.parts(rows):
            target_BT, spread_BT = engine.placed(engine.model, part, target_and_spread)
            loss = aggregate(
                -(1 - smoothing) * target_BT - smoothing * spread_BT,
                part.batch.mask_BT,
                "token-mean",
                denominators=denominators,
            )
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
    return StepStats(
        loss=engine.over_ranks({"loss": total}, [])[0]["loss"],
        kl=0.0,
        clip_share=0.0,
        entropy=0.0,
        grad_norm=0.0,
        n_tokens=denominators.tokens,
    )
