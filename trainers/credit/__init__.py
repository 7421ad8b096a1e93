"""Turning rewards into advantages; one family of estimators a file. Pure numpy, float64."""

from __future__ import annotations

from verigym.trainers.credit.anchors import anchor_repair
from verigym.trainers.credit.branch import branch
from verigym.trainers.credit.dapo import has_signal, overlong
from verigym.trainers.credit.disco import disco
from verigym.trainers.credit.g2po import g2po
from verigym.trainers.credit.gae import gae, gae_turns
from verigym.trainers.credit.gigpo import GigpoCredit, gigpo
from verigym.trainers.credit.graphgpo import graphgpo
from verigym.trainers.credit.group import group_advantage, loop_keep, rloo
from verigym.trainers.credit.grpo import GrpoCredit, grpo
from verigym.trainers.credit.hae import hae
from verigym.trainers.credit.hgpo import hgpo
from verigym.trainers.credit.mt_grpo import mt_grpo, mt_grpo_turns
from verigym.trainers.credit.optimal_baseline import optimal_token_baseline
from verigym.trainers.credit.outcome import gdpo, maxrl, opo
from verigym.trainers.credit.pkpo import max_at_k, pkpo, pkpo_groups, pkpo_loo, pkpo_loo_minus_1
from verigym.trainers.credit.reinforce import (
    kl_in_reward,
    reinforce_pp,
    reinforce_pp_baseline,
    w_reinforce,
    whiten,
)
from verigym.trainers.credit.step_rewards import spa_reward, stepsearch_reward, stepsearch_terminal
from verigym.trainers.credit.turn_credit import turn_credit

__all__ = [
    "GigpoCredit",
    "GrpoCredit",
    "anchor_repair",
    "branch",
    "disco",
    "g2po",
    "gae",
    "gae_turns",
    "gdpo",
    "gigpo",
    "graphgpo",
    "group_advantage",
    "grpo",
    "hae",
    "has_signal",
    "hgpo",
    "kl_in_reward",
    "loop_keep",
    "max_at_k",
    "maxrl",
    "mt_grpo",
    "mt_grpo_turns",
    "opo",
    "optimal_token_baseline",
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
    "turn_credit",
    "w_reinforce",
    "whiten",
]
