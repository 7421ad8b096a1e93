"""Reads numerals: decimals with the places they show, digits with a base, fractions of mixed numbers."""

from __future__ import annotations

import re

from verigym.verifiers.math.cursor import Cursor
from verigym.verifiers.math.grammar import BASES
from verigym.verifiers.math.lexer import Token
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import Node, Unreadable

_BASED = lazy_pattern(
    r"\(?(\d[0-9A-Za-z]*|[A-Fa-f]+\d[0-9A-Fa-f]*|(?:[A-F]+|[a-f]{2,})(?=\)?\s*_\s*\{?\s*16))\)?\s*_\s*\{?\s*(1[0-6]|[2-9])\s*\}?",
    needs="_",
)
_PREFIXED = lazy_pattern(
    r"0([xX](?=[0-9A-Fa-f])|[bB](?=[01]+$)|[oO](?=[0-7]+$))([0-9A-Fa-f]{1,300})", needs="0"
)
_PREFIXES = {"x": 16, "b": 2, "o": 8}


_WORDED = lazy_pattern(
    r"([0-9A-Fa-f]{1,300})\s*,?\s*\(?\s*(?:in\s+)?(?:base\s*-?\s*(\w{1,7})|(binary|octal|hexadecimal|hex|decimal|ternary))\s*(?:notation|form)?\s*\)?",
    re.IGNORECASE,
    needs="base|binary|decimal|hex|octal|ternary",
)
_NAMED = {
    "binary": 2,
    "ternary": 3,
    "octal": 8,
    "decimal": 10,
    "denary": 10,
    "hexadecimal": 16,
    "hex": 16,
}
_TARGET = lazy_pattern(
    r"\b(?:in|to|into|as a?n?)\s+(?:its\s+)?(?:base\s*-?\s*(\w{1,7})|(binary|octal|hexadecimal|hex|decimal|denary|ternary))\b",
    re.IGNORECASE,
)
_ASKED = lazy_pattern(
    r"\b(?:what is|give|find|the)\b.{0,30}\b(binary|octal|hexadecimal|decimal)\b",
    re.IGNORECASE,
    needs="binary|decimal|octal",
)


def target_base(question: str) -> int | None:
    """The base in which a question wants its answer; None if it names none."""
    found = [match[1] or match[2] for match in _TARGET.finditer(question)]
    found = found or [match[1] for match in _ASKED.finditer(question)]
    return _base(found[-1]) if found else None


def _base(name: str) -> int | None:
    name = name.lower()
    if name.isdecimal() and len(name) <= 2:
        return int(name) if 2 <= int(name) <= 36 else None
    return BASES.get(name) or _NAMED.get(name)


def digits_in(text: str, base: int) -> str | None:
    """The digits of `text`, a number that is written in `base`, said or not; None if it is none."""
    shown = text.replace(" ", "")
    node = in_base(text) if " " in text else None  # "1101 in binary" is no long number
    if node is None and re.fullmatch(r"[0-9A-Za-z]{1,300}", shown):
        digits = shown.upper()
    else:
        node = node or in_base(text)
        if node is None or node.value[1] != base:
            return None
        digits = node.value[0]
    if (
        digits[:1] == "0"
        and len(digits) > 2
        and digits[1:2] in "XBO"
        and _PREFIXES[digits[1].lower()] == base
    ):
        digits = digits[2:]
    if all("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(char) < base for char in digits):
        return digits.lstrip("0") or "0"
    return None


def in_base(text: str) -> Node | None:
    """All of `text` as digits with a base below, letters among them; None if it is nothing such."""
    prefixed = _PREFIXED.fullmatch(text)
    if prefixed:
        return Node("based", value=(prefixed[2].upper(), _PREFIXES[prefixed[1].lower()]))
    worded = _WORDED.fullmatch(text) if text[-1:] in "ylxn)o0123456789etrvi" else None
    if worded:
        base = _base(worded[2] or worded[3])
        return None if base is None else Node("based", value=(worded[1].upper(), base))
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
    if token.text[1:2].isalpha() and token.text[0] == "0":
        base = _PREFIXES.get(token.text[1].lower())
        if base is not None:
            return Node("based", value=(token.text[2:].upper(), base))
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
    """Return True if `node` is a fraction of plain whole numbers below one, as in a mixed number."""
    if node.kind != "div":
        return False
    above, below = node.args
    return (
        above.kind == below.kind == "num"
        and above.value.denominator == below.value.denominator == 1
        and 0 < above.value < below.value
    )
