"""Finds answers that only repeat what the question asks: its expression as it stands, or not worked out.

Covered: expressions in TeX or plain text, and operations in words ("the sum of 3 and 4"). A number that
also stands in the question is no repetition (gcd(4, 12) = 4), and neither is an expression that the
reference itself has. Not covered: expressions that the question gives in a story.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice

from verigym.verifiers.math.canonical import canonical
from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.exact import exact
from verigym.verifiers.math.forms import (
    as_heavy,
    is_literal,
    is_solved,
    is_undone,
    members,
    worked_out,
)
from verigym.verifiers.math.labels import label_of
from verigym.verifiers.math.numeric import Undefined, value_of
from verigym.verifiers.math.parser import parse
from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.probing import same_value
from verigym.verifiers.math.trees import Node, TooBig, Unreadable, names, num

_MOST_CHARS = 4000
_MOST_PIECES = 40
_MOST_NODES = 600
_NUMBER = r"((?<![\d,.])-?\d[\d,]{0,18}(?:\.\d{1,12})?(?:/\d{1,12})?)"
_TWO = rf"{_NUMBER}(?:,? and |, ){_NUMBER}(?:,? and {_NUMBER})?"
# Operations in words, as formulas.
_SPOKEN = (
    (lazy_pattern(rf"(?:greatest common (?:divisor|factor)|highest common factor|gcd|gcf|hcf) (?:of|between) {_TWO}", re.I, needs="gcd|gcf|greatest common |hcf|highest common factor"), "gcd"),
    (lazy_pattern(rf"(?:least|lowest|smallest) common (?:multiple|denominator) of {_TWO}|lcm of {_TWO}", re.I, needs=" common |lcm of "), "lcm"),
    (lazy_pattern(rf"sum of {_TWO}", re.I, needs="sum of "), "+"),
    (lazy_pattern(rf"product of {_TWO}", re.I, needs="product of "), "*"),
    (lazy_pattern(rf"(?:difference (?:of|between)) {_TWO}", re.I, needs="difference "), "-"),
    (lazy_pattern(rf"quotient of {_TWO}", re.I, needs="quotient of "), "/"),
)  # fmt: skip
_OF = (
    (lazy_pattern(rf"{_NUMBER} (?:percent|per cent|%) of {_NUMBER}", re.I, needs="%|per cent|percent"), r"$\1/100*\2$"),
    (lazy_pattern(rf"{_NUMBER}\\?% of {_NUMBER}", re.I, needs="% of "), r"$\1/100*\2$"),
    (lazy_pattern(r"(?<!\d)(\d{1,12}/\d{1,12}) of (\d{1,12}(?:/\d{1,12})?)", needs="/"), r"$(\1)*(\2)$"),
    (lazy_pattern(rf"{_NUMBER} (?:divided by|over) {_NUMBER}", re.I, needs="divided by|over"), r"$\1/\2$"),
    (lazy_pattern(rf"{_NUMBER} (?:times|multiplied by) {_NUMBER}", re.I, needs="multiplied by|times"), r"$\1*\2$"),
    (lazy_pattern(rf"{_NUMBER} plus {_NUMBER}", re.I, needs=" plus "), r"$\1+\2$"),
    (lazy_pattern(rf"{_NUMBER} minus {_NUMBER}", re.I, needs=" minus "), r"$\1-\2$"),
    (lazy_pattern(rf"square root of {_NUMBER}", re.I, needs="square root of "), r"$\\sqrt{\1}$"),
    (lazy_pattern(rf"cube root of {_NUMBER}", re.I, needs="cube root of "), r"$\\sqrt[3]{\1}$"),
    (lazy_pattern(rf"(?:factorial of {_NUMBER}|{_NUMBER} factorial)", re.I, needs=" factorial|factorial of "), r"$\1\2!$"),
    (lazy_pattern(rf"{_NUMBER} choose {_NUMBER}", re.I, needs=" choose "), r"$\\binom{\1}{\2}$"),
    (lazy_pattern(r"\bwhen \$?([^$?.,]{1,60}?)\$? is divided by \$?([^$?.,]{1,40}?)\$?(?=[.?,]|$)", re.I, needs="when "), r"$(\1)/(\2)$"),
    (lazy_pattern(r"\bdivide \$?([^$?.]{1,60}?)\$? by \$?([^$?.]{1,40}?)\$?(?=[.?]|$)", re.I, needs="divide "), r"$(\1)/(\2)$"),
    (lazy_pattern(r"\bmultiply \$?([^$?.]{1,60}?)\$? (?:by|and) \$?([^$?.]{1,40}?)\$?(?=[.?]|$)", re.I, needs="multiply "), r"$(\1)*(\2)$"),
    (lazy_pattern(rf"{_NUMBER} squared", re.I, needs=" squared"), r"$\1^2$"),
    (lazy_pattern(rf"{_NUMBER} cubed", re.I, needs=" cubed"), r"$\1^3$"),
    (lazy_pattern(r"determinant of (?:the matrix )?(\[\[[^a-zA-Z]{1,200}?\]\])", re.I, needs="determinant of "), r"$\\det \1$"),
    (lazy_pattern(r"(?:determinant of )(?:the matrix )?\$?\s*(\\begin\{([pb]matrix)\}.{1,400}?\\end\{\2\})\s*\$?", re.I | re.S, needs="determinant of "), r"$\\det \1$"),
)  # fmt: skip
_TEX = lazy_pattern(
    r"\$\$?([^$]{1,400})\$\$?|\\\((.{1,400}?)\\\)|\\\[(.{1,400}?)\\\]", re.DOTALL, needs="$|\\(|\\["
)
_PLAIN = lazy_pattern(
    r"(?:(?<![A-Za-z])(?:sqrt|sin|cos|tan|log|ln|exp|gcd|lcm|binom|det|abs|pi|mod)(?![A-Za-z])"
    r"|\\[A-Za-z]+|(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])|[\d\s+\-*/^=()\[\]{},.:!%|_<>≤≥×·÷−²³√π⋅])+"
)
_EDGES = lazy_pattern(r"^(?:[,.:\s=*/^)\]]|[aAI]\s)+|(?:[,.:\s=*/^(\[+-]|\s[aAI])+$")
_ASKS = lazy_pattern(
    r"(?:what(?: is|'s)|calculate|compute|evaluate|simplify|find|convert|express|write|reduce|determine|solve)"
    r"(?:\s+(?:the|exact|value|of|fraction|number|percentage|decimal|expression|following))*[:\s$(\\\[]*$",
    re.IGNORECASE,
)

_COUNTS = lazy_pattern(
    r"\b(?:how many|number of|ways|count)\b", re.IGNORECASE, needs="count|how many|number of|ways"
)
_COMBINES = lazy_pattern(
    r"\b(?:ways?|subsets?|functions?|strings?|sequences?|outcomes?|possib\w+|different|distinct|arrang\w+|choos\w+|passwords?|codes?|colou?r\w*|committees?|words|tilings?)\b",
    re.IGNORECASE,
)
_CHANCES = lazy_pattern(
    r"\b(?:probabilit\w+|chances?|likelihood|fraction|proportion)\b",
    re.IGNORECASE,
    needs="chance|fraction|likelihood|probabilit|proportion",
)
_SIMPLIFIES = lazy_pattern(r"\bsimplif", re.IGNORECASE, needs="simplif")


@dataclass(frozen=True, slots=True)
class Asked:
    """Expressions of a question: all as canonical text, those that it asks for directly,
    and the values of those without letters."""

    shown: frozenset[str]
    direct: frozenset[str]
    values: tuple[complex, ...]
    unsolved: bool
    """True if an equation or inequality that has to be solved is among them."""
    longest: int
    """Number of nodes of the largest expression with letters."""


def restates(answer: Node, gold: Node, question: str) -> bool:
    """Return True if a right answer only repeats an expression of the question, or leaves it half worked out."""
    if not question:
        return False
    items = answer.args if answer.kind == "tuple" else (answer,)
    shown = [node for node in members(answer) if not _is_atom(node)]
    # That k is whole is said of the answer, and is no part of what was asked.
    shown += [
        node
        for node in items
        if node.kind in ("mod", "ratio", "builder")
        or (node.kind == "rel" and node.value != ("in",))
    ]
    if _is_converted(answer, gold, question):
        return True
    if not shown:
        return False
    asked = _asked(question)
    if not asked.shown:
        return False
    own = {canonical(node) for node in (gold, *gold.args, *members(gold))}
    for node in shown:
        text = canonical(node)
        if text in own and _operations(node) <= max(map(_operations, (gold, *members(gold)))):
            continue
        if _SIMPLIFIES.search(question) and _is_longer(node, gold, asked):
            return True
        if text not in asked.shown:
            continue
        if not is_literal(node) or text in asked.direct or not worked_out(node, node, lowest=True):
            return True
    if asked.unsolved and is_solved(gold) and not is_solved(answer, _letters(gold)):
        # |x| > 2 is solved, unless the question is about such a bound itself.
        return not (_bounds_size(answer) and "fn abs" not in " ".join(asked.shown))
    if all(map(is_literal, members(gold))) and not worked_out(answer, gold):
        return _is_asked(gold, asked) or _is_asked(answer, asked)
    return _is_asked(gold, asked) and not worked_out(answer, gold)


def _bounds_size(answer: Node) -> bool:
    """Return True for |x| > 2 and the like, alone or as a condition of a set."""
    node = answer.args[0] if answer.kind == "tuple" and len(answer.args) == 1 else answer
    if node.kind == "builder" and len(node.args) == 2:
        node = node.args[1]
    if node.kind != "rel" or len(node.args) != 2:
        return False
    size, bound = node.args
    return (
        size.kind == "fn"
        and size.value == "abs"
        and size.args[0].kind == "var"
        and not bound.variables()
    )


def _letters(gold: Node) -> frozenset[str]:
    """The letters in the values of a reference, which may stand in those of an answer as well."""
    return frozenset[str]().union(*(node.variables() for node in members(gold)))


def with_imaginary_unit(node: Node) -> Node:
    """A tree with i for the square root of -1."""
    if node.kind == "fn" and node.value == "sqrt" and node.args == (Node("neg", (num(1),)),):
        return Node("const", value="i")
    if not node.args:
        return node
    return Node(node.kind, tuple(map(with_imaginary_unit, node.args)), node.value)


def _is_converted(answer: Node, gold: Node, question: str) -> bool:
    """Return True if an answer is a decimal of the question that was to be written in another way: 0.375 for 3/8."""
    found = [node for node in members(answer) if node.kind == "dec"]
    if (
        not found
        or answer.has("div", "percent")
        or any(node.kind in ("dec", "num") for node in members(gold))
    ):
        return False
    numbers = {Fraction(text) for text in re.findall(r"\d{1,18}\.\d{1,18}", question[:_MOST_CHARS])}
    return any(Fraction(node.value[0]) in numbers for node in found)


def _operations(node: Node) -> int:
    return sum(bool(part.args) for part in node.walk())


def _is_longer(node: Node, gold: Node, asked: Asked) -> bool:
    """Return True if a formula that was to be simplified has more functions and quotients than the reference,
    and is as long as what was asked."""
    if not node.variables() or not asked.longest:
        return False
    return as_heavy(node, gold) and sum(1 for _ in node.walk()) >= asked.longest


def leaves_work(answer: Node, gold: Node, question: str) -> bool:
    """Return True if an answer to a known question leaves an operation among numbers to do, where the reference
    is plain numbers: 3 + 20, 2^{10}, max(2, 3), 15!/13!.

    Fractions, percents and 3 * 10^8 are plain; 2\\sqrt{3} and \\pi are exact; 5! alone is a count
    where ways are counted.
    """
    wanted = list(members(gold))
    if not wanted or not all(map(is_literal, wanted)) or _is_equation(gold):
        return False
    counts = is_in(_COUNTS, question)
    combines = counts and is_in(_COMBINES, question)
    share = is_in(_CHANCES, question)
    mixed = any(node.value == "mixed" for node in wanted)
    return not all(
        node.variables()
        or _is_settled(node, counts, combines)
        or (share and _is_whole(node))
        or (mixed and _is_mixed(node))
        for node in members(answer)
    )


def _is_equation(gold: Node) -> bool:
    """Return True for a relation between letters, as of a curve: its numbers are no values."""
    items = gold.args if gold.kind == "tuple" else (gold,)
    return all(
        item.kind == "rel" and label_of(item) is None and "=" in item.value and item.variables()
        for item in items
    )


def _is_whole(node: Node) -> bool:
    """36/36: all of the cases."""
    return node.kind == "div" and node.args[0] == node.args[1] and all(map(_is_number, node.args))


def _is_mixed(node: Node) -> bool:
    """2 + 1/3."""
    return (
        node.kind == "add"
        and len(node.args) == 2
        and node.args[0].kind == "num"
        and node.args[1].kind == "div"
        and all(map(is_literal, node.args))
    )


_ANGLES = lazy_pattern(
    r"(?<![a-z])(?:arc)?(?:sin|cos|tan|cot|sec|csc)(?:e|ine|gent)?(?![a-z])",
    needs="cos|cot|csc|sec|sin|tan",
)
_OPERATORS = ("sum", "prod")
_ANGULAR = frozenset(names("sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc"))


def leaves_operator(answer: Node, gold: Node, question: str) -> bool:
    """Return True if an answer has a sum or product over an index where the reference has none, or a trigonometric
    function of a number where the question is about such functions: \\sum k for n(n+1)/2, \\cos 15 for sin 75."""
    shown = list(members(answer))
    if any(node.has(*_OPERATORS) for node in shown) and not gold.has(*_OPERATORS, "dots"):
        return True
    if gold.has("dec") or _calls_of_numbers(gold) or not _ANGLES.search(question):
        return False
    return any(map(_calls_of_numbers, shown))


def _calls_of_numbers(node: Node) -> bool:
    return any(
        part.kind == "fn"
        and part.value in _ANGULAR
        and not part.variables()
        and _is_plain(part.args[0])
        for part in node.walk()
    )


def _is_plain(node: Node) -> bool:
    """Return True if the function of a number has a closed form as a rule: of an angle, or of a simple ratio."""
    return not node.has("fn") or node.calls("sqrt")


def _is_settled(node: Node, counts: bool, combines: bool = False) -> bool:
    if node.kind in ("neg", "percent", "pm", "mp"):
        return _is_settled(node.args[0], counts, combines)
    if node.kind == "div" and all(map(_is_number, node.args)):
        return is_literal(node) or (
            any(arg.has("dec") for arg in node.args) and not _is_integral(node)
        )
    if is_literal(node) or node.kind in ("var", "named", "dots", "based") or node.has("const"):
        return True
    if node.kind == "pow" and all(map(_is_number, node.args)):
        return combines or node.args[1] == Node("neg", (num(1),))
    if node.kind == "fact" or (node.kind == "fn" and node.value in ("binomial", "factorial")):
        return counts and all(map(_is_number, node.args))
    return not is_undone(node)


def _is_integral(node: Node) -> bool:
    value = exact(node)
    return value is not None and value.denominator == 1


def _is_number(node: Node) -> bool:
    return node.kind in ("num", "dec") or (node.kind == "neg" and _is_number(node.args[0]))


def _is_atom(node: Node) -> bool:
    inner = node.args[0] if node.kind == "neg" else node
    return inner.kind in ("num", "dec", "var", "const", "named")


def _is_asked(gold: Node, asked: Asked) -> bool:
    """Return True if a member of the reference is the value of an expression of the question."""
    for node in members(gold):
        if node.variables():
            continue
        value = _number(node)
        if value is not None and any(same_value(value, other, 1e-9) for other in asked.values):
            return True
    return False


@lru_cache(maxsize=4096)
def _asked(question: str) -> Asked:
    shown: set[str] = set()
    direct: set[str] = set()
    values: list[complex] = []
    nodes = 0
    unsolved, longest = False, 0
    for tree, is_direct in _trees(question[:_MOST_CHARS]):
        unsolved = unsolved or not is_solved(tree)
        if tree.variables():
            longest = max(longest, sum(1 for _ in tree.walk()))
        if is_direct:
            direct.add(canonical(tree))
        for part in tree.walk():
            nodes += 1
            if nodes > _MOST_NODES:
                break
            if not part.args or _is_atom(part):
                continue
            shown.add(canonical(part))
            if not part.variables() and not is_literal(part):
                value = _number(part)
                if value is not None:
                    values.append(value)
    return Asked(frozenset(shown), frozenset(direct), tuple(values), unsolved, longest)


def _number(node: Node) -> complex | None:
    try:
        return complex(value_of(node, {}))
    except (Undefined, TooBig, ArithmeticError, ValueError, TypeError):
        return None


def _trees(question: str) -> Iterator[tuple[Node, bool]]:
    """The expressions of a question, and whether it asks for the value of each."""
    pieces = _pieces(_in_signs(re.sub(r"\s+", " ", question)))
    for text, is_direct in islice(pieces, _MOST_PIECES):
        tree = _tree(text)
        if tree is not None and (tree.args or is_direct):
            yield tree, is_direct


def _in_signs(question: str) -> str:
    """Operations in words as formulas."""
    for pattern, sign in _SPOKEN:
        question = pattern.sub(lambda match, sign=sign: _joined(match, sign), question)  # type: ignore[misc]
    for pattern, formula in _OF:
        question = pattern.sub(lambda match, formula=formula: match.expand(formula), question)  # type: ignore[misc]
    return question


def _joined(match: re.Match[str], sign: str) -> str:
    numbers = [group for group in match.groups() if group]
    return f"$\\{sign}({','.join(numbers)})$" if sign.isalpha() else f"${sign.join(numbers)}$"


def _pieces(question: str) -> Iterator[tuple[str, bool]]:
    at = 0
    for match in _TEX.finditer(question):
        yield from _plain(question[at : match.start()])
        yield (
            match[1] or match[2] or match[3],
            bool(_ASKS.search(question[max(0, match.start() - 60) : match.start()])),
        )
        at = match.end()
    yield from _plain(question[at:])


def _plain(text: str) -> Iterator[tuple[str, bool]]:
    for match in _PLAIN.finditer(text):
        piece = _EDGES.sub("", match[0].strip()).strip()
        if re.search(r"\d|\\", piece) and len(piece) > 1:
            before = text[max(0, match.start() - 60) : match.start() + 1]
            yield piece, bool(_ASKS.search(before))


def _tree(text: str) -> Node | None:
    try:
        return parse(clean(text))
    except (Unreadable, TooBig):
        return None
