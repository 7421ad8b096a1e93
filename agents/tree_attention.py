"""Attention in which each token of a prefix tree sees its ancestors alone, for transformers' models.

All nodes of a tree go through the linear layers as one sequence without padding. Only attention is computed
by row: the nodes that a row owns ask the keys of the row's path. Keys and values of shared nodes are gathered,
not computed, again. The result equals reading each row by itself, gradients included.

Behind the last layer's keys only the nodes that a caller reads matter: if it names them, the others ask nothing there and
skip the feed-forward block, and their output is meaningless.

Models whose attention is that of Llama, Qwen2, Qwen3 or Gemma can do it; `unfit` says why another cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor
from transformers import AttentionInterface
from transformers.modeling_outputs import CausalLMOutputWithPast

from verigym.agents.prefix_tree import Ints, PackedRows, pack

NAME = "verigym_tree"
CACHE = (
    "cache"
    if any(field.name == "cache" for field in fields(CausalLMOutputWithPast))
    else "past_key_values"
)
"""Name of the cache of keys and values among a model's arguments and outputs; transformers 5.24 changed it."""
_FAMILIES = ("llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text")
# A block takes rows as long as it computes few scores for padding; a further block costs some calls.
_PADDING_SHARE = 1.25
_BLOCK_SCORES = 1 << 15
# Scores of a block where they are held in full, because the model caps them.
_HELD_SCORES = 1 << 22
_TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-4}


@dataclass(frozen=True)
class AttentionCall:
    """Arguments of a layer's attention. `window` is the number of places that a query sees, itself included,
    `cap` limits scores; both may be None. `is_last` is True in the last layer."""

    query: Tensor
    key: Tensor
    value: Tensor
    scale: float | None
    window: int | None
    cap: float | None
    is_last: bool = False


@dataclass(frozen=True)
class AttentionBlock:
    """G rows that attend together. `query` [G, Q] and `key` [G, K] are nodes, 0 as padding; the key at place j
    has depth j. `depth` [G, Q] is that of the queries."""

    query: Tensor
    key: Tensor
    depth: Tensor
    is_causal: bool

    def mask(self, window: int | None) -> Tensor:
        """Return the pairs [G, Q, K] of which the query sees the key."""
        at_K = torch.arange(self.key.shape[1], device=self.key.device)
        seen = at_K <= self.depth[..., None]
        return seen if window is None else seen & (at_K > self.depth[..., None] - window)


@dataclass(frozen=True)
class AttentionPlan:
    """Blocks of a tree, and for each own node its place in the blocks' outputs.

    `read_R` are the own nodes whose output is read, None for all, and `last` is the plan of the last layer then.
    """

    blocks: list[AttentionBlock]
    place_N: Tensor
    longest: int
    read_R: Tensor | None = None
    last: AttentionPlan | None = None

    def attend(self, call: AttentionCall) -> Tensor:
        """Return the outputs [1, N, heads, width] of queries [1, heads, N, width]; keys and values are
        [1, heads of keys, nodes, width]."""
        if call.is_last and self.last is not None:
            return self.last.attend(replace(call, is_last=False))
        query_N, key_N, value_N = (x[0].transpose(0, 1) for x in (call.query, call.key, call.value))
        seen = call.window is not None and call.window >= self.longest
        call = replace(call, window=None) if seen else call
        found = [
            _attend(
                replace(
                    call,
                    query=_gather(query_N, block.query),
                    key=_gather(key_N, block.key),
                    value=_gather(value_N, block.key),
                ),
                block,
            )
            for block in self.blocks
        ]
        return _gather(torch.cat(found), self.place_N[None])


def _gather(x_NHD: Tensor, at_GQ: Tensor) -> Tensor:
    """Return rows of `x`, [G, Q, H, D]. As an embedding, since its backward pass is the fastest."""
    flat = F.embedding(at_GQ, x_NHD.reshape(x_NHD.shape[0], -1))
    return flat.view(*at_GQ.shape, *x_NHD.shape[1:])


