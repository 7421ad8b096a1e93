"""Equality of single values and formulas: exact, rounded as asked, percent, bases, constants of integration.

A decimal is an exact number. It stands for another value only where
- the question asks for rounding, or a tolerance or a number of digits is set for the task;
- the answer shows ten significant digits or more, all of them right; or
- the reference looks rounded and the answer rounds to it: an irrational number or endless fraction of
  three digits or more, or a decimal with two places more. 12.5 and 2.75 do not look rounded, 3.14 does.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from verigym.verifiers.math.context import Context
from verigym.verifiers.math.exact import exact
from verigym.verifiers.math.numeric import Undefined, value_of
from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.probing import points, probed_equal, same_value
from verigym.verifiers.math.trees import Node, TooBig, num, replace_kind

SURE_DIGITS = 10
_TAKES_PERCENT = lazy_pattern(r"\d\s*(?:\\?%|per ?cent) of\b", re.IGNORECASE)
_ASKS_PERCENT = lazy_pattern(
    r"\b(?:what|which|find the|as a|calculate the|many) (?:\w+ ){0,2}?(?:per ?cent\w*)\b",
    re.IGNORECASE,
)
_ANY_PRIMITIVE = lazy_pattern(r"\b(?:find|give|determine|compute|calculate|write(?: down)?|state|name|what is) (?:an|any|one) (?:possible )?(?:antiderivative|anti-derivative|primitive)\b", re.IGNORECASE, needs="anti|primitive")  # fmt: skip
_FIXED = lazy_pattern(
    r"\b(?:such that|satisf\w+|passes|passing|through|goes|whose|where|when|with(?! respect)|that is|value|vanish\w*|condition)\b|\b[A-Za-z] ?\( ?(?:-?\d[\d./]*|\\?pi|e)[^()x]{0,8}\) ?= ?[-\\\d]",
    re.IGNORECASE,
)
_NEAR_PI = (Fraction(22, 7), Fraction(355, 113))
"""Fractions that are themselves roundings: 22/7 is not what 3.14 was rounded from."""


@dataclass(frozen=True, slots=True)
class Decimal:
    """A decimal as written: its value and how many places it shows."""

    value: Fraction
    places: int

    @property
    def digits(self) -> int:
        """Significant digits shown."""
        return len(str(abs(int(self.value * Fraction(10) ** self.places)))) if self.value else 0


def decimal_of(node: Node) -> Decimal | None:
    """Return the decimal that a tree writes, possibly with a sign or a power of ten; None if it is not one."""
    if node.kind == "neg":
        inner = decimal_of(node.args[0])
        return None if inner is None else Decimal(-inner.value, inner.places)
    if node.kind == "dec":
        return Decimal(*node.value)
    if node.kind == "mul" and node.args[1].kind == "pow" and node.args[1].args[0] == num(10):
        inner, power = decimal_of(node.args[0]), exact(node.args[1].args[1])
        if inner is not None and power is not None and power.denominator == 1 and abs(power) < 1000:
            return Decimal(inner.value * Fraction(10) ** int(power), inner.places - int(power))
    return None


def same_scalar(gold: Node, answer: Node, ctx: Context) -> bool:
    """Return True if two values or formulas are equal under the rules of the module."""
    if gold == answer:
        return not gold.has("dots")
    if gold.has("dots") or answer.has("dots"):
        return False
    if gold.kind == "percent" or answer.kind == "percent":
        return _percent(gold, answer, ctx)
    if gold.kind == "based" or answer.kind == "based":
        return _based(gold, answer, ctx)
    gold, answer = _one_imaginary_unit(gold, answer)
    gold_names, names = gold.variables(), answer.variables()
    if not gold_names and not names:
        return _constants(gold, answer, ctx)
    constant = _integration_constant(gold)
    if constant or _integration_constant(answer):
        if not constant and not is_any_primitive(ctx.question):
            return False
        return _up_to_constant(gold, answer)
    if probed_equal(gold, answer, positive=ctx.positive):
        return True
    return (
        names == gold_names
        and is_any_primitive(ctx.question)
        and _differs_by_constant(gold, answer)
    )


def is_any_primitive(question: str) -> bool:
    """Return True if a question asks for one of all antiderivatives, whichever constant it has."""
    return is_in(_ANY_PRIMITIVE, question) and not is_in(_FIXED, question)


def _one_imaginary_unit(gold: Node, answer: Node) -> tuple[Node, Node]:
    """Both with i where one writes j or I for it and no other letter."""
    imaginary = Node("const", value="i")
    plain = [
        replace_kind(node, "var", dict.fromkeys("jI", imaginary))
        if node.variables() in ({"j"}, {"I"}) and imaginary in other.walk()
        else node
        for node, other in ((gold, answer), (answer, gold))
    ]
    return plain[0], plain[1]


def _constants(gold: Node, answer: Node, ctx: Context) -> bool:
    found = probed_equal(gold, answer)
    if found is not False:
        return bool(found) or _logs(gold, answer)
    return _logs(gold, answer) or rounded(gold, answer, ctx)


def _logs(gold: Node, answer: Node) -> bool:
    """`log` without a base where only one side has it: the common logarithm as well."""
    if not (_bare_log(gold) or _bare_log(answer)) or (_bare_log(gold) and _bare_log(answer)):
        return False

    def common(node: Node) -> Node:
        args = tuple(map(common, node.args))
        if node.kind == "fn" and node.value == "log" and len(args) == 1:
            args = (args[0], num(10))
        return Node(node.kind, args, node.value)

    return not (gold.calls("ln") or answer.calls("ln")) and bool(
        probed_equal(common(gold), common(answer))
    )


def _bare_log(node: Node) -> bool:
    return any(
        part.kind == "fn" and part.value == "log" and len(part.args) == 1 for part in node.walk()
    )


def rounded(gold: Node, answer: Node, ctx: Context) -> bool:
    """Return True if one value is the other one rounded, and the rules allow rounding."""
    shown_gold, shown = decimal_of(gold), decimal_of(answer)
    if shown_gold is None and shown is None and not (ctx.tolerance or ctx.digits or ctx.rounded):
        return False
    try:
        x, y = value_of(gold, {}), value_of(answer, {})
    except (Undefined, TooBig):
        return False
    if abs(x.imag) > 1e-12 or abs(y.imag) > 1e-12:
        return bool(ctx.tolerance) and same_value(x, y, ctx.tolerance)
    x, y = float(x.real), float(y.real)
    if not (math.isfinite(x) and math.isfinite(y)):
        return False
    if ctx.tolerance and abs(x - y) <= ctx.tolerance * abs(x):
        return True
    if ctx.digits and x != 0:
        return abs(x - y) <= 0.5000001 * 10.0 ** (math.floor(math.log10(abs(x))) + 1 - ctx.digits)
    if shown is not None and shown_gold is None:
        enough = shown.digits >= SURE_DIGITS or (ctx.rounded and shown.digits >= 3)
        enough = enough or (ctx.places is not None and 0 < ctx.places <= shown.places)
        sure = 1.0 if shown.digits >= SURE_DIGITS else 0.5
        return enough and abs(x - y) <= _half(shown, sure) + 4 * math.ulp(x)
    if shown_gold is not None and shown is None:
        asked = ctx.rounded and shown_gold.digits >= 2
        rational = _rational(answer)
        endless = rational is None or _is_endless(rational)
        if rational in _NEAR_PI:
            return False
        enough = shown_gold.digits >= (3 if endless and not ctx.exact else 4)
        whole = rational is not None and rational.denominator == 1
        return not whole and (asked or enough) and abs(x - y) <= _half(shown_gold)
    if shown_gold is not None and shown is not None:
        return _both_rounded(shown_gold, shown, abs(x - y), ctx)
    return False


def _both_rounded(gold: Decimal, answer: Decimal, gap: float, ctx: Context) -> bool:
    """Return True if one of two decimals is the other one with fewer digits, where the rules allow it."""
    if (
        answer.places >= gold.places + 2
        and gap <= _half(gold)
        and _looks_rounded(gold)
        and not ctx.exact
    ):
        return True
    if answer.places < gold.places and answer.places == ctx.places:
        return gap <= _half(answer)
    if not ctx.rounded:
        return False
    if answer.places > gold.places:
        return gold.digits >= 2 and gap <= _half(gold)
    return answer.digits >= 3 and gap <= _half(answer)


def _is_endless(value: Fraction) -> bool:
    """Return True if the decimals of a fraction never end."""
    below = value.denominator
    for prime in (2, 5):
        while below % prime == 0:
            below //= prime
    return below != 1


def _looks_rounded(shown: Decimal) -> bool:
    """Return True if a decimal is likely the end of a longer one: 3.14, not 12.5, 2.75 or 0.35."""
    return shown.digits >= 3 and shown.places >= 2 and (shown.value * 40).denominator != 1


def _half(shown: Decimal, share: float = 0.5) -> float:
    return share * 10.0 ** -max(-300, min(300, shown.places)) * (1 + 1e-9)


def _rational(node: Node) -> Fraction | None:
    try:
        return exact(node)
    except (TooBig, ZeroDivisionError):
        return None


def _percent(gold: Node, answer: Node, ctx: Context) -> bool:
    inner_gold = gold.args[0] if gold.kind == "percent" else gold
    inner = answer.args[0] if answer.kind == "percent" else answer
    if gold.kind == answer.kind:
        return same_scalar(inner_gold, inner, ctx)
    if gold.kind == "percent":
        if same_scalar(Node("div", (inner_gold, num(100))), inner, ctx):
            return True
        value = _rational(inner)
        bare = ctx.percent or (not ctx.question and value is not None and value > 1)
        return bare and same_scalar(inner_gold, inner, ctx)
    if ctx.percent and same_scalar(inner_gold, inner, ctx):
        return not _TAKES_PERCENT.search(ctx.question) or bool(_ASKS_PERCENT.search(ctx.question))
    value = _rational(inner_gold)
    if ctx.percent and value is not None and abs(value) > 1:
        return False  # 25 of a question for percents is no 2500%
    return same_scalar(inner_gold, Node("div", (inner, num(100))), ctx)


def _based(gold: Node, answer: Node, ctx: Context) -> bool:
    if gold.kind == answer.kind == "based":
        return exact(gold) is not None and exact(gold) == exact(answer)
    based, other = (gold, answer) if gold.kind == "based" else (answer, gold)
    plain = _rational(other)  # 1/0 is wrong, and no fault
    if plain is None or plain.denominator != 1:
        return False
    if ctx.base:
        return bool(str(plain) == based.value[0])
    return bool(exact(based) == plain)


_CONSTANTS = frozenset(("C", "c", "K", "k", "C_1", "c_1"))


def _integration_constant(node: Node) -> str:
    """The letter that stands alone in a sum and nowhere else, by custom a constant; or nothing."""
    if node.kind != "add":
        return ""
    for term in node.args:
        inner = term.args[0] if term.kind in ("neg", "pm") else term
        if inner.kind == "var" and inner.value in _CONSTANTS:
            uses = sum(part.kind == "var" and part.value == inner.value for part in node.walk())
            if uses == 1 and len(node.variables()) > 1:
                return str(inner.value)
    return ""


def _up_to_constant(gold: Node, answer: Node) -> bool:
    first, second = _integration_constant(gold), _integration_constant(answer)
    if not second:
        return False
    left = replace_kind(gold, "var", {first: num(0)}) if first else gold
    right = replace_kind(answer, "var", {second: num(0)})
    return left.variables() == right.variables() and _differs_by_constant(left, right)


def _differs_by_constant(left: Node, right: Node) -> bool:
    gaps = []
    for point in points(left.variables(), False, False):
        try:
            x, y = value_of(left, point), value_of(right, point)
        except (Undefined, TooBig):
            continue
        if abs(complex(x).imag) < 1e-12 and abs(complex(y).imag) < 1e-12:
            gaps.append(
                ((x - y).real, max(1.0, abs(x), abs(y)), all(v > 0 for v in point.values()))
            )
    same_side = [gap for gap in gaps if gap[2]]
    if len(same_side) < 3:
        return False
    first_gap = same_side[0]
    return all(abs(gap - first_gap[0]) <= 1e-9 * size for gap, size, _ in same_side)
