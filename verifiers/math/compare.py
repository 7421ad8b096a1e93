"""Whether an answer says what the reference says: from equal text to sets, systems and families."""

from __future__ import annotations

import re
from fractions import Fraction

from verigym.verifiers.math.choice import letters_of
from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.context import Context
from verigym.verifiers.math.families import Family, families_of, same_families
from verigym.verifiers.math.matrices import rows_of
from verigym.verifiers.math.numeric import Undefined, points, value_of
from verigym.verifiers.math.reading import Item, Reading, readings
from verigym.verifiers.math.regions import is_region, same_region, sure_region, variable_of
from verigym.verifiers.math.scalars import same_scalar
from verigym.verifiers.math.trees import (
    MAX_COMBINATIONS,
    Node,
    TooBig,
    Unreadable,
    num,
    replace_kind,
)
from verigym.verifiers.math.units import same_noun
from verigym.verifiers.math.words import begins_with_verdict, kind_of, number_of, same_words

_PARAMETERS = frozenset("kmntjlcrs")
_TIME = re.compile(
    r"(\d{1,2})(?::([0-5]\d))?\s*([ap])\.?\s*m\.?|(\d{1,2}):([0-5]\d)", re.IGNORECASE
)


def equivalent(gold: str, answer: str, ctx: Context) -> str:
    """The rung of the ladder on which two cleaned answers agree; empty where they do not.

    Raises TooBig where that cannot be told within the bounds.
    """
    if not answer:
        return ""
    if compact(gold) == compact(answer):
        return "text"
    if not gold:
        return ""
    chosen = _choice(gold, answer, ctx)
    if chosen is not None:
        return "choice" if chosen else ""
    spoken = _spoken(gold, answer)
    if spoken is not None:
        return "words" if spoken else ""
    clock = _clock(gold), _clock(answer)
    if clock[0] is not None and clock[1] is not None:
        return "time" if clock[0] == clock[1] else ""
    lefts, rights = readings(gold), readings(answer)
    for left in lefts:
        for right in rights:
            if same_reading(left, right, ctx):
                return "value"
    if all(_formal(found[0]) for found in (lefts, rights) if found):
        return ""
    return "words" if _prose(gold, answer) else ""


def _formal(reading: Reading) -> bool:
    """Whether all of a reading is mathematics, so that its words do not speak for it."""
    return all(item.node is not None for item in reading.items)


def compact(text: str) -> str:
    """Text without spaces and braces of one sign, for the first rung. Words in lower case."""
    text = re.sub(r"\\(?:dollar)\s*", "$", text)
    text = re.sub(r"\{\s*(\w)\s*\}", r"\1", re.sub(r"\s+", " ", text))
    if not re.search(r"[\\^_=]", text) and re.search(r"[A-Za-z]{3}", text):
        return text.lower().strip(" .")
    return text.replace(" ", "")


def _choice(gold: str, answer: str, ctx: Context) -> bool | None:
    """Multiple choice; None where this is no such question."""
    bare = re.fullmatch(r"\(?([A-J]{1,6})\)?\.?", gold)
    wanted = letters_of(gold, bool(ctx.options))
    if wanted is None or not (ctx.options or bare or wanted[1]):
        if not ctx.options:
            return None
        by_text = [letter for letter, text in ctx.options.items() if _same_text(text, gold, ctx)]
        found = letters_of(answer, False)
        if len(by_text) == 1 and found is not None:
            return found[0] == by_text[0] and _agrees(found, ctx)
        return None
    if not ctx.options and not gold[:1].isupper() and not gold.startswith("("):
        return None
    found = letters_of(answer, several=True)
    if found is not None:
        if found[0] != wanted[0]:
            return False
        return _agrees(found, ctx) if ctx.options else True
    if ctx.options and len(wanted[0]) == 1 and wanted[0] in ctx.options:
        return _same_text(ctx.options[wanted[0]], answer, ctx)
    if not ctx.options and wanted[1] and not bare:
        return _same_text(wanted[1], answer, ctx)
    return None if not ctx.options and not bare else False


