"""Reference and submission run side by side on one engine, and how their results are compared."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from verigym.errors import TaskError
from verigym.verdict import Verdict, scored, unusable
from verigym.verifiers.sql.compare import Expected, allows, cut, fragile, window_of
from verigym.verifiers.sql.databases import Database
from verigym.verifiers.sql.engine import Engine, QueryFailed, Rows
from verigym.verifiers.sql.proof import proved_equal
from verigym.verifiers.sql.read import Query
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


class NotHere(Exception):
    """This engine cannot run one of the queries; another may."""


class Pair:
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
        """The verdict by one engine. Raises NotHere where another should be tried (unless `final`)."""
        reference = engine.printed(self.window.tree if self.window else self.wanted.tree)
        try:
            submission = engine.printed(self.got.tree)
        except Untranslatable:
            if not final:
                raise
            return unusable("query_error", "the query uses what the engine does not have")
        run = Run(self, engine, reference, submission)
        checked = 0
        trouble: QueryFailed | None = None
        for database in databases:
            try:
                expected = run.expected(database)
            except QueryFailed as error:
                if error.code == "query_error" and not final and not checked:
                    raise NotHere(str(error)) from error
                trouble = error
                continue
            try:
                difference = run.difference(database, expected)
            except QueryFailed as error:
                if error.code == "query_error" and not final:
                    raise NotHere(str(error)) from error
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

    def _different(self, run: Run, difference: Difference) -> Verdict:
        told = {
            "wrong_rows": "the rows differ from the wanted ones on a hidden database",
            "wrong_order": "the rows are not in the wanted order on a hidden database",
            "wrong_columns": "the columns are not the wanted ones",
        }[difference.code]
        if self.options["show"] == "database":
            small = shrink(difference, self.schema, run.again)
            told += ": " + small.told()
        return scored(0.0, difference.code, told)


class Run:
    """Both queries on one engine."""

    AMBIGUOUS = Difference("ambiguous", {}, [], [])

    def __init__(self, pair: Pair, engine: Engine, reference: str, submission: str) -> None:
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
