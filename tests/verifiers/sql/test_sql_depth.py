"""Queries that are nested too deeply, or name too much: a 0 for a submission, never a fault, and soon."""

import time

import pytest

import verigym

SCHEMA = {"tables": {"sale": [["id", "INT"], ["fee", "INT"]]}, "primary": [["sale.id"]]}
REFERENCE = "SELECT id FROM sale WHERE fee > 3"
DEEP = {
    "signs": lambda n: "SELECT " + "- " * n + "1",
    "not": lambda n: "SELECT " + "NOT " * n + "1",
    "subqueries": lambda n: "SELECT COUNT(*) FROM " + "(SELECT * FROM " * n + "sale" + ")" * n,
    "sum": lambda n: "SELECT " + "+".join(["1"] * n),
    "turns": lambda n: "SELECT " + "1 + 1 - " * n + "1",
    "compared": lambda n: "SELECT " + "1 = 1 <> " * n + "1",
    "texts": lambda n: "SELECT " + "||".join(["'a'"] * n),
    "parentheses": lambda n: "SELECT " + "(" * n + "1" + ")" * n,
    "or": lambda n: REFERENCE + " OR " + " OR ".join(["fee = 1"] * n),
    "case": lambda n: "SELECT " + "CASE WHEN 1 THEN " * n + "1" + " END" * n,
    "calls": lambda n: "SELECT " + "ABS(" * n + "1" + ")" * n,
    "in": lambda n: REFERENCE + " AND id IN (SELECT id FROM sale WHERE id " * n + "= 1" + ")" * n,
    "union": lambda n: " UNION ALL ".join([REFERENCE] * n),
    "sides": lambda n: REFERENCE + " UNION SELECT 1 EXCEPT SELECT 2" * n,
    "with": lambda n: (
        "WITH c0 AS (SELECT * FROM sale)"
        + "".join(f", c{i} AS (SELECT * FROM c{i - 1})" for i in range(1, n))
        + f" SELECT id FROM c{n - 1}"
    ),
    "joins": lambda n: (
        "SELECT s0.id FROM sale s0"
        + "".join(f" JOIN sale s{i} ON s{i}.id = s0.id" for i in range(1, n))
    ),
    "dates": lambda n: "SELECT " + "DATE(" * n + "'2020-01-01'" + ")" * n,
    "intervals": lambda n: "SELECT '2020-01-01'" + " + INTERVAL 1 DAY" * n,
}


def beneath(frames, action):
    """Run an action below many frames, as a caller does that has used up a part of the stack."""
    return beneath(frames - 1, action) if frames else action()


@pytest.mark.parametrize(
    "dialect", ["sqlite", pytest.param("mysql", marks=pytest.mark.slow), "postgres"]
)
@pytest.mark.parametrize("name", DEEP)
def test_depth_earns_nothing_and_is_no_fault(task_of, name, dialect):
    verifier = verigym.make_verifier("sql/query")
    task = task_of(REFERENCE, SCHEMA, dialect=dialect)
    # The limits are those of SQLite and of our reader: in other dialects one size on each side of them.
    for size in (30, 70, 100, 240, 400, 1200) if dialect == "sqlite" else (70, 1200):
        started = time.process_time()
        verdict = beneath(100, lambda n=size: verifier.verify(task, DEEP[name](n)))
        assert verdict.score == 0.0, (size, verdict)
        assert time.process_time() - started < 5, size


@pytest.mark.parametrize(
    "query", [DEEP["signs"](400), DEEP["subqueries"](100), DEEP["sum"](1200), DEEP["joins"](90)]
)
def test_a_reference_that_is_nested_too_deeply_is_a_fault_of_the_task(task_of, query):
    verdict = verigym.make_verifier("sql/query").verify(task_of(query, SCHEMA), REFERENCE)
    assert verdict.score is None
    assert "the reference query cannot be used" in verdict.evidence, verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        REFERENCE + " AND 0 < " + " + ".join(["1"] * 200),
        REFERENCE + " AND " + " AND ".join(f"fee <> {-n}" for n in range(100)),
        "SELECT id FROM " + "(SELECT * FROM " * 20 + "sale" + ")" * 20 + " t WHERE fee > 3",
        DEEP["joins"](30) + " WHERE s0.fee > 3",
    ],
)
def test_what_is_long_or_deep_within_reason_is_judged(task_of, query):
    assert verigym.make_verifier("sql/query").verify(task_of(REFERENCE, SCHEMA), query).score == 1.0


@pytest.mark.parametrize("env_id", ["sql/explore-v0", "sql/scale-v0"])
@pytest.mark.parametrize("name", ["signs", "sum", "turns", "parentheses", "calls"])
def test_environments_say_that_a_query_is_nested_too_deeply(env_id, name):
    env = verigym.make(env_id, max_turns=10)
    env.reset(seed=1)
    for size in (100, 400, 1200):
        observation, _, done, _, _ = env.step(f"<query>{DEEP[name](size)}</query>")
        assert not done
        assert "The query failed" in observation or size == 100
