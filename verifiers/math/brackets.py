"""Reads brackets: groups, tuples, intervals, sets and the arguments of TeX commands."""

from __future__ import annotations

from fractions import Fraction

from verigym.verifiers.math.cursor import Cursor
from verigym.verifiers.math.grammar import CLOSING
from verigym.verifiers.math.lexer import Token
from verigym.verifiers.math.ranges import filled
from verigym.verifiers.math.trees import MAX_ITEMS, Node, TooBig, Unreadable


def listed(reader: Cursor, closing: str) -> tuple[Node, ...]:
    """Items up to `closing`, separated by commas or semicolons."""
    found: list[Node] = []
    while not reader.take(closing):
        if len(found) >= MAX_ITEMS:
            raise TooBig(f"a list has at most {MAX_ITEMS} items")
        found.append(reader.item())
        if not reader.take(",", ";") and reader.here.text != closing:
            raise Unreadable(f"{closing!r} is missing before {reader.here.text!r}")
    return tuple(found)


def bracket(reader: Cursor, opening: str) -> Node:
    """Parse a group, a tuple, an interval or a set."""
    reader.deeper()
    bars, builder, reader.bars, reader.builder = reader.bars, reader.builder, 0, 0
    if opening == "\\{":
        reader.builder = 1
        if reader.take("\\}"):
            node = Node("named", value="empty")
        else:
            first = reader.item()
            if reader.take("|", ":"):
                reader.builder = 0
                conditions = listed(reader, "\\}")
                node = Node("builder", (first, *conditions))
            else:
                rest: tuple[Node, ...] = ()
                if reader.take(",", ";"):
                    rest = listed(reader, "\\}")
                else:
                    reader.want("\\}")
                node = Node("set", filled((first, *rest)))
    else:
        items: list[Node] = []
        while True:
            if len(items) >= MAX_ITEMS:
                raise TooBig(f"a list has at most {MAX_ITEMS} items")
            items.append(reader.item())
            if reader.take(",", ";"):
                continue
            if reader.here.text in (")", "]") or reader.here.text == "[":
                closing = reader.here.text
                reader.at += 1
                break
            raise Unreadable(f"a {opening!r} is not closed before {reader.here.text!r}")
        if len(items) == 1:
            if CLOSING.get(opening) != closing:
                raise Unreadable(f"{opening!r} is closed by {closing!r}")
            node = (
                items[0]
                if opening == "(" or items[0].kind == "matrix"
                else Node("tuple", tuple(items), "[]")
            )
            if node.kind in ("tuple", "set") and opening == "(":
                node = Node("tuple", (node,), "()") if node.kind == "set" else node
        else:
            node = Node("tuple", filled(items), _shape(opening, closing))
    reader.bars, reader.builder = bars, builder
    reader.depth -= 1
    return node


def braces(reader: Cursor) -> Node:
    """A TeX group; with commas, a set whose braces lost their backslashes."""
    reader.deeper()
    bars, builder, reader.bars, reader.builder = reader.bars, reader.builder, 0, 0
    first = reader.item()
    if reader.take("\\choose"):
        node = Node("fn", (first, reader.item()), "binomial")
        reader.want("}")
    elif reader.take(",", ";"):
        node = Node("set", filled((first, *listed(reader, "}"))))
    else:
        reader.want("}")
        node = first
    reader.bars, reader.builder = bars, builder
    reader.depth -= 1
    return node


def group(reader: Cursor) -> Node:
    """The argument of a TeX command: a braced group, or one sign (of a number, one digit)."""
    if reader.take("{"):
        reader.deeper()
        bars, builder, reader.bars, reader.builder = reader.bars, reader.builder, 0, 0
        node = reader.item()
        reader.want("}")
        reader.bars, reader.builder = bars, builder
        reader.depth -= 1
        return node
    token = reader.here
    if token.kind == "num" and token.text.isdecimal() and len(token.text) > 1:
        first, rest = token.text[0], token.text[1:]
        reader.tokens[reader.at : reader.at + 1] = [
            Token("num", first, token.spaced, Fraction(int(first))),
            Token("num", rest, False, Fraction(int(rest))),
        ]
    if token.kind == "word" and len(token.text) > 1:
        reader.tokens[reader.at : reader.at + 1] = [
            Token("word", token.text[0], token.spaced),
            Token("word", token.text[1:], False),
        ]
    return reader.atom()


def _shape(opening: str, closing: str) -> str:
    """The brackets of an interval; ]0,1[ is open at both ends."""
    return {"]": "("}.get(opening, opening) + {"[": ")"}.get(closing, closing)
