"""Values of trees as complex numbers, and equality by probing at seeded points.

Floating point tells most pairs apart; what agrees in it is confirmed with 50 digits (mpmath) at the
same points. Magnitudes are bounded before each power and exponential, so no input is slow.
"""

from __future__ import annotations

import cmath
import hashlib
import math
import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from verigym.verifiers.math.exact import exact
from verigym.verifiers.math.trees import MAX_TERMS, Node, TooBig, names, num, replace_kind

DIGITS = 50
CLOSE_FLOAT = 1e-9
CLOSE_EXACT = 1e-35
_MAX_EXPONENT = 20_000.0
Env = Mapping[str, Any]


class Undefined(ArithmeticError):
    """A value that is not a number: a pole, a logarithm of zero, an unknown function."""


class _Floats:
    """Functions of complex floats."""

    pi: Any = math.pi
    e: Any = math.e
    i: Any = 1j
    sqrt = staticmethod(cmath.sqrt)
    exp = staticmethod(cmath.exp)
    ln = staticmethod(cmath.log)
    sin = staticmethod(cmath.sin)
    cos = staticmethod(cmath.cos)
    tan = staticmethod(cmath.tan)
    sinh = staticmethod(cmath.sinh)
    cosh = staticmethod(cmath.cosh)
    tanh = staticmethod(cmath.tanh)
    arcsin = staticmethod(cmath.asin)
    arccos = staticmethod(cmath.acos)
    arctan = staticmethod(cmath.atan)
    arsinh = staticmethod(cmath.asinh)
    arcosh = staticmethod(cmath.acosh)
    artanh = staticmethod(cmath.atanh)
    power = staticmethod(lambda a, b: a**b)

    @staticmethod
    def number(value: Fraction) -> Any:
        return float(value)

    @staticmethod
    def gamma(value: float) -> Any:
        return math.gamma(value)


class _Precise(_Floats):
    """The same with mpmath."""

    def __init__(self) -> None:
        from mpmath import MPContext  # type: ignore[import-untyped]

        mp = MPContext()
        mp.dps = DIGITS
        self.pi, self.e, self.i = +mp.pi, +mp.e, mp.j
        for name in names("sqrt exp ln sin cos tan sinh cosh tanh"):
            setattr(self, name, getattr(mp, name))
        for ours, theirs in {
            "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arsinh": "asinh",
            "arcosh": "acosh", "artanh": "atanh", "power": "power",
        }.items():  # fmt: skip
            setattr(self, ours, getattr(mp, theirs))
        self._mp = mp

    def number(self, value: Fraction) -> Any:  # type: ignore[override]
        return self._mp.mpf(value.numerator) / value.denominator

    def gamma(self, value: Any) -> Any:  # type: ignore[override]
        return self._mp.gamma(value)


FLOATS = _Floats()
_precise: list[_Precise] = []


def precise() -> _Precise:
    """The functions of mpmath, loaded when first needed."""
    if not _precise:
        _precise.append(_Precise())
    return _precise[0]


_RECIPROCAL = {"sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh",
               "arcsec": "arccos", "arccsc": "arcsin"}  # fmt: skip


def value_of(node: Node, env: Env, ops: _Floats = FLOATS) -> Any:
    """The complex value. Raises Undefined or TooBig; infinities are Python floats."""
    try:
        return _value(node, env, ops)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
        raise Undefined(str(error)) from error


def _value(node: Node, env: Env, ops: _Floats) -> Any:
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
    rational = exact(node)
    if rational is None:
        raise Undefined(f"a {kind} has no number")
    return ops.number(rational)


def _power(node: Node, env: Env, ops: _Floats) -> Any:
    base, power = (_value(arg, env, ops) for arg in node.args)
    if base == 0:
        if _real(power) and power.real == 0:
            return ops.number(Fraction(1))
        if _real(power) and power.real > 0:
            return ops.number(Fraction(0))
        raise Undefined("zero to a power that is not positive")
    size = abs(power) * max(1.0, abs(math.log(_magnitude(base))))
    if not size < _MAX_EXPONENT:
        raise TooBig("a power is too large")
    if base == ops.e or (_real(base) and abs(base.imag) == 0 and base.real == ops.e):
        return ops.exp(power)
    if _real(power) and power.real == int(power.real) and abs(power) < 1e6:
        return base ** int(power.real)
    if _real(base) and base.real > 0 and not isinstance(base, float | int) and base.imag == 0:
        base = base.real
    return ops.power(base + 0 * ops.i if base.real < 0 else base, power)


def _magnitude(value: Any) -> float:
    found = float(abs(value))
    return found if 0 < found < math.inf else 1e300


def _real(value: Any) -> bool:
    return bool(abs(value.imag) <= 1e-12 * max(1.0, abs(value.real)))


def _factorial(value: Any, step: int, ops: _Floats) -> Any:
    if not _real(value) or abs(value) > 2000:
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


def _function(node: Node, env: Env, ops: _Floats) -> Any:
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
            if not _real(args[1]):
                raise Undefined("a root of a complex degree")
            if _real(first) and first.real < 0 and args[1].real % 2 == 1:
                return -ops.power(-first.real, 1 / args[1].real)
            return ops.power(first, 1 / args[1].real)
        if name == "binomial":
            return _binomial(first, args[1], ops)
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
    if name == "cbrt":
        if not _real(first):
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
        if not _real(first):
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


