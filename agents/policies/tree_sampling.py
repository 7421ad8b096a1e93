"""Sampling for which a model computes each distinct token once.

Prompts that begin alike are read as a prefix tree, what an episode has computed in its last turn is kept for the
next, and rows that have sampled the same tokens after the same prompt go on as one until they part. Rows that end
leave the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from verigym.agents.prefix_tree import Ints, common, pack
from verigym.agents.tree_attention import tree_attention, tree_inputs

Key: TypeAlias = tuple[int, ...]
Pick: TypeAlias = Callable[[Tensor, Tensor | None], tuple[Tensor, Tensor]]
# Rows that have ended are computed on while they are fewer than one in so many: it spares copying the cache.
_DEAD_SHARE = 10


@dataclass(frozen=True)
class Kept:
    """Keys and values [heads, T, width] of each layer after the T tokens `ids`."""

    ids: Ints
    layers: list[tuple[Tensor, Tensor]]


@dataclass
class Memory:
    """Caches of episodes, for their next turn. All are dropped once the weights have changed.

    An episode's own cache is the only one that it reads, so what it samples does not depend on the order in
    which batches run.
    """

    kept: dict[Key, Kept] = field(default_factory=dict)
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

    def find(self, key: Key, prompt: Ints) -> tuple[int, Kept | None]:
        """Return how many tokens of `prompt` an episode's cache holds, all but the last at most."""
        kept = self.kept.get(key)
        return (0, None) if kept is None else (common(kept.ids, prompt[:-1]), kept)


class _Nodes:
    """A cache that holds the nodes known before, and takes those of one pass; [1, heads, nodes, width]."""

    def __init__(self, known: list[tuple[Tensor, Tensor]]) -> None:
        self.layers = known
        self.has_known = bool(known)

    def update(self, key: Tensor, value: Tensor, layer: int, *_: Any, **__: Any) -> Any:
        """Add a layer's keys and values; return those of all nodes."""
        if self.has_known:
            both = self.layers[layer]
            key, value = torch.cat([both[0], key], 2), torch.cat([both[1], value], 2)
            self.layers[layer] = key, value
        else:
            self.layers.append((key, value))
        return key, value


class _Rows:
    """A cache of U rows that end at the same place, written in place. Tensors are [heads, U, places, width]."""

    def __init__(self, nodes: _Nodes, at_UT: Tensor, room: int) -> None:
        self.end = at_UT.shape[1]
        self.layers = [
            (self._spread(key, at_UT, room), self._spread(value, at_UT, room))
            for key, value in nodes.layers
        ]

    @staticmethod
    def _spread(x: Tensor, at_UT: Tensor, room: int) -> Tensor:
        (_, heads, _, width), (rows, length) = x.shape, at_UT.shape
        out = x.new_empty(heads, rows, length + room, width)
        out[:, :, :length] = (
            x[0].index_select(1, at_UT.reshape(-1)).view(heads, rows, length, width)
        )
        return out

    def update(self, key: Tensor, value: Tensor, layer: int, *_: Any, **__: Any) -> Any:
        """Write one token's keys and values [U, heads, 1, width]; return those of all places."""
        found = []
        for own, new in zip(self.layers[layer], (key, value), strict=True):
            own[:, :, self.end] = new[:, :, 0].transpose(0, 1)
            found.append(own[:, :, : self.end + 1].transpose(0, 1))
        return found

    def select(self, rows: Tensor) -> None:
        """Go on with the rows `rows`."""
        self.layers = [(k.index_select(1, rows), v.index_select(1, rows)) for k, v in self.layers]

    def copy(self, row: int, start: int) -> list[tuple[Tensor, Tensor]]:
        """Return the keys and values of a row from place `start` on."""
        return [
            (k[:, row, start : self.end].clone(), v[:, row, start : self.end].clone())
            for k, v in self.layers
        ]


