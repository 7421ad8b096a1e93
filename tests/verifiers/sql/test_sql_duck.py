"""The DuckDB engine of the SQL verifier."""

from verigym import Task, make_verifier
from verigym.verifiers.sql.duck import DuckEngine
from verigym.verifiers.sql.schema import read_schema


def test_a_long_query_draws_no_progress_bar_into_standard_output():
    schema = read_schema({"tables": {"r": {"a": "INT"}}})
    engine = DuckEngine(schema, "duckdb", timeout_s=5.0, max_rows=10)
    try:
        shown = engine._db.execute("SELECT current_setting('enable_progress_bar')").fetchone()
        assert shown == (False,)
    finally:
        engine.close()


def test_the_error_of_sqlite_is_told_before_that_of_duckdb():
    """A wrong name on SQLite was told as "julianday is not to be had on DuckDB", which was tried next."""
    task = Task(
        id="t",
        env_id="mine",
        seed=0,
        prompt="?",
        difficulty="easy",
        reference={
            "query": "SELECT id FROM e WHERE julianday(d) > julianday('2020-01-01')",
            "schema": {"tables": {"e": [["id", "INT"], ["d", "DATE"]]}},
            "dialect": "sqlite",
        },
    )
    verdict = make_verifier("sql/query").verify(task, "SELECT x.id FROM e WHERE julianday(d) > 2")
    assert (verdict.score, verdict.reason) == (0.0, "query_error")
    assert verdict.evidence == (
        "the query failed: on SQLite: no such column: x.id; then on DuckDB: DuckDB has no function julianday"
    )
