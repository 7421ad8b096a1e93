"""Equality of single answers with their units: measures, degrees, counted things."""

from __future__ import annotations

import re
from fractions import Fraction

from verigym.verifiers.math.context import Context
from verigym.verifiers.math.labels import label_of
from verigym.verifiers.math.measures import factor_of, is_unfit
from verigym.verifiers.math.nodes import same_node
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.reading import Item
from verigym.verifiers.math.trees import Node, num
from verigym.verifiers.math.units import Unit, same_noun, unit_of
from verigym.verifiers.math.words import same_words

_INVERSE = ("arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc")
_CONVERTS = lazy_pattern(
    r"\bconvert|\bexpress\b|\brewrite\b", re.IGNORECASE, needs="convert|express|rewrite"
)
_STERLING, _POUND = unit_of("£"), unit_of("pounds")
_RADIAN = unit_of("radians")


def same_item(gold: Item, answer: Item, ctx: Context, constant: bool = False) -> bool:
    """Return True if two items are equal, units included."""
    if gold.formula is not None or answer.formula is not None:
        gold, answer = _as_letters(gold, answer, ctx)
        if _attached(gold) and answer.unit is None and not ctx.measure:
            return False
    if gold.node is None or answer.node is None:
        if gold.node is None and answer.node is None:
            return gold.text == answer.text or same_words(gold.text, answer.text)
        return False
    left, right = gold.node, answer.node
    first, second = gold.unit, answer.unit
    if first and second and first.noun and second.noun and not same_noun(first.noun, second.noun):
        return False
    if first and second and bool(first.noun) != bool(second.noun) and (first.dims or second.dims):
        return False
    first, second = (unit if unit and not unit.noun else None for unit in (first, second))
    if first is None and second is not None:
        if _is_of_another_kind(second, ctx) or (left.kind == "percent" and second.dims):
            return False
        if ctx.question and is_unfit(second, ctx.question):
            return False
        if ctx.unit is None and (base := factor_of(second, ctx.question)) is not None:
            right = _times(right, second.factor / base.factor)
            return same_node(left, right, ctx, constant)
    if first is None and second is not None:
        if ctx.temperature is not None and second.dims == ctx.temperature.dims:
            if second != ctx.temperature and _CONVERTS.search(ctx.question):
                return False
            if ctx.gap:
                return same_node(
                    _times(left, ctx.temperature.factor), _times(right, second.factor), ctx
                )
            return same_node(_kelvins(left, ctx.temperature), _kelvins(right, second), ctx)
        if ctx.angle == "radians" and second.degree:
            return same_node(left, _radians(_times(right, second.factor)), ctx)
        if ctx.angle == "degrees" and second == _RADIAN:
            return same_node(_radians(left), right, ctx)
    if (
        ctx.unit is not None
        and second is not None
        and second != ctx.unit
        and second.dims == ctx.unit.dims
        and re.search(rf"(?<![\d.]){re.escape(answer.text)}(?![\w])", ctx.question)
    ):
        return False  # the measure that was to be converted
    if (
        first is None
        and second is not None
        and second.dims
        and ctx.unit is not None
        and ctx.unit.dims == second.dims
    ):
        return same_node(_times(left, ctx.unit.factor), _times(right, second.factor), ctx, constant)
    if first is not None and first.dims and right.kind == "percent":
        return False
    if first is not None and second is None and ctx.units == "required":
        return False
    if first is not None and second is not None:
        if first.degree or second.degree:
            if first.degree and second.degree:
                return same_node(
                    _times(left, first.factor), _times(right, second.factor), ctx, constant
                )
            measured = second if first.degree else first
            if measured.dims == (("temp", 1),):
                return same_node(left, right, ctx)  # 5 degrees, where only one scale is spoken of
            if measured.dims:
                return False
            return same_node(
                _radians(left) if first.degree else left,
                _radians(right) if second.degree else right,
                ctx,
            )
        if first.dims != second.dims:
            if {first, second} == {_STERLING, _POUND}:
                return same_node(left, right, ctx)
            return {first.dims, second.dims} <= {
                (),
                (("u", 1),),
                (("u", 2),),
                (("u", 3),),
            } and same_node(left, right, ctx)
        if (first.offset != second.offset or first.offset) and not ctx.gap:
            left, right = (
                Node("add", (node, num(unit.offset))) if unit.dims == (("temp", 1),) else node
                for node, unit in ((left, first), (right, second))
            )
        return same_node(_times(left, first.factor), _times(right, second.factor), ctx, constant)
    dozens = second is not None and not second.dims and second.factor != 1
    if dozens and first is None and "dozen" not in ctx.question.lower():
        return same_node(left, _times(right, second.factor if second else Fraction(1)), ctx)
    if same_node(left, right, ctx, constant):
        return True
    if first is not None and first.degree:
        return same_node(_radians(left), right, ctx)
    if second is not None and second.degree:
        angle = left.has("const") or left.calls(*_INVERSE)
        return angle and same_node(left, _radians(right), ctx)
    for unit, bare, other in ((first, left, right), (second, right, left)):
        # Dozens, and cents where plain dollars are meant, are numbers as well.
        if unit is not None and not unit.dims and unit.factor != 1:
            return same_node(_times(bare, unit.factor), other, ctx)
    return False


def _kelvins(node: Node, unit: Unit) -> Node:
    named = label_of(node)
    plain = named[1] if named else node
    return _times(Node("add", (plain, num(unit.offset))) if unit.offset else plain, unit.factor)


def _is_of_another_kind(unit: Unit, ctx: Context) -> bool:
    """Return True if a unit measures something else than the units that the question names: kg for meters."""
    if not ctx.dims or () in ctx.dims or not (unit.dims or unit.degree):
        return False
    if unit == _STERLING and _POUND is not None:
        return _POUND.dims not in ctx.dims
    return unit.dims not in ctx.dims and {name for name, _ in unit.dims} != {"u"}


def _as_letters(gold: Item, answer: Item, ctx: Context) -> tuple[Item, Item]:
    """Both without units that are letters: of the question, or of a formula on the other side."""
    items = [
        Item(item.formula, None, item.text)
        if item.formula is not None
        and item.formula.variables() <= ctx.letters
        and (not ctx.measure or re.search(r"[\d}][A-Za-z]{1,3}$", item.text))
        else item
        for item in (gold, answer)
    ]
    for k, other in ((0, items[1]), (1, items[0])):
        formula = items[k].formula
        if formula is not None and _is_formula(other):
            items[k] = Item(formula, None, items[k].text)
    return items[0], items[1]


def _is_formula(item: Item) -> bool:
    return item.unit is None and item.node is not None and bool(item.node.variables())


def _attached(item: Item) -> bool:
    """2g without a space: a letter rather than a unit."""
    return item.formula is not None and re.search(r"[\d}][A-Za-z]$", item.text) is not None


def _times(node: Node, factor: Fraction) -> Node:
    if factor == 1:
        return node
    named = label_of(node)
    return Node("mul", (named[1] if named else node, num(factor)))


def _radians(node: Node) -> Node:
    named = label_of(node)
    return Node(
        "mul", (named[1] if named else node, Node("div", (Node("const", value="pi"), num(180))))
    )
