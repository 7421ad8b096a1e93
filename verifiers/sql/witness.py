"""Databases on which the result of a query depends on each of its conditions and joins.

One row for each mention of a table, with values under which all conditions hold, is the base. Each
witness changes one thing: a value beside a constant, a null, a join that breaks, a row that is missing
or there twice, one way of an OR alone, groups of the sizes that are asked for. Values are proposed by
`solve.py` and tried on SQLite, many at once; where no assignment meets all conditions, the one that
meets most is taken.
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy as copy_of
from dataclasses import dataclass, field, replace
from typing import TypeVar

from sqlglot import exp

from verigym.verifiers.sql.cells import Cell, around, combined, fitted, negative, numbered, usual
from verigym.verifiers.sql.databases import Database, Row, with_parents
from verigym.verifiers.sql.engine import QueryFailed
from verigym.verifiers.sql.hints import Hints
from verigym.verifiers.sql.near import Value
from verigym.verifiers.sql.schema import Column, Schema
from verigym.verifiers.sql.scopes import Atom, Scene, cell_name, cell_of
from verigym.verifiers.sql.scopes import Cell as Place
from verigym.verifiers.sql.solve import constant, days_with, part_of, solutions
from verigym.verifiers.sql.sqlite import SqliteEngine
from verigym.verifiers.sql.translate import Untranslatable

T = TypeVar("T")
Values = Mapping[Place, Cell]
"""A value for each class of cells, by the first cell of the class."""

_MAX_PROPOSALS = 24
_TRIES = 64
_ROUNDS = 4
_MAX_SIZE = 60
_MAX_WAYS = 14
_PACK = 6
_LONE = 4
_PLANTED = 100
_MAX_PLANTED = 20
_TABLE = "_cells"
_CASED = ("sqlite", "postgres")
"""Dialects to which upper and lower case are two, so that a text's twin breaks `=`."""


@dataclass(frozen=True)
class Copy:
    """One row for each occurrence, under `values`; free cells differ from copy to copy."""

    values: Values
    number: int = 0
    changed: Values = field(default_factory=dict)
    """Single cells that leave their class."""
    missing: frozenset[int] = frozenset()
    doubled: int = -1
    """An occurrence whose row is there twice, -1 for none."""
    together: bool = False
    """Whether copies share the values of what groups are made by."""


