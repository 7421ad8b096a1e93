"""Functions of complex numbers in two precisions: floats, and mpmath with 50 digits."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction
from typing import Any

from verigym.verifiers.math.trees import names

DIGITS = 50


class Floats:
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
        return value.numerator / value.denominator

    @staticmethod
    def gamma(value: float) -> Any:
        return math.gamma(value)


class Precise(Floats):
    """Operations of `Floats` with the precision of mpmath."""

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


FLOATS = Floats()
_precise: list[Precise] = []


def precise() -> Precise:
    """The functions of mpmath, loaded when first needed."""
    if not _precise:
        _precise.append(Precise())
    return _precise[0]
