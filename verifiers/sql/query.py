"""`sql/query`: a query, judged by what it returns on many small databases.

The databases are made for the pair of queries: constants of the reference and their neighbours in
the columns that they are compared with, nulls, duplicates, ties, empty tables and groups; keys and
foreign keys hold. On each the submission must return what the reference could have returned: rows
as a bag or a set, in order where the reference orders, any of the tied rows where LIMIT cuts. A
database on which the reference itself depends on chance is passed over.

Covers: queries that agree by luck on one database; ones that hard-code a result. Does not cover:
differences that show only in large data or in rare engines' corners; "proved" and "correct" are
told apart for that. Queries run read-only, in memory, with bounds on work, time, rows and sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from sqlglot import exp

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verdict import Verdict, unusable
from verigym.verifier import Verifier
from verigym.verifiers.sql.databases import Database, family
from verigym.verifiers.sql.engine import Engine
from verigym.verifiers.sql.engines import check_engine, url_of
from verigym.verifiers.sql.hints import read_hints
from verigym.verifiers.sql.pair import NotHere, Pair
from verigym.verifiers.sql.read import Refused, dialect_of, read_query
from verigym.verifiers.sql.reference import read_reference
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.translate import Untranslatable


class SqlVerifier(Verifier):
    """Score 1 for a query that returns what the reference does on every database, else 0.

    `Task.reference` is `{"query", "schema", "dialect"}`, with `rows` (`{table: [[...]]}`) or `setup`
    (a script of CREATE and INSERT) for one more database, and any of `order`, `compare`, `columns`
    to override the parameters. Reasons: `proved`, `correct`; `wrong_rows`, `wrong_order`,
    `wrong_columns`; `not_text`, `no_query`, `too_long`, `refused_syntax`, `unknown_table`,
    `query_error`, `time_limit`, `memory_limit`, `too_many_rows`.
    """

    id: ClassVar[str] = "sql/query"
    version: ClassVar[int] = 2
    about: ClassVar[str] = (
        "Runs a query beside the reference on many small databases made for the two; "
        "the submission is the query's text, fenced or bare."
    )
    evidence: ClassVar[str] = (
        "Counts: the rows that the query returns, on every database. Counts for nothing: how the "
        "query is written, its speed, names of columns unless asked for."
    )
    defaults: ClassVar[Mapping[str, JSON]] = {
        "engine": "auto",
        "order": "auto",
        "compare": "bag",
        "columns": "position",
        "databases": 90,
        "seed": 0,
        "now": "2024-02-15 12:00:00",
        "max_rows": 5000,
        "max_steps": 2_000_000,
        "timeout_s": 5.0,
        "prove": True,
        "show": "reason",
    }

    param_schemas: ClassVar[Mapping[str, Mapping[str, JSON]]] = {
        "engine": {
            "description": "auto (SQLite, else DuckDB), sqlite, duckdb, or a postgresql:// URL; at a "
            "service, in place of the URL, a name that its operator gave with --sql-engine."
        },
        "order": {
            "enum": ["auto", "both", "never", "always"],
            "description": "When rows are compared in order: auto, where the reference has a "
            "top-level ORDER BY; both, where the two have.",
        },
        "compare": {"enum": ["bag", "set"], "description": "Whether duplicates count."},
        "columns": {
            "enum": ["position", "any", "names"],
            "description": "position: names do not count; any: nor does the order; names: both do.",
        },
        "databases": {
            "minimum": 1,
            "maximum": 1000,
            "description": "Generated databases that results are compared on, at most.",
        },
        "seed": {"minimum": 0, "description": "Of the generated databases."},
        "now": {"description": "What now() and its kin are: YYYY-MM-DD HH:MM:SS."},
        "max_rows": {"minimum": 1, "maximum": 100_000, "description": "Rows of a result at most."},
        "max_steps": {"minimum": 1000, "description": "SQLite's steps for one query."},
        "timeout_s": {"exclusiveMinimum": 0, "description": "For one query, DuckDB, PostgreSQL."},
        "prove": {"description": "Whether to say proved where rewriting shows the queries equal."},
        "show": {
            "enum": ["reason", "database"],
            "description": "database: evidence holds the smallest database with both results. It "
            "gives the reference away; for people only.",
        },
    }

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        check_engine(str(self.params["engine"]), str(self.params["show"]))

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """See the class and the module."""
        reference = read_reference(task)
        options = {**self.params, **reference.options}
        now = str(options["now"])
        try:
            dialect = dialect_of(reference.dialect)
            wanted = read_query(reference.query, dialect, reference.schema, now)
        except Refused as error:
            raise TaskError(
                f"task {task.id}: the reference query cannot be used: {error}"
            ) from error
        if not isinstance(submission, str):
            return unusable("not_text", "a submission is the text of a query")
        try:
            got = read_query(submission, dialect, reference.schema, now)
        except Refused as error:
            return unusable(error.code, str(error))
        hints = read_hints(reference.schema, (wanted.tree, got.tree))
        schema = reference.schema.with_kinds(hints.kinds)
        if reference.rows is None:
            schema = _named(schema, (wanted.tree, got.tree))
        pair = Pair(task.id, wanted, got, schema, dialect, options)

        def databases() -> Iterator[Database]:
            if reference.rows is not None:
                yield reference.rows
            yield from family(schema, hints, int(options["databases"]), int(options["seed"]))

        return self._on_engines(pair, databases)

    def _on_engines(self, pair: Pair, databases: Callable[[], Iterator[Database]]) -> Verdict:
        choice = str(self.params["engine"])
        names = ("sqlite", "duckdb") if choice == "auto" else (choice,)
        trouble: Exception | None = None
        for last, name in ((name == names[-1], name) for name in names):
            engine = self._engine(name, pair)
            try:
                return pair.judged(engine, _share(databases(), engine), final=last)
            except (Untranslatable, NotHere) as error:
                trouble = error
            finally:
                engine.close()
        raise TaskError(f"task {pair.task_id}: no engine runs the reference query: {trouble}")

    def _engine(self, name: str, pair: Pair) -> Engine:
        options: Mapping[str, Any] = self.params
        max_rows, timeout_s = int(options["max_rows"]), float(options["timeout_s"])
        if name == "sqlite":
            from verigym.verifiers.sql.sqlite import SqliteEngine

            return SqliteEngine(
                pair.schema, pair.dialect, steps=int(options["max_steps"]), max_rows=max_rows
            )
        if name == "duckdb":
            from verigym.verifiers.sql.duck import DuckEngine

            return DuckEngine(pair.schema, timeout_s=timeout_s, max_rows=max_rows)
        from verigym.verifiers.sql.postgres import PostgresEngine

        return PostgresEngine(url_of(name), pair.schema, timeout_s=timeout_s, max_rows=max_rows)


def _named(schema: Schema, trees: Sequence[exp.Expr]) -> Schema:
    """The part of the schema that the queries name; what they do not, cannot matter."""
    tables: set[str] = set()
    columns: set[str] | None = set()
    for tree in trees:
        for node in tree.walk():
            if isinstance(node, exp.Table):
                tables.add(node.name)
            elif (
                (isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count))
                or (isinstance(node, exp.Join) and node.args.get("method") == "NATURAL")
                or (isinstance(node, exp.TableAlias) and node.columns)
            ):
                columns = None
            elif isinstance(node, exp.Identifier) and columns is not None:
                columns.add(node.name)
    return schema.only(tables, columns)


def _share(databases: Iterator[Database], engine: Engine) -> Iterator[Database]:
    """All databases for SQLite; every second for engines that take far longer to load one."""
    for number, database in enumerate(databases):
        if engine.name == "sqlite" or number % 2 == 0:
            yield database
