"""Reference and submission run side by side, and how their results are compared."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from verigym.errors import TaskError
from verigym.verdict import Verdict, scored, unusable
from verigym.verifiers.sql.cells import Database
from verigym.verifiers.sql.compare import Expected, allows, fragile, has_case_twins
from verigym.verifiers.sql.databases import Extender, family
from verigym.verifiers.sql.difference import Difference
from verigym.verifiers.sql.engine import QueryFailed, Rows, SqlEngine
from verigym.verifiers.sql.hints import widened
from verigym.verifiers.sql.proof import proved_equal
from verigym.verifiers.sql.read import Query
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.scopes import read_scene
from verigym.verifiers.sql.shrink import shrink
from verigym.verifiers.sql.translate import Untranslatable
from verigym.verifiers.sql.wanted import UNCERTAIN, WantedResult, named_part
from verigym.verifiers.sql.witness import Witnesses

_MAX_PERMUTED = 6
_SLOW = ("duckdb", "postgres")


class Pair:
    """A submission beside the reference, on the reference's databases and on some of their own."""

    def __init__(self, wanted: WantedResult, got: Query) -> None:
        self.wanted, self.got, self.options = wanted, got, wanted.options
        self.ordered = wanted.ordered and not (self.options["order"] == "both" and not got.ordered)
        self.bag = wanted.bag
        self.got_fragile = fragile(got.tree) or (self.ordered and not got.ordered)
        self.order_promised = got.ordered or self.options["order"] == "always"
        if wanted.rows is not None:
            self.schema = wanted.schema
        else:
            both = named_part(wanted.whole, (wanted.query.tree, got.tree))
            self.schema = both.with_kinds(wanted.hints.kinds)
        self.hints, self.theirs = widened(wanted.hints, self.schema, got.tree)
        self.schema = self.schema.with_kinds(self.hints.kinds)
        self.same_schema = _shape(self.schema) == _shape(wanted.schema)

    def judged(self, run: PairRun, task_id: str) -> Verdict:
        """Return the verdict. Raises TaskError if the reference cannot be compared with anything."""
        checked = 0
        for number, database in self._databases(run):
            try:
                expected = run.expected(number, database)
            except QueryFailed:
                continue  # The reference alone, so no submission's doing.
            try:
                difference = run.difference(database, expected)
            except QueryFailed as error:
                return unusable(error.code, f"the query failed: {error}")
            if difference is run.AMBIGUOUS:
                continue
            checked += 1
            if difference is not None:
                return self._different(run, difference)
        if not checked:
            raise TaskError(f"task {task_id}: {UNCERTAIN}")
        parts, weak = self._witnessed(run)
        if (
            self.options["prove"]
            and self.options["columns"] == "position"
            and proved_equal(
                self.wanted.query.tree,
                self.got.tree,
                self.schema,
                self.wanted.dialect,
                ordered=self.ordered,
            )
        ):
            told = f"the queries are one by rewriting; {checked} databases agree"
            return scored(1.0, "proved", told + weak, parts)
        return scored(1.0, "correct", f"the results agree on {checked} databases" + weak, parts)

    def _witnessed(self, run: PairRun) -> tuple[dict[str, float], str]:
        """The share of the reference's conditions that matter on some database, and the others."""
        wanted = self.wanted
        if run.engine.name != wanted.engine_name or run.engine.name == "postgres":
            return {}, ""
        weak = wanted.weak(run.engine, self._extender())
        if not wanted.n_conditions:
            return {}, ""
        names = list(weak)
        if self.options["show"] != "database":
            names = [name.partition(":")[0] for name in names]
        told = f"; no database depends on {', '.join(names)} of the reference" if names else ""
        return {"witnessed": 1 - len(weak) / wanted.n_conditions}, told

    def _databases(self, run: PairRun) -> Iterator[tuple[int, Database]]:
        """The reference's databases, then those that the submission has a say in, numbered below 0."""
        wanted = self.wanted
        seed = int(self.options["seed"])
        extender = self._extender()
        slow = wanted.engine_name in _SLOW
        for number, database in wanted.databases():
            # Every second for an engine that the reference needs and that takes long to load one.
            if slow and number % 2 and number > wanted.n_witnesses // 2:
                continue
            found = extender.extend(database, number) if extender else database
            yield number, found
        shared = self._shared(seed)
        for number, database in enumerate(itertools.islice(shared, wanted.n_shared)):
            if slow and number % 2:
                continue
            yield -1 - number, database

    def _extender(self) -> Extender | None:
        if self.same_schema:
            return None
        seed = int(self.options["seed"])
        return Extender(self.wanted.schema, self.schema, self.hints, seed)

    def _shared(self, seed: int) -> Iterator[Database]:
        wanted = self.wanted
        count = wanted.n_shared
        if _signs(self.got.tree) != _signs(wanted.query.tree):
            new = {
                place: [v for v in values if v not in wanted.hints.values.get(place, ())]
                for place, values in self.theirs.values.items()
            }
            new = {place: values for place, values in new.items() if values}
            if wanted.maker is not None:
                yield from wanted.maker.planted(new, self.schema, self.hints.kinds)
            scene = read_scene(self.got.tree, self.schema)
            maker = Witnesses(scene, self.schema, self.hints, wanted.dialect, seed + 1, new)
            try:
                yield from maker.make(count // 2)
            finally:
                maker.close()
        else:
            # Nothing that the reference does not name: its own databases have it all.
            count //= 3
        yield from family(self.schema, self.hints, count, seed, "shared")

    def _different(self, run: PairRun, difference: Difference) -> Verdict:
        told = {
            "wrong_rows": "the rows differ from the wanted ones on a hidden database",
            "wrong_order": "the rows are not in the wanted order on a hidden database",
            "wrong_columns": "the columns are not the wanted ones",
        }[difference.code]
        if self.options["show"] == "database":
            small = shrink(difference, self.schema, run.again)
            told += ": " + small.told()
        return scored(0.0, difference.code, told)


def _shape(schema: Schema) -> dict[str, tuple[str, ...]]:
    return {table: tuple(c.name for c in columns) for table, columns in schema.tables.items()}


def _signs(tree: exp.Expr) -> list[tuple[str, str]]:
    """The conditions and constants of a query, whatever its shape."""
    return sorted(
        (type(node).__name__, f"{node.name} {node.args.get('side') or ''}")
        for node in tree.walk()
        if isinstance(node, exp.Literal | exp.Predicate | exp.Join | exp.Null | exp.Case)
    )


class PairRun:
    """Run of both queries on one engine, or of the submission on another engine than the
    reference."""

    AMBIGUOUS = Difference("ambiguous", {}, [], [])

    def __init__(self, pair: Pair, engine: SqlEngine, submission: str) -> None:
        self.pair, self.engine, self.submission = pair, engine, submission
        self.orders: list[tuple[int, ...]] | None = None
        self.before: list[tuple[int, ...]] | None = None

    def expected(self, number: int, database: Database) -> Expected:
        """Return the results that the reference allows on a database. Raises QueryFailed."""
        wanted = self.pair.wanted
        if number >= 0:
            return wanted.expected(self.engine, number, database)
        self.engine.load(database)
        return wanted.allowed(self.engine)

    def submitted(self, database: Database, *, turned: bool) -> tuple[Sequence[str], Rows]:
        """Return the names and rows that the submission gives. Raises QueryFailed."""
        self.engine.load(database, turned=turned)
        return self.engine.run(self.submission)

    def difference(self, database: Database, expected: Expected) -> Difference | None:
        """Compare the results: None if the submission agrees; AMBIGUOUS if that cannot be decided.
        Raises QueryFailed."""
        pair = self.pair
        names, rows = self.submitted(database, turned=False)
        if len(names) != expected.width:
            return Difference("wrong_columns", database, _flat(expected), rows)
        self.before = self.orders
        found = self._agrees(expected, names, rows)
        if found is None and pair.got_fragile:
            names, rows = self.submitted(database, turned=True)
            found = self._agrees(expected, names, rows)
        if found is None:
            return None
        if self._is_uncertain(database, expected, rows):
            self.orders = self.before
            return self.AMBIGUOUS
        return Difference(found, database, _flat(expected), rows)

    def _is_uncertain(self, database: Database, expected: Expected, rows: Rows) -> bool:
        wanted = self.pair.wanted
        if wanted.folds and has_case_twins(database):
            folded = [(_folded(group), take) for group, take in expected.segments]
            same = replace(expected, segments=tuple(folded))
            if allows(same, _folded(rows), ordered=self.pair.ordered, bag=self.pair.bag):
                return True
        return wanted.fragile and wanted.wavers(self.engine, database, expected)

    def _agrees(self, expected: Expected, names: Any, rows: Rows) -> str | None:
        """None, or what is wrong."""
        pair = self.pair
        how = pair.options["columns"]
        ordered = pair.ordered and pair.order_promised
        lower = tuple(name.lower() for name in names)
        if how == "names" and lower != pair.wanted.names(self.engine):
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
        """Return True if one order of columns, the same on all databases, makes the results agree."""
        if self.orders is None:
            width = expected.width
            if width > _MAX_PERMUTED:
                self.orders = [tuple(range(width))]
            else:
                self.orders = list(itertools.permutations(range(width)))
            self.before = self.orders
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
        """Return the difference on another database; None if there is none or it fails."""
        # The orders of columns that the databases before left over, not what this search leaves.
        before = self.orders = self.before
        try:
            self.engine.load(database)
            found = self.difference(database, self.pair.wanted.allowed(self.engine))
        except QueryFailed:
            found = None
        self.before = before
        return None if found is self.AMBIGUOUS else found


class SplitRun(PairRun):
    """The submission on an engine that the reference does not need.

    The reference runs there too; if it cannot, what it returns on its own engine counts. So no database
    is left out for what the submission uses.
    """

    def __init__(self, pair: Pair, engine: SqlEngine, submission: str, own: SqlEngine) -> None:
        super().__init__(pair, engine, submission)
        self.own = own

    def expected(self, number: int, database: Database) -> Expected:
        wanted = self.pair.wanted
        try:
            wanted.text(self.engine)
            return super().expected(number, database)
        except (QueryFailed, Untranslatable):
            if number >= 0:
                return wanted.expected(self.own, number, database)
            self.own.load(database)
            return wanted.allowed(self.own)


def _folded(rows: Rows) -> Rows:
    return [tuple(v.casefold() if isinstance(v, str) else v for v in row) for row in rows]


def _flat(expected: Expected) -> Rows:
    return [row for group, take in expected.segments for row in group[:take]]
