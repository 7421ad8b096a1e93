"""The calculator: exact, bounded, and no interpreter."""

import ast
import contextlib
import operator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.envs.tools.calculator import BadExpression, compute, shown

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def by_syntax_tree(node):
    """The same by Python's own grammar."""
    if isinstance(node, ast.Expression):
        return by_syntax_tree(node.body)
    if isinstance(node, ast.Constant):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp):
        value = by_syntax_tree(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    left, right = by_syntax_tree(node.left), by_syntax_tree(node.right)
    if isinstance(node.op, ast.Pow):
        return left ** int(right)
    return OPERATORS[type(node.op)](left, right)


NUMBERS = st.integers(0, 99).map(str) | st.decimals(0, 99, places=2).map(str)
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: (
        st.tuples(inner, st.sampled_from([" + ", "-", " * ", "/"]), inner).map("".join)
        | inner.map("({})".format)
        | inner.map("-{}".format)
        | inner.map("({})**2".format)
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
def test_it_computes_what_the_grammar_says(text):
    # Python reads 007 as an error, and we as 7.
    try:
        wanted = by_syntax_tree(ast.parse(text, mode="eval"))
    except ZeroDivisionError:
        with pytest.raises(BadExpression, match="zero"):
            compute(text)
        return
    assert compute(text) == wanted


@given(st.text(max_size=60) | st.text("0123456789+-*/^(). e", max_size=60))
def test_any_text_is_a_number_or_refused(text):
    with contextlib.suppress(BadExpression):
        shown(compute(text))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "ends too early"),
        ("1 +", "ends too early"),
        ("1/0", "division by zero"),
        ("0**-1", "division by zero"),
        ("9**9**9", "too large"),
        ("2**0.5", "whole number"),
        ("(" * 50 + "1" + ")" * 50, "nested deeper"),
        ("-" * 60 + "1", "nested deeper"),
        ("1" * 401, "at most 400"),
        ("__import__('os')", "cannot be read"),
        ("1 2", "not expected"),
        ("(1", "not closed"),
    ],
)
def test_what_cannot_be_computed_says_why(text, says):
    with pytest.raises(BadExpression, match=says):
        compute(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2**3**2", "512"),
        ("-2^2", "-4"),
        ("7/2", "3.5"),
        ("1/3", "1/3, about 0.333333"),
        ("-1/3", "-1/3, about -0.333333"),
        ("0.1+0.2", "0.3"),
        ("1/10000000", "1/10000000, about 0"),
    ],
)
def test_it_shows_values_plainly(text, told):
    assert shown(compute(text)) == told
