"""Small wrong changes of a Python program, made on its syntax tree; runs in the sandbox.

Reads `{"programs": [text], "limit": n, "seed": n}` from standard input and prints, for each program,
a list of `[text, kind of change]`, at most `limit`, drawn evenly from all kinds. A program that does
not parse has none. Only the standard library, since it runs where nothing else is.
"""

# mypy: disable-error-code="misc,arg-type"
# Types of lambdas with default arguments cannot be inferred.

import ast
import json
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

Change = tuple[str, Callable[[], Any]]
"""A kind, and what makes the node, or nodes, to stand in its place."""

_COMPARE: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt, ast.Eq),
    ast.Gt: (ast.GtE, ast.LtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt, ast.Eq),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_BINARY: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.BitOr),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.Div: (ast.FloorDiv, ast.Mult),
    ast.FloorDiv: (ast.Div, ast.Mult),
    ast.Mod: (ast.FloorDiv, ast.Sub),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr, ast.BitXor),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitAnd, ast.BitOr),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
_SWAPPED = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "round": "int",
    "sum": "max",
    "find": "rfind",
    "rfind": "find",
    "index": "rindex",
    "append": "insert_first",
    "appendleft": "append",
    "popleft": "pop",
    "heappop": "heappushpop",
    "bisect_left": "bisect_right",
    "bisect_right": "bisect_left",
    "startswith": "endswith",
    "endswith": "startswith",
    "isalpha": "isalnum",
    "isalnum": "isalpha",
    "upper": "lower",
    "lower": "upper",
}
# f(x) becomes x, or list(x).
_DROPPED = {"sorted": "list", "set": "list", "reversed": "list", "abs": "", "int": "", "len": ""}


def _number(value: int) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _plus(node: ast.expr, more: int) -> ast.expr:
    sign: ast.operator = ast.Add() if more > 0 else ast.Sub()
    return ast.BinOp(node, sign, ast.Constant(abs(more)))


def _with(node: Any, **fields: Any) -> Any:
    """`node`, which is a copy already, with other fields."""
    for name, value in fields.items():
        setattr(node, name, value)
    return node


def changes(node: ast.AST) -> Iterator[Change]:
    """Yield the possible changes of one node. Each change reuses the node itself, so apply only
    one."""
    if isinstance(node, ast.Compare):
        for other in _COMPARE.get(type(node.ops[0]), ()):
            yield "compare", lambda other=other: _with(node, ops=[other(), *node.ops[1:]])
        if len(node.ops) > 1:
            for other in _COMPARE.get(type(node.ops[-1]), ()):
                yield "compare", lambda other=other: _with(node, ops=[*node.ops[:-1], other()])
            yield "chain", lambda: ast.Compare(node.left, node.ops[:-1], node.comparators[:-1])
            yield (
                "chain",
                lambda: ast.Compare(node.comparators[0], node.ops[1:], node.comparators[1:]),
            )
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        for other in _BINARY.get(type(node.op), ()):
            yield "arithmetic", lambda other=other: _with(node, op=other())
        if isinstance(node, ast.BinOp):
            yield "operand", lambda: node.left
            yield "operand", lambda: node.right
        else:
            yield "statement", ast.Pass
            yield "assign", lambda: ast.Assign([node.target], node.value)
    elif isinstance(node, ast.BoolOp):
        flipped = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield "logic", lambda: _with(node, op=flipped())
        for number in range(len(node.values)):
            yield "condition", lambda number=number: _without(node, number)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield "sign", lambda: node.operand
    elif isinstance(node, ast.Constant):
        yield from _constant(node)
    elif isinstance(node, ast.If):
        yield "branch", lambda: _with(node, test=ast.Constant(True))
        yield "branch", lambda: _with(node, test=ast.Constant(False))
        yield "branch", lambda: _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.IfExp):
        yield "branch", lambda: node.body
        yield "branch", lambda: node.orelse
    elif isinstance(node, ast.While | ast.For):
        yield "loop", ast.Pass
        yield "loop", lambda: _with(node, body=[*node.body, ast.Break()])
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "statement", ast.Pass
    elif isinstance(node, ast.Break):
        yield "jump", ast.Continue
        yield "jump", ast.Pass
    elif isinstance(node, ast.Continue):
        yield "jump", ast.Break
        yield "jump", ast.Pass
    elif isinstance(node, ast.comprehension):
        for number in range(len(node.ifs)):
            yield "filter", lambda n=number: _with(node, ifs=[*node.ifs[:n], *node.ifs[n + 1 :]])
    elif isinstance(node, ast.Subscript):
        yield from _subscript(node)
    elif isinstance(node, ast.Return) and node.value is not None:
        yield "return", lambda: _with(node, value=_plus(node.value, 1))
    elif isinstance(node, ast.Call):
        yield from _call(node)


def _without(node: ast.BoolOp, number: int) -> ast.expr:
    rest = node.values[:number] + node.values[number + 1 :]
    return rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", lambda: ast.Constant(not value)
    elif isinstance(value, int):
        for other in dict.fromkeys((value + 1, value - 1, 0, -value)):
            if other != value:
                yield "constant", lambda other=other: _number(other)
    elif isinstance(value, float):
        yield "constant", lambda: ast.Constant(value + 1)
        yield "constant", lambda: ast.Constant(value / 2)
    elif isinstance(value, str):
        yield "text", lambda: ast.Constant("" if value else "x")
        if len(value) > 1:
            yield "text", lambda: ast.Constant(value[1:])
            yield "text", lambda: ast.Constant(value[:-1])


