"""Equality of readings: lists, systems, unions of sets of numbers and families, member by member."""

from __future__ import annotations

import re
from functools import partial

from verigym.verifiers.math.bags import MOST_DISTINCT, distinct, same_bag
from verigym.verifiers.math.context import Context
from verigym.verifiers.math.families import Family, families_of, same_families
from verigym.verifiers.math.items import same_item
from verigym.verifiers.math.labels import expanded, label_of, name_of, unlabelled
from verigym.verifiers.math.nodes import same_node
from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.ranges import filled
from verigym.verifiers.math.reading import Item, Reading
from verigym.verifiers.math.regions import is_region, same_region, sure_region, variable_of
from verigym.verifiers.math.trees import Node

_RESIDUE = lazy_pattern(r"\b(?:remainder|residue)\b", re.IGNORECASE, needs="mainder|sidue")
_MODULAR = lazy_pattern(
    r"\b(?:modulo|(?:units|ones|last) digit)\b|\\p?mod\b|\bmod \d",
    re.IGNORECASE,
    needs=" digit|\\|mod |modulo",
)

_MODULUS = lazy_pattern(r"(?:\bby|\\?mod(?:ulo)?|pmod)[\s${(\\]*(\d+)")


def same_reading(gold: Reading, answer: Reading, ctx: Context) -> bool:
    """Return True if two readings say the same."""
    if _same_reading(gold, answer, ctx):
        return True
    if not any(map(_is_signed_pair, (*gold.items, *answer.items))):
        return False
    left, right = (_settled(reading, apart=True) for reading in (gold, answer))
    return max(len(left), len(right)) > 2 and _same_lists(left, right, ctx, False)


def _is_signed_pair(item: Item) -> bool:
    """(±1, ±2): two signs or more, which may go together or not."""
    if item.node is None or item.node.kind != "tuple" or item.node.has("mp"):
        return False
    return sum(arg.has("pm") for arg in item.node.args) > 1


def _same_reading(gold: Reading, answer: Reading, ctx: Context) -> bool:
    left, right = _settled(gold), _settled(answer)
    if not left or not right:
        return False
    if _regions(left, right):
        found = _same_regions(left, right)
        if found:
            return True
        if found is False and (any(map(_sure, left)) or any(map(_sure, right))):
            return False
    if len(left) == len(right) == 1 and (
        is_in(_RESIDUE, ctx.question)
        or (_is_plain_number(left[0]) and is_in(_MODULAR, ctx.question))
    ):
        mine, theirs = _residue(left[0]), _residue(right[0])
        if not _fits_modulus(right[0], ctx.question):
            return False
        if (mine is left[0]) != (theirs is right[0]):
            return same_item(mine, theirs, ctx)
    first, second = families_of(_nodes(gold)), families_of(_nodes(answer))
    if first is not None or second is not None:
        return _same_families(first, second, left, right)
    if len(left) == len(right) == 1:
        return same_item(left[0], right[0], ctx, gold.constant or answer.constant)
    if len(gold.groups) > 1 or len(answer.groups) > 1:
        return same_bag(
            _as_group_tuples(gold, ctx), _as_group_tuples(answer, ctx), partial(same_item, ctx=ctx)
        )
    return _same_lists(left, right, ctx, gold.constant or answer.constant)


def _is_plain_number(item: Item) -> bool:
    return item.node is not None and item.node.kind == "num"


def _fits_modulus(item: Item, question: str) -> bool:
    """Return True unless an item is a residue of another modulus than the question names."""
    if item.node is None or item.node.kind != "mod" or item.node.args[1].kind != "num":
        return True
    named = _MODULUS.findall(question)
    if re.search(r"\b(?:units|ones|last) digit\b", question, re.IGNORECASE):
        named = ["10"]
    return not named or str(item.node.args[1].value) in named


def _residue(item: Item) -> Item:
    """x = 8 (mod 13), where a residue is asked for: 8."""
    if item.node is None or item.node.kind != "mod":
        return item
    body = item.node.args[0]
    if body.kind == "rel" and set(body.value) == {"="} and not body.variables():
        # 39 = 7 (mod 8): the least of the chain, behind it what it is congruent to.
        return Item(body.args[-1], item.unit, item.text)
    named = label_of(body)
    return Item(named[1] if named is not None else body, item.unit, item.text)


