"""The SQL verifier: golden queries, its own labelled pairs, parameters, and what it refuses."""

import json
from pathlib import Path

import pytest

import verigym
from verigym.errors import RequestError
from verigym.verifiers.sql.cases import seeds, task_of
from verigym.verifiers.sql.read import RefusedQuery, read_query
from verigym.verifiers.sql.schema import read_schema

GOLDEN = Path(__file__).parents[2] / "golden" / "sql_query.jsonl"
ROWS = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
SCHEMA = {"tables": {"r": {"a": "INT", "b": "INT", "c": "VARCHAR"}}, "primary": [["r.a"]]}


def make_task(reference):
    return verigym.Task(
        id="t", env_id="e", seed=0, prompt="p", difficulty="easy", reference=reference
    )


def judge(reference, reply, **params):
    return verigym.make_verifier("sql/query", **params).verify(make_task(reference), reply)


@pytest.mark.parametrize("row", ROWS, ids=[f"{i}-{r['why']}" for i, r in enumerate(ROWS, 1)])
def test_golden(row):
    verdict = judge(row["answer"], row["reply"], **row.get("params", {}))
    assert (verdict.score, verdict.reason) == (row["reward"], row["reason"]), verdict.evidence
    judged = row["reason"] in {"correct", "proved"} or row["reason"].startswith("wrong_")
    assert (verdict.status is verigym.Status.OK) == judged


@pytest.mark.slow
def test_error_rates_on_our_own_pairs():
    verifier = verigym.make_verifier("sql/query")
    counts = {True: [0, 0], False: [0, 0]}
    faults = []
    for row in seeds():
        task, submission, label = task_of(row)
        verdict = verifier.verify(task, submission)
        if verdict.fault:
            faults.append((row["id"], verdict.evidence))
            continue
        counts[label][0] += 1
        counts[label][1] += bool(verdict.score) != label
    assert not faults
    (equal, rejected), (unequal, accepted) = counts[True], counts[False]
    assert equal >= 150
    assert unequal >= 200
    assert rejected <= 0.01 * equal
    assert accepted <= 0.02 * unequal


def test_same_seed_same_verdict():
    reference = {"query": "SELECT b FROM r WHERE c LIKE 'ab%'", "schema": SCHEMA}
    verdicts = [judge(reference, "SELECT b FROM r WHERE c LIKE 'a%'", seed=3) for _ in range(2)]
    assert verdicts[0].to_json() == verdicts[1].to_json()


def test_evidence_gives_nothing_away_unless_asked():
    reference = {"query": "SELECT a FROM r WHERE b > 77310", "schema": SCHEMA}
    reply = "SELECT a FROM r WHERE b > 5"
    assert "7731" not in judge(reference, reply).evidence
    shown = judge(reference, reply, show="database").evidence
    found = json.loads(shown.partition(": ")[2])
    assert len(found["database"]["r"]) == 1  # Nothing can be left out of it.
    assert found["wanted"] == []
    assert len(found["got"]) == 1


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("SELECT 1", "the reference must be"),
        ({"query": "SELECT a FROM r", "schema": {"tables": []}}, "schema must be"),
        ({"query": "SELECT a FROM", "schema": SCHEMA}, "reference query cannot be used"),
        ({"query": "DROP TABLE r", "schema": SCHEMA}, "only queries are judged"),
        ({"query": "SELECT x FROM r", "schema": SCHEMA}, "no engine runs"),
        ({"query": "SELECT a FROM r", "schema": {**SCHEMA, "notnull": ["r.z"]}}, "not a column"),
        ({"query": "SELECT a FROM r", "schema": SCHEMA, "dialect": "klingon"}, "klingon"),
        ({"query": "SELECT a FROM r", "schema": SCHEMA, "rows": {"r": [[1]]}}, "lists of 3"),
        ({"query": "SELECT a FROM r", "schema": SCHEMA, "order": "maybe"}, "order is one of"),
        ({"query": "SELECT a FROM r", "setup": "CREATE TABLE r (a INT"}, "setup script"),
        ({"query": "SELECT 1"}, "give a schema"),
    ],
)
def test_unusable_references_are_faults_of_the_task(reference, message):
    verdict = judge(reference, "SELECT a FROM r")
    assert verdict.status is verigym.Status.VERIFIER_ERROR
    assert verdict.reason == "bad_task"
    assert message in verdict.evidence