def _agrees(found: tuple[str, str], ctx: Context) -> bool:
    """Whether the text beside a letter is that option's, or says nothing against it."""
    letter, text = found
    if not text or letter not in ctx.options:
        return True
    if _same_text(ctx.options[letter], text, ctx):
        return True
    others = [option for key, option in ctx.options.items() if key != letter]
    if any(_same_text(option, text, ctx) for option in others):
        return False
    return not re.search(r"\d", text)


def _same_text(gold: str, answer: str, ctx: Context) -> bool:
    plain = Context(question=ctx.question[:0], units=ctx.units)
    try:
        return bool(equivalent(clean(gold), clean(answer), plain))
    except TooBig:
        return False


def _spoken(gold: str, answer: str) -> bool | None:
    """Conventional words; None where the gold is none of them."""
    wanted, found = kind_of(gold), kind_of(answer)
    if wanted in ("yes", "no"):
        if found is None:
            return begins_with_verdict(gold, answer)
        return wanted == found
    if wanted is not None and found is not None:
        return wanted == found or {wanted, found} == {"none", "undefined"}
    if wanted == "none" or found == "none":
        other = gold if found == "none" else answer
        return other.replace(" ", "") in ("\\emptyset", "\\{\\}", "{}")
    if wanted == "reals" or found == "reals":
        other = gold if found == "reals" else answer
        plain = re.sub(r"^[a-z]\s*\\in", "", other).replace(" ", "")
        return plain in (
            "\\RR",
            "(-\\infty,\\infty)",
            "(-\\infty,+\\infty)",
            "R",
            "(-inf,inf)",
            "(-oo,oo)",
        )
    if wanted == "infinite":
        return answer.replace(" ", "") in ("\\infty", "+\\infty", "oo", "inf")
    return None


def _clock(text: str) -> tuple[int, str] | None:
    match = _TIME.fullmatch(text.replace("\\", "").strip())
    if not match:
        return None
    hour, minute = int(match[1] or match[4]), int(match[2] or match[5] or 0)
    if match[3]:
        return (hour % 12 + (12 if match[3].lower() == "p" else 0)) * 60 + minute, "clock"
    return hour * 60 + minute, "clock"


def _prose(gold: str, answer: str) -> bool:
    if number_of(gold) or number_of(answer):
        return False
    return same_words(gold, answer)


# Readings


def same_reading(gold: Reading, answer: Reading, ctx: Context) -> bool:
    """Whether two readings say the same."""
    left, right = _settled(gold), _settled(answer)
    if not left or not right:
        return False
    if _regions(left, right):
        found = _same_regions(left, right)
        if found:
            return True
        if found is False and (any(map(_sure, left)) or any(map(_sure, right))):
            return False
    first, second = families_of(_nodes(gold)), families_of(_nodes(answer))
    if first is not None or second is not None:
        return _same_families(first, second, left, right)
    if len(left) == len(right) == 1:
        return same_item(left[0], right[0], ctx, gold.constant or answer.constant)
    if len(gold.groups) > 1 or len(answer.groups) > 1:
        return _same_bag(_as_group_tuples(gold, ctx), _as_group_tuples(answer, ctx), ctx)
    return _same_lists(left, right, ctx, gold.constant or answer.constant)


def _nodes(reading: Reading) -> list[Node]:
    return [item.node for item in reading.items if item.node is not None]


def _settled(reading: Reading) -> list[Item]:
    """The items with their alternatives written out: plus or minus, sets, labels of lists."""
    found: list[Item] = []
    for item in reading.items:
        found += (
            [Item(node, item.unit, item.text) for node in _expanded(item.node)]
            if item.node
            else [item]
        )
    if len(found) > 1:
        found = [item for item in found if not _declaration(item)] or found
    return found


def _declaration(item: Item) -> bool:
    """k in Z, a != 0, n >= 1 beside something else: what a letter may be, not an answer."""
    node = item.node
    if node is None or node.kind != "rel" or len(node.args) != 2:
        return False
    return node.args[0].kind == "var" and node.value == ("in",) and node.args[1].kind == "named"


def _expanded(node: Node) -> list[Node]:
    """The values that a tree with "plus or minus" stands for."""
    if node.kind == "rel" and len(node.args) > 2 and set(node.value) == {"="}:
        *named, value = node.args
        letters = {name.value for name in named}
        if (
            all(name.kind == "var" for name in named)
            and value.kind != "var"
            and not letters & value.variables()
        ):
            # x = y = 0 gives each of its names a value.
            return [Node("rel", (name, value), ("=",)) for name in named]
    if node.has("pm", "mp") and node.kind not in ("set", "tuple"):
        both = [_signed(node, 1), _signed(node, -1)]
        return [Node("inter", tuple(both))] if "!=" in (node.value or ()) else both
    return [node]


