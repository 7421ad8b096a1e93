"""Value of an expression over numbers and fractions, worked out on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from typing_extensions import override

from verigym.envs.math.paper import Paper


def evaluate(paper: Paper, text: str) -> Fraction:
    """Return the value of an expression with + - * / and parentheses; `2/3` is read as one number."""
    return _sum(paper, _Tokens(text))


class _Tokens(Iterator[str]):
    def __init__(self, text: str) -> None:
        self._left: list[str] = re.findall(r"\d+(?:/\d+)?|[-+*/()]", text)[::-1]

    @override
    def __next__(self) -> str:
        return self._left.pop()

    def is_next(self, signs: str) -> bool:
        """Return True if the next token is one of `signs`."""
        return bool(self._left) and self._left[-1] in signs


def _sum(paper: Paper, tokens: _Tokens) -> Fraction:
    total = _product(paper, tokens)
    while tokens.is_next("+-"):
        join = paper.add_fractions if next(tokens) == "+" else paper.subtract_fractions
        total = join(total, _product(paper, tokens))
    return total


def _product(paper: Paper, tokens: _Tokens) -> Fraction:
    total = _factor(paper, tokens)
    while tokens.is_next("*/"):
        join = paper.multiply_fractions if next(tokens) == "*" else paper.divide_fractions
        total = join(total, _factor(paper, tokens))
    return total


def _factor(paper: Paper, tokens: _Tokens) -> Fraction:
    if (token := next(tokens)) != "(":
        return Fraction(token)
    total = _sum(paper, tokens)
    next(tokens)
    return total
