"""Sets of real numbers in any spelling, compared by membership at and around their own edges."""

from __future__ import annotations

import itertools
import math
import random
from functools import lru_cache

from verigym.verifiers.math.numeric import Undefined, value_of
from verigym.verifiers.math.trees import Node, TooBig

_NEAR = 1e-9
_STEP = 1e-6
ORDERED = frozenset(("<", "<=", ">", ">=", "!="))


def is_region(node: Node) -> bool:
    """Return True if a tree may be read as a set of reals: an interval, inequalities, a union, R, {x | ...}."""
    if node.kind in ("union", "inter", "minus", "builder", "named"):
        return True
    if node.kind == "tuple":
        return len(node.args) == 2 and all(not arg.variables() for arg in node.args)
    if node.kind == "rel":
        return (bool(ORDERED.intersection(node.value)) and len(node.variables()) == 1) or (
            node.value == ("in",) and (is_region(node.args[1]) or node.args[1].kind == "set")
        )
    return False


def sure_region(node: Node) -> bool:
    """Return True if it can be nothing else: a pair in brackets may be a point."""
    if node.kind == "tuple":
        return is_region(node) and (
            (node.value != "()" and node.value != "[]")
            or (
                node.has("const")
                and any(part.value == "inf" for part in node.walk() if part.kind == "const")
            )
        )
    return is_region(node)


def variable_of(node: Node) -> str | None:
    """The variable that a region is over; None if it names none or several."""
    names = node.variables()
    return next(iter(names)) if len(names) == 1 else None


@lru_cache(maxsize=32)
def same_region(a: tuple[Node, ...], b: tuple[Node, ...]) -> bool | None:
    """Return True if two unions of regions hold the same numbers; None if either cannot be read.

    Membership is compared at each edge that either names, a millionth to both sides, between edges
    and at seeded points. No point tells the rationals from the reals, so that both must name them.
    """
    if _names_rationals(a) != _names_rationals(b):
        return False
    try:
        edges: set[float] = set()
        for node in (*a, *b):
            edges |= _edges(node)
        for x in _points(edges):
            if any(_holds(node, x) for node in a) != any(_holds(node, x) for node in b):
                return False
    except (Undefined, TooBig):
        return None
    return True


def _names_rationals(nodes: tuple[Node, ...]) -> bool:
    return any(
        part.kind == "named" and part.value[0] == "Q" for node in nodes for part in node.walk()
    )


def _points(edges: set[float]) -> list[float]:
    inner = sorted(edges)[:40]
    draw = random.Random("regions")
    found = list(inner)
    for edge in inner:
        step = _STEP * max(1.0, abs(edge))
        found += [edge - step, edge + step, -edge, edge / 2]
    found += [(x + y) / 2 for x, y in itertools.pairwise(inner)]
    spread = max([abs(edge) for edge in inner] + [1.0]) * 3
    found += [draw.uniform(-spread, spread) for _ in range(12)]
    found += [
        0.0,
        1.0,
        -1.0,
        2.0,
        3.0,
        0.5,
        -2.0,
        spread * 1e3,
        -spread * 1e3,
        float(math.ceil(spread)),
    ]
    return found


def _real(node: Node, x: float | None = None) -> float:
    env = {} if x is None else dict.fromkeys(node.variables(), x)
    value = value_of(node, env)
    if abs(value.imag) > 1e-9 * max(1.0, abs(value.real)):
        raise Undefined("not real")
    found = float(value.real)
    if math.isnan(found):
        raise Undefined("not a number")
    return found


def _edges(node: Node) -> set[float]:
    """All values without a variable in a region: its edges are among them, or lie at its own tests."""
    found: set[float] = set()
    for part in node.walk():
        if part.kind in (
            "tuple",
            "set",
            "rel",
            "named",
            "union",
            "inter",
            "minus",
            "builder",
            "row",
        ):
            continue
        if not part.variables():
            try:
                value = _real(part)
            except (Undefined, TooBig):
                continue
            if math.isfinite(value) and abs(value) < 1e12:
                found.add(value)
    return found


def _holds(node: Node, x: float) -> bool:
    """Return True if `x` is in a region. Raises Undefined if that cannot be told."""
    kind = node.kind
    if kind == "union":
        return any(_holds(arg, x) for arg in node.args)
    if kind == "inter":
        return all(_holds(arg, x) for arg in node.args)
    if kind == "minus":
        return _holds(node.args[0], x) and not _holds(node.args[1], x)
    if kind == "builder":
        first = node.args[0]
        tests = [*([first] if first.kind == "rel" else []), *node.args[1:]]
        return all(_holds(test, x) for test in tests)
    if kind == "set":
        return any(_same(_real(arg, None), x) for arg in node.args)
    if kind == "named":
        return _in_named(node.value, x)
    if kind == "tuple" and len(node.args) == 1 and node.value == "()":
        return _holds(node.args[0], x)
    if kind == "tuple" and len(node.args) == 2:
        low, high = (_real(arg) for arg in node.args)
        above = (x > low and not _same(x, low)) or (node.value[0] == "[" and _same(x, low))
        below = (x < high and not _same(x, high)) or (node.value[1] == "]" and _same(x, high))
        return above and below
    if kind == "rel":
        return _related(node, x)
    raise Undefined(f"a {kind} is no set")


def _same(x: float, y: float) -> bool:
    if math.isinf(x) or math.isinf(y):
        return x == y
    return abs(x - y) <= _NEAR * max(1.0, abs(x), abs(y))


def _related(node: Node, x: float) -> bool:
    held = True
    for sign, left, right in zip(node.value, node.args, node.args[1:], strict=False):
        if sign == "in":
            held = held and _holds(right, x)
        elif sign == "notin":
            held = held and not _holds(right, x)
        elif sign in ORDERED or sign == "=":
            if sign == "!=" and right.kind in ("tuple", "set"):
                raise Undefined("not a comparison of numbers")
            try:
                a, b = _real(left, x), _real(right, x)
            except Undefined:
                # log x > 0 does not hold where log x is not real.
                held = False
                continue
            equal = _same(a, b)
            held = held and {
                "<": a < b and not equal, "<=": a < b or equal, ">": a > b and not equal,
                ">=": a > b or equal, "!=": not equal, "=": equal,
            }[sign]  # fmt: skip
        else:
            raise Undefined(f"{sign} is no test")
    return held


def _in_named(name: str, x: float) -> bool:
    base, marks = name[0], name[1:]
    if name == "empty":
        return False
    if base in "RQ":
        held = True
    elif base in "ZN":
        held = _same(x, round(x)) and (base == "Z" or x > 0.5 or (marks == "0" and _same(x, 0)))
    elif base == "C":
        raise Undefined("complex numbers")
    else:
        raise Undefined(f"{name} is not known")
    if marks in ("+", ">0"):
        return held and x > _NEAR
    if marks in ("-",):
        return held and x < -_NEAR
    if marks in (">=0",):
        return held and x > -_NEAR
    if marks in ("*", "!=0"):
        return held and not _same(x, 0)
    if marks and not (base == "N" and marks == "0"):
        raise Undefined(f"{name} is not known")
    return held