def _signed(node: Node, sign: int) -> Node:
    args = tuple(_signed(arg, sign) for arg in node.args)
    if node.kind in ("pm", "mp"):
        positive = (sign > 0) == (node.kind == "pm")
        return args[0] if positive else Node("neg", args)
    return Node(node.kind, args, node.value)


def _sure(item: Item) -> bool:
    return item.node is not None and sure_region(_unlabelled(item.node))


def _regions(left: list[Item], right: list[Item]) -> bool:
    nodes = [item.node for item in (*left, *right)]
    if any(
        node is None or (item.unit is not None and item.unit.dims)
        for node, item in zip(nodes, (*left, *right), strict=True)
    ):
        return False
    plain = [_unlabelled(node) for node in nodes if node is not None]
    # A pair may be a point: one side at least must be a set of numbers for sure.
    return any(map(sure_region, plain)) and all(
        is_region(node) or node.kind in ("set", "tuple", "rel") for node in plain
    )


def _same_regions(left: list[Item], right: list[Item]) -> bool | None:
    first = tuple(_unlabelled(item.node) for item in left if item.node)
    second = tuple(_unlabelled(item.node) for item in right if item.node)
    names = {variable_of(node) for node in (*first, *second) if variable_of(node)}
    if any(len(node.variables()) > 1 for node in (*first, *second)):
        return None
    if len(names) > 1 and not all(len(node.variables()) <= 1 for node in (*first, *second)):
        return None
    return same_region(first, second)


def _unlabelled(node: Node) -> Node:
    """x in [1,3], D = (0,1), f: the set alone."""
    if node.kind != "rel" or len(node.args) != 2 or node.value not in (("in",), ("=",)):
        return node
    name, body = node.args
    named = name.kind in ("var", "call") and (is_region(body) or body.kind == "set")
    return body if named else node


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
                    [Item(node, item.unit, item.text) for node in _expanded(item.node)]
                    if item.node
                    else [item]
                )
    return found


def _assignments(items: list[Item]) -> dict[str, Node]:
    """The values by name where every item is `name = value`; empty otherwise."""
    found: dict[str, Node] = {}
    for item in items:
        named = label_of(item.node) if item.node is not None else None
        if named is None or named[0].kind != "var" or named[0].value in found:
            return {}
        found[named[0].value] = named[1]
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
    if left_order or right_order:
        return len(left_parts) == len(right_parts) and all(
            same_item(a, b, ctx, constant) for a, b in zip(left_parts, right_parts, strict=True)
        )
    if left_set or right_set:
        left_parts, right_parts = _distinct(left_parts, ctx), _distinct(right_parts, ctx)
    return _same_bag(left_parts, right_parts, ctx, constant)


def _parts(items: list[Item]) -> tuple[list[Item], bool, bool]:
    """The members of a list, whether it is a set in braces, whether its order counts."""
    if len(items) == 1 and items[0].node is not None:
        node = items[0].node
        named = label_of(node)
        node = named[1] if named is not None else node
        if node.kind == "rel" and node.value == ("in",) and node.args[1].kind == "set":
            node = node.args[1]
        if node.kind == "set":
            members = [Item(part, None, "") for arg in node.args for part in _expanded(arg)]
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
        label[0].value.partition("_")[0] for label in labels if label and label[0].kind != "tuple"
    }
    if len(bare) > 1:
        return items, False, False
    return found, False, False


def _distinct(items: list[Item], ctx: Context) -> list[Item]:
    found: list[Item] = []
    for item in items[:60]:
        if not any(same_item(item, other, ctx) for other in found):
            found.append(item)
    return found + items[60:]


def _same_bag(left: list[Item], right: list[Item], ctx: Context, constant: bool = False) -> bool:
    """Whether two lists hold the same members, in any order."""
    if len(left) != len(right) or not left:
        return len(left) == len(right)
    if len(left) > 30:
        return all(same_item(a, b, ctx) for a, b in zip(left, right, strict=True))
    rest = list(right)
    for item in left:
        for other in rest:
            if same_item(item, other, ctx, constant):
                rest.remove(other)
                break
        else:
            return False
    return True


