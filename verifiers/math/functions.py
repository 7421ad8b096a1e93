"""Reads functions with their arguments: by name, roots, finite sums and products."""

from __future__ import annotations

from verigym.verifiers.math.brackets import group, listed
from verigym.verifiers.math.cursor import Cursor
from verigym.verifiers.math.grammar import FUNCTIONS, INVERSE
from verigym.verifiers.math.trees import MAX_BODY, MAX_SERIES, Node, TooBig, Unreadable, num


def function(reader: Cursor, name: str) -> Node:
    """A function with its base, power and arguments."""
    if name in ("sqrt", "cbrt") and reader.here.text == "{":
        return Node("fn", (group(reader),), name)
    base: Node | None = None
    power: Node | None = None
    while reader.here.text in ("_", "^") and reader.here.kind == "op":
        below = reader.here.text == "_"
        reader.at += 1
        if below:
            base = group(reader)
        elif reader.take("{"):
            power = reader.item()
            reader.want("}")
        else:
            power = reader.exponent()
    args = arguments(reader, name)
    if name == "log" and base is not None:
        args = (args[0], base)
    elif name == "log" and len(args) == 2:
        pass
    elif name == "lg":
        name, args = "log", (args[0], num(10))
    elif base is not None:
        raise Unreadable(f"{name} has no base")
    if power is not None and name in INVERSE and power in (Node("neg", (num(1),)), num(-1)):
        return Node("fn", args, INVERSE[name])
    node = Node("fn", args, name)
    return node if power is None else Node("pow", (node, power))


def arguments(reader: Cursor, name: str) -> tuple[Node, ...]:
    """The arguments of a function: in brackets, or the factors that follow."""
    if reader.here.text == "(" and reader.here.kind == "op":
        reader.at += 1
        bars, builder, reader.bars, reader.builder = reader.bars, reader.builder, 0, 0
        found = listed(reader, ")")
        reader.bars, reader.builder = bars, builder
        if not found:
            raise Unreadable(f"{name} has no argument")
        return found
    if reader.here.text == "[" and reader.here.kind == "op":
        reader.at += 1
        return listed(reader, "]")
    if reader.here.text == "{" and reader.here.kind == "op":
        return (group(reader),)
    if reader.here.text == "-" and reader.here.kind == "op":
        reader.at += 1
        return (Node("neg", arguments(reader, name)),)
    reader.deeper()
    node = reader.power()
    while reader.starts_factor() and not _is_function(reader) and reader.here.text != "(":
        node = reader.beside(node)
    while reader.here.text == "/" and reader.tokens[reader.at - 1].kind in ("num", "cmd", "word"):
        # sin pi/6, cos 2x/3: the quotient belongs to the argument where it is a plain number.
        after = reader.peek()
        if after.kind != "num":
            break
        reader.at += 1
        node = Node("div", (node, reader.power()))
    reader.depth -= 1
    return (node,)


def _is_function(reader: Cursor) -> bool:
    text = reader.here.text
    return (
        text.lstrip("\\") in FUNCTIONS
        and len(text) > 1
        and text.lstrip("\\") not in ("sqrt", "cbrt")
    )


def root(reader: Cursor, name: str) -> Node:
    """A root of a degree; `\\usqrt` and `\\ucbrt` are the signs of Unicode."""
    if name == "sqrt" and reader.here.text == "[":
        reader.at += 1
        degree = reader.sum()
        reader.want("]")
        body = group(reader)
        if degree == num(3):
            return Node("fn", (body,), "cbrt")
        return Node("fn", (body, degree), "root")
    body = group(reader) if name == "sqrt" and reader.here.text != "(" else reader.atom()
    return Node("fn", (body,), "cbrt" if name == "ucbrt" else "sqrt")


def series(reader: Cursor, name: str) -> Node:
    """A finite sum or product: index = from, to, body."""
    reader.want("_")
    reader.want("{")
    index = reader.here.text
    if reader.here.kind != "word" or len(index) != 1:
        raise Unreadable("the index of a sum is one letter")
    reader.at += 1
    reader.want("=")
    start = reader.sum()
    reader.want("}")
    reader.want("^")
    end = group(reader)
    body = reader.product()
    reader.series_seen += 1
    size = sum(1 for _ in body.walk())
    if reader.series_seen > MAX_SERIES or size > MAX_BODY or body.has("sum", "prod"):
        raise TooBig(f"at most {MAX_SERIES} sums, not nested, of at most {MAX_BODY} signs")
    return Node(name, (start, end, body), index)
