"""The learner on a Tinker server: our credit and loss here, the model, its gradient and Adam there.

The protocol's losses are sums over tokens of functions of their log-probabilities. Our `ppo` is its `ppo`, with the
reduction to one number folded into the advantages. Any other loss on log-probabilities is differentiated here and its
gradient sent through `importance_sampling` with the learner's own log-probabilities as the sampler's, at which the
ratio is 1 and the gradient of that loss is the advantage: exact, for one more forward pass.
"""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from verigym.agents.engines.sampler import EngineFault, Weights
from verigym.agents.engines.shards import OneHolder
from verigym.agents.engines.tinker import TinkerModel, make_datum
from verigym.agents.prefix_tree import count_distinct
from verigym.errors import RequestError
from verigym.trainers.batch import Batch, Row, TokenStatistics
from verigym.trainers.config import AlgorithmSection, TrainSection
from verigym.trainers.engine import Engine
from verigym.trainers.learner import DivergedError, Gap, Imitation, Preference, StepStats
from verigym.trainers.loss.aggregate import Denominators, aggregate, trajectory_tokens
from verigym.trainers.losses import Ppo
from verigym.trainers.objective import Objective, TokenLoss

Reduction = Literal["sum", "row-mean"]
FILE = "tinker.json"
"""File of a checkpoint that says where on the server the weights are."""
_CPU = torch.device("cpu")
# The metric by which SkyRL's jax backend, which averages over rows, can be told.
_ROW_MEAN_MARK = "skyrl.ai/grad_norm"


