"""Keys and values of the tokens that a model has read, kept for the next turn of their episodes.

They are nodes of one prefix tree, so what members of a group share is held once. A turn adds its new tokens at
the end; nothing is copied until the room is used up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from verigym.agents.prefix_tree import Ints, common

Key: TypeAlias = tuple[int, ...]
_GROWTH = 1.5


@dataclass(frozen=True)
class Kept:
    """The tokens `ids` that an episode has read, and the node of each."""

    ids: Ints
    path: Ints


class Nodes:
    """Keys and values [heads, places, width] of each layer, of which the first `count` places are nodes."""

    def __init__(self) -> None:
        self.layers: list[tuple[Tensor, Tensor]] = []
        self.count = 0
        self.places = 0

    def reserve(self, n: int) -> None:
        """Have places for `n` more nodes."""
        if self.count + n <= self.places:
            return
        self.places = max(self.count + n, int(_GROWTH * self.places))
        for i, pair in enumerate(self.layers):
            self.layers[i] = self._moved(pair[0], None), self._moved(pair[1], None)

    def keep(self, nodes: Ints) -> None:
        """Drop all nodes but `nodes`, which take the numbers from 0 on."""
        self.count = self.places = len(nodes)
        for i, (key, value) in enumerate(self.layers):
            chosen = torch.from_numpy(nodes).to(key.device)
            self.layers[i] = self._moved(key, chosen), self._moved(value, chosen)

    def _moved(self, x: Tensor, chosen: Tensor | None) -> Tensor:
        out = x.new_empty(x.shape[0], self.places, x.shape[2])
        held = x[:, : self.count] if chosen is None else x.index_select(1, chosen)
        out[:, : self.count] = held
        return out

    def update(self, key: Tensor, value: Tensor, layer: int, *_: Any, **__: Any) -> Any:
        """Write a layer's keys and values [1, heads, n, width] behind the nodes; return those of all."""
        if layer == len(self.layers):
            self.layers.append((self._empty(key), self._empty(value)))
        end = self.count + key.shape[2]
        found = []
        for own, new in zip(self.layers[layer], (key, value), strict=True):
            own[:, self.count : end] = new[0]
            found.append(own[None, :, :end])
        return found

    def _empty(self, x: Tensor) -> Tensor:
        return x.new_empty(x.shape[1], self.places, x.shape[3])


@dataclass
class Memory:
    """Keys and values of the tokens that episodes have read, for their next turn. All is dropped once the weights have changed."""

    kept: dict[Key, Kept] = field(default_factory=dict)
    nodes: Nodes = field(default_factory=Nodes)
    weights: tuple[int, ...] = ()

    def check(self, model: Any) -> None:
        """Forget everything if the model's weights are not those of before."""
        # Every change in place raises the version of a tensor.
        found = tuple(
            x
            for p in model.parameters()
            for x in (p.data_ptr(), 0 if p.is_inference() else p._version)
        )
        if found != self.weights:
            self.kept.clear()
            self.weights = found
        self.tidy()

    def forget(self, key: Key) -> None:
        """Drop what an episode has read; its last turn is over."""
        self.kept.pop(key, None)
        self.tidy()

    def tidy(self) -> None:
        """Give the memory back if no episode goes on."""
        if not self.kept:
            self.nodes = Nodes()

    def find(self, key: Key, prompt: Ints) -> int:
        """Return how many tokens of `prompt` an episode has read, all but the last at most."""
        kept = self.kept.get(key)
        return 0 if kept is None else common(kept.ids, prompt[:-1])

    @torch.inference_mode()
    def reserve(self, n: int) -> None:
        """Have places for `n` more nodes, if need be in those of nodes that no episode has any more."""
        nodes = self.nodes
        if nodes.count + n <= nodes.places:
            return
        used = np.zeros(nodes.count, dtype=bool)
        for kept in self.kept.values():
            used[kept.path] = True
        number = np.cumsum(used) - 1
        if 2 * int(used.sum()) < nodes.count:
            nodes.keep(np.flatnonzero(used))
            for key, kept in self.kept.items():
                self.kept[key] = Kept(kept.ids, number[kept.path])
        nodes.reserve(n)