def test_a_script_gives_schema_and_rows():
    setup = (
        "CREATE TABLE p (id INTEGER PRIMARY KEY, n TEXT NOT NULL UNIQUE);"
        "CREATE TABLE q (id INTEGER PRIMARY KEY, p INT REFERENCES p(id), v INT);"
        "INSERT INTO p VALUES (1, 'x'), (2, 'y'); INSERT INTO q VALUES (1, 1, 987654);"
    )
    reference = {"query": "SELECT n, COUNT(*) FROM p GROUP BY n", "setup": setup}
    # The name is unique and not null, so counts are one.
    assert judge(reference, "SELECT n, 1 FROM p").score == 1.0
    reference["query"] = "SELECT v FROM q"
    verdict = judge(reference, "SELECT v FROM q WHERE v IS NULL OR v < 900000")
    assert verdict.reason == "wrong_rows"


def test_a_schema_is_guessed_where_the_query_tells_enough():
    assert judge(
        {"query": "SELECT t.a FROM t WHERE t.b = 'x'"}, "SELECT a FROM t WHERE 'x' = b"
    ).score


def test_parameters_are_checked():
    for params in ({"engine": "oracle"}, {"databases": 0}, {"compare": "list"}, {"speed": 1}):
        with pytest.raises(RequestError):
            verigym.make_verifier("sql/query", **params)


@pytest.mark.slow
def test_both_engines_agree_on_a_sample_of_pairs():
    rows = [row for row in seeds() if row["dialect"] == "postgres"][::5]
    for row in rows:
        task, submission, label = task_of(row)
        verdict = verigym.make_verifier("sql/query", engine="duckdb").verify(task, submission)
        assert bool(verdict.score) == label, (row["id"], verdict)


HOSTILE = {
    "cross join": "SELECT 1 FROM " + ", ".join(f"r AS r{i}" for i in range(30)),
    "doubling": "WITH RECURSIVE n(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM n) SELECT s FROM n",
    "width": "SELECT printf('%.*c', 1000000000, 'x') FROM r",
    "lists": "SELECT list_aggregate(range(1000000000), 'sum')",
    "range": "SELECT SUM(x) FROM range(100000000000) AS t(x)",
    "files": "SELECT * FROM read_csv('/etc/passwd')",
    "text of files": "SELECT content FROM read_text('/etc/passwd')",
    "settings": "SELECT * FROM duckdb_settings()",
    "deep": "SELECT " + "(" * 300 + "1" + ")" * 300,
    "long": "SELECT " + "+".join(["1"] * 3000),
    "pattern": "SELECT c FROM r WHERE c REGEXP '(a+)+$'",
    "likes": "SELECT 'a' LIKE '" + "%a" * 90 + "b'",
}


@pytest.mark.parametrize("engine", ["auto", "duckdb"])
@pytest.mark.parametrize(
    "query",
    [
        pytest.param(query, id=name, marks=pytest.mark.slow if name == "doubling" else ())
        for name, query in HOSTILE.items()
    ],
)
def test_hostile_queries_score_nothing_and_are_no_faults(query, engine):
    reference = {"query": "SELECT a FROM r WHERE b > 3", "schema": SCHEMA}
    verdict = judge(reference, query, engine=engine, timeout_s=1.0)
    assert verdict.score == 0.0, verdict


@pytest.mark.parametrize(
    "asked", ["unixepoch()", "julianday()", "datetime()", "time()", "date()", "date('now')"]
)
def test_no_function_reads_the_clock(asked):
    schema = read_schema({"tables": {"t": {"id": "INT"}}})
    query = read_query(f"SELECT id, {asked} FROM t", "sqlite", schema, "2024-02-15 12:00:00")
    assert "2024-02-15" in query.tree.sql("sqlite")


@pytest.mark.parametrize(
    "empty", ["SELECT", "SELECT FROM t", "SELECT a FROM r WHERE a IN (SELECT)"]
)
def test_a_select_without_columns_reaches_no_engine(empty):
    schema = read_schema({"tables": {"t": {"id": "INT"}, "r": {"a": "INT"}}})
    with pytest.raises(RefusedQuery):
        read_query(empty, "sqlite", schema, "2024-02-15 12:00:00")


@pytest.mark.parametrize("table", ["sqlite_master", "sqlite_schema", "duckdb_tables", "pg_class"])
def test_a_with_name_is_no_way_to_an_engines_own_table(table):
    schema = read_schema({"tables": {"t": {"id": "INT"}}})
    outside = f"SELECT * FROM {table}, (WITH {table} AS (SELECT 1 AS a) SELECT a FROM {table}) z"
    with pytest.raises(RefusedQuery, match="there is no table"):
        read_query(outside, "sqlite", schema, "2024-02-15 12:00:00")
