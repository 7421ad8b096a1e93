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

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sqlglot import exp

from verigym.canonical import JSON
from verigym.errors import RequestError, TaskError, suggestion
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.sql.compare import Expected, allows, cut, fragile, window_of
from verigym.verifiers.sql.databases import Database, family
from verigym.verifiers.sql.engine import Engine, QueryFailed, Rows
from verigym.verifiers.sql.hints import read_hints
from verigym.verifiers.sql.proof import proved_equal
from verigym.verifiers.sql.read import Query, Refused, dialect_of, read_query
from verigym.verifiers.sql.reference import read_reference
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.shrink import shrink
from verigym.verifiers.sql.translate import Untranslatable

_SHUFFLES = 4
_LARGE = 100
_LIMITS = ("time_limit", "too_many_rows", "memory_limit")
_MAX_PERMUTED = 6


@dataclass(frozen=True)
class Difference:
    """A database on which the queries differ."""

    code: str
    database: Database
    wanted: Rows
    got: Rows

    def told(self) -> str:
        """For people: the database and both results. It gives the reference away."""
        shown = {table: rows for table, rows in self.database.items() if rows}
        return json.dumps(
            {"database": shown, "wanted": self.wanted[:20], "got": self.got[:20]}, default=str
        )[:4000]


class SqlVerifier(Verifier):
    """Score 1 for a query that returns what the reference does on every database, else 0.

    `Task.reference` is `{"query", "schema", "dialect"}`, with `rows` (`{table: [[...]]}`) or `setup`
    (a script of CREATE and INSERT) for one more database, and any of `order`, `compare`, `columns`
    to override the parameters. Reasons: `proved`, `correct`; `wrong_rows`, `wrong_order`,
    `wrong_columns`; `not_text`, `no_query`, `too_long`, `refused_syntax`, `unknown_table`,
    `query_error`, `time_limit`, `memory_limit`, `too_many_rows`.
    """

    id: ClassVar[str] = "sql/query"
    version: ClassVar[int] = 1
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
            "description": "auto (SQLite, else DuckDB), sqlite, duckdb, or a postgresql:// URL."
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
        "databases": {"minimum": 1, "maximum": 1000},
        "seed": {"minimum": 0},
        "now": {"description": "What now() and its kin are: YYYY-MM-DD HH:MM:SS."},
        "max_rows": {"minimum": 1, "maximum": 100_000},
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
        engine = str(self.params["engine"])
        if engine not in ("auto", "sqlite", "duckdb") and not engine.startswith(
            ("postgres://", "postgresql://")
        ):
            raise RequestError(
                f"{self.id} has no engine {engine!r}; {suggestion(engine, ('auto', 'sqlite', 'duckdb'))}"
                " or a postgresql:// URL"
            )

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
        pair = _Pair(task.id, wanted, got, schema, dialect, options)

        def databases() -> Iterator[Database]:
            if reference.rows is not None:
                yield reference.rows
            yield from family(schema, hints, int(options["databases"]), int(options["seed"]))

        return self._on_engines(pair, databases)

    def _on_engines(self, pair: _Pair, databases: Callable[[], Iterator[Database]]) -> Verdict:
        choice = str(self.params["engine"])
        names = ("sqlite", "duckdb") if choice == "auto" else (choice,)
        trouble: Exception | None = None
        for last, name in ((name == names[-1], name) for name in names):
            engine = self._engine(name, pair)
            try:
                return pair.judged(engine, _share(databases(), engine), final=last)
            except (Untranslatable, _NotHere) as error:
                trouble = error
            finally:
                engine.close()
        raise TaskError(f"task {pair.task_id}: no engine runs the reference query: {trouble}")

    def _engine(self, name: str, pair: _Pair) -> Engine:
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

        return PostgresEngine(name, pair.schema, timeout_s=timeout_s, max_rows=max_rows)


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


class _NotHere(Exception):
    """This engine cannot run one of the queries; another may."""


class _Pair:
    """Reference and submission with what the comparison needs to know."""

    def __init__(
        self,
        task_id: str,
        wanted: Query,
        got: Query,
        schema: Schema,
        dialect: str | None,
        options: Mapping[str, Any],
    ) -> None:
        self.task_id, self.schema, self.dialect, self.options = task_id, schema, dialect, options
        self.wanted, self.got = wanted, got
        order = options["order"]
        self.ordered = order == "always" or (
            order in ("auto", "both") and wanted.tree.args.get("order") is not None
        )
        if order == "both" and not got.ordered:
            self.ordered = False
        self.bag = options["compare"] == "bag"
        self.window = window_of(wanted.tree)
        self.wanted_fragile = fragile(self.window.tree if self.window else wanted.tree)
        self.got_fragile = fragile(got.tree) or (self.ordered and not got.ordered)
        self.order_promised = got.ordered or order == "always"

    def judged(self, engine: Engine, databases: Iterator[Database], *, final: bool) -> Verdict:
        """The verdict by one engine. Raises _NotHere where another should be tried (unless `final`)."""
        reference = engine.printed(self.window.tree if self.window else self.wanted.tree)
        try:
            submission = engine.printed(self.got.tree)
        except Untranslatable:
            if not final:
                raise
            return unusable("query_error", "the query uses what the engine does not have")
        run = _Run(self, engine, reference, submission)
        checked = 0
        trouble: QueryFailed | None = None
        for database in databases:
            try:
                expected = run.expected(database)
            except QueryFailed as error:
                if error.code == "query_error" and not final and not checked:
                    raise _NotHere(str(error)) from error
                trouble = error
                continue
            try:
                difference = run.difference(database, expected)
            except QueryFailed as error:
                if error.code == "query_error" and not final:
                    raise _NotHere(str(error)) from error
                if error.code in _LIMITS and max(map(len, database.values())) > _LARGE and checked:
                    # Too much for a database of our making is not yet too much.
                    continue
                return unusable(error.code, f"the query failed: {error}")
            if difference is run.AMBIGUOUS:
                continue
            checked += 1
            if difference is not None:
                return self._different(run, difference)
        if not checked:
            if trouble is not None:
                raise TaskError(
                    f"task {self.task_id}: no engine runs the reference query: {trouble}"
                )
            raise TaskError(
                f"task {self.task_id}: the reference gives no certain result on any database; "
                "order what LIMIT or ROW_NUMBER cuts"
            )
        if (
            self.options["prove"]
            and self.options["columns"] == "position"
            and proved_equal(
                self.wanted.tree, self.got.tree, self.schema, self.dialect, ordered=self.ordered
            )
        ):
            return scored(
                1.0, "proved", f"the queries are one by rewriting; {checked} databases agree"
            )
        return scored(1.0, "correct", f"the results agree on {checked} databases")

    def _different(self, run: _Run, difference: Difference) -> Verdict:
        told = {
            "wrong_rows": "the rows differ from the wanted ones on a hidden database",
            "wrong_order": "the rows are not in the wanted order on a hidden database",
            "wrong_columns": "the columns are not the wanted ones",
        }[difference.code]
        if self.options["show"] == "database":
            small = shrink(difference, self.schema, run.again)
            told += ": " + small.told()
        return scored(0.0, difference.code, told)


