"""References in several parts: which are, and what under each label is read."""

from __future__ import annotations

import pytest

from verigym.verifiers.math.chains import end_of_chain
from verigym.verifiers.math.several_parts import in_order, parts_of, sides_in, sides_of, stretches


@pytest.mark.parametrize(
    ("gold", "question", "labels"),
    [
        ("(a) 4; (b) -6", "", ("a", "b")),
        ("(i) 96 (ii) 189", "", ("i", "ii")),
        ("a) 4\nb) 5\nc) 6", "", ("a", "b", "c")),
        ("(a), (c)", "", None),
        ("(a) 4", "", None),
        ("(b) 4; (c) 5", "", None),
        ("(1, 2), (3, 4)", "", None),
        ("f(2) - f(1)", "", None),
        ("mean 5, median 4", "Find the mean and the median.", ("mean", "median")),
        ("mean 5, median 4", "Find both.", None),
        ("16 at x = 2", "Find the maximum and where it is attained.", ("value", "place")),
        ("16 at x = 2", "Find the maximum.", None),
    ],
)
def test_references_in_parts(gold, question, labels):
    found = parts_of(gold, question)
    assert (found and found.labels) == labels


def test_the_last_answer_under_a_label_counts():
    parts = parts_of("(a) 4; (b) -6", "")
    assert stretches(parts, "(a) is 3? No. (a) 4, (b) -6") == ["4", "-6"]
    assert stretches(parts, "(a) 4") is None
    assert in_order(parts, "4 and -6") == ["4", "-6"]
    assert in_order(parts, "4, -6, 7") is None


def test_dimensions_are_a_list_only_if_they_are_asked_for():
    assert sides_of("8 cm × 12 cm", "Find its dimensions.") == "8 cm, 12 cm"
    assert sides_of("8 cm × 12 cm", "Find its area.") is None
    assert sides_in("12 cm", "The width is 8 cm and the length is 12 cm.") == "8 cm, 12 cm"


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        ("$f(g(x)) = 3(x^2+1) - 4 = 3x^2 - 1$.", "f(g(x)) = 3x^2 - 1"),
        ("F = ma = 10", "F = 10"),
        ("1 - \\frac{1}{n+1} = \\frac{n}{n+1}", "\\frac{n}{n+1}"),
        ("x = 5", None),
        ("7 = 8", None),
        ("2 + 3 = 5, 4", None),
        ("x = 5 or = 6", None),
        ("the total = 2 = 3", None),
    ],
)
def test_the_end_of_a_chain(answer, end):
    found = end_of_chain(answer)
    assert (found and found[0]) == end
