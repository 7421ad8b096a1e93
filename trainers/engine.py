"""The one-machine engine: log-probabilities, gradients and optimiser steps on token rows.

It shares its model with the policy that samples, so what is sampled next comes from what was
trained last. AdamW; micro-batches change memory, not the gradient.
"""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor
from transformers import AutoModelForCausalLM

from verigym.agents.engines.sampler import Weights
from verigym.agents.policies.loading import without_progress_bars
from verigym.agents.prefix_tree import count_distinct
from verigym.agents.tree_attention import tree_attention, unfit
from verigym.errors import VerigymError
from verigym.trainers.batch import Batch, Row, TokenStatistics, microbatches
from verigym.trainers.config import AlgorithmSection, TrainSection
from verigym.trainers.head import Head, TokenValues, entropy, squares
from verigym.trainers.loss.aggregate import Denominators, aggregate, trajectory_tokens
from verigym.trainers.loss.compute import DISTIL, Distributions
from verigym.trainers.loss.dpo import dpo_loss
from verigym.trainers.master import MasterAdamW
from verigym.trainers.objective import Objective
from verigym.trainers.reading import Edges, Reading


class DivergedError(VerigymError):
    """The loss or a gradient is not finite; the weights were not touched by it."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Absolute difference in nats between the sampler's and the trainer's log-probabilities of `tokens`
    tokens: root mean square, mean, 99th percentile and maximum."""

    rms: float
    mean: float
    p99: float
    max: float
    tokens: int

    @staticmethod
    def of(differences: Sequence[Tensor]) -> Gap | None:
        """Return the statistics over all differences, None if there are none."""
        if not differences or not (found := torch.cat(list(differences))).numel():
            return None
        found = found.double()
        place = max(1, math.ceil(0.99 * len(found)))
        return Gap(
            rms=float(found.square().mean().sqrt()),
            mean=float(found.mean()),
            p99=float(found.kthvalue(place).values),
            max=float(found.max()),
            tokens=len(found),
        )


@dataclass(frozen=True, kw_only=True)
class StepStats:
    """Statistics of one optimiser step. Means over its sampled tokens, weighted by `n_tokens`.

    `loss` is the objective; `kl` k3 to the reference, 0 without one; `clip_share` of tokens at which
    clipping was in force; `entropy` in nats; `grad_norm` before clipping; `gap` to the sampler over the
    tokens that were read, None if there were none. `computed` is the number of tokens that the model computed
    with a gradient, padding included, and `distinct` the number of tokens after different beginnings.
    """

    loss: float
    kl: float
    clip_share: float
    entropy: float
    grad_norm: float
    n_tokens: int
    gap: Gap | None = None
    computed: int = 0
    distinct: int = 0


@dataclass(frozen=True)
class Part:
    """A micro-batch: its rows as tensors, how the model reads them, and its distinct trained tokens.

    Of a filler nothing is trained: it keeps ranks in step that compute together (sharded.py).
    """

    rows: Sequence[Row]
    batch: Batch
    reading: Reading
    edges: Edges
    is_filler: bool = False


@dataclass(frozen=True, kw_only=True)
class PolicyLoss:
    """The configured objective of reinforcement; `seed` is for its draws."""

    seed: Sequence[int] = (0,)


@dataclass(frozen=True, kw_only=True)
class Imitation:
    """Supervised learning on the masked tokens. `smoothing` of each target's probability is spread evenly
    over `used_ids`."""

    smoothing: float
    used_ids: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class Preference:
    """Direct preference optimisation (`loss/dpo.py`) on rows that are pairs, the better one first.

    `reference` are the rows' log-probabilities under the frozen reference.
    """

    reference: Sequence[float]
    beta: float


