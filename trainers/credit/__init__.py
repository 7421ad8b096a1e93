"""Turning rewards into advantages; one family of estimators a file. Pure numpy, float64."""

from __future__ import annotations

from verigym.trainers.credit.dapo import has_signal, overlong
from verigym.trainers.credit.disco import disco
from verigym.trainers.credit.gae import gae, gae_turns
from verigym.trainers.credit.gigpo import GigpoCredit, gigpo
from verigym.trainers.credit.group import group_advantage, loop_keep, rloo
from verigym.trainers.credit.grpo import GrpoCredit, grpo
from verigym.trainers.credit.mt_grpo import mt_grpo, mt_grpo_turns
from verigym.trainers.credit.pkpo import max_at_k, pkpo, pkpo_groups, pkpo_loo, pkpo_loo_minus_1
from verigym.trainers.credit.reinforce import (
    kl_in_reward,
    reinforce_pp,
    reinforce_pp_baseline,
    w_reinforce,
    whiten,
)
from verigym.trainers.credit.step_rewards import spa_reward, stepsearch_reward, stepsearch_terminal

__all__ = [
    "GigpoCredit",
    "GrpoCredit",
    "disco",
    "gae",
    "gae_turns",
    "gigpo",
    "group_advantage",
    "grpo",
    "has_signal",
    "kl_in_reward",
    "loop_keep",
    "max_at_k",
    "mt_grpo",
    "mt_grpo_turns",
    "overlong",
    "pkpo",
    "pkpo_groups",
    "pkpo_loo",
    "pkpo_loo_minus_1",
    "reinforce_pp",
    "reinforce_pp_baseline",
    "rloo",
    "spa_reward",
    "stepsearch_reward",
    "stepsearch_terminal",
    "w_reinforce",
    "whiten",
]
