"""Values of trees as complex numbers. Magnitudes are bounded before each power and exponential."""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from verigym.verifiers.math.exact import exact
from verigym.verifiers.math.operations import FLOATS, Floats
from verigym.verifiers.math.trees import MAX_TERMS, Node, TooBig, num, replace_kind

_MAX_EXPONENT = 20_000.0
_ORDER = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
_RECIPROCAL = {"sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh",
               "arcsec": "arccos", "arccsc": "arcsin"}  # fmt: skip
Env = Mapping[str, Any]


class Undefined(ArithmeticError):
    """A value that is not a number: a pole, a logarithm of zero, an unknown function."""


def value_of(node: Node, env: Env, ops: Floats = FLOATS) -> Any:
    """The complex value. Raises Undefined or TooBig; infinities are Python floats."""
    try:
        return _value(node, env, ops)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
        raise Undefined(str(error)) from error


def _value(node: Node, env: Env, ops: Floats) -> Any:
    kind, args = node.kind, node.args
    if kind == "num":
        return ops.number(node.value)
    if kind == "dec":
        return ops.number(node.value[0])
    if kind == "var":
        if node.value not in env:
            raise Undefined(f"{node.value} has no value")
        found = env[node.value]
        return ops.number(found) if isinstance(found, Fraction) else found
    if kind == "const":
        return math.inf if node.value == "inf" else getattr(ops, node.value)
    if kind == "add":
        total = _value(args[0], env, ops)
        for arg in args[1:]:
            total = total + _value(arg, env, ops)
        return total
    if kind == "mul":
        return _value(args[0], env, ops) * _value(args[1], env, ops)
    if kind == "neg":
        return -_value(args[0], env, ops)
    if kind == "div" or (kind == "ratio" and len(args) == 2):
        return _value(args[0], env, ops) / _value(args[1], env, ops)
    if kind == "pow":
        return _power(node, env, ops)
    if kind == "percent":
        return _value(args[0], env, ops) / 100
    if kind == "fact":
        return _factorial(_value(args[0], env, ops), node.value or 1, ops)
    if kind == "fn":
        return _function(node, env, ops)
    if kind == "call":
        return _unknown(node, env, ops)
    if kind in ("sum", "prod"):
        return _series(node, env, ops)
    if kind == "cases":
        return _cases(node, env, ops)
    rational = exact(node)
    if rational is None:
        raise Undefined(f"a {kind} has no number")
    return ops.number(rational)


def _power(node: Node, env: Env, ops: Floats) -> Any:
    base, power = (_value(arg, env, ops) for arg in node.args)
    if base == 0:
        if is_real(power) and power.real == 0:
            return ops.number(Fraction(1))
        if is_real(power) and power.real > 0:
            return ops.number(Fraction(0))
        raise Undefined("zero to a power that is not positive")
    size = abs(power) * max(1.0, abs(math.log(_magnitude(base))))
    if not size < _MAX_EXPONENT:
        raise TooBig("a power is too large")
    if base == ops.e or (is_real(base) and abs(base.imag) == 0 and base.real == ops.e):
        return ops.exp(power)
    if is_real(power) and power.real == int(power.real) and abs(power) < 1e6:
        return base ** int(power.real)
    if is_real(base) and base.real > 0 and not isinstance(base, float | int) and base.imag == 0:
        base = base.real
    return ops.power(base + 0 * ops.i if base.real < 0 else base, power)


def _magnitude(value: Any) -> float:
    found = float(abs(value))
    return found if 0 < found < math.inf else 1e300


def is_real(value: Any) -> bool:
    """Return True if a value has no imaginary part but noise."""
    return bool(abs(value.imag) <= 1e-12 * max(1.0, abs(value.real)))


def _factorial(value: Any, step: int, ops: Floats) -> Any:
    if not is_real(value) or abs(value) > 2000:
        raise Undefined("the factorial of a number that is not real or too large")
    x = value.real
    if step == 2:
        if x != int(x) or x < 0:
            raise Undefined("a double factorial is of a whole number")
        return ops.number(Fraction(math.prod(range(int(x), 0, -2))))
    if x == int(x):
        if x < 0:
            raise Undefined("the factorial of a negative number")
        return ops.number(Fraction(math.factorial(int(x))))
    return ops.gamma(x + 1)