class Engine:
    """Trains `model` in place. `temperature` is the one that rows are sampled at; `max_tokens` the most
    tokens that the policy samples at once, the constant of `dr-grpo` unless the algorithm has its own."""

    def __init__(
        self,
        model: Any,
        *,
        pad_id: int,
        temperature: float,
        train: TrainSection,
        algorithm: AlgorithmSection,
        max_tokens: int,
    ) -> None:
        self.model = model
        self.pad_id = pad_id
        self.temperature = temperature
        self.train = train
        self.algorithm = algorithm
        self.max_tokens = algorithm.max_tokens or max_tokens
        self.objective = Objective(algorithm)
        self.reference: Any | None = None
        self.optimizer = self._adamw(train.lr)
        self.head = Head(model, temperature)
        if train.gradient_checkpointing:
            recompute_activations(model)
        self.unshared = unfit(model)
        """Why rows that begin alike are read apart; None if the model reads them as a prefix tree."""
        self._keeps_some = "logits_to_keep" in inspect.signature(model.forward).parameters

    def start_reinforcement(self) -> None:
        """Reset the optimiser, and keep a frozen copy of the model if a KL term needs one."""
        self.optimizer = self._adamw(self.train.lr)
        if self.algorithm.kl_coef > 0:
            self.reference = self._frozen_copy()

    def set_lr(self, lr: float) -> None:
        """Learning rate of the next optimiser steps."""
        for group in self.optimizer.param_groups:
            group["lr"] = lr

    @torch.no_grad()
    def logprobs(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return the log-probability of each token of each row under the current weights; 0 off the mask."""
        return self._per_row(rows, lambda part: self._forward(self.model, part)[0])

    @torch.no_grad()
    def entropies(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return the entropy at each token of each row under the current weights; 0 off the mask."""
        return self._per_row(rows, lambda part: self._forward(self.model, part)[1])

    @torch.no_grad()
    def statistics(self, rows: Sequence[Row]) -> TokenStatistics:
        """Return what estimators that read tokens need, under the current weights."""
        both = self._per_row(
            rows, lambda part: torch.stack(self._placed(self.model, part, squares), dim=-1)
        )
        return TokenStatistics(
            logprobs=[[pair[0] for pair in line] for line in both],
            sum_pi_sq=[[pair[1] for pair in line] for line in both],
        )

    @torch.no_grad()
    def tax(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return kl_coef * k1 to the reference at each token of each row; 0 off the mask.

        k1 = logp - ref with the sampler's log-probabilities estimates KL(policy || reference).
        """
        reference = self._per_row(rows, lambda part: self._forward(self.reference, part)[0])
        return [
            [
                self.algorithm.kl_coef * (own - ref) if on else 0.0
                for own, ref, on in zip(row.logprobs, line, row.mask, strict=True)
            ]
            for row, line in zip(rows, reference, strict=True)
        ]

    def prepare(self, rows: Sequence[Row]) -> list[Row]:
        """Return all rows of a training step as the objective needs them, before the first update."""
        if not self.objective.recomputes:
            return list(rows)
        return self.objective.correct(rows, self.logprobs(rows))

    def train_step(
        self, rows: Sequence[Row], loss: PolicyLoss | Imitation | Preference
    ) -> StepStats:
        """Take one optimiser step on `rows` (a mini-batch)."""
        if isinstance(loss, Imitation):
            return self._imitate(rows, loss)
        if isinstance(loss, Preference):
            return self._prefer(rows, loss)
        return self._reinforce(rows, loss.seed)

    def weights(self, version: int) -> Weights:
        """Return the model's weights under a version number; of LoRA, the adapter. They are not copied."""
        is_adapter = bool(getattr(self.model, "peft_config", None))
        return Weights(
            version=version,
            tensors={
                name: parameter.detach()
                for name, parameter in self.model.named_parameters()
                if parameter.requires_grad or not is_adapter
            },
            save=self.save,
            is_adapter=is_adapter,
        )

    def save(self, folder: Path) -> None:
        """Write the model as a transformers folder; of LoRA the adapter alone."""
        with without_progress_bars():
            self.model.save_pretrained(folder)

    def load(self, folder: Path) -> None:
        """Take the weights of a folder that `save` wrote, bit for bit."""
        with without_progress_bars():
            found = AutoModelForCausalLM.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, dtype=self.model.dtype
            )
        self.model.load_state_dict(found.state_dict())

    def optimizer_state(self) -> dict[str, Any]:
        """Return the optimiser's state for a checkpoint."""
        return self.optimizer.state_dict()

    def load_optimizer_state(self, state: dict[str, Any]) -> None:
        """Take a state that `optimizer_state` returned."""
        self.optimizer.load_state_dict(state)

    def reference_state(self) -> dict[str, Any]:
        """Return the frozen copy's weights for a checkpoint; empty if there is none."""
        return {} if self.reference is None else {"reference": self.reference.state_dict()}

    def load_reference_state(self, state: dict[str, Any]) -> None:
        """Take weights that `reference_state` returned, if there is a frozen copy."""
        if self.reference is not None:
            self.reference.load_state_dict(state["reference"])

    def close(self) -> None:
        """Release what the engine holds outside of this process: nothing here."""

    def _reinforce(self, rows: Sequence[Row], seed: Sequence[int]) -> StepStats:
        whole = self._batch(rows)
        names = whole.trajectory_B.tolist()
        denominators = Denominators.of(whole.mask_BT, max_tokens=self.max_tokens, trajectory=names)
        share_B = trajectory_tokens(whole.mask_BT, names)
        share_of = {id(row): n for row, n in zip(rows, share_B.tolist(), strict=True)}
        rows, marked = self._selected(rows, share_of, seed)
        # A row without advantage has no policy gradient; it still counts in the denominators.
        reference = None if self.algorithm.taxes_rewards else self.reference
        every = reference is not None or self.algorithm.entropy_coef > 0
        live = [row for row in rows if every or any(row.advantage) or row.teacher is not None]
        sums = dict.fromkeys(("loss", "kl", "clipped", "entropy", "seen", "computed"), 0.0)
        gaps: list[Tensor] = []
        self.optimizer.zero_grad(set_to_none=True)
        with self._reading_trees():
            for part in self._parts(live):
                batch = part.batch
                distilled_BT = None
                if not self.objective.loss.distils:
                    logp_BT, entropy_BT = self._forward(self.model, part)
                else:
                    found_EV = self._distribution(self.model, part)
                    logp_BT, entropy_BT = (
                        _place(x_E, part) for x_E in self._chosen(found_EV, part.edges.ids_E)
                    )
                    distilled_BT = self._distilled(part, found_EV)
                ref_BT = None
                if reference is not None:
                    with torch.no_grad():
                        ref_BT = self._forward(reference, part)[0]
                found = self.objective.token_loss(
                    batch,
                    logp_BT,
                    entropy_BT,
                    ref_BT,
                    self._marks(part.rows, marked, batch),
                    distilled_BT,
                )
                loss = aggregate(
                    found.loss_BT,
                    batch.mask_BT,
                    self.algorithm.aggregation_mode,
                    denominators=denominators,
                    trajectory_tokens_B=torch.tensor(
                        [share_of[id(row)] for row in part.rows], device=whole.mask_BT.device
                    ),
                )
                loss.backward()  # type: ignore[no-untyped-call]
                sums["loss"] += loss.item()
                sums["kl"] += float(found.k3_BT.sum())
                sums["clipped"] += float(found.clipped_BT.sum())
                sums["entropy"] += float((entropy_BT.detach() * batch.mask_BT).sum())
                own_BT = batch.mask_BT & ~batch.demonstration_B[:, None]
                gaps.append((logp_BT.detach() - batch.rollout_BT).abs()[own_BT])
                sums["seen"] += int(batch.mask_BT.sum())
                sums["computed"] += part.reading.computed
        sums, gaps = self._over_ranks(sums, gaps)
        seen = max(sums["seen"], 1)
        grad_norm = self._step() if live else 0.0
        return StepStats(
            loss=sums["loss"],
            kl=sums["kl"] / seen,
            clip_share=sums["clipped"] / seen,
            entropy=sums["entropy"] / seen,
            grad_norm=grad_norm,
            n_tokens=denominators.tokens,
            gap=Gap.of(gaps),
            computed=int(sums["computed"]),
            distinct=count_distinct([row.ids for row in live]),
        )

    def _selected(
        self, rows: Sequence[Row], share_of: dict[int, int], seed: Sequence[int]
    ) -> tuple[Sequence[Row], dict[int, list[bool]]]:
        """Return the rows with the tokens that this mini-batch drops, and those that are marked."""
        if not self.objective.ranks_tokens:
            return rows, {}
        with torch.no_grad():
            both = self._per_row(
                rows, lambda part: torch.stack(self._forward(self.model, part), dim=-1)
            )
        selected, marks = self.objective.select(
            rows,
            [[pair[0] for pair in line] for line in both],
            [[pair[1] for pair in line] for line in both],
            seed,
        )
        for before, after in zip(rows, selected, strict=True):
            share_of[id(after)] = share_of[id(before)]
        if marks is None:
            return selected, {}
        return selected, {id(row): line for row, line in zip(selected, marks, strict=True)}

    @staticmethod
    def _marks(part: Sequence[Row], marked: dict[int, list[bool]], batch: Batch) -> Tensor | None:
        if not marked:
            return None
        width = batch.mask_BT.shape[1]
        lines = [marked[id(row)][:width] for row in part]
        full = [[*line, *[False] * (width - len(line))] for line in lines]
        return torch.tensor(full, device=batch.mask_BT.device)

    def _per_row(self, rows: Sequence[Row], compute: Callable[[Part], Tensor]) -> list[list[Any]]:
        """Return `compute` [B, T, ...] for each row, in the rows' order, without its padding."""
        place = {id(row): i for i, row in enumerate(rows)}
        out: dict[int, list[Any]] = {}
        with self._reading_trees():
            for part in self._parts(rows):
                lines = compute(part).tolist()
                if part.is_filler:
                    continue
                for row, line in zip(part.rows, lines, strict=True):
                    out[place[id(row)]] = line[: len(row.ids)]
        out = self._all_rows(out)
        return [out[place[id(row)]] for row in rows]

    def _over_ranks(
        self, sums: dict[str, float], gaps: list[Tensor]
    ) -> tuple[dict[str, float], list[Tensor]]:
        """Return sums and gaps over all processes that share the rows."""
        return sums, gaps

    def _all_rows(self, lines: dict[int, list[Any]]) -> dict[int, list[Any]]:
        """Return the lines of all rows by their place, from the processes that share them."""
        return lines

    def _imitate(self, rows: Sequence[Row], imitation: Imitation) -> StepStats:
        """Mean cross-entropy in nats with label smoothing.

        Source: Szegedy et al. 2016, arXiv 1512.00567, section 7.
        """
        smoothing = imitation.smoothing
        denominators = Denominators.of(self._batch(rows).mask_BT)
        used = torch.tensor(imitation.used_ids, device=self.model.device)

        def target_and_spread(logp_NV: Tensor, ids_N: Tensor) -> tuple[Tensor, Tensor]:
            return logp_NV.gather(-1, ids_N[:, None])[:, 0], logp_NV[:, used].mean(-1)

        total = 0.0
        self.optimizer.zero_grad(set_to_none=True)
        with self._reading_trees():
            for part in self._parts(rows):
                target_BT, spread_BT = self._placed(self.model, part, target_and_spread)
                loss = aggregate(
                    -(1 - smoothing) * target_BT - smoothing * spread_BT,
                    part.batch.mask_BT,
                    "token-mean",
                    denominators=denominators,
                )
                loss.backward()  # type: ignore[no-untyped-call]
                total += loss.item()
        return StepStats(
            loss=self._over_ranks({"loss": total}, [])[0]["loss"],
            kl=0.0,
            clip_share=0.0,
            entropy=0.0,
            grad_norm=self._step(),
            n_tokens=denominators.tokens,
        )

    def _prefer(self, rows: Sequence[Row], preference: Preference) -> StepStats:
        """Mean of `dpo_loss` over pairs of rows.

        The gradient goes through the loss to the rows' sums first and from there to the tokens, so micro-batches may
        part a pair.
        """
        options = {"dtype": torch.float64, "device": self.model.device}
        sums = [sum(line) for line in self.logprobs(rows)]
        sums_P2 = torch.tensor(sums, **options).reshape(-1, 2).requires_grad_()
        reference_P2 = torch.tensor(preference.reference, **options).reshape(-1, 2)
        (better_P, worse_P), (was_better_P, was_worse_P) = sums_P2.T, reference_P2.T
        loss = dpo_loss(better_P, worse_P, was_better_P, was_worse_P, preference.beta).mean()
        (slope_P2,) = torch.autograd.grad(loss, sums_P2)
        slope_of = dict(zip(map(id, rows), slope_P2.flatten().tolist(), strict=True))
        self.optimizer.zero_grad(set_to_none=True)
        with self._reading_trees():
            for part in self._parts(rows):
                slope_B = torch.tensor([slope_of[id(row)] for row in part.rows], **options)
                logp_BT = self._forward(self.model, part)[0]
                (logp_BT * slope_B[:, None]).sum().backward()  # type: ignore[no-untyped-call]
        return StepStats(
            loss=loss.item(),
            kl=0.0,
            clip_share=0.0,
            entropy=0.0,
            grad_norm=self._step(),
            n_tokens=sum(map(sum, (row.mask for row in rows))),
        )

    def _batch(self, rows: Sequence[Row]) -> Batch:
        return Batch.of(rows, self.pad_id, self.model.device)

    def _parts(self, rows: Sequence[Row]) -> Iterator[Part]:
        """Yield the micro-batches of `rows`."""
        tree = self.unshared is None
        limit = self.train.microbatch_tokens
        for part in microbatches(rows, limit, self.model.device, tree=tree):
            yield self._part(part)

    def _part(self, rows: Sequence[Row]) -> Part:
        batch = self._batch(rows)
        ids = [row.ids for row in rows]
        reading = Reading.of(
            ids,
            self.pad_id,
            self.model.device,
            tree=self.unshared is None,
            mask_BT=batch.mask_BT,
        )
        return Part(rows, batch, reading, reading.edges(batch.ids_BT, batch.mask_BT))

    def _reading_trees(self) -> AbstractContextManager[None]:
        if self.unshared is not None:
            return nullcontext()
        models = [self.model] if self.reference is None else [self.model, self.reference]
        return tree_attention(*models)

    def _hidden(self, model: Any, part: Part) -> Tensor:
        """Return the hidden states [E, D] that predict the trained tokens."""
        hidden: Tensor = model.base_model(**part.reading.inputs).last_hidden_state.flatten(0, 1)
        return torch.nn.functional.embedding(part.edges.before_E, hidden)

    def _distribution(self, model: Any, part: Part) -> Tensor:
        """Return the log-probabilities [E, V] at the distinct trained tokens."""
        if self.head.fits:
            return self.head.distribution(model, self._hidden(model, part))
        inputs, before_E = part.reading.inputs, part.edges.before_E
        width = inputs["input_ids"].shape[1]
        # Logits only where some row has a token to train: for step rows that is the tail.
        column_P, at_E = torch.unique(before_E % width, return_inverse=True)
        if self._keeps_some:
            logits_BPV = model(**inputs, logits_to_keep=column_P).logits
        else:
            logits_BPV = model(**inputs).logits[:, column_P]
        logits_EV = logits_BPV[before_E // width, at_E]
        logp_EV: Tensor = (logits_EV.float() / self.temperature).log_softmax(-1)
        return logp_EV

    def _placed(self, model: Any, part: Part, values: TokenValues) -> tuple[Tensor, ...]:
        """Return `values` of the trained tokens, each [B, T] and 0 off the mask."""
        if self.head.fits:
            found = self.head.over_chunks(
                model, self._hidden(model, part), part.edges.ids_E, values
            )
        else:
            found = values(self._distribution(model, part), part.edges.ids_E)
        return tuple(_place(x_E, part) for x_E in found)

    def _chosen(self, logp_NV: Tensor, ids_N: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy. The entropy has a gradient if the bonus is on."""
        return entropy(logp_NV, ids_N, gradient=self.algorithm.entropy_coef > 0)

    def _forward(self, model: Any, part: Part) -> tuple[Tensor, Tensor]:
        """Return the log-probability of each token given what is before it, and the entropy there, both
        [B, T] and 0 off the mask."""
        logp_BT, entropy_BT = self._placed(model, part, self._chosen)
        return logp_BT, entropy_BT

    def _distilled(self, part: Part, logp_EV: Tensor) -> Tensor:
        """Return the distillation loss of each token, [B, T]; 0 on rows without a teacher."""
        batch = part.batch
        loss_BT = torch.zeros(batch.mask_BT.shape, dtype=logp_EV.dtype, device=logp_EV.device)
        taught_B = torch.tensor(
            [row.teacher is not None for row in part.rows], device=logp_EV.device
        )
        on_BT = batch.mask_BT & taught_B[:, None]
        if not bool(on_BT.any()):
            return loss_BT
        shown = self._part([_after_teacher(row) for row in part.rows if row.teacher is not None])
        with torch.no_grad():
            teacher_EV = self._distribution(self.model, shown)
        loss_N = DISTIL[self.algorithm.loss_name](
            Distributions(
                student_NV=logp_EV[part.edges.edge_M[taught_B[batch.mask_BT.nonzero()[:, 0]]]],
                teacher_NV=teacher_EV[shown.edges.edge_M],
                ids_N=batch.ids_BT[on_BT],
                old_N=batch.old_BT[on_BT],
            ),
            self.objective.options,
        )
        return loss_BT.masked_scatter(on_BT, loss_N)

    def _frozen_copy(self) -> Any:
        return copy.deepcopy(self.model).requires_grad_(False)

    def _step(self) -> float:
        parameters = [p for p in self.model.parameters() if p.grad is not None]
        found = torch.nn.utils.clip_grad_norm_(parameters, self.train.max_grad_norm)
        norm = float(found.full_tensor() if isinstance(found, DTensor) else found)
        if not norm < float("inf"):
            self.optimizer.zero_grad(set_to_none=True)
            raise DivergedError(
                f"the gradient's norm is {norm}; lower train.lr, or look at the last transcripts for "
                "rewards or log-probabilities that are not finite"
            )
        self.optimizer.step()
        return norm

    def _adamw(self, lr: float) -> torch.optim.AdamW | MasterAdamW:
        trained = [p for p in self.model.parameters() if p.requires_grad]
        kind = MasterAdamW if any(p.dtype != torch.float32 for p in trained) else torch.optim.AdamW
        return kind(trained, lr=lr, betas=(0.9, 0.95), weight_decay=self.train.weight_decay)


def recompute_activations(model: Any) -> None:
    """Keep no activations inside layers for the backward pass. Models do so only in training mode, so dropout
    is switched off for good: it would part the trainer's log-probabilities from the sampler's."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if hasattr(module, "attention_dropout"):
            module.attention_dropout = 0.0
    if hasattr(model, "activation_checkpointing_enable"):
        model.activation_checkpointing_enable({"use_reentrant": False})
    else:  # the name in older transformers
        model.gradient_checkpointing_enable({"use_reentrant": False})
    model.train()


def _after_teacher(row: Row) -> Row:
    """Return the row as the teacher reads it: its ids after those that it is shown."""
    assert row.teacher is not None
    n = len(row.teacher)
    zeros = [0.0] * n
    return replace(
        row,
        ids=[*row.teacher, *row.ids],
        mask=[*[0] * n, 0, *row.mask[1:]],
        logprobs=[*zeros, *row.logprobs],
        turn=[*[-1] * n, *row.turn],
        advantage=[*zeros, *row.advantage],
        old=[*zeros, *row.old],
        weight=None,
        dropped=None,
        answer=0,
    )


def _place(x_E: Tensor, part: Part) -> Tensor:
    """Return the values of distinct tokens at every row's tokens, [B, T]; 0 off the mask."""
    mask_BT = part.batch.mask_BT
    zero_BT = torch.zeros(mask_BT.shape, dtype=x_E.dtype, device=x_E.device)
    return zero_BT.masked_scatter(mask_BT, x_E[part.edges.edge_M])