def _subscript(node: ast.Subscript) -> Iterator[Change]:
    part = node.slice
    if not isinstance(part, ast.Slice):
        yield "index", lambda: _with(node, slice=_plus(part, 1))
        yield "index", lambda: _with(node, slice=_plus(part, -1))
        return
    for name in ("lower", "upper"):
        bound = getattr(part, name)
        if bound is not None:
            for more in (1, -1):
                yield (
                    "slice",
                    lambda n=name, b=bound, m=more: _with(
                        node, slice=_with(part, **{n: _plus(b, m)})
                    ),
                )
            yield "slice", lambda n=name: _with(node, slice=_with(part, **{n: None}))
    if part.step is not None:
        yield "slice", lambda: _with(node, slice=_with(part, step=None))


def _call(node: ast.Call) -> Iterator[Change]:
    name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
    if name in _SWAPPED:
        field = "id" if isinstance(node.func, ast.Name) else "attr"
        if name == "append":
            first = ast.Attribute(getattr(node.func, "value", node.func), "insert", ast.Load())
            yield "call", lambda: ast.Call(first, [ast.Constant(0), *node.args], [])
        else:
            yield "call", lambda: _with(node, func=_with(node.func, **{field: _SWAPPED[name]}))
    if name in _DROPPED and len(node.args) == 1 and isinstance(node.func, ast.Name):
        kept = _DROPPED[name]
        if kept:
            yield (
                "call",
                lambda: _with(node, func=ast.Name(kept, ast.Load()), keywords=[]),
            )
        elif name == "len":
            yield "call", lambda: _plus(node, -1)
            yield "call", lambda: _plus(node, 1)
        else:
            yield "call", lambda: node.args[0]
    if name == "range":
        for number in range(min(2, len(node.args))):
            for more in (1, -1):
                yield (
                    "range",
                    lambda n=number, m=more: _with(
                        node,
                        args=[*node.args[:n], _plus(node.args[n], m), *node.args[n + 1 :]],
                    ),
                )
        if len(node.args) == 1:
            yield "range", lambda: _with(node, args=[ast.Constant(1), *node.args])
    for number in range(len(node.keywords)):
        yield (
            "keyword",
            lambda n=number: _with(node, keywords=[*node.keywords[:n], *node.keywords[n + 1 :]]),
        )
    if isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        yield "method", lambda: node.func.value  # type: ignore[attr-defined]
    if len(node.args) == 2 and name not in ("range", "insert"):
        yield "arguments", lambda: _with(node, args=node.args[::-1])


class _Apply(ast.NodeTransformer):
    """Changes the node of a given number, counted as the tree is walked, in a given way."""

    def __init__(self, at: int, which: int) -> None:
        self.at, self.which, self.count = at, which, -1

    def visit(self, node: ast.AST) -> Any:
        """Return the replacement for the node of the given number, and every other node with its
        children visited."""
        self.count += 1
        if self.count == self.at:
            return list(changes(node))[self.which][1]()
        return super().generic_visit(node)


class _Collect(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: dict[str, list[tuple[int, int]]] = {}
        self.count = -1

    def visit(self, node: ast.AST) -> None:
        self.count += 1
        for which, (kind, _) in enumerate(changes(node)):
            self.found.setdefault(kind, []).append((self.count, which))
        super().generic_visit(node)


def places(tree: ast.AST) -> dict[str, list[tuple[int, int]]]:
    """Return the possible changes in `tree`: by kind, the node's number and the index of the
    change."""
    collected = _Collect()
    collected.visit(tree)
    return collected.found


def change(tree: ast.Module, at: int, which: int) -> None:
    """Make one of the changes of `places` in `tree` itself."""
    _Apply(at, which).visit(tree)


def written(tree: ast.Module) -> str | None:
    """Return the text of a changed program; None if the change left none."""
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        compile(text, "mutant", "exec")
    except (SyntaxError, ValueError, AttributeError, TypeError):
        return None
    return text


def mutants(source: str, limit: int, seed: int) -> list[tuple[str, str]]:
    """Return at most `limit` changed programs with the kind of each change; none if `text` does
    not parse."""
    try:
        tree = ast.parse(source)
        plain = ast.unparse(tree)
        found = places(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    rng = random.Random(seed)
    kinds = sorted(found)
    for kind in kinds:
        rng.shuffle(found[kind])
    made: dict[str, str] = {}
    while len(made) < limit and any(found.values()):
        for kind in kinds:
            if not found[kind] or len(made) >= limit:
                continue
            changed = ast.parse(source)
            change(changed, *found[kind].pop())
            text = written(changed)
            if text is not None and text != plain:
                made.setdefault(text, kind)
    return list(made.items())


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    answer = [mutants(text, asked["limit"], asked["seed"]) for text in asked["programs"]]
    sys.stdout.write(json.dumps(answer))