def _function(node: Node, env: Env, ops: Floats) -> Any:
    name = node.value
    if name == "det":
        raise Undefined("a determinant is computed before")
    args = [_value(arg, env, ops) for arg in node.args]
    first = args[0]
    if name in ("gcd", "lcm", "min", "max"):
        return _of_reals(name, args, ops)
    if len(args) == 2:
        if name == "log":
            return ops.ln(first) / ops.ln(args[1])
        if name == "root":
            if not is_real(args[1]):
                raise Undefined("a root of a complex degree")
            if is_real(first) and first.real < 0 and args[1].real % 2 == 1:
                return -ops.power(-first.real, 1 / args[1].real)
            return ops.power(first, 1 / args[1].real)
        if name == "binomial":
            return _binomial(first, args[1], ops)
        if name == "mod" and is_real(first) and is_real(args[1]):
            return first.real % args[1].real
        raise Undefined(f"{name} of two arguments")
    if len(args) != 1:
        raise Undefined(f"{name} of {len(args)} arguments")
    if name in _RECIPROCAL:
        if name.startswith("arc"):
            return getattr(ops, _RECIPROCAL[name])(1 / first)
        return 1 / getattr(ops, _RECIPROCAL[name])(_cropped(first, ops))
    if name == "arccot":
        return ops.pi / 2 - ops.arctan(first)
    if name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh"):
        found = getattr(ops, name)(_cropped(first, ops))
        if name == "tan" and abs(found) > 1e14:
            raise Undefined("a pole")
        return found
    if name in ("log", "ln"):
        return ops.ln(first)
    if name == "abs":
        return abs(first)
    if name == "sqrt":
        return ops.sqrt(first)
    if name == "cis":
        return ops.exp(ops.i * _cropped(first, ops))
    if name == "cbrt":
        if not is_real(first):
            raise Undefined("the cube root of a complex number")
        third = 1 / ops.number(Fraction(3))
        return (
            -ops.power(-first.real, third)
            if first.real < 0
            else ops.power(first.real, third)
            if first
            else first
        )
    if name in ("floor", "ceil", "sign"):
        if not is_real(first):
            raise Undefined(f"{name} of a complex number")
        x = first.real
        # A value a hair below a whole number is that number.
        near = round(float(x))
        if abs(x - near) < 1e-12 * max(1, abs(near)):
            x = near
        found = {"floor": math.floor(x), "ceil": math.ceil(x), "sign": (x > 0) - (x < 0)}[name]
        return ops.number(Fraction(int(found)))
    if name == "conj":
        return first.conjugate()
    if name in ("Re", "Im"):
        return first.real if name == "Re" else first.imag
    if name == "arg":
        return ops.ln(first).imag
    if name == "factorial":
        return _factorial(first, 1, ops)
    if hasattr(ops, name):
        return getattr(ops, name)(first)
    raise Undefined(f"{name} is not computed")


def _cropped(value: Any, ops: Floats) -> Any:
    if not abs(value) < _MAX_EXPONENT:
        raise TooBig("an argument is too large")
    return value


def _of_reals(name: str, args: list[Any], ops: Floats) -> Any:
    if not all(map(is_real, args)):
        raise Undefined(f"{name} of complex numbers")
    reals = [arg.real for arg in args]
    if name in ("min", "max"):
        return min(reals) if name == "min" else max(reals)
    if any(x != int(x) for x in reals):
        raise Undefined(f"{name} of fractions")
    whole = [int(x) for x in reals]
    return ops.number(Fraction(math.gcd(*whole) if name == "gcd" else math.lcm(*whole)))


def _binomial(top: Any, low: Any, ops: Floats) -> Any:
    if not is_real(top) or not is_real(low) or abs(top) > 1000 or abs(low) > 1000:
        raise Undefined("a binomial coefficient out of range")
    n, k = top.real, low.real
    if k == int(k) and k >= 0:
        found = ops.number(Fraction(1))
        for i in range(int(k)):
            found = found * (n - i) / (i + 1)
        return found
    return ops.gamma(n + 1) / (ops.gamma(k + 1) * ops.gamma(n - k + 1))


def _unknown(node: Node, env: Env, ops: Floats) -> Any:
    """A value for an unknown function: fixed by its name and the values of its arguments."""
    args = [complex(_value(arg, env, ops)) for arg in node.args]
    shown = node.value + "".join(f";{x.real:.9e},{x.imag:.9e}" for x in args)
    drawn = int.from_bytes(hashlib.sha256(shown.encode()).digest()[:4], "big")
    return ops.number(Fraction(drawn % 9973 + 1, 1000))


def _cases(node: Node, env: Env, ops: Floats) -> Any:
    for row in node.args:
        value, *conditions = row.args
        if all(_holds(condition, env, ops) for condition in conditions):
            return _value(value, env, ops)
    raise Undefined("no case holds")


def _holds(relation: Node, env: Env, ops: Floats) -> bool:
    values = [_value(arg, env, ops) for arg in relation.args]
    if not all(map(is_real, values)) or not set(relation.value) <= _ORDER.keys():
        raise Undefined("a case compares real numbers")
    reals = [value.real for value in values]
    return all(
        _ORDER[sign](a, b) for sign, a, b in zip(relation.value, reals, reals[1:], strict=False)
    )


def _series(node: Node, env: Env, ops: Floats) -> Any:
    start, end = (_value(arg, env, ops) for arg in node.args[:2])
    if not (is_real(start) and is_real(end)) or start != int(start.real) or end != int(end.real):
        raise Undefined("the bounds of a sum are whole")
    if end.real - start.real > MAX_TERMS:
        raise TooBig(f"a sum has at most {MAX_TERMS} terms")
    total = ops.number(Fraction(0 if node.kind == "sum" else 1))
    for index in range(int(start.real), int(end.real) + 1):
        term = _value(replace_kind(node.args[2], "var", {node.value: num(index)}), env, ops)
        total = total + term if node.kind == "sum" else total * term
    return total
