"""Fills dots between whole numbers in even steps: 1, 2, ..., 5 and 1 + 3 + ... + 99."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from verigym.verifiers.math.trees import MAX_ITEMS, Node, num

_DOTS = Node("dots")


def filled(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes with what one run of dots leaves out; as they are where steps are not plain or too many."""
    found = _progression(nodes)
    if found is None:
        return tuple(nodes)
    start, step, end = found
    if (end - start) // step >= MAX_ITEMS:
        return tuple(nodes)
    return tuple(num(value) for value in range(start, end + (1 if step > 0 else -1), step))


def total(nodes: Sequence[Node]) -> Node | None:
    """The sum of terms with dots between whole numbers in even steps; None if they are nothing such."""
    found = _progression(nodes)
    if found is None:
        return None
    start, step, end = found
    # A sum of one term: its value is known, but the answer did not work it out.
    return Node("add", (num((start + end) * ((end - start) // step + 1) // 2),))


def _progression(nodes: Sequence[Node]) -> tuple[int, int, int] | None:
    """First, step and last of an arithmetic progression with dots before its last member."""
    shown = [node for node in nodes if node != _DOTS]
    if len(nodes) < 4 or len(nodes) != len(shown) + 1 or nodes[-2] != _DOTS:
        return None
    values = [_whole(node) for node in shown]
    whole = [value for value in values if value is not None]
    if len(whole) != len(values) or len(whole) < 3:
        return None
    *first, last = whole
    step = first[1] - first[0]
    if step == 0 or any(b - a != step for a, b in pairwise(first)):
        return None
    if (last - first[-1]) % step or (last - first[-1]) // step < 1:
        return None
    return first[0], step, last


def _whole(node: Node) -> int | None:
    if node.kind == "neg":
        inner = _whole(node.args[0])
        return None if inner is None else -inner
    if node.kind == "num" and node.value.denominator == 1:
        return int(node.value)
    return None
