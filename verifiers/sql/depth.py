"""Measures the nesting of a query without recursion, so that later recursion has a bound."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import Token, TokenType, exp
from sqlglot.parser import Parser

MAX_DEPTH = 100
"""Parts inside one another; a chain of one operator, `1 + 1 + 1`, counts once."""
MAX_CHAINED = 250
"""The same with every link of such a chain counted."""

MAX_TYPES = 8
"""Brackets behind names of types inside one another: each doubles what the parser takes."""
_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET)


def is_slow_to_parse(tokens: Sequence[Token]) -> bool:
    """Return True if calls that are named as types, `DATE(DATE(...))`, are nested too deeply."""
    opened: list[bool] = []
    deep = 0
    before = None
    for token in tokens:
        kind = token.token_type
        typed = before in Parser.TYPE_TOKENS
        if kind in _OPENING:
            opened.append(typed)
            deep += typed
            if deep > MAX_TYPES:
                return True
        elif kind in _CLOSING and opened:
            deep -= opened.pop()
        before = kind
    return False


def is_too_deep(tree: exp.Expr) -> bool:
    """Return True if a tree is nested deeper than any query that someone would write."""
    stack: list[tuple[exp.Expr, int, int]] = [(tree, 1, 1)]
    while stack:
        node, depth, chained = stack.pop()
        if depth > MAX_DEPTH or chained > MAX_CHAINED:
            return True
        # A moment and an interval become a call, which is no chain.
        links = isinstance(node, exp.Binary | exp.SetOperation) and not any(
            isinstance(side, exp.Interval) for side in node.iter_expressions()
        )
        for child in node.iter_expressions():
            linked = links and type(child) is type(node)
            stack.append((child, depth + (not linked), chained + 1))
    return False
