"""The critic: values of prefixes, for estimators that subtract a learnt baseline.

It is a copy of the policy's body with one linear output per head, trained beside the policy on the
targets that the estimator gives. Micro-batches change memory, not the gradient.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from verigym.agents.tree_attention import tree_attention
from verigym.errors import RequestError
from verigym.trainers.batch import Batch, Row, microbatches
from verigym.trainers.config import CriticSection, TrainSection
from verigym.trainers.reading import BodyInputs


@dataclass(frozen=True, kw_only=True)
class CriticStats:
    """Statistics of one optimiser step. `loss` is half the squared error, averaged over targets;
    `explained` is 1 - variance of the error / variance of the targets before the step."""

    loss: float
    explained: float
    grad_norm: float


class Critic(nn.Module):
    """Values [T, K] of the prefixes before each token, one for each of K `heads`.

    The outputs start at 0. `model` is copied, its language-model head left out. With `tree`, rows that begin
    alike are read as a prefix tree.
    """

    def __init__(
        self,
        model: Any,
        heads: Sequence[str],
        *,
        pad_id: int,
        critic: CriticSection,
        train: TrainSection,
        tree: bool = False,
    ) -> None:
        super().__init__()
        if model.base_model is model:
            raise RequestError(
                f"{type(model).__name__} has no body apart from its head, so it can have no critic; "
                "choose an estimator without one, such as gigpo"
            )
        self.names = tuple(heads)
        # Under LoRA the copy's base stays frozen, as the policy's does.
        self.body = copy.deepcopy(model.base_model)
        width = model.config.get_text_config().hidden_size
        self.heads = nn.Linear(width, len(self.names), device=model.device)
        nn.init.zeros_(self.heads.weight)
        nn.init.zeros_(self.heads.bias)
        self.pad_id = pad_id
        self.tree = tree
        self.section = critic
        self.train_section = train
        self.optimizer = torch.optim.AdamW(
            [p for p in self.parameters() if p.requires_grad],
            lr=critic.lr,
            betas=(0.9, 0.95),
            weight_decay=train.weight_decay,
        )

    @torch.no_grad()
    def evaluate(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows with their `values` from the critic."""
        found: dict[int, list[list[float]]] = {}
        with self._reading_trees():
            for part in self._parts(rows):
                mask = Batch.of(part, self.pad_id, self.heads.weight.device).mask_BT
                values = (self._values(part) * mask[..., None]).tolist()
                for row, line in zip(part, values, strict=True):
                    found[id(row)] = line[: len(row.ids)]
        return [replace(row, values=found[id(row)]) for row in rows]

    def fit(self, rows: Sequence[Row]) -> list[CriticStats]:
        """Make one optimiser step towards the rows' targets; return no statistics if they have none."""
        live = [row for row in rows if row.targets is not None]
        if not live:
            return []
        target, old = _padded(live, max(len(row.ids) for row in live))
        on = ~target.isnan()
        n = int(on.sum())
        if n == 0:
            return []
        explained = _explained(target[on], old[on])
        total = 0.0
        self.optimizer.zero_grad(set_to_none=True)
        with self._reading_trees():
            for part in self._parts(live):
                value_BTK = self._values(part)
                target_BTK, old_BTK = (
                    x.to(value_BTK.device) for x in _padded(part, value_BTK.shape[1])
                )
                loss = value_loss(value_BTK, old_BTK, target_BTK, clip=self.section.clip).sum() / n
                loss.backward()  # type: ignore[no-untyped-call]
                total += loss.item()
        norm = nn.utils.clip_grad_norm_(self.parameters(), self.train_section.max_grad_norm)
        self.optimizer.step()
        return [CriticStats(loss=total, explained=explained, grad_norm=float(norm))]

    def _values(self, rows: Sequence[Row]) -> Tensor:
        """Return the values before each token, [B, T, K]; 0 before the first."""
        ids = [row.ids for row in rows]
        reading = BodyInputs.of(ids, self.pad_id, self.heads.weight.device, tree=self.tree)
        hidden = self.body(**reading.inputs).last_hidden_state.flatten(0, 1)
        value_NK = self.heads(hidden.to(self.heads.weight.dtype)).float()
        value = nn.functional.embedding(reading.place_BT, value_NK)
        return torch.cat([torch.zeros_like(value[:, :1]), value[:, :-1]], dim=1)

    def _parts(self, rows: Sequence[Row]) -> list[list[Row]]:
        limit = self.train_section.microbatch_tokens
        return microbatches(rows, limit, self.heads.weight.device, tree=self.tree)

    def _reading_trees(self) -> AbstractContextManager[None]:
        return tree_attention(self.body) if self.tree else nullcontext()


def value_loss(value: Tensor, old: Tensor, target: Tensor, *, clip: float | None) -> Tensor:
    """Return half the squared error of each value, 0 where the target is NaN.

    With `clip`, the larger of the errors of the value and of the value held within `clip` of `old`.
    Source: Schulman et al. 2017, arXiv 1707.06347, in the clipped form of OpenAI's baselines.
    """
    on = ~target.isnan()
    wanted = torch.where(on, target, torch.zeros_like(target))
    error = (value - wanted).square()
    if clip is not None:
        held = old + (value - old).clamp(-clip, clip)
        error = torch.maximum(error, (held - wanted).square())
    return torch.where(on, 0.5 * error, torch.zeros_like(error))


def _explained(target: Tensor, old: Tensor) -> float:
    spread = float(target.var(unbiased=False))
    return 0.0 if spread <= 1e-12 else 1.0 - float((target - old).var(unbiased=False)) / spread


def _padded(rows: Sequence[Row], width: int) -> tuple[Tensor, Tensor]:
    """Return targets and old values, both [B, T, K]; NaN and 0 beyond a row's end."""
    count = len(rows[0].values[0]) if rows[0].values else 0
    target = torch.full((len(rows), width, count), float("nan"))
    old = torch.zeros(len(rows), width, count)
    for i, row in enumerate(rows):
        target[i, : len(row.ids)] = torch.tensor(row.targets)
        old[i, : len(row.ids)] = torch.tensor(row.values)
    return target, old
