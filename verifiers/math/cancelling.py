"""Finds a common factor that an answer leaves above and below its line: 6√3/3, (x-5)(x+5)/((x-5)(x+2)), 8 : 6 : 10.

Also tells whether a fraction was split where partial fractions are asked for. The answer was found equal to the
reference before, so that a denominator of a higher degree holds a factor to cancel.

Not covered: factors that are neither numbers nor polynomials.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from verigym.verifiers.math.trees import Node

_MOST_DEGREES = 1000


def is_cancelled(answer: Node, gold: Node) -> bool:
    """Return False if a fraction or a ratio of an answer has a common factor, where none of the reference has one."""
    if not (answer.has("div") or answer.has("ratio")):
        return True
    found, wanted = list(_ends(answer)), list(_ends(gold))
    if not all(_is_lowest_number(part) for end in wanted for part in end.walk()):
        return True
    if not all(_is_lowest_number(part) for end in found for part in end.walk()):
        return False
    if len(found) != 1 or len(wanted) != 1:
        return True
    shown, least = _degrees(found[0]), _degrees(wanted[0])
    return shown is None or least is None or shown[1] <= least[1]


def is_split(answer: Node, gold: Node) -> bool:
    """Return False if an answer has fewer fractions side by side than the reference, or higher denominators."""
    found, wanted = _fractions(answer), _fractions(gold)
    if len(wanted) < 2:
        return True
    if len(found) < len(wanted):
        return False
    return _most_below(found) <= _most_below(wanted)


def _is_lowest_number(node: Node) -> bool:
    if node.kind == "ratio":
        parts = [_content(arg) for arg in node.args]
        return None not in parts and math.gcd(*(part or 0 for part in parts)) == 1
    if node.kind != "div":
        return True
    above, below = map(_content, node.args)
    return above is None or below is None or math.gcd(above, below) == 1


def _content(node: Node) -> int | None:
    """The whole number that divides all terms of a tree as it is written; None if a fraction is in it."""
    kind, args = node.kind, node.args
    if kind == "num":
        return abs(int(node.value)) if node.value.denominator == 1 else None
    if kind in ("dec", "div", "percent", "based", "ratio"):
        return None
    if kind == "neg":
        return _content(args[0])
    if kind == "mul" and node.value != "degree":
        contents = [_content(arg) for arg in args]
        return None if None in contents else math.prod(content or 0 for content in contents)
    if kind == "add" and node.value not in ("mixed", "compound"):
        contents = [_content(arg) for arg in args]
        return None if None in contents else math.gcd(*(content or 0 for content in contents))
    return 1


def _ends(node: Node) -> Iterator[Node]:
    """The formulas of a list; of an equation or a chain its last side."""
    if node.kind == "tuple":
        for arg in node.args:
            yield from _ends(arg)
    elif node.kind == "rel":
        yield from _ends(node.args[-1])
    else:
        yield node


def _degrees(node: Node) -> tuple[int, int] | None:
    """The degrees above and below the line of a quotient of polynomials as it is written; None for another tree."""
    kind, args = node.kind, node.args
    if kind in ("num", "dec"):
        return 0, 0
    if kind == "var":
        return 1, 0
    if kind == "neg":
        return _degrees(args[0])
    if kind in ("mul", "div", "add"):
        found = [_degrees(arg) for arg in args]
        each = [degrees for degrees in found if degrees is not None]
        if len(each) < len(found):
            return None
        if kind == "add":
            return None if any(low for _, low in each) else (max(high for high, _ in each), 0)
        if kind == "div":
            each[1] = each[1][::-1]
        return sum(high for high, _ in each), sum(low for _, low in each)
    if kind == "pow":
        by = args[1].args[0] if args[1].kind == "neg" else args[1]
        degrees = _degrees(args[0])
        if by.kind != "num" or by.value.denominator != 1 or degrees is None:
            return None
        if abs(by.value) > _MOST_DEGREES:
            return None
        high, low = (degree * abs(int(by.value)) for degree in degrees)
        return (low, high) if (args[1].kind == "neg") != (by.value < 0) else (high, low)
    return None


def _fractions(node: Node) -> list[Node]:
    """The terms of a formula that have letters below the line; of an equation those of its last side."""
    terms = [term for end in _ends(node) for term in _terms(end)]
    return [term for term in terms if (degrees := _degrees(term)) is not None and degrees[1]]


def _terms(node: Node) -> Iterator[Node]:
    if node.kind == "add":
        for arg in node.args:
            yield from _terms(arg)
    elif node.kind == "neg":
        yield from _terms(node.args[0])
    else:
        yield node


def _most_below(terms: list[Node]) -> int:
    return max((degrees[1] for term in terms if (degrees := _degrees(term)) is not None), default=0)
