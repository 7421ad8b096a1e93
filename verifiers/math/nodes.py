"""Equality of trees of any kind: values, labelled values, relations, residues, matrices, ratios, sets, tuples."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache, partial
from itertools import permutations

from verigym.verifiers.math.bags import distinct, same_bag
from verigym.verifiers.math.canonical import canonical
from verigym.verifiers.math.context import Context
from verigym.verifiers.math.labels import expanded, label_of, renamed, unlabelled
from verigym.verifiers.math.matrices import components, identity, multiple, rows_of
from verigym.verifiers.math.numeric import Undefined, value_of
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.quantities import PREFIX, agree
from verigym.verifiers.math.relations import same_relation
from verigym.verifiers.math.scalars import same_scalar
from verigym.verifiers.math.solutions import same_solutions
from verigym.verifiers.math.trees import MAX_COMBINATIONS, Node, TooBig, replace_kind

_PARAMETERS = frozenset("kmntjlcrs")
_INTEGRATION = frozenset(("C", "K", "C_1", "C_2", "C_3", "c_1", "c_2", "c_3", "C_0", "c_0"))
_CONSTANTS = _INTEGRATION | frozenset("ABDabckd") | {"A_1", "A_2", "k_1", "k_2"}
_MAX_RENAMED = 3
_MEMBERSHIPS = frozenset(("in", "iff", "sub"))


def same_node(gold: Node, answer: Node, ctx: Context, constant: bool = False) -> bool:
    """Return True if two trees say the same."""
    if gold == answer:
        return True
    gold, answer = unlabelled(gold), unlabelled(answer)
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
        return same_node(first[1], renamed(first, None, answer), ctx, constant)
    if second is not None and gold.kind != "rel":
        return same_node(gold, second[1], ctx, constant)
    if (
        answer.kind == "rel"
        and gold.kind not in ("rel", "tuple", "set")
        and set(answer.value) == {"="}
        and answer.args[-1].variables() <= gold.variables()
    ):
        # sqrt(x^2) = |x|: an identity, of which the last side is the answer.
        return all(same_scalar(gold, side, ctx) for side in answer.args)
    if gold.kind == "rel" or answer.kind == "rel":
        return gold.kind == answer.kind and _same_relation(gold, answer, ctx)
    solved = _as_solutions(gold, answer, ctx)
    if solved is not None:
        return solved
    free = constant or ctx.general or _customary(gold, answer)
    if free and gold.variables() != answer.variables():
        # One renaming for all of a tuple: (t, t) is not (s, t).
        constant, ctx = False, replace(ctx, general=False)
        others = _with_letters(gold, answer)
        if others:
            return any(same_node(gold, other, ctx) for other in others)
    if gold.kind == "mod" or answer.kind == "mod":
        return _same_mod(gold, answer, ctx)
    left, right = rows_of(gold), rows_of(answer)
    if left is not None or right is not None:
        return _same_rows(left, right, gold, answer, ctx)
    if gold.kind == "ratio" and answer.kind == "ratio":
        return _same_ratio(gold, answer, ctx)
    if "tuple" in (gold.kind, answer.kind):
        gold, answer = multiple(gold), multiple(answer)
    if "set" in (gold.kind, answer.kind) or "tuple" in (gold.kind, answer.kind):
        return _same_members(gold, answer, ctx, constant)
    if gold.kind in ("named", "union", "inter", "minus", "builder"):
        return gold.kind == answer.kind and canonical(gold) == canonical(answer)
    return same_scalar(gold, answer, ctx)


_NAMES = lazy_pattern(
    r"[ABCDKabcdk](?:_\{?\w\}?)?|alpha|beta|gamma|lambda|mu", needs="A|B|C|D|K|a|b|c|d|k|mu"
)
_SOLVES = lazy_pattern(
    r"y\s*'|\\d?d?ot|\bdifferential|\bgeneral solution|\bODE\b|\brecurrence|y\^?\{?\\prime|\bd\s*[a-z]\s*/\s*d\s*[a-z]|frac\{d|a_\{?n",
    re.IGNORECASE,
    needs="\\prime|a_|d|general solution|ot|recurrence|y",
)


@lru_cache(maxsize=4096)
def _solves(question: str) -> bool:
    """Return True if a question is about a differential equation or a recurrence."""
    return _SOLVES.search(question) is not None


def _as_solutions(gold: Node, answer: Node, ctx: Context) -> bool | None:
    """Return True if two formulas with arbitrary constants are the same general solution; None if they are none."""
    letters = gold.variables()
    sure = letters & _INTEGRATION
    constants = sure or frozenset(name for name in letters if _NAMES.fullmatch(name))
    if constants and not sure and not _solves(ctx.question):
        return None
    own = letters - constants
    others = answer.variables() - own
    if (
        not constants
        or not own
        or len(constants) != len(others)
        or not all(map(_NAMES.fullmatch, others))
    ):
        return None
    return same_solutions(gold, constants, answer, others) or None


def _customary(gold: Node, answer: Node) -> bool:
    """Return True if the letters in which two trees differ are constants by custom: C, A and B, c_1 and c_2."""
    differing = gold.variables() ^ answer.variables()
    return differing <= _CONSTANTS and bool(differing & _INTEGRATION)


def _with_letters(gold: Node, answer: Node) -> list[Node]:
    """The answer in the letters of the reference, in each order, where their numbers agree."""
    wanted = sorted(gold.variables() - answer.variables())
    found = sorted(answer.variables() - gold.variables())
    if len(wanted) != len(found) or not 0 < len(wanted) <= _MAX_RENAMED:
        return []
    return [
        replace_kind(
            answer,
            "var",
            {old: Node("var", value=new) for old, new in zip(found, order, strict=True)},
        )
        for order in permutations(wanted)
    ]


def _chained(node: Node, ctx: Context) -> Node | None:
    """A chain of equal values as its first; None if the members disagree."""
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
    if _named_apart(*names):
        return False
    if names[0].kind == names[1].kind == "tuple" and names[0] != names[1]:
        order = {
            arg.value: value for arg, value in zip(names[1].args, second[1].args, strict=False)
        }
        if all(arg.value in order for arg in names[0].args) and first[1].kind == "tuple":
            built = Node("tuple", tuple(order[arg.value] for arg in names[0].args), "()")
            return same_node(first[1], built, ctx, constant)
        return False
    if names[0] == names[1] and names[0].kind == "div":
        # dy/dx = ky is not dy/dx = kx, whatever letters are constants.
        own = names[0].variables()
        if first[1].variables() & own != second[1].variables() & own:
            return False
    if names[0] == names[1] or "call" in (names[0].kind, names[1].kind):
        constant = constant or (
            bool(first[1].variables() | second[1].variables())
            and (first[1].variables() | second[1].variables() <= _PARAMETERS)
        )
        if same_node(first[1], renamed(first, second, second[1]), ctx, constant):
            return True
        return "call" not in (names[0].kind, names[1].kind) and same_relation(gold, answer, ctx)
    if first[1].variables() or second[1].variables():
        return same_relation(gold, answer, ctx)
    quantities = any(str(name.value).startswith(PREFIX) for name in names) or all(
        name.kind == "var" and (name.value[0].isupper() or len(name.value) > 1) for name in names
    )
    return quantities and same_node(first[1], second[1], ctx, constant)


def _named_apart(first: Node, second: Node) -> bool:
    """Return True if two names are of different quantities: f(1) and f(2), the angles A and B."""
    if first.kind == second.kind == "var":
        return not agree(first.value, second.value)
    if first.kind == second.kind == "call" and first.value == second.value:
        return first.args != second.args and not (first.variables() and second.variables())
    return False


def _same_relation(gold: Node, answer: Node, ctx: Context) -> bool:
    if len(gold.args) == len(answer.args) == 2 and _MEMBERSHIPS & {gold.value[0], answer.value[0]}:
        return bool(gold.value == answer.value) and all(
            same_node(a, b, ctx) for a, b in zip(gold.args, answer.args, strict=True)
        )
    return same_relation(gold, answer, ctx)


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
    if rows is not None and len(rows) == len(rows[0]) > 1:
        unit = identity(other, len(rows))
        return unit is not None and _same_rows(rows, unit, gold, answer, ctx)
    if rows is not None and len(rows[0]) == 1:
        parts = components(other, len(rows))
        if parts is not None:
            return all(same_node(row[0], part, ctx) for row, part in zip(rows, parts, strict=True))
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
        vector = gold if other is answer else answer
        parts = components(other, len(vector.args)) if vector.kind == "tuple" else None
        if parts is not None:
            return all(map(partial(same_node, ctx=ctx), vector.args, parts))
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
        [part for arg in node.args for part in expanded(arg)]
        if node.kind in ("set", "tuple")
        else [node]
        for node in (gold, answer)
    )
    if len(left) > MAX_COMBINATIONS or len(right) > MAX_COMBINATIONS:
        return False
    if "set" in (gold.kind, answer.kind):
        left, right = (distinct(part, partial(same_node, ctx=ctx)) for part in (left, right))
        return same_bag(left, right, partial(same_node, ctx=ctx, constant=constant))
    return len(left) == len(right) == 1 and same_node(left[0], right[0], ctx, constant)
