"""Layouts of a micro-batch for a model: a prefix tree, each distinct token once, or padded rows.

Both give hidden states by place; `edges` says which of them predict a trained token. Rows that share a
beginning share its places, so an equal token after an equal beginning is one edge, however many rows have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from verigym.agents.prefix_tree import count_distinct, cut, pack
from verigym.agents.tree_attention import tree_inputs

_SMALL_TOKENS = 2048
"""A pass over so many tokens keeps a processor busy."""
LARGE_TOKENS = 16384
_REPEATED_SHARE = 1.05
"""Small micro-batches may compute beginnings again, but not more tokens than this, relative to distinct ones."""


@dataclass(frozen=True)
class Edges:
    """E distinct trained tokens: `ids_E`, the place `before_E` that predicts each, and the edge `edge_M` of
    each of the M trained tokens of all rows, in the rows' order."""

    ids_E: Tensor
    before_E: Tensor
    edge_M: Tensor


@dataclass(frozen=True)
class BodyInputs:
    """`inputs` of a model's body, and the place of each row's token in its flattened output, `place_BT`.

    `computed` is the number of tokens that the body computes, padding included.
    """

    inputs: dict[str, Any]
    place_BT: Tensor
    computed: int

    @staticmethod
    def of(
        rows: Sequence[list[int]],
        pad_id: int,
        device: torch.device,
        *,
        tree: bool,
        mask_BT: Tensor | None = None,
    ) -> BodyInputs:
        """Lay out `rows` of ids. Only outputs that predict the tokens of `mask_BT` are read, all if it is None."""
        width = max(map(len, rows))
        if tree:
            packed = pack(rows)
            place = np.zeros((len(rows), width), dtype=np.int64)
            for i, path in enumerate(packed.paths):
                place[i, : len(path)] = path
            read = (
                None if mask_BT is None else np.unique(place[:, :-1][mask_BT.cpu().numpy()[:, 1:]])
            )
            inputs = tree_inputs(packed, device, read)
            return BodyInputs(inputs, torch.from_numpy(place).to(device), len(packed.ids))
        padded = [[*row, *[pad_id] * (width - len(row))] for row in rows]
        ids_BT = torch.tensor(padded, device=device)
        length_B = torch.tensor([len(row) for row in rows], device=device)
        attention_BT = (torch.arange(width, device=device) < length_B[:, None]).long()
        place_BT = torch.arange(ids_BT.numel(), device=device).view_as(ids_BT)
        inputs = {"input_ids": ids_BT, "attention_mask": attention_BT}
        return BodyInputs(inputs, place_BT, ids_BT.numel())

    def edges(self, ids_BT: Tensor, mask_BT: Tensor) -> Edges:
        """Return the distinct tokens of `ids_BT` where `mask_BT` is True. The first of a row never is."""
        after_M = self.place_BT[mask_BT]
        before_M = self.place_BT[:, :-1][mask_BT[:, 1:]]
        nodes_E, edge_M = torch.unique(after_M, return_inverse=True)
        # Rows that share an edge write the same values to it.
        ids_E = torch.empty_like(nodes_E).scatter_(0, edge_M, ids_BT[mask_BT])
        before_E = torch.empty_like(nodes_E).scatter_(0, edge_M, before_M)
        return Edges(ids_E, before_E, edge_M)


def split(
    rows: Sequence[list[int]], max_tokens: int | None, device: torch.device, *, tree: bool
) -> list[list[int]]:
    """Return the indices of the rows of each micro-batch: at most `max_tokens` distinct or padded tokens.

    A longer row is a micro-batch of its own. The split changes no gradient: denominators are global. None takes
    large micro-batches on a GPU, and on a processor the smallest that hardly compute a token twice: they need less
    memory, and stay in its caches.
    """
    if max_tokens is None and device.type == "cpu":
        return _small_parts(rows, tree=tree)
    limit = LARGE_TOKENS if max_tokens is None else max_tokens
    return cut(rows, limit) if tree else _padded(rows, limit)


def _small_parts(rows: Sequence[list[int]], *, tree: bool) -> list[list[int]]:
    if not tree:
        return _padded(rows, _SMALL_TOKENS)
    allowed, limit = _REPEATED_SHARE * count_distinct(rows), _SMALL_TOKENS
    parts = cut(rows, limit)
    while limit < LARGE_TOKENS and _computed(rows, parts) > allowed:
        limit *= 2
        parts = cut(rows, limit)
    return parts


def _computed(rows: Sequence[list[int]], parts: Sequence[Sequence[int]]) -> int:
    return sum(count_distinct([rows[i] for i in part]) for part in parts)


def _padded(rows: Sequence[list[int]], max_tokens: int) -> list[list[int]]:
    parts: list[list[int]] = []
    for i in sorted(range(len(rows)), key=lambda i: len(rows[i])):
        if not parts or (len(parts[-1]) + 1) * len(rows[i]) > max_tokens:
            parts.append([])
        parts[-1].append(i)
    return parts