class TinkerLearner(Engine):
    """Trains the adapter of `model`. The optimiser's state stays on the server, from the warm-up on.

    `reduction` is what the server does with the losses of tokens: it adds them up, or takes the mean over each
    row's tokens, prompt included, and then over rows.
    """

    def __init__(
        self,
        model: TinkerModel,
        *,
        train: TrainSection,
        algorithm: AlgorithmSection,
        max_tokens: int,
        reduction: Reduction,
    ) -> None:
        # Not the constructor of Engine: there is no model here.
        self.server = model
        self.train = train
        self.algorithm = algorithm
        self.max_tokens = algorithm.max_tokens or max_tokens
        self.objective = Objective(algorithm)
        self.reduction: Reduction = reduction
        self.lr = train.lr
        self.pad_id = 0
        self.reference = None
        self.unshared = None

    def start_reinforcement(self) -> None:
        """Keep the state of the server's optimiser: the protocol cannot reset it."""

    def set_lr(self, lr: float) -> None:
        """Set the learning rate of the next optimiser steps."""
        self.lr = lr

    def logprobs(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return the log-probability of each token of each row under the current weights; 0 off the mask."""
        if not rows:
            return []
        found = self.server.forward([make_datum(row.ids, weights=_ones(row)) for row in rows])
        return [
            [p if on else 0.0 for p, on in zip([0.0, *line], row.mask, strict=True)]
            for row, line in zip(rows, found, strict=True)
        ]

    def entropies(self, rows: Sequence[Row]) -> list[list[float]]:
        """Raise RequestError: the protocol gives no entropies."""
        raise RequestError("a Tinker server gives log-probabilities of tokens, no entropies")

    def statistics(self, rows: Sequence[Row]) -> TokenStatistics:
        """Raise RequestError: the protocol gives no distributions."""
        raise RequestError("a Tinker server gives log-probabilities of tokens, no distributions")

    def weights(self, version: int) -> Weights:
        """Return a version number without tensors: the sampler is on the same server."""
        return Weights(
            version=version,
            tensors={},
            save=self.save,
            holders=OneHolder(dict),
            is_adapter=True,
        )

    def save(self, folder: Path) -> None:
        """Save the adapter on the server, for training and for sampling, and write where into `folder`."""
        name = f"verigym-{uuid.uuid4().hex[:12]}"
        said = {
            "url": self.server.url,
            "base_model": self.server.base_model,
            "rank": self.server.rank,
            "state": self.server.save_state(name),
            "sampler": self.server.save_sampler(name),
        }
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps(said, indent=1) + "\n", "utf-8")

    def load(self, folder: Path) -> None:
        """Take adapter and optimiser from where `save` saved them. Raises RequestError if the server has not."""
        path = folder / FILE
        try:
            address = json.loads(path.read_text("utf-8"))["state"]
        except (OSError, ValueError, KeyError) as error:
            raise RequestError(f"{path} does not say where the weights are: {error}") from error
        try:
            self.server.load_state(address)
        except EngineFault as error:
            raise RequestError(f"the weights of {path} cannot be loaded: {error}") from error

    def optimizer_state(self) -> dict[str, Any]:
        """Return nothing: the server saves its optimiser with the weights."""
        return {}

    def load_optimizer_state(self, state: dict[str, Any]) -> None:
        """Do nothing, as the server has loaded it with the weights."""

    def _prefer(self, rows: Sequence[Row], preference: Preference) -> StepStats:
        raise RequestError("warmup.loss dpo is not for engine tinker")

    def _imitate(self, rows: Sequence[Row], imitation: Imitation) -> StepStats:
        batch = Batch.of(rows, 0, _CPU)
        logp_BT = _padded(self.logprobs(rows), batch).requires_grad_()
        loss = aggregate(-logp_BT, batch.mask_BT, "token-mean")
        loss.backward()  # type: ignore[no-untyped-call]
        self._send_gradient(rows, logp_BT)
        return StepStats(
            loss=loss.item(),
            kl=0.0,
            clip_share=0.0,
            entropy=0.0,
            grad_norm=self._step(),
            n_tokens=int(batch.mask_BT.sum()),
        )

    def _reinforce(self, rows: Sequence[Row], seed: Sequence[int]) -> StepStats:
        whole = Batch.of(rows, 0, _CPU)
        denominators = Denominators.of(
            whole.mask_BT, max_tokens=self.max_tokens, trajectory=whole.trajectory_B.tolist()
        )
        share_B = trajectory_tokens(whole.mask_BT, whole.trajectory_B.tolist())
        # A row without advantage has no gradient; it still counts in the denominators.
        at = [i for i, row in enumerate(rows) if any(row.advantage)]
        live = [rows[i] for i in at]
        nothing = StepStats(
            loss=0.0,
            kl=0.0,
            clip_share=0.0,
            entropy=0.0,
            grad_norm=0.0,
            n_tokens=denominators.tokens,
        )
        if not live:
            return nothing
        batch = Batch.of(live, 0, _CPU)

        def reduce(x_BT: Tensor) -> Tensor:
            return aggregate(
                x_BT,
                batch.mask_BT,
                self.algorithm.aggregation_mode,
                denominators=denominators,
                trajectory_tokens_B=share_B[at],
            )

        clip = plain_clip(self.objective)
        if clip is not None:
            data = ppo_data(live, batch, token_shares(reduce, batch), self.reduction)
            found = self.server.forward_backward(data, "ppo", clip)
            logp_BT = _padded([[0.0, *line] for line in found], batch)
            loss, terms = self._local_loss(batch, logp_BT, reduce)
        else:
            logp_BT = _padded(self.logprobs(live), batch).requires_grad_()
            loss, terms = self._local_loss(batch, logp_BT, reduce)
            loss.backward()  # type: ignore[no-untyped-call]
            self._send_gradient(live, logp_BT)
        logp_BT = logp_BT.detach()
        own_BT = batch.mask_BT & ~batch.demonstration_B[:, None]
        if not bool(logp_BT[batch.mask_BT].isfinite().all()) or not bool(loss.isfinite()):
            raise DivergedError(
                f"the loss on the Tinker server is {loss.item()}; lower train.lr, or look at the last "
                "transcripts for rewards or log-probabilities that are not finite"
            )
        seen = max(1, int(batch.mask_BT.sum()))
        return replace(
            nothing,
            loss=loss.item(),
            clip_share=float(terms.clipped_BT.sum()) / seen,
            entropy=float(-logp_BT[own_BT].mean()) if bool(own_BT.any()) else 0.0,
            grad_norm=self._step(),
            gap=Gap.of([(logp_BT - batch.rollout_BT).abs()[own_BT]]),
            distinct=count_distinct([row.ids for row in live]),
        )

    def _local_loss(self, batch: Batch, logp_BT: Tensor, reduce: Any) -> tuple[Tensor, TokenLoss]:
        terms = self.objective.token_loss(batch, logp_BT, torch.zeros_like(logp_BT), None)
        return reduce(terms.loss_BT), terms

    def _send_gradient(self, rows: Sequence[Row], logp_BT: Tensor) -> None:
        """Accumulate on the server the gradient of a loss whose derivative by `logp_BT` is known."""
        assert logp_BT.grad is not None
        self.server.forward_backward(
            gradient_data(rows, logp_BT.detach(), logp_BT.grad, self.reduction),
            "importance_sampling",
        )

    def _step(self) -> float:
        metrics = self.server.optimise(
            learning_rate=self.lr,
            beta1=0.9,
            beta2=0.95,
            eps=1e-8,
            weight_decay=self.train.weight_decay,
            grad_clip_norm=self.train.max_grad_norm,
        )
        if _ROW_MEAN_MARK in metrics and self.reduction != "row-mean":
            raise RequestError(
                "this server is SkyRL's jax backend, which averages the losses over rows: set "
                'engine.reduction = "row-mean"'
            )
        norms = [value for name, value in metrics.items() if name.endswith("grad_norm")]
        return norms[0] if norms else math.nan


def plain_clip(objective: Objective) -> dict[str, float] | None:
    """Return the options of the server's `ppo` if it is the configured loss, else None."""
    options = objective.options
    if objective.algorithm.loss_name != "ppo" or not isinstance(options, Ppo) or options.dual_clip:
        return None
    return {
        "clip_low_threshold": 1.0 - options.clip_low,
        "clip_high_threshold": 1.0 + options.clip_high,
    }


def token_shares(reduce: Any, batch: Batch) -> Tensor:
    """Return the weight of each token's loss in the loss of the batch, [B, T]."""
    x_BT = torch.zeros(batch.mask_BT.shape, requires_grad=True)
    reduce(x_BT).backward()
    assert x_BT.grad is not None
    return x_BT.grad


def ppo_data(
    rows: Sequence[Row], batch: Batch, share_BT: Tensor, reduction: Reduction
) -> list[Any]:
    """Return the rows as the server's `ppo` takes them: the loss is linear in a positive factor of the advantage,
    so shares, correction weights and dropped tokens go into it."""
    adv_BT = batch.advantage_BT * share_BT * batch.mask_BT * ~batch.dropped_BT
    if batch.weight_BT is not None:
        adv_BT = adv_BT * batch.weight_BT
    return _data(rows, batch.old_BT * batch.mask_BT, adv_BT, reduction)


def gradient_data(
    rows: Sequence[Row], logp_BT: Tensor, grad_BT: Tensor, reduction: Reduction
) -> list[Any]:
    """Return rows whose loss `importance_sampling` has the gradient `grad_BT` by the log-probabilities."""
    return _data(rows, logp_BT, -grad_BT, reduction)


def _data(rows: Sequence[Row], logp_BT: Tensor, adv_BT: Tensor, reduction: Reduction) -> list[Any]:
    lines = zip(rows, logp_BT.tolist(), adv_BT.tolist(), strict=True)
    return [
        make_datum(
            row.ids,
            logprobs=logprobs[: len(row.ids)],
            advantages=[a * _undo(row, len(rows), reduction) for a in advantages[: len(row.ids)]],
        )
        for row, logprobs, advantages in lines
    ]


def _undo(row: Row, n_rows: int, reduction: Reduction) -> float:
    """Return the factor that turns the server's reduction into a sum."""
    return 1.0 if reduction == "sum" else float(n_rows * (len(row.ids) - 1))


def _padded(lines: Sequence[Sequence[float]], batch: Batch) -> Tensor:
    """Return a value of each token of each row, [B, T], 0 off the mask."""
    width = batch.mask_BT.shape[1]
    full_BT = torch.tensor([[*line, *[0.0] * (width - len(line))] for line in lines])
    return torch.where(batch.mask_BT, full_BT, torch.zeros_like(full_BT))


def _ones(row: Row) -> list[float]:
    return [1.0] * len(row.ids)
