"""Exact rational values of trees, bounded in bits; None if a value is not rational."""

from __future__ import annotations

import math
from fractions import Fraction

from verigym.verifiers.math.trees import (
    MAX_BITS,
    MAX_FACTORIAL,
    MAX_TERMS,
    Node,
    TooBig,
    num,
    replace_kind,
)


def exact(node: Node) -> Fraction | None:
    """The rational value of a tree without variables; None if it has none that we can tell.

    Raises TooBig past `MAX_BITS`, ZeroDivisionError.
    """
    kind = node.kind
    if kind == "num":
        return Fraction(node.value)
    if kind == "dec":
        return Fraction(node.value[0])
    if kind == "based":
        return based(*node.value)
    if kind in (
        "var",
        "const",
        "call",
        "named",
        "dots",
        "matrix",
        "set",
        "tuple",
        "rel",
        "pm",
        "mp",
    ):
        return None
    if kind in ("sum", "prod"):
        return _series(node)
    if kind == "pow":
        return _power(node)
    if kind not in ("add", "mul", "neg", "div", "fn", "fact", "percent", "ratio"):
        return None
    args: list[Fraction] = []
    for arg in node.args:
        found = exact(arg)
        if found is None:
            return None
        args.append(found)
    return _bounded(_apply(node, args))


def _apply(node: Node, args: list[Fraction]) -> Fraction | None:
    kind = node.kind
    if kind == "add":
        return sum(args, Fraction(0))
    if kind == "mul":
        return args[0] * args[1]
    if kind == "neg":
        return -args[0]
    if kind == "div" or (kind == "ratio" and len(args) == 2):
        return args[0] / args[1]
    if kind == "percent":
        return args[0] / 100
    if kind == "fact":
        return _factorial(args[0], node.value or 1)
    if kind == "fn":
        return _function(node.value, args)
    return None


def _bounded(value: Fraction | None) -> Fraction | None:
    if (
        value is not None
        and value.numerator.bit_length() + value.denominator.bit_length() > MAX_BITS
    ):
        raise TooBig(f"a value has at most {MAX_BITS} bits")
    return value


def _whole(value: Fraction) -> bool:
    return value.denominator == 1


def based(digits: str, base: int) -> Fraction | None:
    """The value of digits in a base; None if a digit is not of it."""
    if len(digits) > 300:
        raise TooBig("a number in a base has at most 300 digits")
    try:
        return Fraction(int(digits, base))
    except ValueError:
        return None


def _power(node: Node) -> Fraction | None:
    base, power = exact(node.args[0]), exact(node.args[1])
    if base is None or power is None:
        return None
    return power_of(base, power)


def power_of(base: Fraction, power: Fraction) -> Fraction | None:
    """`base ** power` if that is rational."""
    if base == 0:
        if power > 0:
            return Fraction(0)
        if power < 0:
            raise ZeroDivisionError
        return Fraction(1)
    if _whole(power):
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(base) != 1 and bits * abs(power) > MAX_BITS:
            raise TooBig(f"a power has at most {MAX_BITS} bits")
        if abs(base) == 1:
            return Fraction(1) if base == 1 or power % 2 == 0 else Fraction(-1)
        return Fraction(base ** int(power))
    if base < 0 or power.denominator > 64:
        return None
    root = _root(base, power.denominator)
    return None if root is None else power_of(root, Fraction(power.numerator))


def _root(value: Fraction, degree: int) -> Fraction | None:
    """The exact root of a value that is not negative, if rational."""
    above, below = (_whole_root(part, degree) for part in (value.numerator, value.denominator))
    return None if above is None or below is None else Fraction(above, below)


def _whole_root(value: int, degree: int) -> int | None:
    if value < 2:
        return value
    if degree == 2:
        guess = math.isqrt(value)
    else:
        # Newton's method on whole numbers, from above.
        guess = 1 << -(-value.bit_length() // degree)
        while True:
            better = ((degree - 1) * guess + value // guess ** (degree - 1)) // degree
            if better >= guess:
                break
            guess = better
    return guess if guess**degree == value else None


def _factorial(value: Fraction, step: int) -> Fraction | None:
    if not _whole(value) or value < 0:
        return None
    if value > MAX_FACTORIAL:
        raise TooBig(f"a factorial is of at most {MAX_FACTORIAL}")
    return Fraction(math.prod(range(int(value), 0, -step)))


def _function(name: str, args: list[Fraction]) -> Fraction | None:
    first = args[0] if args else Fraction(0)
    if len(args) == 1:
        if name in ("abs", "floor", "ceil", "sign", "conj", "Re"):
            return {
                "abs": abs(first),
                "floor": Fraction(math.floor(first)),
                "ceil": Fraction(math.ceil(first)),
                "sign": Fraction((first > 0) - (first < 0)),
            }.get(name, first)
        if name == "sqrt" and first >= 0:
            return _root(first, 2)
        if name == "cbrt":
            root = _root(abs(first), 3)
            return None if root is None else (root if first >= 0 else -root)
        if name == "factorial":
            return _factorial(first, 1)
        if name == "ln" and first == 1:
            return Fraction(0)
    if name == "root" and len(args) == 2 and first >= 0 and _whole(args[1]) and 0 < args[1] <= 64:
        return _root(first, int(args[1]))
    if name in ("min", "max") and args:
        return min(args) if name == "min" else max(args)
    if not all(map(_whole, args)):
        return None
    if name == "gcd" and args:
        return Fraction(math.gcd(*map(int, args)))
    if name == "lcm" and args:
        return Fraction(math.lcm(*map(int, args)))
    if name == "binomial" and len(args) == 2:
        top, low = int(first), int(args[1])
        if not 0 <= top <= 10 * MAX_FACTORIAL:
            return None
        if min(low, top - low) > MAX_FACTORIAL:
            raise TooBig("a binomial coefficient is too large")
        return Fraction(math.comb(top, low) if low >= 0 else 0)
    return None


def _series(node: Node) -> Fraction | None:
    start, end = exact(node.args[0]), exact(node.args[1])
    if start is None or end is None or not _whole(start) or not _whole(end):
        return None
    if end - start > MAX_TERMS:
        raise TooBig(f"a sum has at most {MAX_TERMS} terms")
    total = Fraction(0 if node.kind == "sum" else 1)
    for index in range(int(start), int(end) + 1):
        term = exact(replace_kind(node.args[2], "var", {node.value: num(index)}))
        if term is None:
            return None
        total = total + term if node.kind == "sum" else total * term
        _bounded(total)
    return total
