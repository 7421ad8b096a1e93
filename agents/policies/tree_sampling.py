"""Sampling for which a model computes each distinct token once.

Prompts that begin alike are read as a prefix tree, what an episode has computed in its last turn is kept for the
next, and rows that have sampled the same tokens after the same prompt go on as one until they part. Rows that end
leave the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from verigym.agents.policies.kept_nodes import Kept, Key, Memory
from verigym.agents.policies.shared_decoding import DecodedRows, find_trunks
from verigym.agents.prefix_tree import Ints, pack
from verigym.agents.tree_attention import CACHE, tree_attention, tree_inputs

Pick: TypeAlias = Callable[[Tensor, Tensor | None], tuple[Tensor, Tensor]]
Show: TypeAlias = Callable[[Ints, Ints], None]
# Rows that have ended are computed on while they are fewer than one in so many: it spares copying the cache.
_DEAD_SHARE = 10


@dataclass(frozen=True, kw_only=True)
class SampleRequest:
    """A request to sample: its prompt, its uniforms (None to be greedy), its own limit of tokens, and the
    episode whose next prompt may begin with this one and its answer (None if none)."""

    prompt: list[int]
    draws: NDArray[np.float64] | None
    room: int
    episode: Key | None = None


@torch.inference_mode()
def sample(
    model: Any,
    asked: Sequence[SampleRequest],
    memory: Memory,
    pick: Pick,
    ends: frozenset[int],
    pad_id: int,
    show: Show | None = None,
) -> tuple[list[tuple[list[int], list[float]]], int]:
    """Return ids and log-probabilities for each request, and the number of tokens that the model computed.

    `show` gets the places of requests that are sampled and the next token of each, after every step.
    """
    with tree_attention(model):
        return _sample(model, asked, memory, pick, ends, pad_id, show)


def _sample(
    model: Any,
    asked: Sequence[SampleRequest],
    memory: Memory,
    pick: Pick,
    ends: frozenset[int],
    pad_id: int,
    show: Show | None,
) -> tuple[list[tuple[list[int], list[float]]], int]:
    device = model.device
    texts = [tuple(one.prompt) for one in asked]
    # In the order of the tree, so that rows that share a beginning have numbers in sequence.
    prompts = sorted(set(texts))
    number = {prompt: u for u, prompt in enumerate(prompts)}
    prompt_B = np.array([number[text] for text in texts])
    row_B = prompt_B.copy()
    limit = max(one.room for one in asked)
    logits_UV, rows, paths, n_computed = _read(
        model, asked, [list(prompt) for prompt in prompts], prompt_B, memory, limit
    )
    length_U = torch.tensor([len(prompt) for prompt in prompts], device=device)
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
        if show is not None:
            show(live, token_B)
        alive = ~np.isin(token_B, ends_N) & (room_B[live] > step + 1)
        _keep(
            memory,
            rows,
            asked,
            [(b, row_B[b], paths[prompt_B[b]]) for b in live[~alive]],
            out_BN[:, :step],
        )
        if not alive.any():
            break
        live, token_B = live[alive], token_B[alive]
        # Rows that sampled alike so far go on as one.
        n_rows = len(rows)
        pairs, branch_B = np.unique(np.stack([row_B[live], token_B]), axis=1, return_inverse=True)
        source_U, fed_U = pairs
        if (
            len(set(source_U.tolist())) < len(source_U)
            or n_rows - len(source_U) > n_rows // _DEAD_SHARE
        ):
            rows.select(source_U)
            length_U = length_U[torch.from_numpy(source_U).to(device)]
            row_B[live] = branch_B.reshape(-1)
        elif len(source_U) < n_rows:
            fed_U = np.full(n_rows, pad_id)
            fed_U[source_U] = pairs[1]
        n_computed += len(fed_U)
        logits_UV = model(
            input_ids=torch.from_numpy(np.ascontiguousarray(fed_U))[:, None].to(device),
            position_ids=(length_U + step)[:, None],
            use_cache=True,
            tree=rows,
            **{CACHE: rows},
        ).logits[:, -1]
        rows.end += 1
    made = [
        (ids[:size], logp[:size])
        for ids, logp, size in zip(out_BN.tolist(), logp_BN.tolist(), size_B.tolist(), strict=True)
    ]
    return made, n_computed


def _read(
    model: Any,
    asked: Sequence[SampleRequest],
    prompts: list[list[int]],
    prompt_B: NDArray[np.int64],
    memory: Memory,
    room: int,
) -> tuple[Tensor, DecodedRows, list[Ints], int]:
    """Read U different prompts; return the logits [U, V] after them, their cache, the nodes of their tokens, and
    the number of tokens computed."""
    device = model.device
    found: list[tuple[int, Key | None]] = [(0, None)] * len(prompts)
    for one, u in zip(asked, prompt_B.tolist(), strict=True):
        if one.episode is not None and not found[u][0]:
            known = memory.find(one.episode, np.asarray(one.prompt, dtype=np.int64))
            found[u] = known, one.episode
    memory.reserve(sum(map(len, prompts)) - sum(n for n, _ in found))
    nodes = memory.nodes
    paths = [
        memory.kept[key].path[:n] if key is not None and n else np.zeros(0, dtype=np.int64)
        for n, key in found
    ]
    packed = pack(prompts, paths, nodes.count)
    last = np.array([path[-1] for path in packed.paths]) - nodes.count
    inputs = {**tree_inputs(packed, device, last), "use_cache": True, CACHE: nodes}
    logits_UV = model(**inputs, logits_to_keep=torch.from_numpy(last).to(device)).logits[0]
    nodes.count += len(packed.ids)
    cluster, trunks = find_trunks(prompts, np.bincount(prompt_B))
    rows = DecodedRows(nodes, packed.paths, cluster, trunks, room)
    return logits_UV, rows, packed.paths, len(packed.ids)


def _keep(
    memory: Memory,
    rows: DecodedRows,
    asked: Sequence[SampleRequest],
    ended: Sequence[tuple[int, int, Ints]],
    out_BN: NDArray[np.int64],
) -> None:
    """Keep what episodes have read whose turn has ended: of each its request, its row and its prompt's nodes."""
    ended = [(b, row, path) for b, row, path in ended if asked[b].episode is not None]
    if not ended:
        return
    nodes, n = memory.nodes, out_BN.shape[1]
    chosen, at_R = np.unique([row for _, row, _ in ended], return_inverse=True)
    first = nodes.count
    if n:
        nodes.reserve(len(chosen) * n)
        for layer, (key, value) in enumerate(rows.sampled(chosen)):
            nodes.update(key, value, layer)
        nodes.count += len(chosen) * n
    for (b, _, path), at in zip(ended, at_R.reshape(-1).tolist(), strict=True):
        ids = np.array([*asked[b].prompt, *out_BN[b]], dtype=np.int64)
        own = np.arange(first + at * n, first + at * n + n)
        memory.kept[cast(Key, asked[b].episode)] = Kept(ids, np.concatenate([path, own]))
