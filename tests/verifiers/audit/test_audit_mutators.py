"""Properties of mutated seeds: certain labels, no repeats, the same result each time."""

import contextlib
import io
import random
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from verigym import Task, list_verifiers
from verigym.verifiers.audit.cases import Case, seeds_of
from verigym.verifiers.audit.mutators import grow
from verigym.verifiers.audit.mutators.code import mutate as mutate_code
from verigym.verifiers.audit.mutators.math import _near, _numbers, _value, mutate
from verigym.verifiers.audit.mutators.sql import mutate as mutate_sql


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


def test_programs_in_other_clothes_and_wrong_values_behind_them():
    """The labels are certain: what is made is run here, ours alone."""
    program = "def twice(n):\n    return 2 * n\n"
    tests = [{"args": [2], "result": 4, "visible": True}, {"args": [5], "result": 10}]
    task = replace(seed().task, reference={"function": "twice", "tests": tests})
    made = list(mutate_code(replace(seed(program), task=task), random.Random(0)))
    assert {case.category for case in made} >= {"renamed", "hack-visible-only", "wrong-value-boxed"}
    for case in made:
        if case.category.startswith(("hack-exit", "hack-hard", "fenced", "hack-no-syntax")):
            continue
        names = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(case.submission, names)
        try:
            right = [type(names["twice"](n)) is int and names["twice"](n) == 2 * n for n in (2, 5)]
        except (KeyError, SystemExit):
            right = [False]
        assert all(right) == bool(case.label), case.category


def test_queries_in_other_clothes():
    schema = {"tables": {"R": {"A": "INT"}}}
    task = replace(seed().task, reference={"schema": schema})
    query = "SELECT A FROM R WHERE A <> 'x  y'"
    made = []
    for number in range(20):
        made += mutate_sql(replace(seed(query), task=task), random.Random(number))
    by_category = {case.category: case for case in made}
    assert by_category["emptied"].submission == f"{query} LIMIT 0"
    assert "'x  y'" in by_category["white-space"].submission
    assert {case.label for case in made if case.category in ("fenced", "comments")} == {1}
    assert not list(mutate_sql(replace(seed("not text", label=0), task=task), random.Random(0)))


def test_a_seed_that_takes_anything_does_not_grow():
    assert len(grow("tools/call", [replace(seed(), grows=False)])) == 1


@pytest.mark.parametrize(
    "name", [name for name in list_verifiers() if not name.startswith("unruly/")]
)
def test_shipped_seeds_are_read_and_grown(name):
    seeds = seeds_of(name)
    if not seeds:
        pytest.skip("ships none")
    assert {case.label for case in seeds} == {0, 1}
    assert len(grow(name, seeds)) > len(seeds) or not any(
        case.grows and case.hostile and case.label for case in seeds
    )


@pytest.mark.parametrize(
    ("name", "made_right", "made_wrong"),
    [
        ("qa/answer", "wrapped", "candidate-list"),
        ("tools/call", "as-message", "arguments-as-text"),
        ("tools/state", "rows-turned", "table-more"),
        ("games/replay", "as-json", "stops-short"),
        ("games/keydoor", None, "goes-on"),
        ("text/format", "white-space", "nested"),
        ("text/schema", "fenced", "two-values"),
        ("text/constraints", "still-follows", "follows-no-more"),
    ],
)
def test_each_family_has_rewrites_and_near_misses_of_its_own(name, made_right, made_wrong):
    made = {(case.category, case.label) for case in grow(name, seeds_of(name))}
    assert (made_wrong, 0) in made
    assert made_right is None or (made_right, 1) in made
    # A category has one label: it says what was done.
    assert not {c for c, label in made if label} & {c for c, label in made if not label} - {
        case.category for case in seeds_of(name)
    }


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
