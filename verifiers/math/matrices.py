"""Matrices: sums, multiples, products and determinants of small ones, as rows of trees."""

from __future__ import annotations

from verigym.verifiers.math.trees import MAX_BODY, Node, TooBig, Unreadable, num, replace_kind

MAX_SIDE = 12
_MAX_DETERMINANT = 4
_UNIT_VECTORS = ("i", "j", "k")


def rows_of(node: Node) -> list[list[Node]] | None:
    """The rows of a tree that is a matrix; None if it is none."""
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


def determinant(matrix: Node) -> Node:
    """The determinant of a matrix of at most 4 rows, by cofactors. Raises Unreadable or TooBig."""
    rows = rows_of(matrix)
    if rows is None or len(rows) != len(rows[0]):
        raise Unreadable("a determinant is of a square matrix")
    if len(rows) > _MAX_DETERMINANT:
        raise TooBig(f"a determinant is of at most {_MAX_DETERMINANT} rows")
    # Cofactors repeat the cells, so determinants in determinants would grow without bound.
    if sum(1 for row in rows for cell in row for _ in cell.walk()) > MAX_BODY * len(rows):
        raise TooBig(f"a determinant is of at most {MAX_BODY} signs a row")
    found = _cofactors(rows)
    # Of one cell the cell, but as a product, so that it is seen to be left to work out.
    return Node("mul", (found, num(1))) if len(rows) == 1 else found


def _cofactors(rows: list[list[Node]]) -> Node:
    if len(rows) == 1:
        return rows[0][0]
    terms: list[Node] = []
    for k, cell in enumerate(rows[0]):
        rest = _cofactors([row[:k] + row[k + 1 :] for row in rows[1:]])
        term = Node("mul", (cell, rest))
        terms.append(Node("neg", (term,)) if k % 2 else term)
    return Node("add", tuple(terms))


def identity(node: Node, side: int) -> list[list[Node]] | None:
    """The rows of I or I_n as an identity matrix of `side` rows; None if it is none."""
    if node.kind != "var" or node.value not in ("I", f"I_{side}"):
        return None
    return [[num(int(i == j)) for j in range(side)] for i in range(side)]


def multiple(node: Node) -> Node:
    """1/5 (3, -4) as the tuple of its multiples; another tree as it is."""
    if node.kind == "neg" and node.args[0].kind in ("mul", "tuple"):
        inner = multiple(node.args[0])
        if inner.kind == "tuple" and inner.value == "()" and len(inner.args) > 1:
            return Node("tuple", tuple(Node("neg", (arg,)) for arg in inner.args), "()")
        return node
    if node.kind == "div" and node.args[0].kind == "tuple" and len(node.args[0].args) > 1:
        vector, scale = node.args[0], Node("div", (num(1), node.args[1]))
    elif node.kind == "mul" and len(node.args) == 2 and node.args[1].kind == "tuple":
        scale, vector = node.args
    else:
        return node
    if vector.value != "()" or len(vector.args) < 2 or scale.has("tuple", "matrix", "set", "rel"):
        return node
    return Node("tuple", tuple(Node("mul", (scale, arg)) for arg in vector.args), "()")


def components(node: Node, side: int) -> tuple[Node, ...] | None:
    """The components of 2i - 3j + k, a sum of multiples of unit vectors; None if it is none."""
    if not node.has("var") or node.kind not in ("add", "mul", "neg", "div", "var"):
        return None
    node = _named_i(node)
    letters = node.variables()
    if not letters & {"j", "k"} or not 2 <= side <= 3 or (side == 2 and "k" in letters):
        return None
    if not all(_linear(term) for term in (node.args if node.kind == "add" else (node,))):
        return None
    return tuple(
        replace_kind(node, "var", {name: num(int(name == one)) for name in _UNIT_VECTORS})
        for one in _UNIT_VECTORS[:side]
    )


def _linear(term: Node) -> bool:
    """Return True if a term holds one unit vector, once, above every fraction."""
    if term.kind == "neg":
        return _linear(term.args[0])
    if term.kind == "div":
        return _linear(term.args[0]) and not term.args[1].variables() & set(_UNIT_VECTORS)
    if term.kind == "mul":
        held = [bool(arg.variables() & set(_UNIT_VECTORS)) for arg in term.args]
        return held.count(True) == 1 and _linear(term.args[held.index(True)])
    if term.kind == "add":
        return all(map(_linear, term.args))
    return term.kind == "var" and term.value in _UNIT_VECTORS


def _named_i(node: Node) -> Node:
    if node == Node("const", value="i"):
        return Node("var", value="i")
    return Node(node.kind, tuple(map(_named_i, node.args)), node.value)
