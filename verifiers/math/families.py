"""Families of solutions over the integers: 7k + 3, congruences, pi/2 + k pi."""

from __future__ import annotations

import math
from dataclasses import dataclass

from verigym.verifiers.math.numeric import Undefined, value_of
from verigym.verifiers.math.trees import Node, TooBig

_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Family:
    """`start + step * k` for all whole k; a step of 0 is one value."""

    start: float
    step: float

    def holds(self, x: float) -> bool:
        """Return True if `x` is a member."""
        if self.step == 0:
            return abs(x - self.start) <= _NEAR * max(1.0, abs(x))
        turns = (x - self.start) / self.step
        return abs(turns - round(turns)) <= 1e-7

    def members(self) -> list[float]:
        """Some members on both sides."""
        return [self.start + self.step * k for k in range(-6, 7)] if self.step else [self.start]


def families_of(nodes: list[Node], *, loose: bool = False) -> list[Family] | None:
    """The families that the items of an answer name; None if it names none.

    An answer is a family where it says that a letter is whole, or is a congruence of one letter;
    `loose`: any letter counts, and plain numbers too.
    """
    if not loose and {node.kind for node in nodes}.isdisjoint(("rel", "mod")):
        return None
    names = {
        node.args[0].value
        for node in nodes
        if node.kind == "rel" and node.value == ("in",) and node.args[0].kind == "var"
        and node.args[1].kind == "named" and node.args[1].value == "Z"
    }  # fmt: skip
    if not (names or loose or any(node.kind == "mod" for node in nodes)):
        return None
    found: list[Family] = []
    congruence = False
    for node in nodes:
        if node.kind == "rel" and node.value == ("in",):
            continue
        modulus: Node | None = None
        if node.kind == "mod":
            if node.args[0].kind != "rel" and not loose:
                return None
            modulus, node, congruence = node.args[1], node.args[0], True
        if node.kind == "rel":
            if node.value != ("=",) or node.args[0].kind != "var":
                return None
            node = node.args[1]
        family = _family(node, modulus)
        if family is None:
            return None
        found.append(family)
    if not found or not (names or congruence or loose):
        return None
    if names and not loose and not congruence and all(family.step == 0 for family in found):
        return None
    return found


def _family(node: Node, modulus: Node | None) -> Family | None:
    letters = node.variables()
    if len(letters) > 1 or node.kind in ("tuple", "set", "matrix", "union", "rel", "mod"):
        return None
    try:
        name = next(iter(letters), "")
        values = [value_of(node, {name: float(k)}) for k in (0, 1, 2)]
        if any(abs(value.imag) > 1e-12 for value in values):
            return None
        step = values[1].real - values[0].real
        if abs(values[2].real - values[1].real - step) > 1e-9 * max(1.0, abs(step)):
            return None
        if modulus is not None:
            if letters:
                return None
            step = value_of(modulus, {}).real
    except (Undefined, TooBig):
        return None
    family = Family(float(values[0].real), abs(float(step)))
    return family if math.isfinite(family.start) and math.isfinite(family.step) else None


def same_families(first: list[Family], second: list[Family]) -> bool:
    """Return True if two unions of families hold the same numbers, by their members around zero."""
    if max(len(first), len(second)) > 40:
        return False
    return _within(first, second) and _within(second, first)


def _within(first: list[Family], second: list[Family]) -> bool:
    return all(
        any(other.holds(x) for other in second) for family in first for x in family.members()
    )
