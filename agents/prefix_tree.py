"""Packs sequences of tokens as a prefix tree: tokens after equal beginnings are one node.

Members of a group share their prompt, turns of a transcript everything before them, step rows of one task
its rules. A model that reads the nodes instead of the sequences computes each distinct token once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class PackedRows:
    """R sequences as a tree of N nodes, numbered from `first`.

    `ids` and `depth` are [N], in the order of the numbers. `paths[r]` are the nodes of the tokens of row r.
    Row r owns its nodes from depth `starts[r]` on: they have numbers in sequence and belong to no row before it
    in the order of packing. A row that owns none repeats another.
    """

    first: int
    ids: Ints
    depth: Ints
    paths: list[Ints]
    starts: list[int]


def pack(
    rows: Sequence[list[int]], known: Sequence[Ints] | None = None, first: int = 0
) -> PackedRows:
    """Pack `rows`. The first tokens of row r have the nodes `known[r]` already, below `first`."""
    arrays = [np.asarray(row, dtype=np.int64) for row in rows]
    starts, paths = [0] * len(rows), [np.zeros(0, dtype=np.int64)] * len(rows)
    ids: list[Ints] = []
    depths: list[Ints] = []
    next_node = first
    before: int | None = None
    for r in sorted(range(len(rows)), key=rows.__getitem__):
        path = paths[r] if known is None else known[r]
        if before is not None:
            shared = common(arrays[before], arrays[r])
            if shared > len(path):
                path = paths[before][:shared]
        start, end = len(path), len(arrays[r])
        paths[r] = np.concatenate([path, np.arange(next_node, next_node + end - start)])
        starts[r] = start
        ids.append(arrays[r][start:])
        depths.append(np.arange(start, end))
        next_node += end - start
        before = r
    return PackedRows(
        first=first,
        ids=np.concatenate(ids),
        depth=np.concatenate(depths),
        paths=paths,
        starts=starts,
    )


def count_distinct(rows: Sequence[list[int]]) -> int:
    """Return the number of nodes of the tree of `rows`."""
    ordered = [np.asarray(row, dtype=np.int64) for row in sorted(rows)]
    shared = (common(a, b) for a, b in pairwise(ordered))
    return sum(map(len, ordered)) - sum(shared)


def cut(rows: Sequence[list[int]], max_nodes: int) -> list[list[int]]:
    """Split rows into parts whose trees have at most `max_nodes` nodes; a longer row is a part of its own.

    Returns the indices of the rows of each part. A cut is made where neighbours share the least, so that few
    beginnings are read twice.
    """
    order = sorted(range(len(rows)), key=rows.__getitem__)
    arrays = [np.asarray(rows[r], dtype=np.int64) for r in order]
    shared = [0, *(common(a, b) for a, b in pairwise(arrays))]
    parts: list[list[int]] = []
    begin, size = 0, 0
    i = 0
    while i < len(order):
        own = len(arrays[i]) - (shared[i] if i > begin else 0)
        if i > begin and size + own > max_nodes:
            # The latest of the best places in the second half of the part.
            end = min(range(i, (begin + i) // 2, -1), key=shared.__getitem__)
            parts.append([order[j] for j in range(begin, end)])
            begin, i, size = end, end, 0
            continue
        size += own
        i += 1
    if begin < len(order):
        parts.append([order[j] for j in range(begin, len(order))])
    return parts


def common(a: Ints, b: Ints) -> int:
    """Return the length of the common beginning of two arrays."""
    n = min(len(a), len(b))
    differs = a[:n] != b[:n]
    at = int(differs.argmax()) if n else 0
    return at if n and differs[at] else n