# Items


def same_item(gold: Item, answer: Item, ctx: Context, constant: bool = False) -> bool:
    """Whether two items are equal, units included."""
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
    if (
        first is None
        and second is not None
        and second.dims
        and ctx.unit is not None
        and ctx.unit.dims == second.dims
    ):
        return same_node(_times(left, ctx.unit.factor), _times(right, second.factor), ctx, constant)
    if first is not None and second is None and ctx.units == "required":
        return False
    if first is not None and second is not None:
        if first.degree or second.degree:
            if first.degree and second.degree:
                return same_node(
                    _times(left, first.factor), _times(right, second.factor), ctx, constant
                )
            if (second if first.degree else first).dims:
                return False
            return same_node(
                _radians(left) if first.degree else left,
                _radians(right) if second.degree else right,
                ctx,
            )
        if first.dims != second.dims:
            return {first.dims, second.dims} <= {
                (),
                (("u", 1),),
                (("u", 2),),
                (("u", 3),),
            } and same_node(left, right, ctx)
        if first.offset != second.offset or first.offset:
            left, right = (
                Node("add", (node, num(unit.offset))) if unit.dims == (("temp", 1),) else node
                for node, unit in ((left, first), (right, second))
            )
        return same_node(_times(left, first.factor), _times(right, second.factor), ctx, constant)
    if same_node(left, right, ctx, constant):
        return True
    if first is not None and first.degree:
        return same_node(_radians(left), right, ctx)
    if second is not None and second.degree:
        return left.has("const") and same_node(left, _radians(right), ctx)
    for unit, bare, other in ((first, left, right), (second, right, left)):
        # Dozens, and cents where plain dollars are meant, are numbers as well.
        if unit is not None and not unit.dims and unit.factor != 1:
            return same_node(_times(bare, unit.factor), other, ctx)
    return False


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


# Trees


def label_of(node: Node) -> tuple[Node, Node] | None:
    """`name = value` as (name, value); also chains whose members agree, and `value = name`."""
    if node.kind != "rel" or any(sign not in ("=", "~") for sign in node.value):
        return None
    parts = list(node.args)
    if not _is_name(parts[0]) and _is_name(parts[-1]):
        parts = [parts[-1], *parts[:-1]]
    if not _is_name(parts[0]) or _uses(parts[0], parts[1:]):
        return None
    rest = parts[1] if len(parts) == 2 else Node("rel", tuple(parts[1:]), node.value[1:])
    return parts[0], rest


def _is_name(node: Node) -> bool:
    if node.kind == "tuple":
        return all(arg.kind == "var" for arg in node.args)
    return node.kind in ("var", "call")


def _uses(name: Node, parts: list[Node]) -> bool:
    if name.kind == "call":
        return any(
            part.kind == "call" and part.value == name.value
            for node in parts
            for part in node.walk()
        )
    return any(name.variables() & node.variables() for node in parts)


def same_node(gold: Node, answer: Node, ctx: Context, constant: bool = False) -> bool:
    """Whether two trees say the same."""
    if gold == answer:
        return True
    gold, answer = _unlabelled(gold), _unlabelled(answer)
    pair = _chained(gold, ctx), _chained(answer, ctx)
    if pair[0] is None or pair[1] is None:
        return False
    gold, answer = pair[0], pair[1]
    equal_names = [
        frozenset(arg.value for arg in node.args)
        if node.kind == "rel"
        and set(node.value) == {"="}
        and all(arg.kind == "var" for arg in node.args)
        else None
        for node in (gold, answer)
    ]
    if any(found and len(found) > 2 for found in equal_names):
        return equal_names[0] == equal_names[1]
    first, second = label_of(gold), label_of(answer)
    if first is not None and second is not None:
        return _same_labelled(first, second, gold, answer, ctx, constant)
    if first is not None and answer.kind != "rel":
        return same_node(first[1], _renamed(first, None, answer), ctx, constant)
    if second is not None and gold.kind != "rel":
        return same_node(gold, second[1], ctx, constant)
    if gold.kind == "rel" or answer.kind == "rel":
        return gold.kind == answer.kind and _same_relation(gold, answer, ctx)
    if gold.kind == "mod" or answer.kind == "mod":
        return _same_mod(gold, answer, ctx)
    left, right = rows_of(gold), rows_of(answer)
    if left is not None or right is not None:
        return _same_rows(left, right, gold, answer, ctx)
    if gold.kind == "ratio" and answer.kind == "ratio":
        return _same_ratio(gold, answer, ctx)
    if "set" in (gold.kind, answer.kind) or "tuple" in (gold.kind, answer.kind):
        return _same_members(gold, answer, ctx, constant)
    if gold.kind in ("named", "union", "inter", "minus", "builder"):
        return False
    if constant and gold.variables() != answer.variables():
        only, other = gold.variables() - answer.variables(), answer.variables() - gold.variables()
        if len(only) == len(other) == 1:
            answer = replace_kind(
                answer, "var", {next(iter(other)): Node("var", value=next(iter(only)))}
            )
    return same_scalar(gold, answer, ctx)


