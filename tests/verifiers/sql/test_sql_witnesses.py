"""Witnesses: references that show nothing by chance are shown something; what is not is said."""

import json
from pathlib import Path

import pytest

import verigym
from verigym.verifiers.sql.cases import task_of
from verigym.verifiers.sql.patterns import example_of

T = {"tables": {"t": {"id": "BIGINT", "a": "INT", "s": "TEXT", "d": "DATE", "p": "TEXT"}}}
PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parent / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
]


def judge(query, reply, schema=T, dialect="mysql", **params):
    reference = {"query": query, "dialect": dialect, **({"schema": schema} if schema else {})}
    task = verigym.Task(
        id="t", env_id="e", seed=0, prompt="p", difficulty="easy", reference=reference
    )
    return verigym.make_verifier("sql/query", **params).verify(task, reply)


@pytest.mark.parametrize("row", PAIRS, ids=[f"{i}-{r['category']}" for i, r in enumerate(PAIRS, 1)])
def test_pairs_are_judged_as_labelled(row):
    task, submission, label = task_of(row)
    verdict = verigym.make_verifier("sql/query").verify(task, submission)
    assert verdict.score == float(label), verdict


@pytest.mark.parametrize(
    "condition",
    [
        "id = 1237648722307056074",
        "id = 9223372036854775800",
        "id = 0x10ac",
        "s = N'FN'",
        "CAST(p AS DECIMAL(10, 2)) > 100",
        "p * 1.0 > 7.5 AND p * 1.0 < 7.75",
        "(a + 4) * 3 - 1 = 50",
        "100 - a = 37",
        "a % 17 = 11 AND a > 400",
        "ROUND(a / 3.0, 2) = 33.67",
        "SUBSTR(s, 4, 2) = 'xy' AND LENGTH(s) = 9",
        "CONCAT('k-', s, '-z') = 'k-mid-z'",
        "UPPER(s) LIKE 'AB%9_'",
        "YEAR(d) = 1997 AND MONTH(d) = 11 AND DAY(d) = 23",
        "DATE_FORMAT(d, '%Y-%m') = '2013-07'",
        "DATE_ADD(d, INTERVAL 40 DAY) = '2015-05-05'",
        "NOT (a <> 7731 OR s <> 'only this')",
        "(a = 5501 OR a = 5502) AND (s = 'u' OR s = 'v') AND d > '2031-01-01'",
        "s IS NULL AND p IS NULL AND a = 6661",
        "a > 8000 AND a < 8002 AND id > a",
    ],
)
def test_a_condition_that_is_rarely_met_is_met(condition):
    query = f"SELECT a FROM t WHERE {condition}"
    right = judge(query, f"SELECT x.a FROM (SELECT * FROM t WHERE {condition}) AS x")
    assert right.score == 1.0, right
    assert right.parts["witnessed"] == 1.0, right
    assert judge(query, "SELECT a FROM t WHERE 1 = 0").score == 0.0
    assert judge(query, "SELECT a FROM t").score == 0.0


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("SELECT s FROM t GROUP BY s HAVING COUNT(*) = 7 AND SUM(a) > 300", "HAVING COUNT(*) = 7"),
        ("SELECT s FROM t WHERE a = 31 INTERSECT SELECT s FROM t WHERE a = 32", "INTERSECT"),
        ("SELECT s FROM t WHERE a = 31 EXCEPT SELECT s FROM t WHERE a = 32", "EXCEPT"),
    ],
)
def test_groups_and_set_operations_have_witnesses(query, wrong):
    assert judge(query, query, dialect="sqlite").score == 1.0
    shorter = {
        "HAVING COUNT(*) = 7": query.replace(" AND SUM(a) > 300", ""),
        "INTERSECT": query.partition(" INTERSECT")[0],
        "EXCEPT": query.partition(" EXCEPT")[0],
    }[wrong]
    assert judge(query, shorter, dialect="sqlite").score == 0.0
    assert judge(query, "SELECT s FROM t WHERE 1 = 0", dialect="sqlite").score == 0.0