class _Run:
    """Both queries on one engine."""

    AMBIGUOUS = Difference("ambiguous", {}, [], [])

    def __init__(self, pair: _Pair, engine: Engine, reference: str, submission: str) -> None:
        self.pair, self.engine = pair, engine
        self.reference, self.submission = reference, submission
        self.orders: list[tuple[int, ...]] | None = None
        self.names: tuple[str, ...] = ()

    def expected(self, database: Database) -> Expected:
        """What the reference allows on a database, which is loaded. Raises QueryFailed."""
        self.engine.load(database)
        names, rows = self.engine.run(self.reference)
        window = self.pair.window
        width = len(names) - (window.extra if window else 0)
        self.names = tuple(name.lower() for name in names[:width])
        return cut(rows, window, width, self.pair.ordered)

    def difference(self, database: Database, expected: Expected) -> Difference | None:
        """None where the submission agrees; AMBIGUOUS where nobody can say. Raises QueryFailed."""
        pair = self.pair
        names, rows = self.engine.run(self.submission)
        if len(names) != expected.width:
            return Difference("wrong_columns", database, _flat(expected), rows)
        found = self._agrees(expected, names, rows)
        if found is None and pair.got_fragile:
            self.engine.load(database, turned=True)
            names, rows = self.engine.run(self.submission)
            found = self._agrees(expected, names, rows)
        if found is None:
            return None
        if pair.wanted_fragile and self._wavers(database, expected):
            return self.AMBIGUOUS
        return Difference(found, database, _flat(expected), rows)

    def _wavers(self, database: Database, expected: Expected) -> bool:
        """Whether the reference gives something else when rows are stored in another order."""
        turned = dict(database)
        for number in range(_SHUFFLES):
            if number:
                turned = {t: rows[number:] + rows[:number] for t, rows in database.items()}
            try:
                self.engine.load(turned, turned=number % 2 == 0)
                _, rows = self.engine.run(self.reference)
            except QueryFailed:
                return True
            other = cut(rows, self.pair.window, expected.width, self.pair.ordered)
            if [take for _, take in other.segments] != [take for _, take in expected.segments]:
                return True
            full = replace(other, segments=tuple((g, len(g)) for g, _ in other.segments))
            if not allows(
                full, [r for g, _ in expected.segments for r in g], ordered=True, bag=True
            ):
                return True
        return False

    def _agrees(self, expected: Expected, names: Any, rows: Rows) -> str | None:
        """None, or what is wrong."""
        pair = self.pair
        how = pair.options["columns"]
        ordered = pair.ordered and pair.order_promised
        lower = tuple(name.lower() for name in names)
        if how == "names" and lower != self.names:
            return "wrong_columns"
        if how == "any":
            if not self._some_order(expected, rows):
                return "wrong_rows"
        elif not allows(expected, rows, ordered=False, bag=pair.bag):
            return "wrong_rows"
        elif pair.bag and ordered and not allows(expected, rows, ordered=True, bag=True):
            return "wrong_order"
        # Nothing promises an order, and here it would have mattered.
        if pair.ordered and not pair.order_promised and len(expected.segments) > 1:
            return "wrong_order"
        return None

    def _some_order(self, expected: Expected, rows: Rows) -> bool:
        """Whether one order of columns, the same on all databases, makes the results agree."""
        if self.orders is None:
            width = expected.width
            if width > _MAX_PERMUTED:
                self.orders = [tuple(range(width))]
            else:
                self.orders = list(itertools.permutations(range(width)))
        pair = self.pair
        ordered = pair.ordered and pair.order_promised
        self.orders = [
            order
            for order in self.orders
            if allows(
                expected,
                [tuple(row[at] for at in order) for row in rows],
                ordered=ordered,
                bag=pair.bag,
            )
        ]
        return bool(self.orders)

    def again(self, database: Database) -> Difference | None:
        """The difference on another database; None where there is none or it fails."""
        try:
            found = self.difference(database, self.expected(database))
        except QueryFailed:
            return None
        return None if found is self.AMBIGUOUS else found


def _flat(expected: Expected) -> Rows:
    return [row for group, take in expected.segments for row in group[:take]]