@dataclass
class _Step:
    """The attention of one token for each row; `mask_UT` is 0 or minus infinity, None if all is seen."""

    mask_UT: Tensor | None

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scale: float | None,
        window: int | None,
        cap: float | None,
    ) -> Tensor:
        """Return the outputs [U, 1, heads, width] of queries [U, heads, 1, width]."""
        rows, heads, _, width = query.shape
        query = query.reshape(rows, key.shape[1], -1, width)
        mask = None if self.mask_UT is None else self.mask_UT[:, None, None, : key.shape[2]]
        if window is not None and window < key.shape[2]:
            key, value = key[:, :, -window:], value[:, :, -window:]
            mask = None if mask is None else mask[..., -window:]
        if cap is None:
            out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)
        else:
            scores = query @ key.transpose(2, 3) * (width**-0.5 if scale is None else scale)
            scores = cap * torch.tanh(scores / cap)
            scores = scores if mask is None else scores + mask
            out = scores.softmax(-1, dtype=torch.float32).to(value.dtype) @ value
        return out.reshape(rows, 1, heads, -1)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request to sample: its prompt, its uniforms (None to be greedy), its own limit of tokens, and the
    episode whose next prompt may begin with this one and its answer (None if none)."""

    prompt: list[int]
    draws: NDArray[np.float64] | None
    room: int
    episode: Key | None = None


@torch.inference_mode()
def sample(
    model: Any,
    asked: Sequence[Asked],
    memory: Memory,
    pick: Pick,
    ends: frozenset[int],
    pad_id: int,
) -> tuple[list[tuple[list[int], list[float]]], int]:
    """Return ids and log-probabilities for each request, and the number of tokens that the model computed."""
    with tree_attention(model):
        return _sample(model, asked, memory, pick, ends, pad_id)


def _sample(
    model: Any,
    asked: Sequence[Asked],
    memory: Memory,
    pick: Pick,
    ends: frozenset[int],
    pad_id: int,
) -> tuple[list[tuple[list[int], list[float]]], int]:
    device = model.device
    numbers: dict[tuple[int, ...], int] = {}
    row_B = np.array([numbers.setdefault(tuple(one.prompt), len(numbers)) for one in asked])
    prompts = [list(prompt) for prompt in numbers]
    limit = max(one.room for one in asked)
    logits_UV, rows, n_computed = _read(model, asked, prompts, row_B, memory, limit)
    width = rows.end
    lengths = np.array([len(prompt) for prompt in prompts])
    start_B = (width - lengths)[row_B]
    length_U = torch.from_numpy(lengths).to(device)
    mask_UT = _mask(width, length_U, limit, logits_UV.dtype) if (lengths < width).any() else None

    uniforms = None if asked[0].draws is None else np.stack([one.draws for one in asked])  # type: ignore[misc]
    room_B = np.array([one.room for one in asked])
    ends_N = np.array(sorted(ends))
    live = np.arange(len(asked))
    out_BN = np.zeros((len(asked), limit), dtype=np.int64)
    logp_BN = np.zeros((len(asked), limit), dtype=np.float32)
    size_B = np.zeros(len(asked), dtype=np.int64)
    for step in range(limit):
        at_B = row_B[live]
        if len(at_B) != len(logits_UV) or (at_B != np.arange(len(at_B))).any():
            logits_UV = logits_UV[torch.from_numpy(at_B).to(device)]
        draw = None if uniforms is None else torch.from_numpy(uniforms[live, step]).to(device)
        token_T, logp_T = pick(logits_UV, draw)
        token_B = token_T.cpu().numpy()
        out_BN[live, step], logp_BN[live, step] = token_B, logp_T.cpu().numpy()
        size_B[live] = step + 1
        alive = ~np.isin(token_B, ends_N) & (room_B[live] > step + 1)
        for b in live[~alive]:
            if (episode := asked[b].episode) is not None:
                ids = np.array([*asked[b].prompt, *out_BN[b, :step]], dtype=np.int64)
                memory.kept[episode] = Kept(ids, rows.copy(int(row_B[b]), int(start_B[b])))
        if not alive.any():
            break
        live, token_B = live[alive], token_B[alive]
        # Rows that sampled alike so far go on as one.
        n_rows = rows.layers[0][0].shape[1]
        pairs, branch_B = np.unique(np.stack([row_B[live], token_B]), axis=1, return_inverse=True)
        source_U, fed_U = pairs
        if (
            len(set(source_U.tolist())) < len(source_U)
            or n_rows - len(source_U) > n_rows // _DEAD_SHARE
        ):
            chosen = torch.from_numpy(source_U).to(device)
            rows.select(chosen)
            mask_UT = None if mask_UT is None else mask_UT[chosen]
            length_U = length_U[chosen]
            row_B[live] = branch_B.reshape(-1)
        elif len(source_U) < n_rows:
            fed_U = np.full(n_rows, pad_id)
            fed_U[source_U] = pairs[1]
        n_computed += len(fed_U)
        logits_UV = model(
            input_ids=torch.from_numpy(np.ascontiguousarray(fed_U))[:, None].to(device),
            position_ids=(length_U + step)[:, None],
            past_key_values=rows,
            use_cache=True,
            tree=_Step(mask_UT),
        ).logits[:, -1]
        rows.end += 1
    made = [
        (ids[:size], logp[:size])
        for ids, logp, size in zip(out_BN.tolist(), logp_BN.tolist(), size_B.tolist(), strict=True)
    ]
    return made, n_computed


def _read(
    model: Any,
    asked: Sequence[Asked],
    prompts: list[list[int]],
    row_B: NDArray[np.int64],
    memory: Memory,
    room: int,
) -> tuple[Tensor, _Rows, int]:
    """Read U different prompts; return the logits [U, V] after them, their cache, and the tokens computed."""
    device = model.device
    found: list[tuple[int, Kept | None]] = [(0, None)] * len(prompts)
    for one, row in zip(asked, row_B.tolist(), strict=True):
        if one.episode is not None and found[row][1] is None:
            found[row] = memory.find(one.episode, np.asarray(one.prompt, dtype=np.int64))
    known, first = [], 0
    for n, _ in found:
        known.append(np.arange(first, first + n))
        first += n
    pool: list[tuple[Tensor, Tensor]] = []
    held = [(n, kept.layers) for n, kept in found if kept is not None and n]
    if held:
        pool = [
            (
                torch.cat([layers[layer][0][:, :n] for n, layers in held], 1)[None],
                torch.cat([layers[layer][1][:, :n] for n, layers in held], 1)[None],
            )
            for layer in range(len(held[0][1]))
        ]
    packed = pack(prompts, known, first)
    nodes = _Nodes(pool)
    last = torch.tensor([int(path[-1]) - first for path in packed.paths], device=device)
    inputs = {**tree_inputs(packed, device), "use_cache": True, "past_key_values": nodes}
    logits_UV = model(**inputs, logits_to_keep=last).logits[0]
    width = max(map(len, prompts))
    at_UT = np.zeros((len(prompts), width), dtype=np.int64)
    for row, path in enumerate(packed.paths):
        at_UT[row, width - len(path) :] = path
    rows = _Rows(nodes, torch.from_numpy(at_UT).to(device), room)
    return logits_UV, rows, len(packed.ids)


def _mask(width: int, length_U: Tensor, room: int, dtype: torch.dtype) -> Tensor:
    at_T = torch.arange(width + room, device=length_U.device)
    hidden_UT = at_T < (width - length_U)[:, None]
    zeros = torch.zeros(hidden_UT.shape, dtype=dtype, device=length_U.device)
    return zeros.masked_fill(hidden_UT, float("-inf"))
