"""Matrices: sums, multiples, products and determinants of small ones, as rows of trees."""

from __future__ import annotations

from verigym.verifiers.math.trees import Node, TooBig

MAX_SIDE = 12


def rows_of(node: Node) -> list[list[Node]] | None:
    """The rows of a tree that is a matrix; None where it is none."""
    kind = node.kind
    if kind == "matrix":
        return [list(row.args) for row in node.args]
    if kind == "tuple" and node.args and all(
        arg.kind in ("tuple", "set") and (arg.value != "()" or node.value == "[]") and len(arg.args) == len(node.args[0].args)
        for arg in node.args
    ) and node.value == "[]":  # fmt: skip
        return [list(arg.args) for arg in node.args]
    if kind == "neg":
        inner = rows_of(node.args[0])
        return None if inner is None else [[Node("neg", (cell,)) for cell in row] for row in inner]
    if kind == "add":
        parts = [rows_of(arg) for arg in node.args]
        if any(part is None for part in parts):
            return None
        found = [part for part in parts if part is not None]
        if len({(len(part), len(part[0])) for part in found}) != 1:
            return None
        return [
            [Node("add", tuple(part[i][j] for part in found)) for j in range(len(found[0][0]))]
            for i in range(len(found[0]))
        ]
    if kind in ("mul", "div"):
        return _product(node)
    if kind == "pow" and node.args[1] == Node("var", value="T"):
        base = rows_of(node.args[0])
        if base is None and node.args[0].kind == "tuple":
            return [[cell] for cell in node.args[0].args]
        return None if base is None else [list(column) for column in zip(*base, strict=True)]
    return None


def _product(node: Node) -> list[list[Node]] | None:
    first, second = node.args
    left, right = rows_of(first), rows_of(second)
    if left is None and right is None:
        return None
    if right is None and left is not None:
        return [[Node(node.kind, (cell, second)) for cell in row] for row in left]
    if node.kind == "div" or right is None:
        return None
    if left is None:
        return [[Node("mul", (first, cell)) for cell in row] for row in right]
    if len(left[0]) != len(right):
        return None
    if max(len(left), len(right), len(right[0])) > MAX_SIDE:
        raise TooBig(f"a product is of matrices of at most {MAX_SIDE} rows")
    return [
        [
            Node("add", tuple(Node("mul", (row[k], right[k][j])) for k in range(len(right))))
            for j in range(len(right[0]))
        ]
        for row in left
    ]
