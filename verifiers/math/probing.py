"""Equality of formulas by their values at seeded points.

Floating point tells most pairs apart; what agrees in it is confirmed with 50 digits at the same points.
"""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from verigym.verifiers.math.exact import exact
from verigym.verifiers.math.numeric import Env, Undefined, is_real, value_of
from verigym.verifiers.math.operations import precise
from verigym.verifiers.math.trees import Node, TooBig

_CLOSE_FLOAT = 1e-9
_CLOSE_EXACT = 1e-35
_BENT = ("max", "min", "abs", "sign", "floor", "ceil", "sqrt", "root", "cbrt")
_MOST_WIDE = 10**6
_REAL_LETTERS = frozenset("xyztuvw")


def same_value(a: Any, b: Any, close: float) -> bool:
    """Return True if two values agree to `close`, relative to the larger (absolute below 1e-12)."""
    if a == b:
        return True
    size = max(abs(a), abs(b))
    if not size < math.inf:
        return False
    return bool(abs(a - b) <= close * size)


def constants_equal(a: Node, b: Node) -> bool | None:
    """Return True if two trees without variables have the same value; None if one has none."""
    try:
        left, right = exact(a), exact(b)
        if left is not None and right is not None:
            return left == right
    except ZeroDivisionError:
        return None
    except TooBig:
        left = right = None
    return _equal_at(a, b, {})


def _equal_at(a: Node, b: Node, env: Env) -> bool | None:
    """Return True if two trees agree at a point: floats first, then 50 digits."""
    try:
        x, y = value_of(a, env), value_of(b, env)
        if math.isinf(abs(x)) or math.isinf(abs(y)):
            return bool(x == y)
        if cmath.isnan(x) or cmath.isnan(y):
            return None
        # Two values near zero may be noise; larger ones that differ do differ.
        if not same_value(x, y, 1e-5) and max(abs(x), abs(y)) > 1e-6:
            return False
    except (Undefined, TooBig):
        pass
    try:
        ops = precise()
        x, y = value_of(a, env, ops), value_of(b, env, ops)
    except (Undefined, TooBig):
        return None
    if same_value(x, y, _CLOSE_EXACT):
        return True
    # Zero against the noise of a sum that cancels.
    return bool(max(abs(x), abs(y)) < 1e-40)


@lru_cache(maxsize=4096)
def points(
    names: frozenset[str], whole: bool, positive: bool, count: int = 10
) -> tuple[dict[str, Fraction], ...]:
    """Seeded points: small and large, positive first, then of either sign."""
    found: list[dict[str, Fraction]] = []
    for k in range(count):
        draw = random.Random(f"{k};{','.join(sorted(names))}")
        point = {}
        for name in sorted(names):
            if whole:
                point[name] = Fraction(draw.randint(1, 6) + (k > 5) * 3)
            else:
                size = Fraction(draw.randint(11, 97), 100) * (1 if k % 2 else 3)
                sign = -1 if not positive and k > 3 and draw.random() < 0.6 else 1
                point[name] = size * sign + Fraction(1, 7919)
        found.append(point)
    return tuple(found)


def _needs_whole(node: Node) -> bool:
    """Return True if the variables of a tree must be whole numbers: factorials, (-1)^n, sums to n."""
    for part in node.walk():
        if part.kind in ("fact", "sum", "prod") and part.variables():
            return True
        if (
            part.kind == "fn"
            and part.value in ("binomial", "gcd", "lcm", "factorial", "mod")
            and part.variables()
        ):
            return True
        if part.kind == "pow" and part.args[1].variables() and _negative(part.args[0]):
            return True
    return False


def _negative(base: Node) -> bool:
    try:
        value = None if base.variables() else exact(base)
    except (TooBig, ZeroDivisionError):
        return False
    return value is not None and value < 0


