"""The form in which an answer must stand: worked out, in lowest terms, simplified, factored, expanded.

A form is about how an answer is written, after its value was found right. It binds where the reference
has the form itself: `evaluated` asks nothing of `2\\sqrt{3}` but that its numbers are worked out, and
nothing of a formula. Only `simplified`, `factored` and `expanded` judge formulas.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

from verigym.verifiers.math.canonical import factors_of, terms_of
from verigym.verifiers.math.exact import exact
from verigym.verifiers.math.labels import label_of
from verigym.verifiers.math.trees import Node, TooBig

Form: TypeAlias = Literal["any", "evaluated", "reduced", "simplified", "factored", "expanded"]
FORMS: tuple[Form, ...] = get_args(Form)
_HOLDERS = frozenset(
    ("tuple", "set", "matrix", "row", "union", "inter", "minus", "builder", "cases")
)
_MOST_TRIED = 1000
_I = Node("const", value="i")


def has_form(answer: Node, gold: Node, form: str) -> bool:
    """Return True if an answer stands in a form, as far as the reference does."""
    if form == "any":
        return True
    if form in ("evaluated", "reduced"):
        return worked_out(answer, gold, lowest=form == "reduced")
    if form == "simplified":
        return _as_simple(answer, gold)
    check = _as_factored if form == "factored" else _as_expanded
    wanted, found = list(members(gold)), list(members(answer))
    if len(wanted) != len(found):
        wanted = wanted[:1] * len(found)
    return all(check(node, like) for node, like in zip(found, wanted, strict=True))


def worked_out(answer: Node, gold: Node, *, lowest: bool = False) -> bool:
    """Return True if the numbers of an answer are worked out: literals where the reference's are.

    `lowest`: and every fraction is in lowest terms, where the reference's are.
    """
    wanted = list(members(gold))
    letters = frozenset[str]().union(*(node.variables() for node in wanted))
    if not is_solved(answer, letters) and is_solved(gold):
        return False
    strict = all(map(is_literal, wanted))
    lowest = lowest and all(map(_is_lowest, wanted))
    if not strict and any(map(is_undone, wanted)):
        return True
    for node in members(answer):
        if node.variables():
            continue
        if node.kind == "based" and not gold.has("based"):
            return False
        if node.kind == "percent" and not gold.has("percent") and _is_above(node.args[0], 100):
            return False
        if not is_literal(node) and (strict or is_undone(node)):
            return False
        if lowest and not _is_lowest(node):
            return False
    return True


def is_solved(node: Node, letters: frozenset[str] = frozenset()) -> bool:
    """Return True if every relation in a tree gives the value or the bounds of a name: x = 2, -1 < x < 1.

    `letters` may stand in a value.
    """
    for part in node.walk():
        if part.kind != "rel" or part.value == ("in",):
            continue
        named = label_of(part)
        if named is not None:
            if not named[1].variables() <= letters:
                return False
        elif any(arg.kind not in ("var", "call") and arg.variables() for arg in part.args):
            return False
    return True


def members(node: Node) -> Iterator[Node]:
    """The values that a tree shows: of a list each, of `x = 5` the 5, of a chain one that is a literal."""
    if node.kind in _HOLDERS:
        for arg in node.args:
            yield from members(arg)
    elif node.kind == "rel":
        yield from _sides(node)
    elif node.kind == "mod":
        yield from members(node.args[0])
    elif node.kind == "ratio":
        yield from node.args
    elif node.kind == "tuple" or node.kind not in ("named", "dots"):
        yield node


def _sides(node: Node) -> Iterator[Node]:
    sides = [arg for arg in node.args if arg.kind not in ("var", "call")]
    if set(node.value) <= {"=", "~"}:
        # Of 15 * 6 = 90 one side is worked out; the sides were found to agree.
        done = [arg for arg in sides if is_literal(arg)]
        sides = done[-1:] or sides[-1:]
    for arg in sides:
        yield from members(arg)


def is_literal(node: Node) -> bool:
    """Return True if a tree is a number as one writes it, with nothing left to do: -3, 0.5, 2/3, 1 1/2, 6*10^23."""
    kind, args = node.kind, node.args
    if kind in ("num", "dec", "based") or (kind == "const" and node.value in ("inf", "i")):
        return True
    if kind in ("neg", "percent", "pm", "mp"):
        return is_literal(args[0]) and not (kind == args[0].kind == "neg")
    if kind == "div":
        below = _whole(args[1])
        above = _whole(args[0])
        return (
            above is not None and below is not None and below not in (0, 1) and above % below != 0
        )
    if kind == "mul":
        return (
            (node.value == "degree" and is_literal(args[0]))
            or (_I in args and is_literal(args[args[0] == _I]))
            or (_is_ten_to(args[1]) and is_literal(args[0]) and args[0].kind != "div")
        )
    if kind == "add":
        if node.value in ("mixed", "compound"):
            return True
        # 3 + 4i
        return len(args) == 2 and all(map(is_literal, args)) and (
            _is_imaginary(args[0]) != _is_imaginary(args[1])
        )  # fmt: skip
    return kind == "pow" and _is_ten_to(node)


def _is_above(node: Node, bound: int) -> bool:
    inner = node.args[0] if node.kind == "neg" else node
    return inner.kind in ("num", "dec") and (exact(inner) or 0) > bound


def _is_imaginary(node: Node) -> bool:
    return _I in node.walk()


def _is_ten_to(node: Node) -> bool:
    return (
        node.kind == "pow"
        and node.args[0].kind == "num"
        and node.args[0].value == 10
        and _whole(node.args[1]) is not None
    )


def _whole(node: Node) -> int | None:
    """The whole number that a literal shows, perhaps with a sign."""
    if node.kind == "neg":
        inner = _whole(node.args[0])
        return None if inner is None else -inner
    return int(node.value) if node.kind == "num" and node.value.denominator == 1 else None


def _is_lowest(node: Node) -> bool:
    """Return True if every fraction of whole numbers in a tree is in lowest terms."""
    for part in node.walk():
        if part.kind == "div":
            above, below = _whole(part.args[0]), _whole(part.args[1])
            if above is not None and below is not None and math.gcd(above, below) != 1:
                return False
    return True


def is_undone(node: Node) -> bool:
    """Return True if arithmetic between numbers is left in a tree without letters."""
    if not node.args or is_literal(node):
        return False
    if _rational(node):
        return True
    return any(map(is_undone, node.args))


def _rational(node: Node) -> bool:
    if node.variables():
        return False
    try:
        return exact(node) is not None
    except (TooBig, ZeroDivisionError):
        return True


def _as_simple(answer: Node, gold: Node) -> bool:
    """Return True if an answer is as simple as the reference: no arithmetic or like terms left, not much longer,
    no more functions and quotients of letters."""
    if not worked_out(answer, gold, lowest=True):
        return False
    if not _is_simple(gold):
        return True
    wanted, found = _weight(gold), _weight(answer)
    return (
        _is_simple(answer)
        and found["leaf"] <= 2 * wanted["leaf"] + 2
        and found["heavy"] <= wanted["heavy"]
    )


def as_heavy(answer: Node, gold: Node) -> bool:
    """Return True if an answer has more functions and quotients of letters than the reference."""
    return _weight(answer)["heavy"] > _weight(gold)["heavy"]


def _weight(node: Node) -> Counter[str]:
    found: Counter[str] = Counter()
    for part in node.walk():
        if not part.args:
            found["leaf"] += 1
        elif part.kind == "fn" or (part.kind == "div" and part.args[1].variables()):
            found["heavy"] += 1
    return found


def _is_simple(node: Node) -> bool:
    for part in node.walk():
        if part.kind == "add" and part.value not in ("mixed", "compound"):
            rests = [rest for rest, _ in terms_of(part)]
            if len(set(rests)) != len(rests):
                return False
        elif part.kind in ("mul", "div"):
            if not is_literal(part) and not _is_simple_product(part):
                return False
        elif part.kind == "fn" and part.value == "sqrt":
            if not _is_square_free(part.args[0]):
                return False
        elif part.kind == "pow" and _whole(part.args[1]) in (0, 1):
            return False
    return True


def _is_simple_product(node: Node) -> bool:
    numbers, bases = factors_of(node)
    above = [n for n, power in numbers if power > 0]
    below = [n for n, power in numbers if power < 0]
    if len(above) > 1 or len(below) > 1 or 1 in above or 1 in below:
        return False
    if above and below and math.gcd(above[0], below[0]) != 1:
        return False
    return all(count == 1 for count in Counter(base for base, _ in bases).values())


def _is_square_free(node: Node) -> bool:
    value = _whole(node)
    if value is None or value < 4:
        return True
    return all(value % (n * n) for n in range(2, min(math.isqrt(value), _MOST_TRIED) + 1))


def has_simple_roots(answer: Node, gold: Node) -> bool:
    """Return False if an answer has a square root of a whole number with a square factor, where the reference has none."""
    return all(map(_is_square_free, _roots(answer))) or not all(map(_is_square_free, _roots(gold)))


def is_collected(answer: Node, gold: Node) -> bool:
    """Return False if an answer is a sum with like terms, where the reference is none."""
    return _is_collected(gold) is False or _is_collected(answer)


def _is_collected(node: Node) -> bool:
    for part in members(node):
        if part.kind == "add" and part.value not in ("mixed", "compound") and part.variables():
            rests = [rest for rest, _ in terms_of(part)]
            if len(set(rests)) < len(rests):
                return False
    return True


def _roots(node: Node) -> Iterator[Node]:
    for part in node.walk():
        if part.kind == "fn" and part.value == "sqrt" and part.args[0].kind == "num":
            yield part.args[0]


def _as_factored(answer: Node, gold: Node) -> bool:
    """Return True if an answer has as many factors as the reference, each a whole number or a polynomial."""
    wanted, found = _factor_count(gold), _factor_count(answer)
    return wanted is None or (found is not None and found >= wanted)


def _factor_count(node: Node) -> int | None:
    """Factors with their multiplicity, units left out; None if one is no whole number or polynomial."""
    numbers, bases = factors_of(node)
    if any(power < 0 for _, power in (*numbers, *bases)):
        return None
    letters = sum(power for _, power in bases)
    if node.variables():
        return None if any(base.startswith("fn") for base, _ in bases) else letters
    return None if letters else sum(power for n, power in numbers if n != 1)


def _as_expanded(answer: Node, gold: Node) -> bool:
    """Return True if an answer is a sum of products without sums, its like terms collected."""
    return _is_expanded(answer) or not _is_expanded(gold)


def _is_expanded(node: Node) -> bool:
    for part in node.walk():
        if part.kind == "mul" and any(_is_sum(arg) for arg in part.args):
            return False
        if part.kind == "pow" and _is_sum(part.args[0]) and (_whole(part.args[1]) or 2) > 1:
            return False
        if part.kind == "pow" and part.args[0].kind in ("mul", "div"):
            return False
    if node.kind == "add":
        rests = [rest for rest, _ in terms_of(node)]
        return len(set(rests)) == len(rests)
    return True


def _is_sum(node: Node) -> bool:
    inner = node.args[0] if node.kind == "neg" else node
    return inner.kind == "add" and inner.value not in ("mixed", "compound")
