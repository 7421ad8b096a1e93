"""The syntax tree of a mathematical answer, and the bounds that keep every input cheap."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from msgspec import Struct

MAX_REPLY_CHARS = 1 << 20
MAX_ANSWER_CHARS = 4096
MAX_TOKENS = 1500
MAX_DEPTH = 40
MAX_HEIGHT = 100
MAX_DIGITS = 1200
MAX_BITS = 65_536
MAX_FACTORIAL = 3_000
MAX_TERMS = 200
MAX_SERIES = 3
MAX_BODY = 60
MAX_ITEMS = 200
MAX_COMBINATIONS = 64


def names(text: str) -> list[str]:
    """The words of `text`: a list of names that reads as one line."""
    return text.split()


class Unreadable(ValueError):
    """Raised for text that is not mathematics this package can read; it may still be compared as text."""


class TooBig(ArithmeticError):
    """A value or a computation past the bounds of this module."""


_NO_NAMES: frozenset[str] = frozenset()


class Node(Struct, frozen=True):
    """One node. `kind` says which:

    num (value: Fraction), dec (value: Fraction, digits: number of decimals), var, const (pi, e, i,
    inf), add, mul, neg, div, pow, fn (value: name), call (opaque function), fact, mod, pm, mp, tuple (value: the
    two brackets), set, builder, matrix (args: rows), union, inter, minus, rel (value: the signs),
    percent, based (value: digits and base), ratio, named (a set such as R), dots, sum, prod.
    """

    kind: str
    args: tuple[Node, ...] = ()
    value: Any = None

    def walk(self) -> Iterator[Node]:
        """This node and all below, without recursion."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.args)

    def variables(self) -> frozenset[str]:
        """Names of the free variables; the index of a sum is not free."""
        if self.kind == "var":
            return frozenset((self.value,))
        found: frozenset[str] = _NO_NAMES
        if not self.args:
            return found
        for arg in self.args:
            found |= arg.variables()
        return found - {self.value} if self.kind in ("sum", "prod") else found

    def height(self) -> int:
        """Levels of the tree, without recursion."""
        most = 0
        stack = [(self, 1)]
        while stack:
            node, level = stack.pop()
            most = max(most, level)
            stack.extend((arg, level + 1) for arg in node.args)
        return most

    def has(self, *kinds: str) -> bool:
        """Return True if a node of one of `kinds` stands in the tree."""
        stack = [self]
        while stack:
            node = stack.pop()
            if node.kind in kinds:
                return True
            stack.extend(node.args)
        return False

    def calls(self, *names: str) -> bool:
        """Return True if a function of one of `names` stands in the tree."""
        stack = [self]
        while stack:
            node = stack.pop()
            if node.kind == "fn" and node.value in names:
                return True
            stack.extend(node.args)
        return False


def num(value: int | Fraction) -> Node:
    """An exact number."""
    return Node("num", value=Fraction(value))


def replace_kind(node: Node, kind: str, make: dict[str, Node]) -> Node:
    """`node` with each node of `kind` that has an entry in `make` under its value exchanged for that."""
    if node.kind == kind and node.value in make:
        return make[node.value]
    if not node.args:
        return node
    return Node(node.kind, tuple(replace_kind(arg, kind, make) for arg in node.args), node.value)
