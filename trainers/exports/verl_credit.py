"""Credit of turns for episodes that `verl.py` played: `turn_advantages` and a trainer of verl. Tested with verl 0.9.1.

    VERL_USE_EXTERNAL_MODULES=verigym.trainers.exports.verl_credit python -m verl.trainer.main_ppo \\
        trainer.v1.trainer_mode=verigym +verigym.name=gigpo +verigym.options.omega=1.0 ...

verl gives an estimator of its own neither state keys nor the turns, so the trainer writes the advantages itself, in
the one method that computes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from typing_extensions import override

from verigym.errors import RequestError, suggestion
from verigym.trainers.credit.estimator import Estimator
from verigym.trainers.credit.samples import Samples
from verigym.trainers.credit.table import ESTIMATORS
from verigym.trainers.exports.packages import raise_missing

try:
    import transfer_queue as tq
    from tensordict import TensorDict
    from verl.trainer.ppo.v1 import PPOTrainerSync, register_trainer
    from verl.workers.utils.padding import response_to_nested
except ImportError as error:
    raise_missing(error)


@register_trainer("verigym")
class VerigymTrainer(PPOTrainerSync):
    """verl's synchronous trainer with advantages by turn; `+verigym.*` are the arguments of `turn_advantages`.

    `algorithm.adv_estimator` is computed and then overwritten: leave it at grpo.
    """

    def __init__(self, config: Any) -> None:
        # verl takes every other mode for an asynchronous one.
        config.trainer.v1.trainer_mode = "sync"
        super().__init__(config)

    @override
    def _compute_advantage(self, batch: Any, metrics: dict[str, Any]) -> Any:
        batch = super()._compute_advantage(batch, metrics)
        taxed = self.config.algorithm.use_kl_in_reward
        reward = "token_level_rewards" if taxed else "rm_scores"
        data = tq.kv_batch_get(
            keys=batch.keys,
            partition_id=batch.partition_id,
            select_fields=["uid", "response_mask", "extra_fields", reward],
        )
        mask = data["response_mask"]
        padded = data.to_padded_tensor()
        advantages = turn_advantages(
            padded[reward],
            padded["response_mask"],
            list(data["uid"]),
            list(data["extra_fields"]),
            **(self.config.get("verigym") or {}),
        )
        nested = response_to_nested(advantages, mask)
        fields = TensorDict({"advantages": nested, "returns": nested}, batch_size=len(batch))
        return tq.kv_batch_put(keys=batch.keys, partition_id=batch.partition_id, fields=fields)


def turn_advantages(
    rewards_BL: torch.Tensor,
    mask_BL: torch.Tensor,
    groups: Sequence[str],
    fields: Sequence[Mapping[str, Any]],
    *,
    name: str = "gigpo",
    options: Mapping[str, Any] | None = None,
    invalid_penalty: float = 0.0,
) -> torch.Tensor:
    """Return the advantage of each sampled token, [B, L]; 0 elsewhere.

    `groups` names the task of each row, `fields` are the `extra_fields` of VerigymAgentLoop. `name` and `options` are those of
    `[algorithm]`; `invalid_penalty` is taken off the reward of an action without effect. Rows without a sampled
    token are padding and count nowhere, and a group with fewer than two rows gives 0.

    Raises RequestError if there is no such estimator, or it needs a critic, log-probabilities or continuations.
    """
    estimator = _checked(name)
    rows = [row for row in range(len(mask_BL)) if mask_BL[row].any()]
    turns = [_turns(fields[row]["turn_ends"]) for row in rows]
    lengths = [len(found) for found in turns]
    advantages_BL = torch.zeros_like(rewards_BL, dtype=torch.float32)
    if not rows:
        return advantages_BL
    places = [(row, *turn) for row, found in zip(rows, turns, strict=True) for turn in found]
    verdicts = [fields[row]["verdict"] for row in rows]
    samples = Samples(
        group=[groups[row] for row, *_ in places],
        trajectory=np.repeat(np.arange(len(rows)), lengths),
        anchor=[key for row in rows for key in fields[row]["state_keys"]],
        reward=np.array([float(rewards_BL[row, a:b].sum()) for row, a, b in places]),
        invalid=np.array([float(bad) for row in rows for bad in fields[row]["turn_invalid"]]),
        penalty=invalid_penalty,
        valid=np.ones(len(places), dtype=np.bool_),
        tokens=np.array([int(mask_BL[row, a:b].sum()) for row, a, b in places], dtype=np.intp),
        score=[score for row in rows for score in _scores(fields[row])],
        parts=[verdict["parts"] if verdict else {} for verdict in verdicts],
        cut=np.array([fields[row]["cut"] for row in rows], dtype=np.bool_),
        opens=[False] * len(places),
    )
    credit = estimator.estimate(samples, estimator.options(**(options or {})))
    for place, (row, a, b) in enumerate(places):
        on = mask_BL[row, a:b].bool()
        earned = float(credit.advantage[place]) if credit.tokens is None else credit.tokens[place]
        advantages_BL[row, a:b][on] = torch.as_tensor(earned, dtype=torch.float32)
    return advantages_BL


def _checked(name: str) -> Estimator:
    if name not in ESTIMATORS:
        raise RequestError(f"unknown estimator {name!r}; {suggestion(name, ESTIMATORS)}")
    found = ESTIMATORS[name]
    if found.reads_tokens or found.reads_subgoals or found.heads or found.branches:
        raise RequestError(
            f"{name} needs a critic, log-probabilities, subgoals or continuations, which verl does not give here; "
            "take one such as gigpo"
        )
    return found


def _turns(ends: Sequence[int]) -> list[tuple[int, int]]:
    """Return the places of each turn: from after the last token of the turn before to behind its own."""
    stops = [max(end, 0) + 1 for end in ends]
    return list(zip([0, *stops[:-1]], stops, strict=True))


def _scores(fields: Mapping[str, Any]) -> list[float | None]:
    """Return the score of each turn: that of the last verdict, in the last turn."""
    scores: list[float | None] = [None] * len(fields["turn_ends"])
    if scores and fields["verdict"]:
        scores[-1] = fields["verdict"]["score"]
    return scores
