"""What is made of seeds: certain labels, no repeats, the same each time."""

import random
import re
from fractions import Fraction

import pytest

from verigym import Task
from verigym.verifiers.audit.cases import Case
from verigym.verifiers.audit.mutators import grow
from verigym.verifiers.audit.mutators.math import _near, _numbers, _value, mutate


def seed(text="22", reference="22", label=1, name="s"):
    task = Task(id="t", env_id="", seed=0, prompt="Say it.", difficulty="", reference=reference)
    return Case(name=name, task=task, submission=text, label=label, category="seed")


def test_growth_is_repeatable_and_without_repeats():
    seeds = [seed(name="a"), seed("7/3", "7/3", name="b"), seed("9", "8", label=0, name="c")]
    cases = grow("math/answer", seeds)
    assert cases == grow("math/answer", seeds)
    assert cases[: len(seeds)] == seeds
    assert len({case.name for case in cases}) == len(cases)
    assert {case.label for case in cases} == {0, 1}
    other = grow("math/answer", seeds, seed=1)
    assert [c.submission for c in other] != [c.submission for c in cases]


def test_what_is_right_is_never_labelled_wrong():
    cases = grow("games/keydoor", [seed(""), seed("correct")])
    assert not [case for case in cases if case.submission in ("", "correct") and not case.label]
    assert "hostile-injection" in {case.category for case in cases}


@pytest.mark.parametrize(
    "text", ["22", "-5", "1500", "0.125", "-2.50", "7/3", r"-\frac{3}{8}", "0"]
)
def test_spellings_keep_the_value_and_near_misses_do_not(text):
    value = _value(text)
    for same in _numbers(value, text):
        assert read(same) == value, same
    misses = list(_near(text, random.Random(1)))
    assert misses
    for miss in misses:
        assert read(miss) != value, miss


def test_tuples():
    made = list(mutate(seed("(1, 2)"), random.Random(0)))
    near = {case.submission for case in made if case.category == "near-miss"}
    assert near == {"(1,102)", "(1,2,977)"}
    assert "(1,2)" in {case.submission for case in made if case.category == "spelling"}


def test_whole_replies_are_left_alone():
    assert not list(mutate(seed(r"so \boxed{22}"), random.Random(0)))
    assert not list(mutate(seed("22", label=0), random.Random(0)))


def read(text):
    """The value of what `_numbers` and `_near` write, by other means than theirs."""
    text = text.replace("\u2212", "-").replace("{,}", "").replace(",", "").replace("dfrac", "frac")
    scientific = re.fullmatch(r"(-?)([\d.]+) \\times 10\^\{(\d+)\}", text)
    if scientific:
        value = Fraction(scientific[2]) * 10 ** int(scientific[3])
        return -value if scientific[1] else value
    parts = re.fullmatch(r"(-?)(\d*)\\frac\{(\d+)\}\{(\d+)\}", text)
    if parts:
        value = int(parts[2] or 0) + Fraction(int(parts[3]), int(parts[4]))
        return -value if parts[1] else value
    return Fraction(text)
