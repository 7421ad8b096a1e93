"""Attention of the next token of many rows, in which keys that rows share are read once.

Reading keys takes most of the time of a step. Rows whose prompts begin alike form a cluster; the common beginning is
its trunk, held once, and all rows of the cluster ask it together. The rest of each row is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from verigym.agents.policies.kept_nodes import Nodes
from verigym.agents.prefix_tree import Ints, common
from verigym.agents.tree_attention import AttentionCall

_TRUNK_TOKENS = 16
"""A shorter beginning is not worth a matrix product of its own."""
_PADDED_SLOTS = 4
"""Clusters are padded to one number of rows; not to more than so many slots a row."""


def find_trunks(prompts: Sequence[list[int]], counts: Ints) -> tuple[Ints, Ints]:
    """Cluster sorted, different prompts, of which `counts[i]` rows have the i-th, so that the fewest keys are read.

    Returns the number of each prompt's cluster, -1 for none, and the length of each cluster's trunk.
    """
    arrays = [np.asarray(prompt, dtype=np.int64) for prompt in prompts]
    shared = np.array([0, *(common(a, b) for a, b in pairwise(arrays))])
    # The best cut of the first j prompts: reads spared, and where its last cluster begins.
    spared, begins = np.zeros(len(prompts) + 1, dtype=np.int64), [0]
    trunk_of = [0]
    for j in range(1, len(prompts) + 1):
        length = np.minimum.accumulate([len(arrays[j - 1]), *shared[j - 1 : 0 : -1]])
        rows = np.cumsum(counts[j - 1 :: -1] if j < len(counts) else counts[::-1])
        gain = np.where(length >= _TRUNK_TOKENS, (rows - 1) * length, 0)
        total = spared[j - 1 :: -1][:j] + gain
        best = int(total.argmax())
        spared[j] = total[best]
        begins.append(j - 1 - best)
        trunk_of.append(int(length[best]) if gain[best] else 0)
    lengths: list[int] = []
    cluster = np.full(len(prompts), -1)
    j = len(prompts)
    while j:
        if trunk_of[j]:
            cluster[begins[j] : j] = len(lengths)
            lengths.append(trunk_of[j])
        j = begins[j]
    n = len(lengths)
    cluster = np.where(cluster < 0, -1, n - 1 - cluster)
    size = np.bincount(cluster[cluster >= 0], counts[cluster >= 0], n).max(initial=0)
    if n * size > _PADDED_SLOTS * counts.sum():
        return np.full(len(prompts), -1), np.zeros(0, dtype=np.int64)
    return cluster, np.array(lengths[::-1], dtype=np.int64)


class DecodedRows:
    """A cache of U rows that end at the same place, written in place.

    Keys and values are `trunk` [heads, C, P, width] of the C clusters and `own` [heads, U, places, width] of the rows.
    Both are padded on the left. `end` counts the places of `own` that are written, `prompt` those of prompts.
    """

    read_R = None
    """The output of all rows is read."""

    def __init__(
        self, nodes: Nodes, paths: Sequence[Ints], cluster: Ints, trunks: Ints, room: int
    ) -> None:
        self.cluster = cluster
        begin = np.where(cluster >= 0, np.append(trunks, 0)[cluster], 0)
        first = [int(np.argmax(cluster == c)) for c in range(len(trunks))]
        trunk, trunk_depth = _left([paths[u][:n] for u, n in zip(first, trunks, strict=True)], 0)
        own, own_depth = _left([p[b:] for p, b in zip(paths, begin, strict=True)], room)
        own_depth[own_depth >= 0] += np.broadcast_to(begin[:, None], own_depth.shape)[
            own_depth >= 0
        ]
        none = np.full((1, trunk.shape[1]), -1)
        depth = np.concatenate([np.concatenate([trunk_depth, none])[cluster], own_depth], 1)
        self.end = self.prompt = own.shape[1]
        self.trunk = [tuple(_spread(x, trunk, 0) for x in pair) for pair in nodes.layers]
        self.own = [tuple(_spread(x, own, room) for x in pair) for pair in nodes.layers]
        self.device = nodes.layers[0][0].device
        self.depth_UT = torch.from_numpy(depth).to(self.device)
        self.is_padded = bool((depth < 0).any())
        self.layer = 0
        self._arrange()

    def __len__(self) -> int:
        return len(self.cluster)

    def _arrange(self) -> None:
        """Give each row of a cluster its slot; rows of a cluster have numbers in sequence."""
        n = self.trunk[0][0].shape[1]
        rows = np.flatnonzero(self.cluster >= 0)
        inside = self.cluster[rows]
        counts = np.bincount(inside, minlength=n)
        self.members = int(counts.max(initial=1))
        slots = inside * self.members + np.arange(len(rows)) - (np.cumsum(counts) - counts)[inside]
        # Without gaps the slots are the rows.
        self.is_even = len(rows) == len(self) == n * self.members
        asked = np.zeros(n * self.members, dtype=np.int64)
        asked[slots] = rows
        self.asked, self.rows, self.slots = (
            torch.from_numpy(x).to(self.device) for x in (asked, rows, slots)
        )

    def update(self, key: Tensor, value: Tensor, layer: int, *_: Any, **__: Any) -> Any:
        """Write one token's keys and values [U, heads, 1, width]; they are read in `attend`."""
        for own, new in zip(self.own[layer], (key, value), strict=True):
            own[:, :, self.end] = new[:, :, 0].transpose(0, 1)
        self.layer = layer
        return key, value

    def attend(self, call: AttentionCall) -> Tensor:
        """Return the outputs [U, 1, heads, width] of queries [U, heads, 1, width]."""
        key, value = (x[:, :, : self.end + 1] for x in self.own[self.layer])
        heads, rows, _, width = key.shape
        query = call.query.reshape(rows, heads, -1, width).transpose(0, 1)
        scores = query @ key.transpose(2, 3)
        trunk_key, trunk_value = self.trunk[self.layer]
        n = trunk_key.shape[2]
        if n:
            over = self._slots(query) @ trunk_key.transpose(2, 3)
            scores = torch.cat([self._rows(over, float("-inf")), scores], -1)
        scores = scores * (width**-0.5 if call.scale is None else call.scale)
        if call.cap is not None:
            scores = call.cap * torch.tanh(scores / call.cap)
        if (hidden := self._hidden(call.window, n)) is not None:
            scores = scores.masked_fill(hidden[:, None], float("-inf"))
        weight = scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float32))
        weight = weight.to(value.dtype)
        out = weight[..., n:] @ value
        if n:
            out = out + self._rows(self._slots(weight[..., :n]) @ trunk_value, 0.0)
        return out.transpose(0, 1).reshape(rows, 1, -1, value.shape[-1])

    def _slots(self, x: Tensor) -> Tensor:
        """Return rows [heads, U, shared, ...] by cluster, [heads, C, members * shared, ...]."""
        heads, _, shared, width = x.shape
        x = x if self.is_even else x.index_select(1, self.asked)
        return x.reshape(heads, -1, self.members * shared, width)

    def _rows(self, x: Tensor, fill: float) -> Tensor:
        """Undo `_slots`; rows without a cluster get `fill`."""
        heads, clusters, _, width = x.shape
        x = x.view(heads, clusters * self.members, -1, width)
        if self.is_even:
            return x
        out = x.new_full((heads, len(self), *x.shape[2:]), fill)
        return out.index_copy_(1, self.rows, x.index_select(1, self.slots))

    def _hidden(self, window: int | None, n: int) -> Tensor | None:
        """Return the pairs [U, T] of a row and a key that it does not see, None if there is none."""
        now = n + self.end
        if window is not None and window > now:
            window = None
        if window is None and not self.is_padded:
            return None
        depth_UT = self.depth_UT[:, : now + 1]
        lowest = 0 if window is None else (depth_UT[:, -1:] - window + 1).clamp_min(0)
        return depth_UT < lowest

    def select(self, rows: Ints) -> None:
        """Go on with the rows `rows`, in ascending order; one may stand many times."""
        chosen = torch.from_numpy(rows).to(self.device)
        self.own = [tuple(x.index_select(1, chosen) for x in pair) for pair in self.own]
        self.depth_UT = self.depth_UT[chosen]
        self.cluster = self.cluster[rows]
        live = np.unique(self.cluster[self.cluster >= 0])
        n = self.trunk[0][0].shape[1]
        if n and 2 * len(live) <= n:
            # One trunk stays, if only to have a place: rows without a cluster may go on for long.
            kept = torch.from_numpy(live if len(live) else np.zeros(1, np.int64)).to(self.device)
            self.trunk = [tuple(x.index_select(1, kept) for x in pair) for pair in self.trunk]
            self.cluster = np.where(self.cluster < 0, -1, np.searchsorted(live, self.cluster))
        self._arrange()

    def sampled(self, rows: Ints) -> list[tuple[Tensor, Tensor]]:
        """Return the keys and values [1, heads, R * n, width] of the n tokens after the prompts of R rows."""
        chosen = torch.from_numpy(rows).to(self.device)
        return [
            (
                key[:, :, self.prompt : self.end].index_select(1, chosen).flatten(1, 2)[None],
                value[:, :, self.prompt : self.end].index_select(1, chosen).flatten(1, 2)[None],
            )
            for key, value in self.own
        ]


def _left(paths: Sequence[Ints], room: int) -> tuple[Ints, Ints]:
    """Return paths padded on the left to one length, and the depths of places, with `room` more; -1 as padding."""
    width = max(map(len, paths), default=0)
    nodes = np.zeros((len(paths), width), dtype=np.int64)
    for row, path in zip(nodes, paths, strict=True):
        row[width - len(path) :] = path
    gap = width - np.array([len(path) for path in paths], dtype=np.int64)
    return nodes, np.maximum(np.arange(width + room) - gap[:, None], -1)


def _spread(x: Tensor, at: Ints, room: int) -> Tensor:
    """Return the places `at` [R, T] of x [heads, places, width], with `room` empty ones behind each row."""
    (heads, _, width), (rows, length) = x.shape, at.shape
    out = x.new_empty(heads, rows, length + room, width)
    flat = torch.from_numpy(at.reshape(-1)).to(x.device)
    out[:, :, :length] = x.index_select(1, flat).view(heads, rows, length, width)
    return out
