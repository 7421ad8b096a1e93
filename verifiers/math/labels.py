"""Names in front of values ("x = 5", "f(n) = n^2", "D = (0, 1)"), and values that stand for two (3 ± 1)."""

from __future__ import annotations

import itertools
import math

from verigym.verifiers.math.grammar import ANGULAR
from verigym.verifiers.math.regions import is_region
from verigym.verifiers.math.trees import MAX_COMBINATIONS, Node, replace_kind

_D = (Node("var", value="d"), Node("var", value="partial"))


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
    if node.kind == "fn":
        return node.value in ANGULAR and node.args[0].kind == "var"
    if node.kind == "mul":
        # AB = 5: a segment.
        return all(_is_name(arg) and str(arg.value or "A").isupper() for arg in node.args)
    return node.kind in ("var", "call") or _derivative(node)


def name_of(node: Node) -> str:
    """A name as one word: x, AB, sin x, dy/dx, f(1); empty for a function of letters, f(x)."""
    if node.kind == "var":
        return str(node.value)
    if node.kind == "call" and not node.variables():
        return f"{node.value}({','.join(str(arg.value) for arg in node.args)})"
    if node.kind in ("mul", "div", "fn"):
        parts = [name_of(arg) for arg in node.args]
        return f"{node.value or ''}{('/' if node.kind == 'div' else '').join(parts)}"
    return ""


def _derivative(node: Node) -> bool:
    """dy/dx, read as a quotient of products."""
    return node.kind == "div" and all(
        arg.kind == "mul" and arg.args[0] in _D and arg.args[1].kind == "var" for arg in node.args
    )


def _uses(name: Node, parts: list[Node]) -> bool:
    if _derivative(name):
        return any(map(_derivative, parts))
    if name.kind == "call":
        return any(
            part.kind == "call" and part.value == name.value
            for node in parts
            for part in node.walk()
        )
    return any(name.variables() & node.variables() for node in parts)


def unlabelled(node: Node) -> Node:
    """x in [1,3], D = (0,1), f: the set alone."""
    if node.kind != "rel":
        return node
    if len(node.args) == 3 and node.args[1].kind == "call":
        # 1 <= f(x) <= 2: the values of a function as a letter.
        return Node("rel", (node.args[0], Node("var", value="y"), node.args[2]), node.value)
    if len(node.args) != 2 or node.value not in (("in",), ("=",)):
        return node
    name, body = node.args
    named = name.kind in ("var", "call") and (is_region(body) or body.kind == "set")
    return body if named else node


def renamed(first: tuple[Node, Node], second: tuple[Node, Node] | None, body: Node) -> Node:
    """f(n) = n^2 against f(x) = x^2: the argument takes the reference's name."""
    if first[0].kind == "call" and len(first[0].args) == 1 and first[0].args[0].kind == "var":
        wanted = first[0].args[0]
        if second is not None and second[0].kind == "call" and len(second[0].args) == 1:
            return replace_kind(body, "var", {second[0].args[0].value: wanted})
    return body


def expanded(node: Node, *, apart: bool = False) -> list[Node]:
    """The values that a tree with "plus or minus" stands for.

    `apart`: each sign of a tuple is taken by itself, so that (±1, ±2) is four points and not two.
    """
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
    if apart and node.kind == "tuple":
        choices = [expanded(arg) for arg in node.args]
        if math.prod(map(len, choices)) <= MAX_COMBINATIONS:
            return [Node("tuple", args, node.value) for args in itertools.product(*choices)]
    if node.has("pm", "mp") and node.kind != "set":
        both = [_signed(node, 1), _signed(node, -1)]
        return [Node("inter", tuple(both))] if "!=" in (node.value or ()) else both
    return [node]


def _signed(node: Node, sign: int) -> Node:
    args = tuple(_signed(arg, sign) for arg in node.args)
    if node.kind in ("pm", "mp"):
        positive = (sign > 0) == (node.kind == "pm")
        if not positive and args[0].kind == "tuple":
            negative = tuple(Node("neg", (arg,)) for arg in args[0].args)
            return Node("tuple", negative, args[0].value)
        return args[0] if positive else Node("neg", args)
    return Node(node.kind, args, node.value)
