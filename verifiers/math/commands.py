"""Reads words and TeX commands: functions, constants, letters, named sets."""

from __future__ import annotations

from verigym.verifiers.math.brackets import group, listed
from verigym.verifiers.math.cursor import Cursor
from verigym.verifiers.math.environments import environment
from verigym.verifiers.math.functions import function, root, series
from verigym.verifiers.math.grammar import (
    CLOSING,
    CONSTANTS,
    ENGLISH,
    FUNCTIONS,
    GREEK,
    NAMED,
)
from verigym.verifiers.math.lexer import Token
from verigym.verifiers.math.matrices import determinant
from verigym.verifiers.math.symbols import letter, variable
from verigym.verifiers.math.trees import Node, Unreadable

_DRAWN = frozenset(("angle", "measuredangle", "triangle"))


def word(reader: Cursor, token: Token) -> Node:
    """A name without a backslash: a function, a constant, a letter, or letters side by side."""
    name = token.text
    if name in FUNCTIONS and len(name) > 1:
        return function(reader, FUNCTIONS[name])
    if name in CONSTANTS:
        return Node("const", value=CONSTANTS[name])
    if name in GREEK:
        return variable(reader, name)
    if name == "matrix" and reader.take("("):
        rows = listed(reader, ")")
        if rows and all(row.kind == "tuple" and len(row.args) == len(rows[0].args) for row in rows):
            return Node("matrix", tuple(Node("row", row.args) for row in rows))
    if len(name) == 1:
        return letter(reader, name)
    for size in range(min(len(name) - 1, 7), 1, -1):
        # sinx, 2pi r: a known name, then letters.
        if name[:size] in FUNCTIONS or name[:size] in CONSTANTS:
            rest = Token("word", name[size:], False)
            reader.tokens[reader.at - 1] = Token("word", name[:size], token.spaced)
            reader.tokens.insert(reader.at, rest)
            return word(reader, reader.tokens[reader.at - 1])
    if len(name) > 3 or (name.lower() in ENGLISH and reader.here.text != "^"):
        raise Unreadable(f"{name!r} is no mathematics")
    reader.tokens[reader.at - 1 : reader.at] = [
        Token("word", letter, token.spaced and i == 0) for i, letter in enumerate(name)
    ]
    return letter(reader, name[0])


def command(reader: Cursor, token: Token) -> Node:
    """Return the tree of a TeX command and its arguments."""
    name = token.text[1:]
    if token.text in NAMED:
        return named(reader, NAMED[token.text])
    if name == "frac":
        above = group(reader)
        return Node("div", (above, group(reader)))
    if name in ("binom", "choose"):
        above = group(reader)
        return Node("fn", (above, group(reader)), "binomial")
    if name in ("sqrt", "usqrt", "ucbrt"):
        return root(reader, name)
    if name == "dollar":
        raise Unreadable("a dollar sign inside")
    if name in ("lfloor", "lceil"):
        node = reader.sum()
        reader.want(CLOSING[token.text])
        return Node("fn", (node,), "floor" if name == "lfloor" else "ceil")
    if name in FUNCTIONS:
        return function(reader, FUNCTIONS[name])
    if name in CONSTANTS:
        return Node("const", value=CONSTANTS[name])
    if name in GREEK:
        return variable(reader, name)
    if name in ("overline", "bar"):
        return Node("fn", (group(reader),), "conj")
    if name == "begin":
        return environment(reader)
    if name == "det":
        return determinant(reader.atom())
    if name in _DRAWN and reader.here.kind == "word":
        reader.at += 1
        return Node("var", value=f"{name} {reader.tokens[reader.at - 1].text}")
    if name in ("sum", "prod"):
        return series(reader, name)
    if name == "circ":
        raise Unreadable("a degree sign alone")
    raise Unreadable(f"\\{name} is not known")


def named(reader: Cursor, name: str) -> Node:
    """A named set with the marks on it: R, Z^+, R_{>0}."""
    marks = ""
    while reader.here.text in ("^", "_") and reader.here.kind == "op":
        reader.at += 1
        braced = reader.take("{")
        while reader.here.kind in ("op", "num", "cmd") and reader.here.text in (
            "+", "-", "*", "0", ">", ">=", "1", "2", "3", "n", "!=",
        ):  # fmt: skip
            marks += reader.here.text
            reader.at += 1
            if not braced:
                break
        if braced:
            reader.want("}")
    return Node("named", value=name + marks)
