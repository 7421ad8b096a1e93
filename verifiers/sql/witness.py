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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from verigym.verifiers.sql.assign import Assignments
from verigym.verifiers.sql.cells import Cell, Database, around, fitted, negative, numbered, usual
from verigym.verifiers.sql.classes import Classes, is_key
from verigym.verifiers.sql.copies import Copy, CopyBuilder
from verigym.verifiers.sql.hints import Hints
from verigym.verifiers.sql.near import Value
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.scopes import Cell as Place
from verigym.verifiers.sql.scopes import Scene
from verigym.verifiers.sql.unasked import Unasked
from verigym.verifiers.sql.uneven import uneven_groups

T = TypeVar("T")

_MAX_SIZE = 60
_MAX_WAYS = 14
_PACK = 6
_LONE = 4
_MAX_NULL_PACKS = 2
_MAX_TURNING = 8
_PLANTED = 100
_MAX_PLANTED = 20


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
        self.scene, self.hints = scene, hints
        self.rng = random.Random(f"{seed}:witness")
        self.negated = frozenset(
            at for at, occurrence in enumerate(scene.occurrences) if occurrence.negated
        )
        self.classes = Classes(scene, schema, hints)
        self.values = Assignments(self.classes, dialect, self.rng)
        self.builder = CopyBuilder(self.classes, self.values.bound, schema, hints.kinds)
        self.base: dict[Place, Cell] = {}
        self.loose: list[Copy] = []

    def close(self) -> None:
        """Close the database in which values are tried."""
        self.values.close()

    def make(self, count: int) -> Iterator[Database]:
        """Yield the databases, at most `count`, the base first."""
        if not self.scene.occurrences:
            return
        self.base = self.values.solve()
        plain = Copy(self.base, missing=self.negated)
        self.loose = [plain]
        seen: set[str] = set()
        given = 0
        for copies in itertools.islice(self._planned(plain, count), count):
            database = self.builder.database(copies)
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
        unasked = Unasked(self.classes, self.values.bound, self._sizes())
        sized = [
            *uneven_groups(self.values, plain),
            *self._sized(plain),
            *unasked.null_groups(plain),
        ]
        room = count - len(first) - len(sized)
        lacking = _evenly(lacking, min(len(lacking), max(1, room // 6)))
        yield from lacking
        yield from sized
        alike = [*self._turning(plain), *unasked.twins(plain)]
        yield from alike
        room -= len(alike)
        ways = list(self._ways(plain))
        # Together first: a row that has a null is missed among others, a group of nulls only on its own.
        nulls, bare = unasked.nulls(plain)
        without = [_renumbered([plain, *pack]) for pack in _packed(nulls, _PACK)[:_MAX_NULL_PACKS]]
        yield from without
        room -= len(without)
        loners = _interleaved(breaking, holding, list(self._restructured(plain)), ways, bare)
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
        first = [
            root
            for root in self.classes.members
            if root in self.values.bound and self._is_first(root)
        ]
        for root in sorted(
            self.values.bound & set(self.classes.members), key=lambda r: (r not in first, r)
        ):
            here = self.base.get(root)
            truth = self.values.truth.get(root, {})
            others = [v for v in self.values.choices[root] if v != here and v is not None]
            breaking: list[Cell] = [v for v in others if truth.get(v) is not True]
            holding = [value for value in others if truth.get(value) is True]
            nulls: list[Cell] = (
                [None] if self.classes.may_be_null(root) and here is not None else []
            )
            breaking = [*breaking[:1], *nulls, *breaking[1:5]]
            for found, values in ((lacking, breaking), (meeting, holding[:4])):
                found.append([replace(plain, values={**self.base, root: v}) for v in values])
        return _interleaved(*lacking), _interleaved(*meeting)

    def _is_first(self, root: Place) -> bool:
        """Return True if a class holds a column whose changes come first."""
        return any(
            (self.scene.occurrences[cell[0]].table, cell[1]) in self.first
            for cell in self.classes.members[root]
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
                column = self.classes.columns.get(cell)
                if cell not in self.classes.keys or cell[1] != one[1]:
                    yield replace(
                        plain, changed={cell: numbered(90 + cell[0], self.classes.kind(cell))}
                    )
                if column is not None and column.nullable:
                    yield replace(plain, changed={cell: None})
        for at in range(len(self.scene.occurrences)):
            if at not in plain.missing:
                yield replace(plain, doubled=at)
        for at in sorted(self.negated):
            yield replace(plain, missing=self.negated - {at})

    def _ways(self, plain: Copy) -> Iterator[Copy]:
        """One way of each OR and CASE alone, and conditions between rows broken one by one."""
        required = {
            n
            for n, atom in enumerate(self.values.atoms)
            if atom.required and n in self.values.tests
        }
        made = 0
        for number, atom in enumerate(self.values.atoms):
            if number not in self.values.tests or made >= _MAX_WAYS:
                continue
            roots = {self.classes.root(cell) for cell in atom.cells}
            if atom.branch >= 0:
                others = {
                    n
                    for n, other in enumerate(self.values.atoms)
                    if other.branch == atom.branch and n != number and n in self.values.tests
                }
                for true, false in ((required | {number}, others), (required, others | {number})):
                    made += 1
                    yield replace(
                        plain,
                        values=self.values.search(self.base, true, false, self.values.choices),
                    )
            elif len(roots) > 1 and atom.required:
                made += 1
                values = self.values.search(
                    self.base, required - {number}, {number}, self.values.choices
                )
                yield replace(plain, values=values)
                near = self.values.search(values, required, set(), self.values.choices)
                yield replace(plain, values=near)

    def _turning(self, plain: Copy) -> list[list[Copy]]:
        """The days at which comparisons of two day columns turn, both sides of each; one database for each first day."""
        required = {n for n, atom in enumerate(self.values.atoms) if atom.required}
        found: list[list[list[Copy]]] = []
        for number, by_day in self.values.turns.items():
            sides = [
                [{**self.base, **side} for turn in turns for side in (turn.holds, turn.fails)]
                for turns in by_day
            ]
            others = required & set(self.values.tests) - {number}
            truths = iter(self.values.try_values([side for pack in sides for side in pack]))
            # What other conditions leave out shows nothing.
            missed = [
                [
                    sum(truth.get(n) is not True for n in others)
                    for _, truth in zip(pack, truths, strict=False)
                ]
                for pack in sides
            ]
            least = min((count for counts in missed for count in counts), default=0)
            packs = [
                [
                    replace(plain, values=side, number=at)
                    for at, (side, count) in enumerate(zip(pack, counts, strict=True))
                    if count == least
                ]
                for pack, counts in zip(sides, missed, strict=True)
            ]
            found.append([pack for pack in packs if pack][:_MAX_TURNING])
        return _interleaved(*found)[:_MAX_TURNING]

    def _sized(self, plain: Copy) -> Iterator[list[Copy]]:
        """Groups with as many rows as are asked for, one fewer and one more."""
        for size in self._sizes():
            for rows in (size, size - 1, size + 1):
                yield [replace(plain, number=at, together=True) for at in range(rows)]

    def _sizes(self) -> list[int]:
        return [size for size in self.hints.sizes if size <= _MAX_SIZE][:2]

    def planted(
        self,
        values: Mapping[tuple[str, str], Sequence[Value]],
        schema: Schema,
        kinds: Mapping[tuple[str, str], str],
    ) -> Iterator[Database]:
        """Return the databases in a larger schema with a copy for each value of a column: none is lost among others.

        Called when `make` is through.
        """
        larger = CopyBuilder(self.classes, self.values.bound, schema, kinds)
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
                root = self.classes.root(own)
                for cell in dict.fromkeys(cells):
                    if root in self.classes.members:
                        copies.append(replace(plain, values={**self.base, root: cell}))
                    else:
                        copies.append(replace(plain, changed={own: cell}))
        for copy in _evenly(copies, min(len(copies), _LONE)):
            yield larger.database([copy])
        for pack in _packed(copies, _PLANTED)[:_MAX_PLANTED]:
            yield larger.database(_renumbered([plain, *pack]))

    def _guided(self, plain: Copy, loose: Sequence[Copy]) -> Database:
        """Some copies under the conditions with few different values, and some beside them."""
        rng = self.rng
        copies: list[Copy] = []
        for number in range(rng.choice((2, 3, 3, 4, 5, 6, 8))):
            values = dict(self.base)
            for root in sorted(self.classes.members):
                if root in self.values.good and root in self.values.bound:
                    if rng.random() < 0.5:
                        values[root] = rng.choice(self.values.good[root])
                elif rng.random() < 0.8 and not any(
                    c in self.classes.keys for c in self.classes.members[root]
                ):
                    values[root] = rng.choice(usual(self.classes.kind(root), self.hints)[:6])
                elif rng.random() < 0.3:
                    values[root] = fitted(rng.choice((1, 2, 3)), self.classes.kind(root))
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
        return self.builder.database(copies)


def _renumbered(copies: Iterable[Copy]) -> list[Copy]:
    return [replace(copy, number=at) for at, copy in enumerate(copies)]


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