def _chained(node: Node, ctx: Context) -> Node | None:
    """A chain of equal values as its first; None where the members disagree."""
    if node.kind != "rel" or any(sign not in ("=", "~") for sign in node.value):
        return node
    if all(arg.kind == "var" for arg in node.args):
        return node
    named = label_of(node)
    if named is not None:
        inside = _chained(named[1], ctx)
        return None if inside is None else Node("rel", (named[0], inside), ("=",))
    if node.variables() and not (len(node.args) > 2 or "~" in node.value):
        return node
    near = Context(question=ctx.question, rounded=True, tolerance=0.02)
    first = node.args[0]
    if first.kind in ("tuple", "set", "named"):
        return node
    for sign, part in zip(node.value, node.args[1:], strict=True):
        if not same_scalar(first, part, near if sign == "~" else ctx):
            return None
    return first


def _same_labelled(
    first: tuple[Node, Node],
    second: tuple[Node, Node],
    gold: Node,
    answer: Node,
    ctx: Context,
    constant: bool,
) -> bool:
    names = first[0], second[0]
    if names[0].kind == names[1].kind == "tuple" and names[0] != names[1]:
        order = {
            arg.value: value for arg, value in zip(names[1].args, second[1].args, strict=False)
        }
        if all(arg.value in order for arg in names[0].args) and first[1].kind == "tuple":
            built = Node("tuple", tuple(order[arg.value] for arg in names[0].args), "()")
            return same_node(first[1], built, ctx, constant)
        return False
    if names[0] == names[1] or "call" in (names[0].kind, names[1].kind):
        constant = constant or (
            bool(first[1].variables() | second[1].variables())
            and (first[1].variables() | second[1].variables() <= _PARAMETERS)
        )
        if same_node(first[1], _renamed(first, second, second[1]), ctx, constant):
            return True
        return "call" not in (names[0].kind, names[1].kind) and _same_relation(gold, answer, ctx)
    if first[1].variables() or second[1].variables():
        return _same_relation(gold, answer, ctx)
    quantities = all(
        name.kind == "var" and (name.value[0].isupper() or len(name.value) > 1) for name in names
    )
    return quantities and same_node(first[1], second[1], ctx, constant)


def _renamed(first: tuple[Node, Node], second: tuple[Node, Node] | None, body: Node) -> Node:
    """f(n) = n^2 against f(x) = x^2: the argument takes the reference's name."""
    if first[0].kind == "call" and len(first[0].args) == 1 and first[0].args[0].kind == "var":
        wanted = first[0].args[0]
        if second is not None and second[0].kind == "call" and len(second[0].args) == 1:
            return replace_kind(body, "var", {second[0].args[0].value: wanted})
    return body


