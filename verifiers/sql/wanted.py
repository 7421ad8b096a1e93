"""The reference of a task on databases of its own: what it returns, and on what its result depends.

Nothing here knows of a submission. Databases are the task's own rows, witnesses and a random family;
they and the results are made as they are asked for and kept, so that many submissions share them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from verigym.errors import TaskError
from verigym.verifiers.sql.cells import Database
from verigym.verifiers.sql.compare import (
    Expected,
    allows,
    cut,
    fragile,
    is_case_fragile,
    window_of,
)
from verigym.verifiers.sql.databases import Extender, family
from verigym.verifiers.sql.depends import conditions_of
from verigym.verifiers.sql.engine import QueryFailed, Rows, SqlEngine
from verigym.verifiers.sql.hints import read_hints
from verigym.verifiers.sql.read import Query
from verigym.verifiers.sql.reference import Reference
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.scopes import read_scene
from verigym.verifiers.sql.translate import Untranslatable
from verigym.verifiers.sql.witness import Witnesses

_SHUFFLES = 4
_PER_CONDITION = 4


UNCERTAIN = (
    "the reference gives no certain result on any database; order what LIMIT or ROW_NUMBER cuts"
)


class NotHere(Exception):
    """This engine cannot run the query; another may."""


class WantedResult:
    """Result of a reference query, on databases that are made on demand and kept."""

    def __init__(
        self,
        reference: Reference,
        query: Query,
        dialect: str | None,
        options: Mapping[str, Any],
    ) -> None:
        self.query, self.dialect, self.options = query, dialect, options
        self.whole = reference.schema
        self.rows = reference.rows
        named = self.whole if self.rows is not None else named_part(self.whole, (query.tree,))
        self.hints = read_hints(named, query.tree)
        self.schema = named.with_kinds(self.hints.kinds)
        order = options["order"]
        self.ordered = order == "always" or (
            order in ("auto", "both") and query.tree.args.get("order") is not None
        )
        self.bag = options["compare"] == "bag"
        self.window = window_of(query.tree)
        self.plain = self.window.tree if self.window else query.tree
        self.folds = dialect == "mysql" and is_case_fragile(query.tree)
        self.fragile = self.folds or fragile(self.plain)
        scene = read_scene(query.tree, self.schema)
        count = int(options["databases"])
        own = count - count * 4 // 10
        self.n_witnesses = min(max(own // 2, _PER_CONDITION * len(scene.atoms)), own)
        self.n_random = own - self.n_witnesses
        self.n_shared = count - own
        """Maximum number of databases that a submission has a say in: fewer than half."""
        self._scene = scene
        self.maker: Witnesses | None = None
        self.engine_name = ""
        self._lock = threading.RLock()
        self._source = self._made()
        self._databases: list[Database] = []
        self._results: dict[tuple[str, int], Expected | QueryFailed] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._printed: dict[str, str] = {}
        self._weak: list[str] | None = None
        self._trouble = ""
        self.n_conditions = 0

    def _made(self) -> Iterator[Database]:
        if self.rows is not None:
            yield self.rows
        seed = int(self.options["seed"])
        self.maker = Witnesses(self._scene, self.schema, self.hints, self.dialect, seed)
        left = self.n_witnesses + self.n_random
        try:
            for database in self.maker.make(self.n_witnesses):
                left -= 1
                yield database
        finally:
            self.maker.close()
        yield from family(self.schema, self.hints, left, seed)

    def databases(self) -> Iterator[tuple[int, Database]]:
        """Yield the reference's own databases with their numbers."""
        number = 0
        while True:
            with self._lock:
                if number == len(self._databases):
                    database = next(self._source, None)
                    if database is None:
                        return
                    self._databases.append(database)
                database = self._databases[number]
            yield number, database
            number += 1

    def text(self, engine: SqlEngine) -> str:
        """Return the reference in the engine's words. Raises Untranslatable."""
        found = self._printed.get(engine.name)
        if found is None:
            found = self._printed[engine.name] = engine.printed(self.plain)
        return found

    def expected(self, engine: SqlEngine, number: int, database: Database) -> Expected:
        """Return the results that the reference allows on its database of this number. Raises QueryFailed."""
        known = self._results.get((engine.name, number))
        if known is None:
            engine.load(database)
            try:
                known = self.allowed(engine)
            except QueryFailed as error:
                known = error
            self._results[(engine.name, number)] = known
        if isinstance(known, QueryFailed):
            raise known
        return known

    def allowed(self, engine: SqlEngine) -> Expected:
        """Return the results that the reference allows on the loaded database. Raises QueryFailed."""
        names, rows = engine.run(self.text(engine))
        width = len(names) - (self.window.extra if self.window else 0)
        self._names[engine.name] = tuple(name.lower() for name in names[:width])
        return cut(rows, self.window, width, self.ordered)

    def names(self, engine: SqlEngine) -> tuple[str, ...]:
        """Return the columns' names, once it has run on the engine."""
        return self._names.get(engine.name, ())

    def check(self, engine: SqlEngine, task_id: str) -> None:
        """Raise TaskError if the reference runs on no database, or shows nothing certain on any.

        Raises NotHere if the engine does not know what the reference uses.
        """
        with self._lock:
            if not self.engine_name and not self._trouble:
                self._trouble = self._troubles(engine)
            if self._trouble:
                raise TaskError(f"task {task_id}: {self._trouble}")
            self.engine_name = engine.name

    def _troubles(self, engine: SqlEngine) -> str:
        """Return the reason why the reference tells nothing; empty if it tells something. Raises NotHere."""
        try:
            self.text(engine)
            engine.load({})
            self.allowed(engine)
        except Untranslatable as error:
            raise NotHere(str(error)) from error
        except QueryFailed as error:
            if error.code == "query_error":
                raise NotHere(str(error)) from error
        trouble: QueryFailed | None = None
        ran = shown = 0
        for number, database in self.databases():
            try:
                expected = self.expected(engine, number, database)
            except QueryFailed as error:
                trouble = error
                continue
            ran += 1
            if self._is_blank(expected):
                continue
            shown += 1
            if not self.fragile or not self.wavers(engine, database, expected):
                return ""
        if not ran:
            return f"no engine runs the reference query: {trouble}"
        if not shown:
            return (
                f"the reference returns no row, or only NULL, on each of {ran} databases made for it, "
                "so it tells no right query from a wrong one"
            )
        return UNCERTAIN

    def _is_blank(self, expected: Expected) -> bool:
        """Return True if a result has no row, or nothing but NULL and counts of 0."""
        items = self.query.tree.selects if isinstance(self.query.tree, exp.Query) else []
        counts = {at for at, item in enumerate(items) if isinstance(item.unalias(), exp.Count)}
        return all(
            cell is None or (cell == 0 and at in counts)
            for group, _ in expected.segments
            for row in group
            for at, cell in enumerate(row)
        )

    def wavers(self, engine: SqlEngine, database: Database, expected: Expected) -> bool:
        """Return True if the reference gives another result when rows are stored in another order."""
        turned = dict(database)
        for number in range(_SHUFFLES):
            if number:
                turned = {t: rows[number:] + rows[:number] for t, rows in database.items()}
            try:
                engine.load(turned, turned=number % 2 == 0)
                other = self.allowed(engine)
            except QueryFailed:
                return True
            if [take for _, take in other.segments] != [take for _, take in expected.segments]:
                return True
            full = replace(other, segments=tuple((g, len(g)) for g, _ in other.segments))
            if not allows(
                full, [r for g, _ in expected.segments for r in g], ordered=True, bag=True
            ):
                return True
        return False

    def weak(self, engine: SqlEngine, extender: Extender | None) -> Sequence[str]:
        """Return the conditions of the reference that could be left out on all of its databases.

        `extender` if the engine has more tables and columns than the reference.
        """
        with self._lock:
            if self._weak is None:
                self._weak = self._without_witness(engine, extender)
            return self._weak

    def _without_witness(self, engine: SqlEngine, extender: Extender | None) -> list[str]:
        left: dict[str, str] = {}
        for name, tree in conditions_of(self.query.tree):
            self.n_conditions += 1
            try:
                left[name] = engine.printed(tree)
            except Untranslatable:
                left[name] = ""
        for number, database in self.databases():
            if not left:
                break
            expected = self._results.get((engine.name, number))
            if not isinstance(expected, Expected):
                continue
            engine.load(extender.extend(database, number) if extender else database)
            for name, text in list(left.items()):
                try:
                    _, rows = engine.run(text) if text else ((), [])
                except QueryFailed:
                    continue
                if text and not self._agrees(expected, rows):
                    del left[name]
        return list(left)

    def _agrees(self, expected: Expected, rows: Rows) -> bool:
        return allows(expected, rows, ordered=self.ordered, bag=self.bag)


def named_part(schema: Schema, trees: Sequence[exp.Expr]) -> Schema:
    """Return the part of the schema that the queries name; what they do not, cannot matter."""
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
