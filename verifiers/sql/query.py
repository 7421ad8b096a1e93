"""`sql/query`: a query, judged by what it returns on many small databases.

More than half of the databases come from the reference alone: witnesses, on which its result depends on
each of its conditions and joins, and random ones with its constants and their neighbours, nulls,
duplicates, ties, empty tables and groups; keys and foreign keys hold. The rest also has what the
submission names. On each the submission must return what the reference could have returned: rows as a
bag or a set, in order if the reference orders, any of the tied rows where LIMIT cuts. A database on which
the reference itself depends on chance is passed over. The reference is judged alone first: one that
shows nothing on any database is a fault of the task, and whatever fails after that is the submission's.

Covers: queries that agree by luck on one database; ones that hard-code a result. Does not cover:
differences that show only in large data or in rare engines' corners; "proved" and "correct" are
told apart for that. Queries run read-only, in memory, with bounds on work, time, rows, sizes, nesting.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON, to_json
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verdict import Verdict, unusable
from verigym.verifier import Verifier
from verigym.verifiers.sql.engine import QueryFailed, SqlEngine
from verigym.verifiers.sql.engines import check_engine, url_of
from verigym.verifiers.sql.pair import Pair, PairRun, SplitRun
from verigym.verifiers.sql.read import RefusedQuery, dialect_of, read_query
from verigym.verifiers.sql.reference import read_reference
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.translate import Untranslatable
from verigym.verifiers.sql.wanted import NotHere, WantedResult

_MAX_KNOWN = 32
"""References that a verifier keeps what it made for."""


class SqlParams(Struct, frozen=True):
    """Parameters of `SqlVerifier`."""

    engine: Annotated[
        str,
        Meta(
            description="auto (SQLite, else DuckDB), sqlite, duckdb, or a postgresql:// URL; at a "
            "service, in place of the URL, a name that its operator gave with --sql-engine."
        ),
    ] = "auto"
    order: Annotated[
        Literal["auto", "both", "never", "always"],
        Meta(
            description="When rows are compared in order: auto, where the reference has a "
            "top-level ORDER BY; both, where the two have."
        ),
    ] = "auto"
    compare: Annotated[Literal["bag", "set"], Meta(description="Whether duplicates count.")] = "bag"
    columns: Annotated[
        Literal["position", "any", "names"],
        Meta(description="position: names do not count; any: nor does the order; names: both do."),
    ] = "position"
    databases: Annotated[
        int,
        Meta(
            ge=1, le=1000, description="Generated databases that results are compared on, at most."
        ),
    ] = 90
    seed: Annotated[int, Meta(ge=0, description="Of the generated databases.")] = 0
    now: Annotated[str, Meta(description="What now() and its kin are: YYYY-MM-DD HH:MM:SS.")] = (
        "2024-02-15 12:00:00"
    )
    max_rows: Annotated[int, Meta(ge=1, le=100_000, description="Rows of a result at most.")] = 5000
    max_steps: Annotated[int, Meta(ge=1000, description="SQLite's steps for one query.")] = (
        2_000_000
    )
    timeout_s: Annotated[float, Meta(gt=0, description="For one query, DuckDB, PostgreSQL.")] = 5.0
    prove: Annotated[
        bool, Meta(description="Whether to say proved where rewriting shows the queries equal.")
    ] = True
    show: Annotated[
        Literal["reason", "database"],
        Meta(
            description="database: evidence holds the smallest database with both results. It "
            "gives the reference away; for people only."
        ),
    ] = "reason"


class SqlVerifier(Verifier[SqlParams]):
    """Score 1 for a query that returns what the reference does on every database, else 0.

    `Task.reference` is `{"query", "schema", "dialect"}`, with `rows` (`{table: [[...]]}`) or `setup`
    (a script of CREATE and INSERT) for one more database, and any of `order`, `compare`, `columns`
    to override the parameters. Reasons: `proved`, `correct`; `wrong_rows`, `wrong_order`,
    `wrong_columns`; `not_text`, `no_query`, `too_long`, `refused_syntax`, `unknown_table`,
    `query_error`, `time_limit`, `memory_limit`, `too_many_rows`.
    """

    id: ClassVar[str] = "sql/query"
    version: ClassVar[int] = 3
    about: ClassVar[str] = (
        "Runs a query beside the reference on many small databases made for the two; "
        "the submission is the query's text, fenced or bare."
    )
    evidence: ClassVar[str] = (
        "Counts: the rows that the query returns, on every database. Counts for nothing: how the "
        "query is written, its speed, names of columns unless asked for."
    )

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self._known: OrderedDict[bytes, WantedResult] = OrderedDict()
        self._lock = threading.Lock()
        check_engine(self.settings.engine, self.settings.show)

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        wanted = self._wanted(task)
        engine = self._checked(wanted, task.id)
        try:
            if not isinstance(submission, str):
                return unusable("not_text", "a submission is the text of a query")
            try:
                got = read_query(
                    submission, wanted.dialect, wanted.whole, str(wanted.options["now"])
                )
            except RefusedQuery as error:
                return unusable(error.code, str(error))
            pair = Pair(wanted, got)
            if engine is None or not pair.same_schema:
                if engine is not None:
                    engine.close()
                engine = self._engine(wanted.engine_name, pair.schema, wanted.dialect)
            return self._judged(pair, engine, task.id)
        finally:
            if engine is not None:
                engine.close()

    def _wanted(self, task: Task) -> WantedResult:
        """The reference's part, which all submissions to a task share."""
        key = to_json(task.reference)
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return known
        reference = read_reference(task)
        options = {**self.params, **reference.options}
        try:
            dialect = dialect_of(reference.dialect)
            query = read_query(reference.query, dialect, reference.schema, str(options["now"]))
        except RefusedQuery as error:
            raise TaskError(
                f"task {task.id}: the reference query cannot be used: {error}"
            ) from error
        wanted = WantedResult(reference, query, dialect, options)
        with self._lock:
            self._known[key] = wanted
            while len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)
        return wanted

    def _checked(self, wanted: WantedResult, task_id: str) -> SqlEngine | None:
        """An engine on which the reference alone has run; None if it has before. Raises TaskError."""
        if wanted.engine_name:
            return None
        choice = self.settings.engine
        trouble: Exception | None = None
        for name in ("sqlite", "duckdb") if choice == "auto" else (choice,):
            engine = self._engine(name, wanted.schema, wanted.dialect)
            try:
                wanted.check(engine, task_id)
                return engine
            except NotHere as error:
                trouble = error
            except BaseException:
                engine.close()
                raise
            engine.close()
        raise TaskError(f"task {task_id}: no engine runs the reference query: {trouble}")

    def _judged(self, pair: Pair, engine: SqlEngine, task_id: str) -> Verdict:
        try:
            return pair.judged(PairRun(pair, engine, _prepared(engine, pair)), task_id)
        except Unknown as error:
            if self.settings.engine != "auto" or engine.name != "sqlite":
                return unusable("query_error", f"the query failed: {error}")
            on_sqlite = str(error)
        except QueryFailed as error:
            return unusable(error.code, f"the query failed: {error}")
        other = self._engine("duckdb", pair.schema, pair.wanted.dialect)
        try:
            return pair.judged(SplitRun(pair, other, _prepared(other, pair), engine), task_id)
        except Unknown as error:
            told = f"the query failed: on SQLite: {on_sqlite}; then on DuckDB: {error}"
            return unusable("query_error", told)
        except QueryFailed as error:
            return unusable(error.code, f"the query failed: {error}")
        finally:
            other.close()

    def _engine(self, name: str, schema: Schema, dialect: str | None) -> SqlEngine:
        options: Mapping[str, Any] = self.params
        max_rows, timeout_s = int(options["max_rows"]), float(options["timeout_s"])
        if name == "sqlite":
            from verigym.verifiers.sql.sqlite import SqliteEngine

            return SqliteEngine(schema, dialect, steps=int(options["max_steps"]), max_rows=max_rows)
        if name == "duckdb":
            from verigym.verifiers.sql.duck import DuckEngine

            return DuckEngine(schema, dialect, timeout_s=timeout_s, max_rows=max_rows)
        from verigym.verifiers.sql.postgres import PostgresEngine

        return PostgresEngine(
            url_of(str(options["engine"])), schema, timeout_s=timeout_s, max_rows=max_rows
        )


class Unknown(Exception):
    """A submission uses what an engine does not know; another may."""


def _prepared(engine: SqlEngine, pair: Pair) -> str:
    """The submission in the engine's words. Raises Unknown, or QueryFailed for a limit."""
    try:
        text = engine.printed(pair.got.tree)
        engine.load({})
        engine.run(text)
    except Untranslatable as error:
        raise Unknown(str(error)) from error
    except QueryFailed as error:
        if error.code == "query_error":
            raise Unknown(str(error)) from error
        raise
    return text
