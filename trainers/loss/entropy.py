"""Entropy of the policy at each token, and the 80/20 mask on it."""

from __future__ import annotations

import torch
from torch import Tensor


def token_entropy(logits_BTV: Tensor) -> Tensor:
    """Return the entropy of the next-token distribution, [B, T], in nats."""
    log_p = torch.log_softmax(logits_BTV, dim=-1)
    # A forbidden token has logit -inf and p = 0, and 0 * -inf is NaN, in the gradient too.
    log_p = torch.where(torch.isfinite(log_p), log_p, torch.zeros_like(log_p))
    p = torch.where(torch.isfinite(logits_BTV), log_p.exp(), torch.zeros_like(log_p))
    return -(p * log_p).sum(dim=-1)


def entropy_threshold(entropy_BT: Tensor, mask_BT: Tensor, *, rho: float = 0.2) -> Tensor:
    """Return the (1 - rho) quantile of the unmasked entropies by linear interpolation; a scalar.

    Take it over the whole batch before it is cut into micro-batches. Raises ValueError if no token
    is unmasked.
    """
    if not 0.0 < rho <= 1.0:
        raise ValueError(f"rho must be in (0, 1], got {rho}")
    ranked = entropy_BT.detach()[mask_BT != 0].sort().values
    if len(ranked) == 0:
        raise ValueError("no unmasked token: cannot compute a quantile")
    # Not torch.quantile: it refuses more than 16 million elements.
    at = (1.0 - rho) * (len(ranked) - 1)
    low = min(int(at), len(ranked) - 1)
    high = min(low + 1, len(ranked) - 1)
    return torch.lerp(ranked[low], ranked[high], at - low)


def entropy_mask(entropy_BT: Tensor, mask_BT: Tensor, threshold: Tensor | float) -> Tensor:
    """Return the unmasked tokens with an entropy of at least `threshold`, boolean [B, T].

    For the policy term alone; the denominator stays all unmasked tokens.
    Source: Wang et al. 2025, arXiv 2506.01939 (the 80/20 rule).
    """
    return (mask_BT != 0) & (entropy_BT.detach() >= threshold)