def _attend(call: AttentionCall, block: AttentionBlock) -> Tensor:
    """Return the outputs of one block, [G * Q, heads, width]; queries, keys and values are [G, ..., heads, width]."""
    query, key, value = call.query, call.key, call.value
    scale, window, cap = call.scale, call.window, call.cap
    n_rows, n_query, heads, width = query.shape
    # Heads that share keys become further queries, so that keys are not repeated.
    shared = heads // key.shape[2]
    query = query.view(n_rows, n_query, key.shape[2], shared, width).permute(0, 2, 3, 1, 4)
    key, value = key.transpose(1, 2), value.transpose(1, 2)
    if block.is_causal and shared == 1 and window is None and cap is None:
        out = F.scaled_dot_product_attention(
            query[:, :, 0], key, value, is_causal=True, scale=scale
        )
        joined: Tensor = out.transpose(1, 2).reshape(n_rows * n_query, heads, -1)
        return joined
    mask = block.mask(window)[:, None, None].expand(-1, 1, shared, -1, -1).flatten(2, 3)
    query = query.flatten(2, 3)
    if cap is None:
        out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)
    else:
        scores = query @ key.transpose(2, 3) * (width**-0.5 if scale is None else scale)
        scores = (cap * torch.tanh(scores / cap)).masked_fill(~mask, float("-inf"))
        out = (
            scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float32)).to(
                value.dtype
            )
            @ value
        )
    out = out.view(n_rows, -1, shared, n_query, out.shape[-1]).permute(0, 3, 1, 2, 4)
    return out.reshape(n_rows * n_query, heads, -1)


def make_plan(packed: PackedRows, device: torch.device, read: Ints | None = None) -> AttentionPlan:
    """Put rows of like lengths into blocks. `read` are the own nodes whose output is read, counted from 0; None for all."""
    asks = np.ones(len(packed.ids), dtype=bool)
    plan = _plan(packed, device, asks)
    if read is None or not 0 < len(read) < len(asks):
        return plan
    asks[:] = False
    asks[read] = True
    last = _plan(packed, device, asks)
    return replace(plan, read_R=torch.from_numpy(np.flatnonzero(asks)).to(device), last=last)


@dataclass(frozen=True)
class _Asking:
    """The own nodes of a row that ask, counted from 0, and their depths."""

    nodes: Ints
    depth: Ints
    path: Ints
    is_causal: bool


def _plan(packed: PackedRows, device: torch.device, asks: NDArray[np.bool_]) -> AttentionPlan:
    rows = []
    for path, start in zip(packed.paths, packed.starts, strict=True):
        own = path[start:] - packed.first
        chosen = np.flatnonzero(asks[own])
        if len(chosen):
            whole = start == 0 and len(chosen) == len(path)
            rows.append(_Asking(own[chosen], chosen + start, path, whole))
    rows.sort(key=lambda row: (not row.is_causal, len(row.nodes), len(row.path)))
    # Nodes that do not ask get the output of some other; nobody reads it.
    blocks, place = [], np.zeros(len(packed.ids), dtype=np.int64)
    done = 0
    for part in _blocks(rows):
        n_query = max(len(row.nodes) for row in part)
        n_key = max(len(row.path) for row in part)
        query = np.zeros((len(part), n_query), dtype=np.int64)
        depth, key = query.copy(), np.zeros((len(part), n_key), dtype=np.int64)
        for g, row in enumerate(part):
            n = len(row.nodes)
            query[g, :n] = row.nodes
            depth[g, :n] = row.depth
            key[g, : len(row.path)] = row.path
            place[row.nodes] = done + g * n_query + np.arange(n)
        done += len(part) * n_query
        query_GQ, key_GK, depth_GQ = (torch.from_numpy(x).to(device) for x in (query, key, depth))
        blocks.append(AttentionBlock(query_GQ, key_GK, depth_GQ, part[0].is_causal))
    longest = max(map(len, packed.paths), default=0)
    return AttentionPlan(blocks, torch.from_numpy(place).to(device), longest)


def _blocks(rows: Sequence[_Asking]) -> Iterator[list[_Asking]]:
    part: list[_Asking] = []
    n_query = n_key = area = 0
    for row in rows:
        own, length = len(row.nodes), len(row.path)
        n_query, n_key = max(n_query, own), max(n_key, length)
        area += own * length
        padded = (len(part) + 1) * n_query * n_key
        apart = part and part[0].is_causal != row.is_causal
        wasteful = padded > _PADDING_SHARE * area + _BLOCK_SCORES
        if part and (apart or wasteful or padded > _HELD_SCORES):
            yield part
            part, n_query, n_key, area = [], own, length, own * length
        part.append(row)
    if part:
        yield part