@lru_cache(maxsize=32)
def probed_equal(a: Node, b: Node, *, positive: bool = False) -> bool | None:
    """Return True if two trees agree wherever both are real (or, never being real, wherever defined).

    None if fewer than three points could be used.
    """
    names = a.variables() | b.variables()
    if not names:
        return constants_equal(a, b)
    whole = _needs_whole(a) or _needs_whole(b)
    if whole is False and any(node.calls("floor", "ceil") for node in (a, b)):
        # floor(x) + 1 and ceil(x) agree nearly everywhere; a letter such as n is whole anyway.
        found = _probed(a, b, points(names, True, positive))
        if found is not True or not names & _REAL_LETTERS:
            return found
    at = list(points(names, whole, positive))
    if a.has("cases") or b.has("cases"):
        at = _at_edges(a, b, names) + at
    if any(node.calls(*_BENT) for node in (a, b)):
        at = _wide(a, b, at[:2], 1 if whole or positive else -1) + at
    found = _probed(a, b, at)
    if found is None and not whole:
        # Roots may ask for larger values.
        larger = [
            {name: 4 * abs(x) + 2 for name, x in point.items()}
            for point in points(names, False, True)
        ]
        found = _probed(a, b, larger)
    return found


def _at_edges(a: Node, b: Node, names: frozenset[str]) -> list[dict[str, Fraction]]:
    """Points at and beside the numbers that the conditions of cases name, where there is one letter."""
    if len(names) != 1:
        return []
    edges: set[Fraction] = set()
    for node in (*a.walk(), *b.walk()):
        if node.kind == "rel":
            for arg in node.args:
                value = None if arg.variables() else exact(arg)
                edges |= set() if value is None else {value, value - 1, value + 1}
    name = next(iter(names))
    return [{name: edge} for edge in sorted(edges)[:30]]


def _wide(a: Node, b: Node, at: list[dict[str, Fraction]], below: int) -> list[dict[str, Fraction]]:
    """Points beyond every number that either tree names, where a function may bend: max(5, z).

    `below`: the sign of the second point.
    """
    size = Fraction(1)
    for node in (*a.walk(), *b.walk()):
        if node.kind in ("num", "dec"):
            size = max(size, abs(exact(node) or size))
    if size > _MOST_WIDE:
        return []
    return [
        {name: sign * (value + 1) * 2 * math.ceil(size) for name, value in point.items()}
        for point, sign in zip(at, (1, below), strict=False)
    ]


def _probed(a: Node, b: Node, at: Sequence[dict[str, Fraction]]) -> bool | None:
    agreed = complex_agreed = 0
    complex_differed = mixed = False
    used: list[dict[str, Fraction]] = []
    for point in at:
        try:
            x, y = value_of(a, point), value_of(b, point)
        except (Undefined, TooBig):
            continue
        if cmath.isnan(x) or cmath.isnan(y) or math.isinf(abs(x)) or math.isinf(abs(y)):
            continue
        real_x, real_y = is_real(x), is_real(y)
        if real_x != real_y:
            # One is real where the other is not: outside the common domain.
            mixed = True
            continue
        close = same_value(x, y, _CLOSE_FLOAT) or max(abs(x), abs(y)) < 1e-13
        if not close and (same_value(x, y, 1e-4) or max(abs(x), abs(y)) < 1e-6):
            close = _equal_at(a, b, point) is True
        if real_x:
            if not close:
                return False
            agreed += 1
            used.append(point)
        elif close:
            complex_agreed += 1
        else:
            complex_differed = True
        if agreed >= 8:
            break
    if agreed >= 3:
        return _confirmed(a, b, used)
    if agreed == 0 and not mixed and (complex_agreed >= 3 or complex_differed):
        return not complex_differed
    return None


def _confirmed(a: Node, b: Node, at: list[dict[str, Fraction]]) -> bool:
    """The first points once more with 50 digits: a tiny term is not lost in floats."""
    return all(_equal_at(a, b, point) is not False for point in at[:2])
