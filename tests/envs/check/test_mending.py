"""A table of substitutions, learned from other tasks: how much it mends shows if a task can be read off."""

import random

import pytest

from verigym.envs.check.mending import learn_changes, mend_by_table

OPERATORS = (">", ">=", "<", "<=")


def query(operator, joint, number):
    return f"SELECT id FROM sale WHERE kind = 'a' {joint} price {operator} {number}"


def from_a_table(rng):
    """A task whose mistake shows: right queries have `>` and AND."""
    number = rng.randrange(1000)
    right = query(">", "AND", number)
    return query(*rng.choice([(">=", "AND"), (">", "OR")]), number), right


def of_twins(rng):
    """A task whose query is the right one of another."""
    number, joint = rng.randrange(1000), rng.choice(["AND", "OR"])
    shown, right = rng.sample(OPERATORS, 2)
    return query(shown, joint, number), query(right, joint, number)


def earned(draw):
    rng = random.Random(3)
    changes = learn_changes(draw(rng) for _ in range(200))
    tasks = [draw(rng) for _ in range(200)]
    return sum(mend_by_table(shown, changes) == right for shown, right in tasks) / len(tasks)


def test_a_table_mends_mistakes_that_show_and_guesses_among_twins():
    assert earned(from_a_table) == 1.0
    assert 0.2 < earned(of_twins) < 0.45


@pytest.mark.parametrize(
    ("shown", "right", "given", "mended"),
    [
        (
            "for i in range(n + 1): # to the end\n    print(i)",
            "for i in range(n):\n    print(i)",
            "for k in range(m + 1):\n    print(k)",
            "for k in range(m):\n    print(k)",
        ),
        (
            "SELECT a FROM t",
            "SELECT DISTINCT a FROM t",
            "SELECT b FROM u",
            "SELECT DISTINCT b FROM u",
        ),
        ("SELECT a FROM t", "WITH w AS (SELECT 1) SELECT b, c FROM w", "SELECT b FROM u", None),
        ("SELECT a FROM t", "SELECT a FROM t", "SELECT b FROM u", None),
    ],
)
def test_a_small_change_is_made_elsewhere(shown, right, given, mended):
    assert mend_by_table(given, learn_changes([(shown, right)] * 3)) == mended