def _tree_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    tree: Any = None,
    **_: Any,
) -> tuple[Tensor, None]:
    is_last = module.layer_idx == module.config.num_hidden_layers - 1
    return tree.attend(
        AttentionCall(query, key, value, scaling, sliding_window, softcap, is_last)
    ), None


AttentionInterface.register(NAME, _tree_attention)


@contextmanager
def tree_attention(*models: Any) -> Iterator[None]:
    """Let `models` take the keyword `tree`, a `AttentionPlan`; also in a backward pass that computes activations again."""
    configs = [model.config.get_text_config() for model in models]
    before = [config._attn_implementation for config in configs]
    try:
        for config in configs:
            config._attn_implementation = NAME
        with ExitStack() as stack:
            for model in models:
                _skip_unread(model.base_model.layers[-1], stack)
            yield
    finally:
        for config, name in zip(configs, before, strict=True):
            config._attn_implementation = name


def _skip_unread(layer: Any, stack: ExitStack) -> None:
    """Let the feed-forward block of the last layer compute the nodes alone that its plan reads."""
    read_R: Tensor | None = None
    n_nodes = 0

    def begin(_: Any, __: Any, kwargs: dict[str, Any]) -> None:
        nonlocal read_R
        read_R = kwargs["tree"].read_R

    def take(_: Any, args: tuple[Tensor]) -> tuple[Tensor]:
        nonlocal n_nodes
        n_nodes = args[0].shape[1]
        return args if read_R is None else (F.embedding(read_R[None], args[0][0]),)

    def put(_: Any, __: Any, out_1RD: Tensor) -> Tensor:
        if read_R is None:
            return out_1RD
        return out_1RD.new_zeros(1, n_nodes, out_1RD.shape[2]).index_copy(1, read_R, out_1RD)

    for handle in (
        layer.register_forward_pre_hook(begin, with_kwargs=True),
        layer.mlp.register_forward_pre_hook(take),
        layer.mlp.register_forward_hook(put),
    ):
        stack.callback(handle.remove)


def tree_inputs(
    packed: PackedRows, device: torch.device, read: Ints | None = None
) -> dict[str, Any]:
    """Return the model's arguments to read the own nodes of `packed` inside `tree_attention`.

    The output of nodes that are not among `read`, counted from the first own one, is meaningless; None for all.
    """
    return {
        "input_ids": torch.from_numpy(packed.ids)[None].to(device),
        "position_ids": torch.from_numpy(packed.depth)[None].to(device),
        "tree": make_plan(packed, device, read),
        "use_cache": False,
    }


@torch.no_grad()
def unfit(model: Any) -> str | None:
    """Return why `model` cannot read prefix trees, None if it can.

    Compares hidden states of a small forked tree with those of its rows.
    """
    kind = getattr(model.config.get_text_config(), "model_type", type(model).__name__)
    if kind not in _FAMILIES:
        return f"models of type {kind} are not supported, only {', '.join(_FAMILIES)}"
    if model.base_model is model:
        return f"{type(model).__name__} has no body apart from its head"
    n = model.config.get_text_config().vocab_size
    trunk = [i % n for i in range(1, 8)]
    rows = [[*trunk, *(j % n for j in more)] for more in ((8, 9, 10), (8, 11), (12,), (8, 9, 10))]
    training = model.training
    model.eval()
    try:
        want = [
            model.base_model(
                input_ids=torch.tensor([row], device=model.device), use_cache=False
            ).last_hidden_state[0]
            for row in rows
        ]
        packed = pack(rows)
        with tree_attention(model):
            inputs = tree_inputs(packed, model.device)
            hidden = model.base_model(**inputs).last_hidden_state[0]
            ends = np.array([path[-1] for path in packed.paths])
            inputs = tree_inputs(packed, model.device, ends)
            last = model.base_model(**inputs).last_hidden_state[0][ends]
    except (TypeError, ValueError, KeyError, RuntimeError) as error:
        return f"{type(model).__name__} does not read a prefix tree here: {error}"
    finally:
        model.train(training)
    apart = max(_distance(hidden[path], one) for path, one in zip(packed.paths, want, strict=True))
    apart = max(apart, *map(_distance, last, (one[-1] for one in want)))
    limit = _TOLERANCE.get(hidden.dtype, 5e-2)
    if not apart <= limit:
        return f"{type(model).__name__} reads a prefix tree with a relative error of {apart:.1e}"
    return None


def _distance(found: Tensor, want: Tensor) -> float:
    return float((found - want).float().norm() / want.float().norm().clamp(min=1e-30))