def _nodes(reading: Reading) -> list[Node]:
    return [item.node for item in reading.items if item.node is not None]


def _settled(reading: Reading, *, apart: bool = False) -> list[Item]:
    """The items with their alternatives written out: plus or minus, sets, labels of lists."""
    found: list[Item] = []
    for item in reading.items:
        found += (
            [
                (item if node is item.node else Item(node, item.unit, item.text))
                for node in expanded(item.node, apart=apart)
            ]
            if item.node
            else [item]
        )
    nodes = [item.node for item in found if item.node is not None and item.unit is None]
    if len(nodes) == len(found) > 3 and len(spread := filled(nodes)) > len(nodes):
        found = [Item(node, None, "") for node in spread]
    if len(found) > 1:
        found = [item for item in found if not _declaration(item)] or found
    return found


def _declaration(item: Item) -> bool:
    """k in Z, a != 0, n >= 1 beside something else: what a letter may be, not an answer."""
    node = item.node
    if node is None or node.kind != "rel" or len(node.args) != 2:
        return False
    return node.args[0].kind == "var" and node.value == ("in",) and node.args[1].kind == "named"


def _sure(item: Item) -> bool:
    return item.node is not None and sure_region(unlabelled(item.node))


def _regions(left: list[Item], right: list[Item]) -> bool:
    nodes = [item.node for item in (*left, *right)]
    if any(
        node is None or (item.unit is not None and item.unit.dims)
        for node, item in zip(nodes, (*left, *right), strict=True)
    ):
        return False
    plain = [unlabelled(node) for node in nodes if node is not None]
    # A pair may be a point: one side at least must be a set of numbers for sure.
    return any(map(sure_region, plain)) and all(
        is_region(node) or node.kind in ("set", "tuple", "rel") for node in plain
    )


def _same_regions(left: list[Item], right: list[Item]) -> bool | None:
    first = tuple(unlabelled(item.node) for item in left if item.node)
    second = tuple(unlabelled(item.node) for item in right if item.node)
    names = {variable_of(node) for node in (*first, *second) if variable_of(node)}
    if any(len(node.variables()) > 1 for node in (*first, *second)):
        return None
    if len(names) > 1 and all(
        len({variable_of(node) for node in side}) > 1 for side in (first, second)
    ):
        # a > 0, b < 0: the numbers of each letter.
        found = [
            same_region(
                *(
                    tuple(node for node in side if variable_of(node) in (name, None))
                    for side in (first, second)
                )
            )
            for name in sorted(filter(None, names))
        ]
        return None if None in found else all(found)
    return same_region(first, second)


def _same_families(
    first: list[Family] | None, second: list[Family] | None, left: list[Item], right: list[Item]
) -> bool:
    first = (
        first
        if first is not None
        else families_of([item.node for item in left if item.node], loose=True)
    )
    second = (
        second
        if second is not None
        else families_of([item.node for item in right if item.node], loose=True)
    )
    if not first or not second:
        return False
    return same_families(first, second)


def _as_group_tuples(reading: Reading, ctx: Context) -> list[Item]:
    """Each group as one item: a system of assignments becomes the tuple of its values."""
    found: list[Item] = []
    for group in reading.groups:
        assigned = _assignments(list(group))
        if assigned and len(assigned) == len(group) > 1:
            names = [name for name in ctx.order if name in assigned]
            names = names if len(names) == len(assigned) else sorted(assigned)
            found.append(
                Item(Node("tuple", tuple(assigned[name] for name in names), "()"), None, "")
            )
        else:
            for item in group:
                found += (
                    [
                        (item if node is item.node else Item(node, item.unit, item.text))
                        for node in expanded(item.node)
                    ]
                    if item.node
                    else [item]
                )
    return found


