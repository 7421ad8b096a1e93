"""Trees as text that is the same for copies with trivial changes: order, brackets, signs, ones and zeros.

Nothing is computed: 2 * 3 and 3 * 2 are the same text, 6 is another. Linear in the tree but for sorting.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verigym.verifiers.math.trees import Node, num

_ONE, _ZERO = num(1), num(0)
_MOST_REPEATED = 64


def canonical(node: Node) -> str:
    """Return the text of a tree, the same for every order of sums, products, sets and equations."""
    return _text(node)


def _text(node: Node) -> str:
    kind, args = node.kind, node.args
    if kind == "num":
        return str(node.value)
    if kind == "dec":
        return str(Fraction(node.value[0]))
    if kind in ("add", "neg"):
        return _listed("add", _summands(node, 1))
    if kind == "mul" and node.value == "degree":
        return f"degree({_text(args[0])})"
    if kind in ("mul", "div"):
        return _listed("mul", _multiplied(node))
    if kind == "pow":
        if args[1] == _ONE:
            return _text(args[0])
        return f"pow({_text(args[0])},{_text(args[1])})"
    if kind == "fn" and node.value in ("gcd", "lcm", "min", "max"):
        return f"fn {node.value}({','.join(sorted(map(_text, args)))})"
    if kind in ("set", "union", "inter"):
        return f"{kind}({','.join(sorted(map(_text, args)))})"
    if kind == "rel" and len(args) == 2 and node.value == ("=",):
        return f"rel =({','.join(sorted(map(_text, args)))})"
    if kind == "fact" and not node.value:
        return f"fn factorial({_text(args[0])})"
    inner = ",".join(map(_text, args))
    value = "" if kind == "tuple" else node.value
    return f"{kind} {value}({inner})" if args or value is None else f"{kind} {value}"


def _listed(kind: str, parts: list[str]) -> str:
    if not parts:
        return "0" if kind == "add" else "1"
    return parts[0] if len(parts) == 1 else f"{kind}({','.join(sorted(parts))})"


def _summands(node: Node, sign: int) -> list[str]:
    """The terms of a sum, those of inner sums among them, each with its sign."""
    found: list[str] = []
    stack = [(node, sign)]
    while stack:
        part, at = stack.pop()
        if part.kind == "add":
            stack.extend((arg, at) for arg in part.args)
        elif part.kind == "neg":
            stack.append((part.args[0], -at))
        elif part == _ZERO:
            continue
        else:
            text = _text(part)
            negative = text.startswith("-")
            found.append(("-" if negative == (at > 0) else "") + text.removeprefix("-"))
    return found


def _multiplied(node: Node) -> list[str]:
    """The factors of a product or quotient as text, equal ones as a power, ones left out."""
    counts: dict[str, int] = {}
    negative = False
    for part, power in _flat(node):
        if part == _ONE:
            continue
        if part.kind == "num" and part.value < 0:
            part, negative = num(-part.value), negative ^ (power % 2 == 1)
        text = _text(part)
        if text.startswith("-"):
            text, negative = text[1:], negative ^ (power % 2 == 1)
        counts[text] = counts.get(text, 0) + power
    found = [
        text if power == 1 else f"pow({text},{power})" for text, power in counts.items() if power
    ]
    if negative:
        # The sign goes in front, so that -2x and -(2x) are the same.
        return [f"-{_listed('mul', found)}"]
    return found


def _flat(node: Node) -> Iterator[tuple[Node, int]]:
    """The factors of a product with their whole powers, inner products among them."""
    stack = [(node, 1)]
    while stack:
        part, power = stack.pop()
        if part.kind == "mul" and part.value != "degree":
            stack.extend((arg, power) for arg in reversed(part.args))
        elif part.kind == "div":
            stack += [(part.args[1], -power), (part.args[0], power)]
        elif part.kind == "neg":
            if power % 2:
                yield num(-1), 1
            stack.append((part.args[0], power))
        elif part.kind == "pow" and (by := _small(part.args[1])) is not None:
            stack.append((part.args[0], power * by))
        else:
            yield part, power


def _small(node: Node) -> int | None:
    """A whole exponent that is not large."""
    if node.kind == "neg":
        inner = _small(node.args[0])
        return None if inner is None else -inner
    if node.kind == "num" and node.value.denominator == 1 and 0 < node.value <= _MOST_REPEATED:
        return int(node.value)
    return None


def factors_of(node: Node) -> tuple[list[tuple[int, int]], list[tuple[str, int]]]:
    """The whole numbers (without sign) and the other factors of a product, each with its power."""
    numbers: list[tuple[int, int]] = []
    others: list[tuple[str, int]] = []
    for part, power in _flat(node):
        if part.kind == "num" and part.value.denominator == 1:
            if part != num(-1):
                numbers.append((abs(int(part.value)), power))
        else:
            others.append((_text(part).removeprefix("-"), power))
    return numbers, others


def terms_of(node: Node) -> list[tuple[str, int]]:
    """The terms of a sum without their numbers in front; like terms have the same text."""
    found: list[tuple[str, int]] = []
    stack = [node]
    while stack:
        part = stack.pop()
        if part.kind == "add" and part.value not in ("mixed", "compound"):
            stack.extend(part.args)
        elif part.kind == "neg":
            stack.append(part.args[0])
        elif part.kind in ("num", "dec"):
            found.append(("", 1))
        else:
            rest = sorted(
                f"{_text(factor).removeprefix('-')}^{power}"
                for factor, power in _flat(part)
                if factor.kind not in ("num", "dec")
            )
            found.append(("*".join(rest), 1))
    return found
