"""Reads what stands between \\begin and \\end: matrices, determinants, functions given by cases."""

from __future__ import annotations

from verigym.verifiers.math.cursor import Cursor
from verigym.verifiers.math.grammar import MATRICES, PARITIES
from verigym.verifiers.math.matrices import determinant
from verigym.verifiers.math.trees import MAX_ITEMS, Node, TooBig, Unreadable, num

_OTHERWISE = ("otherwise", "else", "elsewhere")
_IF = ("if", "for", "when", "where", "all", "otherwise", ",")


def environment(reader: Cursor) -> Node:
    """A matrix, its determinant between bars, or cases."""
    kind = _name(reader)
    if kind == "cases":
        return _cases(reader)
    if kind not in MATRICES:
        raise Unreadable(f"\\begin{{{kind}}} is not known")
    if kind == "array" and reader.take("{"):
        while not reader.take("}"):
            if reader.here.kind == "end":
                raise Unreadable("a brace is not closed")
            reader.at += 1
    matrix = _matrix(reader)
    return determinant(matrix) if kind == "vmatrix" else matrix


def _name(reader: Cursor) -> str:
    reader.want("{")
    name = reader.here.text
    reader.at += 1
    reader.want("}")
    return name


def _matrix(reader: Cursor) -> Node:
    rows: list[Node] = []
    cells: list[Node] = []
    while True:
        if reader.take("\\\\"):
            rows, cells = [*rows, Node("row", tuple(cells))] if cells else rows, []
            continue
        if reader.take("\\end"):
            break
        if reader.take("\\hline") or reader.take("&"):
            continue
        cells.append(reader.item())
        if len(rows) + len(cells) > MAX_ITEMS:
            raise TooBig(f"a matrix has at most {MAX_ITEMS} cells")
    if cells:
        rows.append(Node("row", tuple(cells)))
    _name(reader)
    if not rows or len({len(row.args) for row in rows}) != 1:
        raise Unreadable("the rows of the matrix differ in length")
    return Node("matrix", tuple(rows))


def _parity(reader: Cursor) -> Node | None:
    """n even, n is odd: as a remainder; None if something else follows."""
    ahead = 2 if reader.peek().text == "is" else 1
    rest = PARITIES.get(reader.peek(ahead).text)
    if rest is None or reader.here.kind != "word":
        return None
    name = Node("var", value=reader.here.text)
    reader.at += ahead + 1
    return Node("rel", (Node("fn", (name, num(2)), "mod"), num(rest)), ("=",))


def _cases(reader: Cursor) -> Node:
    """Rows of a value and the condition under which it holds; one without a condition comes last."""
    rows: list[Node] = []
    while not reader.take("\\end"):
        value = reader.item()
        conditions: list[Node] = []
        reader.take(",", ";")
        reader.take("&")
        while reader.here.text in (*_IF, *_OTHERWISE):
            reader.at += 1
        while reader.here.text not in ("\\\\", "\\end"):
            if reader.here.kind == "end":
                raise Unreadable("the cases are not closed")
            conditions.append(_parity(reader) or reader.item())
            if conditions[-1].kind != "rel":
                raise Unreadable("a case holds under a comparison")
            if reader.here.text in (",", "and"):
                reader.at += 1
        reader.take("\\\\")
        rows.append(Node("row", (value, *conditions)))
        if len(rows) > MAX_ITEMS:
            raise TooBig(f"there are at most {MAX_ITEMS} cases")
    _name(reader)
    if not rows or any(len(row.args) == 1 for row in rows[:-1]):
        raise Unreadable("only the last case may lack a condition")
    return Node("cases", tuple(rows))
