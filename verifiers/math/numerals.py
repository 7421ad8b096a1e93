"""Reads numerals: decimals with the places they show, digits with a base, fractions of mixed numbers."""

from __future__ import annotations

import re

from verigym.verifiers.math.cursor import Cursor
from verigym.verifiers.math.grammar import BASES
from verigym.verifiers.math.lexer import Token
from verigym.verifiers.math.trees import Node, Unreadable

_BASED = re.compile(
    r"\(?(\d[0-9A-Za-z]*|[A-Fa-f]+\d[0-9A-Fa-f]*|(?:[A-F]+|[a-f]{2,})(?=\)?\s*_\s*\{?\s*16))\)?\s*_\s*\{?\s*(1[0-6]|[2-9])\s*\}?"
)
_PREFIXED = re.compile(r"0([xX](?=[0-9A-Fa-f])|[bB](?=[01]+$)|[oO](?=[0-7]+$))([0-9A-Fa-f]{1,300})")
_PREFIXES = {"x": 16, "b": 2, "o": 8}


def in_base(text: str) -> Node | None:
    """All of `text` as digits with a base below, letters among them; None where it is nothing such."""
    prefixed = _PREFIXED.fullmatch(text)
    if prefixed:
        return Node("based", value=(prefixed[2].upper(), _PREFIXES[prefixed[1].lower()]))
    written = _BASED.fullmatch(text)
    return None if written is None else Node("based", value=(written[1].upper(), int(written[2])))


def based(reader: Cursor) -> Node:
    """A number with its base below: the digits are the token (or the tokens in brackets) before."""
    last = reader.tokens[reader.at - 1]
    if last.text == ")":
        open_at = reader.at - 2
        while open_at > 0 and reader.tokens[open_at].text != "(":
            open_at -= 1
        digits = "".join(token.text for token in reader.tokens[open_at + 1 : reader.at - 1])
    else:
        digits = last.text
    reader.want("_")
    braced = reader.take("{")
    token = reader.here
    reader.at += 1
    base = BASES.get(token.text) if token.kind == "word" else None
    if token.kind == "num" and token.text.isdecimal() and len(token.text) <= 2:
        base = int(token.text)
    if braced:
        reader.want("}")
    if base is None or not 2 <= base <= 36:
        raise Unreadable(f"{token.text!r} is no base")
    return Node("based", value=(digits.upper(), base))


def numeral(token: Token) -> Node:
    """A number token: `dec` where it shows decimals, else `num`."""
    assert token.value is not None
    if (
        "." in token.text
        and "\\" not in token.text
        and "..." not in token.text
        and "(" not in token.text
    ):
        return Node("dec", value=(token.value, _decimals(token.text)))
    return Node("num", value=token.value)


def _decimals(shown: str) -> int:
    mantissa, _, exponent = shown.lower().partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


def proper(node: Node) -> bool:
    """Whether `node` is a fraction of plain whole numbers below one, as in a mixed number."""
    if node.kind != "div":
        return False
    above, below = node.args
    return (
        above.kind == below.kind == "num"
        and above.value.denominator == below.value.denominator == 1
        and 0 < above.value < below.value
    )