def _cropped(value: Any, ops: _Floats) -> Any:
    if not abs(value) < _MAX_EXPONENT:
        raise TooBig("an argument is too large")
    return value


def _of_reals(name: str, args: list[Any], ops: _Floats) -> Any:
    if not all(map(_real, args)):
        raise Undefined(f"{name} of complex numbers")
    reals = [arg.real for arg in args]
    if name in ("min", "max"):
        return min(reals) if name == "min" else max(reals)
    if any(x != int(x) for x in reals):
        raise Undefined(f"{name} of fractions")
    whole = [int(x) for x in reals]
    return ops.number(Fraction(math.gcd(*whole) if name == "gcd" else math.lcm(*whole)))


def _binomial(top: Any, low: Any, ops: _Floats) -> Any:
    if not _real(top) or not _real(low) or abs(top) > 1000 or abs(low) > 1000:
        raise Undefined("a binomial coefficient out of range")
    n, k = top.real, low.real
    if k == int(k) and k >= 0:
        found = ops.number(Fraction(1))
        for i in range(int(k)):
            found = found * (n - i) / (i + 1)
        return found
    return ops.gamma(n + 1) / (ops.gamma(k + 1) * ops.gamma(n - k + 1))


def _unknown(node: Node, env: Env, ops: _Floats) -> Any:
    """A value for an unknown function: fixed by its name and the values of its arguments."""
    args = [complex(_value(arg, env, ops)) for arg in node.args]
    shown = node.value + "".join(f";{x.real:.9e},{x.imag:.9e}" for x in args)
    drawn = int.from_bytes(hashlib.sha256(shown.encode()).digest()[:4], "big")
    return ops.number(Fraction(drawn % 9973 + 1, 1000))


def _series(node: Node, env: Env, ops: _Floats) -> Any:
    start, end = (_value(arg, env, ops) for arg in node.args[:2])
    if not (_real(start) and _real(end)) or start != int(start.real) or end != int(end.real):
        raise Undefined("the bounds of a sum are whole")
    if end.real - start.real > MAX_TERMS:
        raise TooBig(f"a sum has at most {MAX_TERMS} terms")
    total = ops.number(Fraction(0 if node.kind == "sum" else 1))
    for index in range(int(start.real), int(end.real) + 1):
        term = _value(replace_kind(node.args[2], "var", {node.value: num(index)}), env, ops)
        total = total + term if node.kind == "sum" else total * term
    return total


def same_value(a: Any, b: Any, close: float) -> bool:
    """Whether two values agree to `close`, relative to the larger (absolute below 1e-12)."""
    if a == b:
        return True
    size = max(abs(a), abs(b))
    if not size < math.inf:
        return False
    return bool(abs(a - b) <= close * size)


def constants_equal(a: Node, b: Node) -> bool | None:
    """Whether two trees without variables have the same value; None where one has none."""
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
    """Whether two trees agree at a point: floats first, then 50 digits."""
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
    if same_value(x, y, CLOSE_EXACT):
        return True
    # Zero against the noise of a sum that cancels.
    return bool(max(abs(x), abs(y)) < 1e-40)


def points(
    names: frozenset[str], whole: bool, positive: bool, count: int = 10
) -> list[dict[str, Fraction]]:
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
    return found


def needs_whole(node: Node) -> bool:
    """Whether the variables of a tree must be whole numbers: factorials, (-1)^n, sums to n."""
    for part in node.walk():
        if part.kind in ("fact", "sum", "prod") and part.variables():
            return True
        if (
            part.kind == "fn"
            and part.value in ("binomial", "gcd", "lcm", "factorial")
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


def probed_equal(a: Node, b: Node, *, positive: bool = False) -> bool | None:
    """Whether two trees agree wherever both are real (or, never being real, wherever defined).

    None where fewer than three points could be used.
    """
    names = a.variables() | b.variables()
    if not names:
        return constants_equal(a, b)
    whole = needs_whole(a) or needs_whole(b)
    if whole is False and any(node.calls("floor", "ceil") for node in (a, b)):
        # floor(x) + 1 and ceil(x) agree nearly everywhere; a letter such as n is whole anyway.
        found = _probed(a, b, points(names, True, positive))
        if found is not True or not names & _REAL_LETTERS:
            return found
    found = _probed(a, b, points(names, whole, positive))
    if found is None and not whole:
        # Roots may ask for larger values.
        larger = [
            {name: 4 * abs(x) + 2 for name, x in point.items()}
            for point in points(names, False, True)
        ]
        found = _probed(a, b, larger)
    return found


_REAL_LETTERS = frozenset("xyztuvw")


def _probed(a: Node, b: Node, at: list[dict[str, Fraction]]) -> bool | None:
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
        real_x, real_y = _real(x), _real(y)
        if real_x != real_y:
            # One is real where the other is not: outside the common domain.
            mixed = True
            continue
        close = same_value(x, y, CLOSE_FLOAT) or max(abs(x), abs(y)) < 1e-13
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