class Witnesses:
    """Draws the witnesses of one query."""

    def __init__(
        self,
        scene: Scene,
        schema: Schema,
        hints: Hints,
        dialect: str | None,
        seed: int,
        first: Collection[tuple[str, str]] = (),
    ) -> None:
        self.first = first
        self.scene, self.schema, self.hints = scene, schema, hints
        self.rng = random.Random(f"{seed}:witness")
        self.roots: dict[Place, Place] = {}
        self.negated = frozenset(
            at for at, occurrence in enumerate(scene.occurrences) if occurrence.negated
        )
        for one, other in scene.equal:
            low, high = sorted((self.root(one), self.root(other)))
            self.roots[high] = low
        self.members: dict[Place, list[Place]] = defaultdict(list)
        cells = {cell for atom in scene.atoms for cell in atom.cells}
        cells |= {cell for pair in scene.equal for cell in pair} | scene.grouped | scene.ordered
        for cell in sorted(cells):
            self.members[self.root(cell)].append(cell)
        self.columns = {
            cell: column
            for cells in self.members.values()
            for cell in cells
            if (column := schema.column(scene.occurrences[cell[0]].table, cell[1]))
        }
        self.keys = {
            (at, name)
            for at, occurrence in enumerate(scene.occurrences)
            for key in schema.keys.get(occurrence.table, ())
            for name in key
        }
        self._cased = dialect in _CASED
        self.proposed = self._proposals()
        self.bound = set(self.proposed)
        self.choices = {root: self._choices(root) for root in self.members}
        self.atoms = [atom for atom in scene.atoms if not self._is_met(atom)]
        self._engine, self._names = self._opened(dialect)
        self.base: dict[Place, Cell] = {}
        self.loose: list[Copy] = []
        self.truth: dict[Place, dict[Cell, bool | None]] = {}
        """For each class and value of its own: whether its conditions hold (None: unknown)."""

    def close(self) -> None:
        self._engine.close()

    def root(self, cell: Place) -> Place:
        while self.roots.get(cell, cell) != cell:
            cell = self.roots[cell]
        return cell

    def _kind(self, cell: Place) -> str:
        table = self.scene.occurrences[cell[0]].table
        return self.hints.kinds.get((table, cell[1]), "int")

    def _is_met(self, atom: Atom) -> bool:
        """Whether an equality holds because its sides are one class."""
        plain = atom.tree.unnest()
        return (
            atom.required
            and isinstance(plain, exp.EQ)
            and len(atom.cells) == 2
            and isinstance(plain.this.unnest(), exp.Column)
            and isinstance(plain.expression.unnest(), exp.Column)
        )

    def _proposals(self) -> dict[Place, list[Cell]]:
        """Values that conditions ask for, by class."""
        found: dict[Place, list[Cell]] = defaultdict(list)
        parts: dict[Place, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for atom in self.scene.atoms:
            for node in atom.tree.walk():
                if not isinstance(node, exp.Predicate | exp.In | exp.Between):
                    continue
                for column, value in solutions(node):
                    cell = cell_of(column.name)
                    if cell is not None:
                        found[self.root(cell)].append(value)
                if isinstance(node, exp.Binary):
                    for one, other in ((node.this, node.expression), (node.expression, node.this)):
                        part, value_ = part_of(one), constant(other)
                        cell = cell_of(part[0].name) if part else None
                        if part and cell and value_ is not None and str(value_).isdigit():
                            parts[self.root(cell)][part[1]].append(int(value_))
        for root, asked in parts.items():
            found[root] = [*days_with(asked), *found[root]]
        return found

    def _choices(self, root: Place) -> list[Cell]:
        """Values that a class may take, the most likely ones first."""
        cell = self.members[root][0]
        kind = self._kind(cell)
        listed = next(
            (c.values for m in self.members[root] if (c := self.columns.get(m)) and c.values), ()
        )
        if listed:
            return list(listed)
        near: list[Cell] = []
        for value in self.proposed.get(root, ())[:_MAX_PROPOSALS]:
            if value is not None:
                near += around(value, kind)[:1]
        if self._cased and kind == "text":
            near += [twin for v in near if isinstance(v, str) and (twin := v.swapcase()) != v]
        for value in self.proposed.get(root, ())[:_MAX_PROPOSALS]:
            if value is not None:
                near += around(value, kind)[1:]
        place = (self.scene.occurrences[cell[0]].table, cell[1])
        if root in self.bound:
            for value in self.hints.values.get(place, ())[:_MAX_PROPOSALS]:
                near += around(value, kind)[:1]
        nulls: list[Cell] = [None] if self._may_be_null(root) else []
        found = list(dict.fromkeys([*near, *usual(kind, self.hints)]))[:60]
        if self._is_key(root) and not any(negative(v) for v in self.proposed.get(root, ())):
            # Ids below zero are legal, and nobody who writes `id % 2 = 1` thinks of them.
            found = [value for value in found if not negative(value)]
        return [*found, *nulls]

    def _is_key(self, root: Place) -> bool:
        """Whether a class holds keys or references to them."""
        return any(
            is_key(self.schema, self.scene.occurrences[cell[0]].table, cell[1])
            for cell in self.members[root]
        )

    # Trying values.

    def _opened(self, dialect: str | None) -> tuple[SqliteEngine, dict[Place, str]]:
        cells = sorted({cell for atom in self.atoms for cell in atom.cells})
        columns = [Column("_row", "int")]
        columns += [Column(cell_name(cell), self._kind(cell)) for cell in cells]
        engine = SqliteEngine(
            Schema({_TABLE: tuple(columns)}), dialect, steps=500_000, max_rows=5000
        )
        self._cells = cells
        self._tests: dict[int, str] = {}
        for number, atom in enumerate(self.atoms):
            shown = exp.select(exp.alias_(atom.tree.copy(), f"_t{number}"))
            try:
                text = engine.printed(shown.from_(exp.to_table(_TABLE)))
                engine.run(text)
            except (Untranslatable, QueryFailed):
                continue
            self._tests[number] = text.removeprefix("SELECT ").rpartition(" FROM ")[0]
        return engine, {cell: cell_name(cell) for cell in cells}

    def _try(self, many: Sequence[Values]) -> list[dict[int, bool | None]]:
        """Which atoms hold under each assignment."""
        if not self._tests:
            return [{} for _ in many]
        rows: list[Row] = [
            (at, *(self._value(values, cell) for cell in self._cells))
            for at, values in enumerate(many)
        ]
        numbers = list(self._tests)
        try:
            self._engine.load({_TABLE: rows})
            shown = ", ".join(self._tests.values())
            _, found = self._engine.run(f"SELECT {shown} FROM `{_TABLE}` ORDER BY `_row`")
        except QueryFailed:
            return [{} for _ in many]
        return [
            {
                number: None if value is None else bool(value)
                for number, value in zip(numbers, row, strict=True)
            }
            for row in found
        ]

    def _value(self, values: Values, cell: Place) -> Cell:
        value = values.get(self.root(cell))
        return None if value is None else fitted(value, self._kind(cell))

    def _solve(self) -> dict[Place, Cell]:
        """The assignment that meets all required conditions, or most."""
        used = sorted({self.root(cell) for atom in self.atoms for cell in atom.cells})
        if not used:
            return {}
        lone: dict[Place, list[int]] = defaultdict(list)
        for number, atom in enumerate(self.atoms):
            roots = {self.root(cell) for cell in atom.cells}
            if len(roots) == 1 and number in self._tests and atom.required:
                lone[roots.pop()].append(number)
        good: dict[Place, list[Cell]] = {}
        unmet = self._sift(used, lone, good)
        if unmet:
            for root in unmet:
                kind = self._kind(self.members[root][0])
                asked = self.proposed.get(root, ())[:_MAX_PROPOSALS]
                found = [c for value in asked if value is not None for c in around(value, kind)[:1]]
                self.choices[root] = list(
                    dict.fromkeys([*self.choices[root], *combined(found, kind)])
                )
            self._sift(unmet, lone, good)
        start = {root: values[0] for root, values in good.items()}
        wanted = {n for n, atom in enumerate(self.atoms) if atom.required and n in self._tests}
        self.good = good
        return self._search(start, wanted, set(), good)

    def _sift(
        self,
        roots: Sequence[Place],
        lone: Mapping[Place, Sequence[int]],
        good: dict[Place, list[Cell]],
    ) -> list[Place]:
        """Note which choices meet the conditions of their class alone; give the classes where none does."""
        longest = max(len(self.choices[root]) for root in roots)
        rows = [
            {root: self.choices[root][at % len(self.choices[root])] for root in roots}
            for at in range(longest)
        ]
        found = self._try(rows)
        unmet: list[Place] = []
        for root in roots:
            own = lone.get(root, ())
            met: dict[Cell, int] = {}
            for values, truths in zip(rows, found, strict=True):
                met[values[root]] = sum(truths.get(number) is True for number in own)
            best = max(met.values(), default=0)
            good[root] = [value for value in self.choices[root] if met.get(value, 0) == best]
            self.truth[root] = {
                value: count == len(own) if own else None for value, count in met.items()
            }
            if best < len(own):
                unmet.append(root)
        return unmet

    def _search(
        self,
        start: Mapping[Place, Cell],
        true: set[int],
        false: set[int],
        choices: Mapping[Place, Sequence[Cell]],
    ) -> dict[Place, Cell]:
        """The best of some hundred assignments near `start`."""
        best = dict(start)
        truths = self._try([best])[0]
        score = self._score(best, truths, true, false)
        for turn in range(_ROUNDS):
            if score[0] == 0:
                break
            open_atoms = [n for n in true if truths.get(n) is not True]
            open_atoms += [n for n in false if truths.get(n) is not False]
            roots = sorted({self.root(c) for n in open_atoms for c in self.atoms[n].cells})
            if not roots:
                break
            many: list[dict[Place, Cell]] = []
            for _ in range(_TRIES):
                changed = dict(best)
                for root in self.rng.sample(roots, min(len(roots), 1 + self.rng.randrange(3))):
                    wide = (
                        self.choices[root] if turn % 2 else choices.get(root) or self.choices[root]
                    )
                    changed[root] = self.rng.choice(wide)
                many.append(changed)
            for values, found in zip(many, self._try(many), strict=True):
                other = self._score(values, found, true, false)
                if other < score:
                    best, truths, score = values, found, other
        return best

    def _score(
        self, values: Values, truths: Mapping[int, bool | None], true: set[int], false: set[int]
    ) -> tuple[int, int]:
        """How many conditions are not met, rows of one key counted; least is best."""
        missed = sum(truths.get(n) is not True for n in true)
        missed += sum(truths.get(n) is not False for n in false)
        seen: dict[tuple[object, ...], int] = {}
        clashes = 0
        for at, occurrence in enumerate(self.scene.occurrences):
            for key in self.schema.keys.get(occurrence.table, ()):
                found = [values.get(self.root((at, name))) for name in key]
                if None not in found:
                    clashes += seen.setdefault((occurrence.table, *found), at) != at
        return missed + clashes, missed

    # Building databases.

    def make(self, count: int) -> Iterator[Database]:
        """The databases, at most `count`, the base first."""
        if not self.scene.occurrences:
            return
        self.base = self._solve()
        plain = Copy(self.base, missing=self.negated)
        self.loose = [plain]
        seen: set[str] = set()
        given = 0
        for copies in itertools.islice(self._planned(plain, count), count):
            database = self._database(copies)
            text = repr(database)
            if text not in seen:
                seen.add(text)
                given += 1
                yield database
        while given < count:
            given += 1
            yield self._guided(plain, self.loose)

    def _planned(self, plain: Copy, count: int) -> Iterator[list[Copy]]:
        """The copies of each database; `loose` has the changed ones once the first are through."""
        fresh = replace(plain, number=1)
        first = [[plain], [plain, fresh], [plain, replace(fresh, together=True)]]
        if self.negated:
            first.append([replace(plain, missing=frozenset())])
        yield from first
        breaking, holding = self._changed(plain)
        # Copies that all lack something: whoever shows one of them shows too much.
        lacking = [_renumbered(pack) for pack in _packed(breaking, 2 * _PACK)]
        sized = list(self._sized(plain))
        room = count - len(first) - len(sized)
        lacking = _evenly(lacking, min(len(lacking), max(1, room // 6)))
        yield from lacking
        yield from sized
        ways = list(self._ways(plain))
        loners = _interleaved(breaking, holding, list(self._restructured(plain)), ways)
        self.loose = loners or [plain]
        packs = [_renumbered([*pack[::2], plain, *pack[1::2]]) for pack in _packed(loners, _PACK)]
        packs = _evenly(packs, min(len(packs), max(1, room // 5)))
        n_guided = max(2, room // 4)
        for copy in loners[: max(0, room - n_guided - len(packs) - len(lacking))]:
            yield [copy]
        yield from packs

    def _changed(self, plain: Copy) -> tuple[list[Copy], list[Copy]]:
        """One class beside its constants each time: what breaks a condition, and what does not."""
        lacking: list[list[Copy]] = []
        meeting: list[list[Copy]] = []
        first = [root for root in self.members if root in self.bound and self._is_first(root)]
        for root in sorted(self.bound & set(self.members), key=lambda r: (r not in first, r)):
            here = self.base.get(root)
            truth = self.truth.get(root, {})
            others = [v for v in self.choices[root] if v != here and v is not None]
            breaking: list[Cell] = [v for v in others if truth.get(v) is not True]
            holding = [value for value in others if truth.get(value) is True]
            nulls: list[Cell] = [None] if self._may_be_null(root) and here is not None else []
            breaking = [*breaking[:1], *nulls, *breaking[1:5]]
            for found, values in ((lacking, breaking), (meeting, holding[:4])):
                found.append([replace(plain, values={**self.base, root: v}) for v in values])
        return _interleaved(*lacking), _interleaved(*meeting)

    def _is_first(self, root: Place) -> bool:
        """Whether a class holds a column whose changes come first."""
        return any(
            (self.scene.occurrences[cell[0]].table, cell[1]) in self.first
            for cell in self.members[root]
        )

    def _may_be_null(self, root: Place) -> bool:
        return all(
            (column := self.columns.get(cell)) is not None and column.nullable
            for cell in self.members[root]
        )

    def _restructured(self, plain: Copy) -> Iterator[Copy]:
        """Joins that break, rows that are missing or there twice."""
        for at in range(len(self.scene.occurrences)):
            if at not in plain.missing and len(self.scene.occurrences) > 1:
                yield replace(plain, missing=plain.missing | {at})
        for one, other in self.scene.equal:
            for cell in (one, other):
                if cell[0] in plain.missing:
                    continue
                column = self.columns.get(cell)
                if cell not in self.keys or cell[1] != one[1]:
                    yield replace(plain, changed={cell: numbered(90 + cell[0], self._kind(cell))})
                if column is not None and column.nullable:
                    yield replace(plain, changed={cell: None})
        for at in range(len(self.scene.occurrences)):
            if at not in plain.missing:
                yield replace(plain, doubled=at)
        for at in sorted(self.negated):
            yield replace(plain, missing=self.negated - {at})

    def _ways(self, plain: Copy) -> Iterator[Copy]:
        """One way of each OR and CASE alone, and conditions between rows broken one by one."""
        required = {n for n, atom in enumerate(self.atoms) if atom.required and n in self._tests}
        made = 0
        for number, atom in enumerate(self.atoms):
            if number not in self._tests or made >= _MAX_WAYS:
                continue
            roots = {self.root(cell) for cell in atom.cells}
            if atom.branch >= 0:
                others = {
                    n
                    for n, other in enumerate(self.atoms)
                    if other.branch == atom.branch and n != number and n in self._tests
                }
                for true, false in ((required | {number}, others), (required, others | {number})):
                    made += 1
                    yield replace(plain, values=self._search(self.base, true, false, self.choices))
            elif len(roots) > 1 and atom.required:
                made += 1
                values = self._search(self.base, required - {number}, {number}, self.choices)
                yield replace(plain, values=values)
                near = self._search(values, required, set(), self.choices)
                yield replace(plain, values=near)

    def _sized(self, plain: Copy) -> Iterator[list[Copy]]:
        """Groups with as many rows as are asked for, one fewer and one more."""
        for size in [size for size in self.hints.sizes if size <= _MAX_SIZE][:2]:
            for rows in (size, size - 1, size + 1):
                yield [replace(plain, number=at, together=True) for at in range(rows)]

    def planted(
        self,
        values: Mapping[tuple[str, str], Sequence[Value]],
        schema: Schema,
        kinds: Mapping[tuple[str, str], str],
    ) -> Iterator[Database]:
        """Databases in a larger schema with a copy for each value of a column: none is lost among others.

        Called when `make` is through.
        """
        larger = copy_of(self)
        larger.schema, larger.hints = schema, replace(self.hints, kinds=dict(kinds))
        plain = Copy(self.base, missing=self.negated)
        copies: list[Copy] = []
        for place in sorted(values):
            kind = kinds.get(place, "int")
            cells = [cell for value in values[place] for cell in around(value, kind)[:1]]
            near = [cell for value in values[place][:20] for cell in around(value, kind)[1:]]
            if is_key(schema, *place):
                near = [cell for cell in near if not negative(cell)]
            cells += near
            for at, occurrence in enumerate(self.scene.occurrences):
                if occurrence.table != place[0] or at in plain.missing:
                    continue
                own = (at, place[1])
                root = self.root(own)
                for cell in dict.fromkeys(cells):
                    if root in self.members:
                        copies.append(replace(plain, values={**self.base, root: cell}))
                    else:
                        copies.append(replace(plain, changed={own: cell}))
        for copy in _evenly(copies, min(len(copies), _LONE)):
            yield larger._database([copy])
        for pack in _packed(copies, _PLANTED)[:_MAX_PLANTED]:
            yield larger._database(_renumbered([plain, *pack]))

    def _guided(self, plain: Copy, loose: Sequence[Copy]) -> Database:
        """Some copies under the conditions with few different values, and some beside them."""
        rng = self.rng
        copies: list[Copy] = []
        for number in range(rng.choice((2, 3, 3, 4, 5, 6, 8))):
            values = dict(self.base)
            for root in sorted(self.members):
                if root in getattr(self, "good", {}) and root in self.bound:
                    if rng.random() < 0.5:
                        values[root] = rng.choice(self.good[root])
                elif rng.random() < 0.8 and not any(c in self.keys for c in self.members[root]):
                    values[root] = rng.choice(usual(self._kind(root), self.hints)[:6])
                elif rng.random() < 0.3:
                    values[root] = fitted(rng.choice((1, 2, 3)), self._kind(root))
            copy = replace(plain, values=values, number=number, together=rng.random() < 0.4)
            if rng.random() < 0.3:
                other = rng.choice(loose)
                changed = {
                    root: value
                    for root, value in other.values.items()
                    if value != self.base.get(root)
                }
                copy = replace(
                    copy,
                    values={**values, **changed},
                    changed=other.changed,
                    missing=other.missing,
                    doubled=other.doubled,
                )
            copies.append(copy)
        return self._database(copies)

    def _database(self, copies: Iterable[Copy]) -> Database:
        database: dict[str, list[Row]] = {table: [] for table in self.schema.tables}
        seen: dict[tuple[str, tuple[str, ...]], set[Row]] = defaultdict(set)
        for copy in copies:
            for at, occurrence in enumerate(self.scene.occurrences):
                if at in copy.missing:
                    continue
                for again in (False, True)[: 1 + (copy.doubled == at)]:
                    row = self._row(copy, at, again=again)
                    self._add(database, seen, occurrence.table, row)
        return with_parents(self.schema, self.hints.kinds, database)

    def _add(
        self,
        database: dict[str, list[Row]],
        seen: dict[tuple[str, tuple[str, ...]], set[Row]],
        table: str,
        row: Row,
    ) -> None:
        index = {column.name: at for at, column in enumerate(self.schema.tables[table])}
        parts = [
            (seen[(table, key)], tuple(row[index[name]] for name in key))
            for key in self.schema.keys.get(table, ())
        ]
        if any(part in known and None not in part for known, part in parts):
            return
        for known, part in parts:
            known.add(part)
        database[table].append(row)

    def _row(self, copy: Copy, at: int, *, again: bool) -> Row:
        occurrence = self.scene.occurrences[at]
        cells: list[Cell] = []
        width = len(self.scene.occurrences)
        number = 1 + at + width * (copy.number + 50 * again)
        for column in self.schema.tables[occurrence.table]:
            cell = (at, column.name)
            root = self.root(cell)
            kind = self._kind(cell)
            own = number
            if again and (root in self.members and len(self.members[root]) > 1):
                own = 1 + root[0] + width * copy.number  # What others are joined by stays.
            elif root in self.members:
                own = 1 + root[0] + width * (copy.number + 50 * again)
            if copy.together and any(c in self.scene.grouped for c in self.members.get(root, ())):
                own = 1 + root[0]
            value: Cell
            if cell in copy.changed:
                value = copy.changed[cell]
            elif root in copy.values and not (again and cell in self.keys and self._is_free(root)):
                value = copy.values[root]
                value = None if value is None else fitted(value, kind)
            else:
                value = _free(column, kind, own)
            if value is None and not column.nullable:
                value = _free(column, kind, own)
            if column.values and value is not None and value not in column.values:
                value = column.values[own % len(column.values)]
            cells.append(value)
        return tuple(cells)

    def _is_free(self, root: Place) -> bool:
        return root not in self.bound and len(self.members.get(root, ())) < 2


def is_key(schema: Schema, table: str, name: str) -> bool:
    """Whether a column is part of a key, or refers to one."""
    return any(name in key for key in schema.keys.get(table, ())) or any(
        name in key.columns for key in schema.foreign if key.table == table
    )


def _renumbered(copies: Iterable[Copy]) -> list[Copy]:
    return [replace(copy, number=at) for at, copy in enumerate(copies)]


def _free(column: Column, kind: str, number: int) -> Cell:
    """A value of a column that nothing is asked of."""
    if column.values:
        return column.values[number % len(column.values)]
    if kind == "bool":
        return number % 2
    if kind == "time":
        return f"{number % 24:02}:30:00"
    return numbered(number, kind)


def _columns(lists: Iterable[Sequence[T]]) -> Iterator[list[T]]:
    """First all first members, then all second ones, and so on."""
    for at in range(max(map(len, lists), default=0)):
        yield [one[at] for one in lists if at < len(one)]


def _interleaved(*lists: Sequence[T]) -> list[T]:
    return [one for row in _columns(lists) for one in row]


def _packed(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def _evenly(items: Sequence[T], count: int) -> list[T]:
    return [items[at * len(items) // count] for at in range(count)] if count else []
