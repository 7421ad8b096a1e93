"""The DuckDB engine of the SQL verifier."""

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
