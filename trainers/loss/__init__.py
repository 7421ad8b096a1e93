"""Policy losses, one per file, with their helpers: pure functions of tensors, to be minimised.

`tokens.py` says what the shapes are. Each loss comes back per token; `aggregate` makes it a scalar.
"""

from __future__ import annotations

from verigym.trainers.loss.aggregate import Denominators, aggregate, trajectory_tokens
from verigym.trainers.loss.cispo import cispo
from verigym.trainers.loss.contribution import contribution_loss
from verigym.trainers.loss.correction import (
    Reject,
    accepted,
    m2po_mask,
    off_policy_mask,
    rollout_weight,
)
from verigym.trainers.loss.covariance import (
    clip_cov,
    clip_cov_candidates,
    covariance,
    kl_cov,
    kl_cov_selected,
)
from verigym.trainers.loss.decoupled import decoupled, proximal_logp
from verigym.trainers.loss.dppo import dppo
from verigym.trainers.loss.entropy import entropy_mask, entropy_threshold, token_entropy
from verigym.trainers.loss.gmpo import gmpo
from verigym.trainers.loss.gspo import gspo
from verigym.trainers.loss.kl import kl, kl_terms, unbiased_kl
from verigym.trainers.loss.luffy import luffy
from verigym.trainers.loss.ppo import ppo
from verigym.trainers.loss.sapo import sapo
from verigym.trainers.loss.sdpo import choose_teachers, sdpo
from verigym.trainers.loss.tokens import PolicyLoss, SequenceLoss, importance_ratio
from verigym.trainers.loss.vespo import vespo
from verigym.trainers.losses import Mode

__all__ = [
    "Denominators",
    "Mode",
    "PolicyLoss",
    "Reject",
    "SequenceLoss",
    "accepted",
    "aggregate",
    "choose_teachers",
    "cispo",
    "clip_cov",
    "clip_cov_candidates",
    "contribution_loss",
    "covariance",
    "decoupled",
    "dppo",
    "entropy_mask",
    "entropy_threshold",
    "gmpo",
    "gspo",
    "importance_ratio",
    "kl",
    "kl_cov",
    "kl_cov_selected",
    "kl_terms",
    "luffy",
    "m2po_mask",
    "off_policy_mask",
    "ppo",
    "proximal_logp",
    "rollout_weight",
    "sapo",
    "sdpo",
    "token_entropy",
    "trajectory_tokens",
    "unbiased_kl",
    "vespo",
]
