"""Forward passes of the one-machine engine: log-probabilities and entropies of token rows, in micro-batches.

Micro-batches change memory, not the result. Rows that begin alike are read together as a prefix tree, if the model
can be read so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from verigym.agents.tree_attention import tree_attention, unfit
from verigym.trainers.batch import Batch, Row, TokenStatistics, microbatches
from verigym.trainers.config import AlgorithmSection, TrainSection
from verigym.trainers.head import Head, TokenValues, entropy, squares
from verigym.trainers.reading import BodyInputs, Edges


@dataclass(frozen=True)
class MicroBatch:
    """A micro-batch: its rows as tensors, how the model reads them, and its distinct trained tokens.

    Of a filler nothing is trained: it keeps ranks in step that compute together (sharded.py).
    """

    rows: Sequence[Row]
    batch: Batch
    reading: BodyInputs
    edges: Edges
    is_filler: bool = False


class ForwardEngine:
    """Computes log-probabilities of rows under `model`. `temperature` is the one that rows are sampled at."""

    def __init__(
        self,
        model: Any,
        *,
        pad_id: int,
        temperature: float,
        train: TrainSection,
        algorithm: AlgorithmSection,
    ) -> None:
        self.model = model
        self.pad_id = pad_id
        self.temperature = temperature
        self.train = train
        self.algorithm = algorithm
        self.reference: Any | None = None
        self.head = Head(model, temperature)
        self.unshared = unfit(model)
        """Why rows that begin alike are read apart; None if the model reads them as a prefix tree."""
        self._keeps_some = "logits_to_keep" in inspect.signature(model.forward).parameters

    @torch.no_grad()
    def logprobs(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return the log-probability of each token of each row under the current weights; 0 off the mask."""
        return self.per_row(rows, lambda part: self.forward(self.model, part)[0])

    @torch.no_grad()
    def entropies(self, rows: Sequence[Row]) -> list[list[float]]:
        """Return the entropy at each token of each row under the current weights; 0 off the mask."""
        return self.per_row(rows, lambda part: self.forward(self.model, part)[1])

    @torch.no_grad()
    def statistics(self, rows: Sequence[Row]) -> TokenStatistics:
        """Return what estimators that read tokens need, under the current weights."""
        both = self.per_row(
            rows, lambda part: torch.stack(self.placed(self.model, part, squares), dim=-1)
        )
        return TokenStatistics(
            logprobs=[[pair[0] for pair in line] for line in both],
            sum_pi_sq=[[pair[1] for pair in line] for line in both],
        )

    def per_row(
        self, rows: Sequence[Row], compute: Callable[[MicroBatch], Tensor]
    ) -> list[list[Any]]:
        """Return `compute` [B, T, ...] for each row, in the rows' order, without its padding."""
        place = {id(row): i for i, row in enumerate(rows)}
        out: dict[int, list[Any]] = {}
        with self.reading_trees():
            for part in self.parts(rows):
                lines = compute(part).tolist()
                if part.is_filler:
                    continue
                for row, line in zip(part.rows, lines, strict=True):
                    out[place[id(row)]] = line[: len(row.ids)]
        out = self.all_rows(out)
        return [out[place[id(row)]] for row in rows]

    def forward(self, model: Any, part: MicroBatch) -> tuple[Tensor, Tensor]:
        """Return the log-probability of each token given what is before it, and the entropy there, both
        [B, T] and 0 off the mask."""
        logp_BT, entropy_BT = self.placed(model, part, self.chosen)
        return logp_BT, entropy_BT

    def placed(self, model: Any, part: MicroBatch, values: TokenValues) -> tuple[Tensor, ...]:
        """Return `values` of the trained tokens, each [B, T] and 0 off the mask."""
        if self.head.fits:
            found = self.head.over_chunks(
                model, self._hidden(model, part), part.edges.ids_E, values
            )
        else:
            found = values(self.distribution(model, part), part.edges.ids_E)
        return tuple(place(x_E, part) for x_E in found)

    def distribution(self, model: Any, part: MicroBatch) -> Tensor:
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

    def _hidden(self, model: Any, part: MicroBatch) -> Tensor:
        """Return the hidden states [E, D] that predict the trained tokens."""
        hidden: Tensor = model.base_model(**part.reading.inputs).last_hidden_state.flatten(0, 1)
        return torch.nn.functional.embedding(part.edges.before_E, hidden)

    def chosen(self, logp_NV: Tensor, ids_N: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy. The entropy has a gradient if the bonus is on."""
        return entropy(logp_NV, ids_N, gradient=self.algorithm.entropy_coef > 0)

    def parts(self, rows: Sequence[Row]) -> Iterator[MicroBatch]:
        """Yield the micro-batches of `rows`."""
        tree = self.unshared is None
        limit = self.train.microbatch_tokens
        for part in microbatches(rows, limit, self.model.device, tree=tree):
            yield self.part(part)

    def part(self, rows: Sequence[Row]) -> MicroBatch:
        batch = self.batch(rows)
        ids = [row.ids for row in rows]
        reading = BodyInputs.of(
            ids,
            self.pad_id,
            self.model.device,
            tree=self.unshared is None,
            mask_BT=batch.mask_BT,
        )
        return MicroBatch(rows, batch, reading, reading.edges(batch.ids_BT, batch.mask_BT))

    def batch(self, rows: Sequence[Row]) -> Batch:
        return Batch.of(rows, self.pad_id, self.model.device)

    def reading_trees(self) -> AbstractContextManager[None]:
        if self.unshared is not None:
            return nullcontext()
        models = [self.model] if self.reference is None else [self.model, self.reference]
        return tree_attention(*models)

    def over_ranks(
        self, sums: dict[str, float], gaps: list[Tensor]
    ) -> tuple[dict[str, float], list[Tensor]]:
        """Return sums and gaps over all processes that share the rows."""
        return sums, gaps

    def all_rows(self, lines: dict[int, list[Any]]) -> dict[int, list[Any]]:
        """Return the lines of all rows by their place, from the processes that share them."""
        return lines


def place(x_E: Tensor, part: MicroBatch) -> Tensor:
    """Return the values of distinct tokens at every row's tokens, [B, T]; 0 off the mask."""
    mask_BT = part.batch.mask_BT
    zero_BT = torch.zeros(mask_BT.shape, dtype=x_E.dtype, device=x_E.device)
    return zero_BT.masked_scatter(mask_BT, x_E[part.edges.edge_M])