def _assignments(items: list[Item]) -> dict[str, Node]:
    """The values by name where every item is `name = value`; empty otherwise."""
    found: dict[str, Node] = {}
    for item in items:
        named = label_of(item.node) if item.node is not None else None
        name = "" if named is None else name_of(named[0])
        if named is None or not name or name in found:
            return {}
        found[name] = named[1]
    return found


def _ordered(assigned: dict[str, Node], ctx: Context) -> list[str]:
    """The names in the order of the question, or of the alphabet."""
    found = [name for name in ctx.order if name in assigned]
    return found if len(found) == len(assigned) else sorted(assigned)


def _same_lists(left: list[Item], right: list[Item], ctx: Context, constant: bool) -> bool:
    first, second = _assignments(left), _assignments(right)
    indexed = (
        len({name.partition("_")[0] for name in first}) == 1
        or len({name.partition("_")[0] for name in second}) == 1
    )
    if first and second and not indexed:
        return first.keys() == second.keys() and all(
            same_node(first[name], second[name], ctx, constant) for name in first
        )
    for assigned, others in ((first, right), (second, left)):
        if len(assigned) > 1 and not indexed and len(others) == 1 and others[0].node is not None:
            names = [name for name in ctx.order if name in assigned]
            names = names if len(names) == len(assigned) else sorted(assigned)
            built = Item(Node("tuple", tuple(assigned[name] for name in names), "()"), None, "")
            return same_item(built, others[0], ctx, constant)
    for assigned, others in ((first, right), (second, left)):
        if len(assigned) > 1 and not indexed:
            if len(others) != len(assigned) or any(
                item.node is None or item.node.kind == "rel" for item in others
            ):
                return False
            values = [assigned[name] for name in _ordered(assigned, ctx)]
            return all(
                same_node(item.node, value, ctx, constant)
                for item, value in zip(others, values, strict=True)
                if item.node is not None
            )
    left_parts, left_set, left_order = _parts(left)
    right_parts, right_set, right_order = _parts(right)
    if any(
        item.node is not None and item.node.kind == "dots" for item in (*left_parts, *right_parts)
    ):
        return len(left_parts) == len(right_parts) and all(
            a.node == b.node or same_item(a, b, ctx, constant)
            for a, b in zip(left_parts, right_parts, strict=True)
        )
    if left_order or right_order or (ctx.sorted and not left_set):
        return len(left_parts) == len(right_parts) and all(
            same_item(a, b, ctx, constant) for a, b in zip(left_parts, right_parts, strict=True)
        )
    if left_set or right_set:
        if abs(len(left_parts) - len(right_parts)) >= MOST_DISTINCT:
            return False  # fewer members than that can be repetitions
        left_parts, right_parts = (
            distinct(parts, partial(same_item, ctx=ctx)) for parts in (left_parts, right_parts)
        )
    return same_bag(left_parts, right_parts, partial(same_item, ctx=ctx, constant=constant))


def _parts(items: list[Item]) -> tuple[list[Item], bool, bool]:
    """The members of a list, whether it is a set in braces, whether its order counts."""
    if len(items) == 1 and items[0].node is not None:
        node = items[0].node
        named = label_of(node)
        node = named[1] if named is not None else node
        if node.kind == "rel" and node.value == ("in",) and node.args[1].kind == "set":
            node = node.args[1]
        if node.kind == "set":
            members = [Item(part, None, "") for arg in node.args for part in expanded(arg)]
            return members, True, False
        if node.kind == "tuple" and len(node.args) > 1 and node.value in ("()", "[]"):
            return [Item(arg, None, "") for arg in node.args], False, True
        if node.kind == "named" and node.value == "empty":
            return [], True, False
    found = []
    for item in items:
        named = label_of(item.node) if item.node is not None else None
        # "x = 1, 2", "x = 1 or x = 2": the name in front belongs to the list.
        found.append(
            item
            if named is None or named[0].kind == "call"
            else Item(named[1], item.unit, item.text)
        )
    labels = [label_of(item.node) for item in items if item.node is not None]
    bare = {
        (name_of(label[0]) or str(label[0].value)).partition("_")[0]
        for label in labels
        if label and label[0].kind != "tuple"
    }
    if len(bare) > 1:
        return items, False, False
    return found, False, False
