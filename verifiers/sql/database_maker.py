"""Draws the rows of one database by a plan: keys unique, foreign keys with parents, few values that repeat."""

from __future__ import annotations

import datetime
import random
from collections.abc import Mapping
from dataclasses import dataclass

from verigym.verifiers.sql.cells import (
    Cell,
    Database,
    Row,
    around,
    fitted,
    negative,
    numbered,
    usual,
)
from verigym.verifiers.sql.database_plan import MANY, DatabasePlan
from verigym.verifiers.sql.foreign_keys import with_parents, without_orphans
from verigym.verifiers.sql.hints import Hints, Place
from verigym.verifiers.sql.schema import Foreign, Schema

_MAX_EDGE = 2**62
_STEPS = (-9, -3, -1, 0, 1, 2, 5, 9, 20, 60)


@dataclass(frozen=True)
class ColumnSlot:
    """A column with what is known before any database is drawn."""

    place: Place
    root: Place
    kind: str
    nullable: bool
    values: tuple[str, ...]
    plain: list[Cell]
    key: bool
    grouped: bool
    counted: bool


class DatabaseMaker:
    """Draws databases of one schema."""

    def __init__(self, schema: Schema, hints: Hints) -> None:
        self.schema, self.hints = schema, hints
        self.order = schema.parents_first()
        self.parents = {key.parent for key in schema.foreign if key.parent != key.table}
        self.slots: dict[str, list[ColumnSlot]] = {}
        self.pools: dict[Place, tuple[list[Cell], list[Cell], list[Cell]]] = {}
        self.foreign = {t: [f for f in schema.foreign if f.table == t] for t in schema.tables}
        self.grouped = {hints.root(place) for place in hints.grouped}
        self.counted = {hints.root(place) for place in hints.counted}
        keyed = {hints.root((t, c)) for t, keys in schema.keys.items() for key in keys for c in key}
        keyed |= {hints.root((f.table, c)) for f in schema.foreign for c in f.columns}
        for table, columns in schema.tables.items():
            self.slots[table] = []
            for column in columns:
                place = (table, column.name)
                root, kind = hints.root(place), hints.kinds[place]
                pool, plain, exact = self.pools.setdefault(root, ([], [], []))
                usually = usual(kind, hints)
                noted = [c for value in hints.values.get(place, ()) for c in around(value, kind)]
                if root in keyed and not any(negative(v) for v in hints.values.get(place, ())):
                    # Ids below zero are legal, and nobody who writes `id % 2 = 1` thinks of them.
                    usually = [c for c in usually if not negative(c)]
                    noted = [c for c in noted if not negative(c)]
                pool += column.values or noted
                plain += usually
                exact += [
                    c for value in hints.exact.get(place, ()) for c in around(value, kind)[:1]
                ]
                self.slots[table].append(
                    ColumnSlot(
                        place,
                        root,
                        kind,
                        column.nullable,
                        column.values,
                        usually,
                        root in keyed,
                        place in hints.grouped,
                        place in hints.counted,
                    )
                )
        listed = {slot.root for slots in self.slots.values() for slot in slots if slot.values}
        self.edges = {
            root: []
            if root in listed
            else [c for c in pool if type(c) is int and abs(c) < _MAX_EDGE]
            for root, (pool, _, _) in self.pools.items()
        }
        self.fitted: dict[tuple[str, Cell], Cell] = {}

    def make(self, plan: DatabasePlan, rng: random.Random) -> Database:
        """Return a database filled by `plan`."""
        active = {
            root: self._draw(*values, self._width(root, plan, rng), plan.exact, rng)
            for root, values in self.pools.items()
        }
        lone = rng.choice(self.order) if plan.lone and self.order else ""
        database: dict[str, list[Row]] = {}
        for table in self.order:
            wanted = plan.rows
            if plan.lone:
                wanted = plan.rows if table == lone else rng.choice((0, 1, 1, 1, 1, 1, 1, 2))
            elif plan.sized and table in self.parents and rng.random() < 0.7:
                # Few parents, so that groups of children grow as large as the queries ask.
                wanted = rng.choice((1, 1, 2, 3))
            elif wanted > 1 and not plan.sized and rng.random() < 0.5:
                wanted += rng.choice((-1, 0, 1))
            if rng.random() < plan.empty:
                wanted = 0
            database[table] = self._fill(plan, rng, active, database, table, wanted)
        return without_orphans(
            self.schema, {table: database[table] for table in self.schema.tables}
        )

    def extend(
        self, database: Database, known: Schema, plan: DatabasePlan, rng: random.Random
    ) -> Database:
        """Return a database of the schema `known` with the tables and columns that it lacks."""
        active = {
            root: self._draw(*values, self._width(root, plan, rng), plan.exact, rng)
            for root, values in self.pools.items()
        }
        found: dict[str, list[Row]] = {}
        for table in self.order:
            if table not in known.tables:
                found[table] = self._fill(plan, rng, active, found, table, max(1, plan.rows))
                continue
            places = {column.name: at for at, column in enumerate(known.tables[table])}
            bound = {
                name: [row[at] for row in found.get(key.parent, ())]
                for key in self.foreign[table]
                for name, at in zip(
                    key.columns,
                    (
                        [c.name for c in self.schema.tables[key.parent]].index(n)
                        for n in key.parent_columns
                    ),
                    strict=True,
                )
                if name not in places
            }
            found[table] = [
                tuple(
                    row[places[slot.place[1]]]
                    if slot.place[1] in places
                    else self._added(slot, active[slot.root], bound.get(slot.place[1]), plan, rng)
                    for slot in self.slots[table]
                )
                for row in database.get(table, ())
            ]
        return with_parents(self.schema, self.hints.kinds, found)

    def _added(
        self,
        slot: ColumnSlot,
        active: list[Cell],
        parents: list[Cell] | None,
        plan: DatabasePlan,
        rng: random.Random,
    ) -> Cell:
        """A cell of a column that the reference does not name."""
        if slot.nullable and rng.random() < max(plan.nulls, 0.1):
            return None
        if parents:
            return rng.choice(parents)
        if slot.values:
            return rng.choice(slot.values)
        if rng.random() < 0.3:
            return self._far(slot, rng, wide=False)
        return self._fit(rng.choice(active), slot.kind)

    def _width(self, root: Place, plan: DatabasePlan, rng: random.Random) -> int:
        """Draw the number of active values of a class: few for columns that groups are made by, if sizes matter."""
        if not plan.sized:
            return plan.n_active
        if root in self.grouped:
            return rng.choice((1, 1, 1, 2))
        if plan.rows > MANY:
            return 1
        return rng.choice((2, 3, 4, 5) if root in self.counted else (1, 1, 2, 3, 4))

    def _draw(
        self,
        pool: list[Cell],
        plain: list[Cell],
        exact: list[Cell],
        width: int,
        at_edge: bool,
        rng: random.Random,
    ) -> list[Cell]:
        """The values that columns of a class mostly hold in one database; the first is the favourite."""
        chosen = [
            rng.choice(pool if pool and rng.random() < 0.75 else plain or [0]) for _ in range(width)
        ]
        if at_edge and exact:
            chosen[0] = rng.choice(exact)
        return list(dict.fromkeys(chosen))

    def _fit(self, value: Cell, kind: str) -> Cell:
        found = self.fitted.get((kind, value))
        if found is None:
            found = self.fitted[(kind, value)] = fitted(value, kind)
        return found

    def _fill(
        self,
        plan: DatabasePlan,
        rng: random.Random,
        active: Mapping[Place, list[Cell]],
        database: Mapping[str, list[Row]],
        table: str,
        wanted: int,
    ) -> list[Row]:
        if not wanted:
            return []
        slots = self.slots[table]
        choices: list[list[Cell]] = []
        for slot in slots:
            if slot.values:
                allowed: list[Cell] = [c for c in active[slot.root] if c in slot.values]
                choices.append(allowed or list(slot.values))
            else:
                choices.append([self._fit(c, slot.kind) for c in active[slot.root]])
        index = {slot.place[1]: at for at, slot in enumerate(slots)}
        keys = [tuple(index[name] for name in key) for key in self.schema.keys.get(table, ())]
        in_keys = {at for key in keys for at in key}
        foreign = self.foreign[table]
        bound = {index[name] for f in foreign for name in f.columns}
        counted = {
            key[0]
            for key in keys
            if plan.sequential
            and len(key) == 1
            and key[0] not in bound
            and slots[key[0]].kind == "int"
        }
        start = rng.choice((0, 1, 1, 1))
        different = self._numbered(plan, rng, slots, keys) if plan.sized else set[int]()
        counted |= different - bound
        # Counts of distinct values stand beside sums and averages: count from what those ask for.
        bases = {
            at: int(rng.choice(edges))
            for at in different
            if slots[at].counted
            and (edges := [c for c in choices[at] if isinstance(c, int) and not slots[at].key])
        }
        seen: list[set[Row]] = [set() for _ in keys]
        rows: list[Row] = []
        chance, nulls, spread, steady = rng.random, plan.nulls, plan.spread, plan.steady
        for number in range(wanted):
            for attempt in range(8):
                cells: list[Cell] = []
                for at, slot in enumerate(slots):
                    if at in counted:
                        cells.append(numbered(bases.get(at, start) + number, slot.kind))
                    elif slot.nullable and chance() < nulls:
                        cells.append(None)
                    elif plan.varied and not slot.key and (edges := self.edges[slot.root]):
                        cells.append(self._fit(rng.choice(edges) + rng.choice(_STEPS), slot.kind))
                    elif not slot.values and (
                        (attempt > 1 and at in in_keys) or (spread and chance() < spread)
                    ):
                        cells.append(self._far(slot, rng, wide=attempt > 1 and at in in_keys))
                    else:
                        some = choices[at]
                        if len(some) == 1 or (steady and chance() < steady):
                            cells.append(some[0])
                        else:
                            cells.append(some[int(chance() * len(some))])
                if foreign and not self._bind(plan, rng, database, rows, foreign, index, cells):
                    return rows
                row = tuple(cells)
                parts = [tuple(row[at] for at in key) for key in keys]
                # A null differs from any other in a unique key; a primary key has none.
                if any(
                    part in known and None not in part
                    for part, known in zip(parts, seen, strict=True)
                ):
                    continue
                for part, known in zip(parts, seen, strict=True):
                    known.add(part)
                rows.append(row)
                break
        if chance() < 0.5:
            rng.shuffle(rows)
        return rows

    def _numbered(
        self,
        plan: DatabasePlan,
        rng: random.Random,
        slots: list[ColumnSlot],
        keys: list[tuple[int, ...]],
    ) -> set[int]:
        """Columns whose values all differ: of each key one, and some whose values are counted."""
        found = {at for at, s in enumerate(slots) if s.counted and rng.random() < 0.6}
        for key in keys:
            free = [at for at in key if not slots[at].grouped] or list(key)
            if not found & set(key):
                found.add(rng.choice(free))
        return {at for at in found if not slots[at].values}

    def _far(self, slot: ColumnSlot, rng: random.Random, *, wide: bool) -> Cell:
        """A value that is not among the active ones; `wide` where keys need many."""
        kind = slot.kind
        if kind == "int" and (wide or rng.random() < 0.7):
            return rng.randint(0, 120) if wide else rng.randint(0 if slot.key else -2, 12)
        if kind == "text" and wide:
            return rng.choice("abcdefgh") + str(rng.randint(0, 9))
        if kind == "date" and (wide or rng.random() < 0.3):
            return str(datetime.date(2020, 2, 20) + datetime.timedelta(rng.randint(0, 60)))
        return self._fit(rng.choice(slot.plain or [0]), kind)

    def _bind(
        self,
        plan: DatabasePlan,
        rng: random.Random,
        database: Mapping[str, list[Row]],
        rows: list[Row],
        foreign: list[Foreign],
        index: Mapping[str, int],
        cells: list[Cell],
    ) -> bool:
        """Give foreign keys parents; False if there is none and nulls are not allowed."""
        for key in foreign:
            slots = self.slots[key.table]
            free = all(slots[index[name]].nullable for name in key.columns)
            # A parent that is drawn later (a circle) has no rows yet; a row may be its own parent.
            itself = key.parent == key.table
            parents = rows if itself else database.get(key.parent, [])
            order = [column.name for column in self.schema.tables[key.parent]]
            places = [order.index(name) for name in key.parent_columns]
            values: Row | None = None
            for _ in range(3):
                if not parents:
                    break
                row = parents[0] if rng.random() < plan.steady else rng.choice(parents)
                found = tuple(row[at] for at in places)
                if None not in found:
                    values = found
                    break
            if (
                itself
                and (not free or rng.random() < 0.1)
                and (values is None or rng.random() < 0.2)
            ):
                values = tuple(cells[at] for at in places)
            if free and (values is None or rng.random() < max(plan.nulls, 0.05)):
                values = (None,) * len(key.columns)
            if values is None:
                return False
            for name, value in zip(key.columns, values, strict=True):
                cells[index[name]] = value
        return True
