"""Reads names: letters with index and primes, constants of one letter, unknown functions."""

from __future__ import annotations

from verigym.verifiers.math.brackets import group, listed
from verigym.verifiers.math.cursor import Cursor
from verigym.verifiers.math.grammar import CALLED
from verigym.verifiers.math.trees import Node, Unreadable

_INVERSE = (["^", "{", "-", "1", "}", "("], ["^", "-", "1", "("])


def inverse_of(reader: Cursor) -> bool:
    """Return True if `^{-1}(` follows, as in f^{-1}(x); it is passed up to the bracket."""
    for signs in _INVERSE:
        if [reader.peek(k).text for k in range(len(signs))] == signs:
            reader.at += len(signs) - 1
            return True
    return False


def letter(reader: Cursor, name: str) -> Node:
    """Return the tree of a single letter; e and i are constants."""
    if name == "e":
        return Node("const", value="e")
    if name == "i":
        return Node("const", value="i")
    return variable(reader, name)


def variable(reader: Cursor, name: str) -> Node:
    """A name with its index and primes, or the unknown function of that name."""
    if name == "C" and reader.here.text == "_":
        chosen = _combinations(reader)
        if chosen is not None:
            return chosen
    if reader.take("_"):
        name = f"{name}_{index(reader)}"
    while reader.here.text == "'" and reader.here.kind == "op":
        reader.at += 1
        name += "'"
    if name in CALLED and inverse_of(reader):
        name += "^-1"
    if name[0] in CALLED and reader.here.text == "(" and not reader.here.spaced:
        return call(reader, name)
    return Node("var", value=name)


def _combinations(reader: Cursor) -> Node | None:
    """C_n^k as a binomial coefficient, where the index may be the larger number; else None."""
    start = reader.at
    reader.at += 1
    top = group(reader)
    if reader.take("^"):
        low = group(reader)
        if top.variables() or (top.kind == low.kind == "num" and top.value >= low.value > 1):
            return Node("fn", (top, low), "binomial")
    reader.at = start
    return None


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
