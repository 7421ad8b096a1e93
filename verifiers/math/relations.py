"""Equality of equations and inequalities: up to a factor, or one solved for a name that the other holds."""

from __future__ import annotations

from verigym.verifiers.math.context import Context
from verigym.verifiers.math.labels import label_of
from verigym.verifiers.math.numeric import Undefined, value_of
from verigym.verifiers.math.probing import points
from verigym.verifiers.math.scalars import same_scalar
from verigym.verifiers.math.trees import Node, TooBig


def same_relation(gold: Node, answer: Node, ctx: Context) -> bool:
    """Return True if two relations between values hold at the same points."""
    if len(gold.args) != 2 or len(answer.args) != 2:
        if gold.value == answer.value and len(gold.args) == len(answer.args):
            return all(same_scalar(a, b, ctx) for a, b in zip(gold.args, answer.args, strict=True))
        return False
    sign_gold, sign = gold.value[0], answer.value[0]
    left, right = (
        Node("add", (node.args[0], Node("neg", (node.args[1],)))) for node in (gold, answer)
    )
    names = left.variables() | right.variables()
    if not names or left.variables() != right.variables():
        return False
    ratios = _ratios(left, right, names)
    if len(ratios) < 4:
        return False
    constant = all(abs(ratio - ratios[0]) <= 1e-9 * abs(ratios[0]) for ratio in ratios)
    if sign_gold == sign == "=":
        return constant or _same_curve(gold, answer)
    if not constant or abs(ratios[0].imag) > 1e-12:
        return False
    flipped = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    return bool(sign == (sign_gold if ratios[0].real > 0 else flipped.get(sign_gold, sign_gold)))


def _ratios(left: Node, right: Node, names: frozenset[str]) -> list[complex]:
    found: list[complex] = []
    for point in points(names, False, False):
        try:
            x, y = complex(value_of(left, point)), complex(value_of(right, point))
        except (Undefined, TooBig):
            continue
        if abs(x) < 1e-12 or abs(y) < 1e-12:
            continue
        found.append(y / x)
    return found


def _same_curve(gold: Node, answer: Node) -> bool:
    """y = 1/x against xy = 1: the value of the name that one side gives solves the other as well,
    and the other is no product that vanishes elsewhere (it changes with the name in one way only)."""
    for explicit, other in ((gold, answer), (answer, gold)):
        named = label_of(explicit)
        if named is None or named[0].kind != "var":
            continue
        name = named[0].value
        difference = Node("add", (other.args[0], Node("neg", (other.args[1],))))
        solved = straight = 0
        if not _monomial(gold, answer):
            return False
        for point in points(explicit.variables() | other.variables(), False, True, 6):
            try:
                value = value_of(named[1], point)
                at = [value_of(difference, {**point, name: value + step}) for step in (0, 1, 2)]
            except (Undefined, TooBig):
                continue
            size = max(abs(at[1]), abs(at[2]), 1e-9)
            solved += abs(at[0]) < 1e-9 * max(1.0, size)
            # Linear in the name: one solution only.
            straight += abs(at[2] - 2 * at[1] + at[0]) < 1e-9 * size and abs(at[1]) > 1e-9
            if abs(at[0]) >= 1e-9 * max(1.0, size):
                return False
        return solved >= 3 and straight == solved
    return False


def _monomial(gold: Node, answer: Node) -> bool:
    """Return True if one equation is the other times a product of powers: doubling all letters multiplies
    the quotient by the same number everywhere."""
    left, right = (
        Node("add", (node.args[0], Node("neg", (node.args[1],)))) for node in (gold, answer)
    )
    growth: list[complex] = []
    for point in points(left.variables() | right.variables(), False, True, 6):
        doubled = {name: 2 * value for name, value in point.items()}
        try:
            at = [
                complex(value_of(node, env)) for env in (point, doubled) for node in (left, right)
            ]
        except (Undefined, TooBig):
            continue
        if min(map(abs, at)) > 1e-12:
            growth.append((at[3] / at[2]) / (at[1] / at[0]))
    return len(growth) > 2 and all(abs(one - growth[0]) < 1e-9 * abs(growth[0]) for one in growth)
