"""Reads names: letters with index and primes, constants of one letter, unknown functions."""

from __future__ import annotations

from verigym.verifiers.math.brackets import listed
from verigym.verifiers.math.cursor import Cursor
from verigym.verifiers.math.grammar import CALLED
from verigym.verifiers.math.trees import Node, Unreadable


def letter(reader: Cursor, name: str) -> Node:
    """A letter alone: e and i are constants."""
    if name == "e":
        return Node("const", value="e")
    if name == "i":
        return Node("const", value="i")
    return variable(reader, name)


def variable(reader: Cursor, name: str) -> Node:
    """A name with its index and primes, or the unknown function of that name."""
    if reader.take("_"):
        name = f"{name}_{index(reader)}"
    while reader.here.text == "'" and reader.here.kind == "op":
        reader.at += 1
        name += "'"
    if name[0] in CALLED and reader.here.text == "(" and not reader.here.spaced:
        return call(reader, name)
    return Node("var", value=name)


def call(reader: Cursor, name: str) -> Node:
    """f(x): an unknown function, of names and numbers only; f(x+1) may be a product."""
    start = reader.at
    reader.at += 1
    args = listed(reader, ")")
    if name == "C" and len(args) == 2:
        return Node("fn", args, "binomial")
    if name != "C" and all(arg.kind in ("var", "num", "const") for arg in args):
        return Node("call", args, name)
    reader.at = start
    return Node("var", value=name)


def index(reader: Cursor) -> str:
    """The text of an index."""
    if reader.take("{"):
        parts = []
        while not reader.take("}"):
            if reader.here.kind == "end":
                raise Unreadable("a brace is not closed")
            parts.append(reader.here.text)
            reader.at += 1
        return "".join(parts)
    if reader.here.kind == "end":
        raise Unreadable("an index is missing")
    reader.at += 1
    return reader.tokens[reader.at - 1].text
