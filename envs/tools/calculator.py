"""Exact arithmetic from text: `+ - * / ** ( )` and decimal numbers; read by hand, never evaluated.

Bounded before each step: characters, depth, digits of numbers and of powers. So no input is slow.
"""

from __future__ import annotations

import re
from fractions import Fraction

MAX_CHARS = 400
MAX_DEPTH = 40
MAX_BITS = 4096

_TOKEN = re.compile(r"\s*(?:(\d{1,60}(?:\.\d{1,30})?)|(\*\*|[-+*/()^]))")


class BadExpression(ValueError):
    """Text that cannot be computed; says what is wrong with it."""


def compute(expression: str) -> Fraction:
    """Return the exact value of `expression`. Raises BadExpression."""
    if len(expression) > MAX_CHARS:
        raise BadExpression(f"{len(expression)} characters, at most {MAX_CHARS} are read")
    reader = _Reader(_tokens(expression))
    value = reader.sum(0)
    if reader.here:
        raise BadExpression(f"{reader.here!r} was not expected there")
    return value


def shown(value: Fraction) -> str:
    """Return a whole number as it is, any other as a fraction with some decimals."""
    if value.denominator == 1:
        return str(value.numerator)
    decimals = round(value * 10**6)
    sign = "-" if decimals < 0 else ""
    whole, rest = divmod(abs(decimals), 10**6)
    near = f"{sign}{whole}.{rest:06d}".rstrip("0").rstrip(".")
    exact = Fraction(decimals, 10**6) == value
    return near if exact else f"{value.numerator}/{value.denominator}, about {near}"


def _tokens(expression: str) -> list[str]:
    tokens, at, text = [], 0, expression.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise BadExpression(
                f"{text[at : at + 10]!a} cannot be read; known are numbers + - * / ** ( )"
            )
        tokens.append(match[1] or match[2])
        at = match.end()
    return [*tokens, ""]


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def here(self) -> str:
        return self._tokens[self._at]

    def _take(self) -> str:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def sum(self, depth: int) -> Fraction:
        value = self._product(depth)
        while self.here in ("+", "-"):
            sign = self._take()
            other = self._product(depth)
            value = _bounded(value + other if sign == "+" else value - other)
        return value

    def _product(self, depth: int) -> Fraction:
        value = self._signed(depth)
        while self.here in ("*", "/"):
            sign = self._take()
            other = self._signed(depth)
            if sign == "/" and not other:
                raise BadExpression("division by zero")
            value = _bounded(value * other if sign == "*" else value / other)
        return value

    def _signed(self, depth: int) -> Fraction:
        if depth > MAX_DEPTH:
            raise BadExpression(f"nested deeper than {MAX_DEPTH} levels")
        if self.here in ("-", "+"):
            sign = self._take()
            value = self._signed(depth + 1)
            return -value if sign == "-" else value
        return self._power(depth)

    def _power(self, depth: int) -> Fraction:
        base = self._atom(depth)
        if self.here not in ("**", "^"):
            return base
        self._take()
        exponent = self._signed(depth + 1)
        if exponent.denominator != 1:
            raise BadExpression("an exponent must be a whole number")
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if bits * abs(exponent) > MAX_BITS:
            raise BadExpression("the power is too large")
        if not base and exponent < 0:
            raise BadExpression("division by zero")
        return base ** int(exponent)

    def _atom(self, depth: int) -> Fraction:
        token = self._take() if self.here else ""
        if token == "(":
            value = self.sum(depth + 1)
            if self.here != ")":
                raise BadExpression("a parenthesis is not closed")
            self._take()
            return value
        if token[:1].isdigit():
            return Fraction(token)
        raise BadExpression(
            f"a number was expected, not {token!r}" if token else "it ends too early"
        )


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise BadExpression("the number is too long")
    return value
