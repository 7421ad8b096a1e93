"""Families of small databases: random, seeded, and full of the edges that hints name.

Each database draws a few active values for every class of columns and repeats them, so that joins
match, groups form and ties occur. Keys are unique, foreign keys have parents, columns that may not
be null are not. The first databases are the smallest: empty, then one row a table.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from verigym.verifiers.sql.cells import Cell, around, fitted, negative, numbered, usual
from verigym.verifiers.sql.hints import Hints, Place
from verigym.verifiers.sql.schema import Foreign, Schema

Row = tuple[Cell, ...]
Database = Mapping[str, list[Row]]

_MANY = 80
_MAX_EDGE = 2**62
_ROWS = (0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 10, 12, 15)
_NULLS = (0.0, 0.15, 0.4)
_STEPS = (-9, -3, -1, 0, 1, 2, 5, 9, 20, 60)


@dataclass(frozen=True)
class _Plan:
    """Parameters by which one database is drawn."""

    rows: int
    nulls: float
    n_active: int
    spread: float
    """Share of cells that leave the active values."""
    steady: float
    """Share of cells that take the class's first active value."""
    sequential: bool
    empty: float
    """Probability that a table stays empty."""
    sized: bool
    """True if `rows` follows a size that a query names."""
    lone: bool
    """True if one table alone gets `rows` of them, the others one or two."""
    exact: bool
    """True if the favourites are the queries' own constants, so that many conditions hold at once."""
    varied: bool = False
    """True if numbers that meet constants differ from row to row, so that the average, the least and
    the greatest of a group fall on different sides of its members."""


def family(
    schema: Schema, hints: Hints, count: int, seed: int, name: str = ""
) -> Iterator[Database]:
    """Yield `count` databases from `seed`, small ones first; more rows where sizes are asked for."""
    maker = _Maker(schema, hints)
    sizes = sorted(_few(hints.sizes))
    for number in range(count):
        rng = random.Random(f"{seed}:{name}{number}")
        yield maker.make(_plan(rng, number, count, sizes), rng)


_MAX_SIZES = 4


def _few(sizes: list[int]) -> list[int]:
    """Four sizes of the first ones noted: the least and the greatest among them."""
    if len(sizes) <= _MAX_SIZES:
        return sizes
    ordered = sorted(sizes)
    return [*ordered[:2], *ordered[-2:]]


class Extender:
    """Adds the tables and columns that a submission names to databases of a reference.

    What the reference reads stays as it is.
    """

    def __init__(self, known: Schema, schema: Schema, hints: Hints, seed: int) -> None:
        self._known, self._schema, self._seed = known, schema, seed
        self._maker = _Maker(schema, hints)

    def extend(self, database: Database, number: int) -> Database:
        """Return the database in the larger schema; the same for the same number."""
        rng = random.Random(f"{self._seed}:more{number}")
        plan = _plan(rng, rng.randint(20, 80), 90, [])
        return self._maker.extend(database, self._known, replace(plan, lone=False), rng)