@pytest.mark.parametrize("year", ["year", "month", "Year", "MONTH", "day"])
def test_a_column_named_like_a_part_of_a_day_is_a_number(year):
    schema = {"tables": {"c": [["name", "TEXT"], [year, "INT"]]}}
    query = f"SELECT name FROM c WHERE {year} = 7"
    for dialect in ("mysql", "sqlite", "postgres"):
        assert judge(query, f"SELECT name FROM c WHERE 7 = {year}", schema, dialect).score == 1.0
        for wrong in ("1 = 0", f"{year} = 8", f"{year} >= 7"):
            assert judge(query, f"SELECT name FROM c WHERE {wrong}", schema, dialect).score == 0.0


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a FROM t WHERE 1 = 0",
        "SELECT a FROM t WHERE a > 3 AND a < 3",
        "SELECT MAX(a) FROM t WHERE s IS NULL AND s = 'x'",
        "SELECT NULL FROM t",
        "SELECT COUNT(*) FROM t WHERE a <> a",
    ],
)
def test_a_reference_that_shows_nothing_is_a_fault_of_the_task(query):
    for reply in (query, "SELECT a FROM t", "nonsense", 7):
        verdict = judge(query, reply)
        assert verdict.status is verigym.Status.VERIFIER_ERROR
        assert "so it tells no right query from a wrong one" in verdict.evidence


def test_conditions_without_a_witness_are_named():
    query = "SELECT a FROM t WHERE a > 3 AND a > 2"
    verdict = judge(query, "SELECT a FROM t WHERE a > 3")
    assert verdict.score == 1.0
    assert verdict.parts == {"witnessed": 0.5}
    assert verdict.evidence.endswith("no database depends on WHERE 2 of the reference")
    assert "a > 2" not in verdict.evidence
    shown = judge(query, "SELECT a FROM t WHERE a > 3", show="database")
    assert "> 2" in shown.evidence


def test_without_a_schema_columns_and_kinds_come_from_the_reference():
    query = (
        "SELECT name, title FROM singer s JOIN song g ON s.singer_id = g.singer_id "
        "WHERE age > 30 AND song_date LIKE '2014-07%' AND genre = 'pop'"
    )
    assert judge(query, query.replace("age > 30", "30 < age"), None).score == 1.0
    for wrong in ("age > 30", "2014-07", "'pop'"):
        other = {"age > 30": "age >= 30", "2014-07": "2014-0", "'pop'": "'pops'"}[wrong]
        assert judge(query, query.replace(wrong, other), None).score == 0.0


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^[A-Z]{3}[0-9]{2}$", "AAA00"),
        ("^(ab|c)+x?\\d$", "abx7"),
        ("[^a-c]z", "xz"),
        ("(?=x)", None),
        ("*", None),
        ("a{9999}", None),
    ],
)
def test_examples_of_patterns(pattern, text):
    assert example_of(pattern) == text


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize("wrong", ["s LIKE 'heavy'", "s = 'heavy' COLLATE NOCASE"])
def test_a_text_is_tried_with_its_case_changed(dialect, wrong):
    if dialect == "postgres" and "LIKE" in wrong:
        wrong = "s ILIKE 'heavy'"
    query = "SELECT a FROM t WHERE s = 'heavy'"
    assert judge(query, query, dialect=dialect).score == 1.0
    assert judge(query, f"SELECT a FROM t WHERE {wrong}", dialect=dialect).score == 0.0


YEARS = (
    "SELECT o.id, (WITH RECURSIVE m(a, z) AS (SELECT strftime('%Y-01-01', MIN(e.day)), MAX(e.day) FROM trip e "
    "JOIN truck t ON t.id = e.truck_id WHERE t.depot_id = o.id UNION ALL SELECT date(a, '+1 year'), z FROM m "
    "WHERE date(a, '+1 year') <= z) SELECT COUNT(*) FROM m WHERE a IS NOT NULL AND EXISTS (SELECT 1 FROM trip e "
    "JOIN truck t ON t.id = e.truck_id WHERE t.depot_id = o.id AND strftime('%Y-01-01', e.day) = a "
    "AND e.load <= 26)) FROM depot o"
)
DEPOTS = {
    "tables": {
        "depot": {"id": "INT"},
        "truck": {"id": "INT", "depot_id": "INT"},
        "trip": {"id": "INT", "truck_id": "INT", "load": "INT", "day": "DATE"},
    }
}


def test_days_that_turn_beside_several_other_conditions_are_judged():
    found = judge(YEARS, YEARS, DEPOTS, dialect="sqlite")
    assert (found.status, found.score) == (verigym.Status.OK, 1.0), found
    other = judge(YEARS, YEARS.replace("<= 26", "< 26"), DEPOTS, dialect="sqlite")
    assert (other.status, other.score) == (verigym.Status.OK, 0.0), other


def test_the_end_of_a_recursion_needs_no_witness():
    found = judge(YEARS, YEARS, DEPOTS, dialect="sqlite")
    assert "+1 year" not in str(found.evidence), found
