"""The loss that trains SPA-RL's estimator of step contributions.

Source: SPA-RL, arXiv 2505.20732.
"""

from __future__ import annotations

from torch import Tensor

from verigym.trainers.loss.tokens import keep


def contribution_loss(contribution_BK: Tensor, mask_BK: Tensor, return_B: Tensor) -> Tensor:
    """Return (sum of a trajectory's step contributions - its return)^2, [B].

    `mask_BK` is 1 on steps that exist.
    """
    total_B = keep(contribution_BK, mask_BK != 0).sum(dim=-1)
    return (total_B - return_B.detach()).square()