def _plan(rng: random.Random, number: int, count: int, sizes: list[int]) -> _Plan:
    if number == 0:
        return _Plan(0, 0.0, 1, 0.0, 0.0, True, 1.0, False, False, False)
    rows = _ROWS[min(len(_ROWS) - 1, 1 + number * (len(_ROWS) - 1) // count)]
    sized = bool(sizes) and number % 5 in (2, 4)
    lone = number % 4 == 3 and not sized
    if lone:
        rows = rng.choice((1, 2, 2, 2, 3, 4, 6))
    if sized:
        # Tables of a thousand rows are dear: two of them, where a query counts so far.
        small = [size for size in sizes if size <= _MANY]
        size = rng.choice((sizes if number >= count - 15 else small) or [5, 10])
        if number >= count - 15 and sizes[-1] > _MANY:
            size = rng.choice([size for size in sizes if size > _MANY])
        lone = rng.random() < 0.6 or size > _MANY
        more = (size, size + 1, size + 1) if lone else (size + 3, 2 * size)
        rows = max(1, rng.choice((size - 1, size, size, size + 1, *more)))
        rows = min(rows, 100) if size <= _MANY else size + rng.choice((-1, 0, 0, 1, 1))
    varied = number % 6 == 0 and not (sized or lone)
    return _Plan(
        rows=max(rows, 6) if varied else rows,
        nulls=rng.choice((0.0, 0.0, 0.15) if sized or lone else _NULLS),
        n_active=rng.choice((1, 1, 2, 2, 3) if sized or lone else (1, 2, 2, 3, 3, 4, 6)),
        spread=rng.choice((0.0, 0.0, 0.1) if sized or lone else (0.0, 0.1, 0.3)),
        steady=rng.choice((0.0, 0.3, 0.6, 1.0) if lone and not sized else (0.0, 0.3, 0.6)),
        sequential=rng.random() < 0.6,
        empty=0.12 if number > 2 and not (sized or lone) else 0.0,
        sized=sized,
        lone=lone,
        exact=number % 3 == 1 or (lone and rng.random() < 0.5),
        varied=varied,
    )


@dataclass(frozen=True)
class _Slot:
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


class _Maker:
    """Draws databases of one schema."""

    def __init__(self, schema: Schema, hints: Hints) -> None:
        self.schema, self.hints = schema, hints
        self.order = schema.parents_first()
        self.parents = {key.parent for key in schema.foreign if key.parent != key.table}
        self.slots: dict[str, list[_Slot]] = {}
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
                    _Slot(
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

    def make(self, plan: _Plan, rng: random.Random) -> Database:
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
        self, database: Database, known: Schema, plan: _Plan, rng: random.Random
    ) -> Database:
        """A database of the schema `known` with the tables and columns that it lacks."""
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
        slot: _Slot,
        active: list[Cell],
        parents: list[Cell] | None,
        plan: _Plan,
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

    def _width(self, root: Place, plan: _Plan, rng: random.Random) -> int:
        """Draw the number of active values of a class: few for columns that groups are made by, if sizes matter."""
        if not plan.sized:
            return plan.n_active
        if root in self.grouped:
            return rng.choice((1, 1, 1, 2))
        if plan.rows > _MANY:
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
        plan: _Plan,
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
        self, plan: _Plan, rng: random.Random, slots: list[_Slot], keys: list[tuple[int, ...]]
    ) -> set[int]:
        """Columns whose values all differ: of each key one, and some whose values are counted."""
        found = {at for at, s in enumerate(slots) if s.counted and rng.random() < 0.6}
        for key in keys:
            free = [at for at in key if not slots[at].grouped] or list(key)
            if not found & set(key):
                found.add(rng.choice(free))
        return {at for at in found if not slots[at].values}

    def _far(self, slot: _Slot, rng: random.Random, *, wide: bool) -> Cell:
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
        plan: _Plan,
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


def with_parents(
    schema: Schema, kinds: Mapping[Place, str], database: Mapping[str, list[Row]]
) -> Database:
    """Return the database with a parent added for each foreign key that has none."""
    found = {table: list(database.get(table, ())) for table in schema.tables}
    for table in reversed(schema.parents_first()):
        for key in (key for key in schema.foreign if key.table == table):
            mine, theirs = (
                [[c.name for c in schema.tables[t]].index(name) for name in names]
                for t, names in ((key.table, key.columns), (key.parent, key.parent_columns))
            )
            known = {tuple(row[at] for at in theirs) for row in found[key.parent]}
            for row in list(found[table]):
                part = tuple(row[at] for at in mine)
                if None not in part and part not in known:
                    known.add(part)
                    number = 500 + len(found[key.parent])
                    found[key.parent].append(
                        _parent(
                            schema, kinds, key.parent, dict(zip(theirs, part, strict=True)), number
                        )
                    )
    return without_orphans(schema, found)


def _parent(
    schema: Schema, kinds: Mapping[Place, str], table: str, given: Mapping[int, Cell], number: int
) -> Row:
    """Return a row with some cells given; its own foreign keys are null if they may be."""
    bound = {name for key in schema.foreign if key.table == table for name in key.columns}
    cells: list[Cell] = []
    for at, column in enumerate(schema.tables[table]):
        if at in given:
            cells.append(given[at])
        elif column.nullable and column.name in bound:
            cells.append(None)
        elif column.values:
            cells.append(column.values[number % len(column.values)])
        else:
            cells.append(numbered(number, kinds[(table, column.name)]))
    return tuple(cells)


def without_orphans(schema: Schema, database: Database) -> Database:
    """Return the database without rows whose foreign keys have no parent."""
    left = dict(database)
    changed = bool(schema.foreign)
    while changed:
        changed = False
        for key in schema.foreign:
            mine, theirs = (
                [[c.name for c in schema.tables[table]].index(name) for name in names]
                for table, names in ((key.table, key.columns), (key.parent, key.parent_columns))
            )
            known = {tuple(row[at] for at in theirs) for row in left[key.parent]}
            kept = [
                row
                for row in left[key.table]
                if None in (part := tuple(row[at] for at in mine)) or part in known
            ]
            if len(kept) < len(left[key.table]):
                left[key.table], changed = kept, True
    return left