def _same_relation(gold: Node, answer: Node, ctx: Context) -> bool:
    if len(gold.args) != 2 or len(answer.args) != 2:
        if gold.value == answer.value and len(gold.args) == len(answer.args):
            return all(same_scalar(a, b, ctx) for a, b in zip(gold.args, answer.args, strict=True))
        return False
    sign_gold, sign = gold.value[0], answer.value[0]
    if sign_gold in ("in", "iff", "sub") or sign in ("in", "iff", "sub"):
        return sign_gold == sign and all(
            same_node(a, b, ctx) for a, b in zip(gold.args, answer.args, strict=True)
        )
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
    """Whether one equation is the other times a product of powers: doubling all letters multiplies
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


def _same_mod(gold: Node, answer: Node, ctx: Context) -> bool:
    plain = [node.args[0] if node.kind == "mod" else node for node in (gold, answer)]
    plain = [named[1] if (named := label_of(node)) else node for node in plain]
    if gold.kind == answer.kind:
        if not same_scalar(gold.args[1], answer.args[1], ctx):
            return False
        try:
            modulus = value_of(gold.args[1], {})
            gap = (value_of(plain[0], {}) - value_of(plain[1], {})) / modulus
            near = round(gap.real)
        except (Undefined, TooBig, ArithmeticError, ValueError):
            return same_scalar(plain[0], plain[1], ctx)
        return bool(abs(gap - near) < 1e-12)
    return same_scalar(plain[0], plain[1], ctx)


def _same_rows(
    left: list[list[Node]] | None,
    right: list[list[Node]] | None,
    gold: Node,
    answer: Node,
    ctx: Context,
) -> bool:
    if left is not None and right is not None:
        if len(left) != len(right) or len(left[0]) != len(right[0]):
            return False
        return all(
            same_node(a, b, ctx)
            for x, y in zip(left, right, strict=True)
            for a, b in zip(x, y, strict=True)
        )
    rows, other = (left, answer) if left is not None else (right, gold)
    if (
        rows is not None
        and other.kind in ("tuple", "set")
        and (len(rows) == 1 or len(rows[0]) == 1)
    ):
        flat = [cell for row in rows for cell in row]
        return len(flat) == len(other.args) and all(
            same_node(a, b, ctx) for a, b in zip(flat, other.args, strict=True)
        )
    if rows is not None and len(rows) == len(rows[0]) == 1:
        return same_node(rows[0][0], other, ctx)
    return False


def _same_ratio(gold: Node, answer: Node, ctx: Context) -> bool:
    if len(gold.args) != len(answer.args):
        return False
    return all(
        same_scalar(Node("mul", (a, answer.args[0])), Node("mul", (b, gold.args[0])), ctx)
        for a, b in zip(gold.args, answer.args, strict=True)
    )


def _same_members(gold: Node, answer: Node, ctx: Context, constant: bool) -> bool:
    """Tuples in order with brackets that do not say otherwise; sets in any order."""
    if gold.kind == answer.kind == "tuple":
        if len(gold.args) != len(answer.args):
            return False
        mixed = {gold.value, answer.value} - {"()", "[]"}
        if mixed and gold.value != answer.value:
            return False
        if gold.value != answer.value and len(gold.args) == 2 and not ctx.point:
            # (1,3) and [1,3]: as intervals they differ.
            return False
        return all(
            same_node(a, b, ctx, constant) for a, b in zip(gold.args, answer.args, strict=True)
        )
    if not {gold.kind, answer.kind} <= {"set", "tuple"}:
        other = answer if gold.kind in ("set", "tuple") else gold
        if other.kind in ("named", "union", "inter", "minus", "builder", "rel"):
            return False
    elif gold.kind != answer.kind:
        inner = gold if gold.kind == "set" else answer
        tuple_ = answer if gold.kind == "set" else gold
        listed = tuple_.value == "[]" and len(tuple_.args) != 2
        if not listed and not (len(inner.args) == 1 and inner.args[0].kind == "tuple"):
            return False
        if not listed:
            return same_node(
                *((inner.args[0], tuple_) if gold is inner else (tuple_, inner.args[0])), ctx
            )
    left, right = (
        [Item(part, None, "") for arg in node.args for part in _expanded(arg)]
        if node.kind in ("set", "tuple")
        else [Item(node, None, "")]
        for node in (gold, answer)
    )
    if len(left) > MAX_COMBINATIONS or len(right) > MAX_COMBINATIONS:
        return False
    if "set" in (gold.kind, answer.kind):
        left, right = _distinct(left, ctx), _distinct(right, ctx)
        return _same_bag(left, right, ctx, constant)
    return len(left) == len(right) == 1 and same_node(
        left[0].node or gold, right[0].node or answer, ctx, constant
    )


__all__ = ["Unreadable", "compact", "equivalent", "same_reading"]
