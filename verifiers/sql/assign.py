"""Values for the cells of a query under which its conditions hold, or break one by one.

Values are proposed by `solve.py` and tried on SQLite, many at once; where no assignment meets all
conditions, the one that meets most is taken.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlglot import exp

from verigym.verifiers.sql.cells import Cell, Row, around, combined, fitted, negative, usual
from verigym.verifiers.sql.classes import Classes
from verigym.verifiers.sql.engine import QueryFailed
from verigym.verifiers.sql.schema import Column, Schema
from verigym.verifiers.sql.scopes import Atom, cell_name, cell_of
from verigym.verifiers.sql.scopes import Cell as Place
from verigym.verifiers.sql.solve import constant, days_with, part_of, solutions
from verigym.verifiers.sql.sqlite import SqliteEngine
from verigym.verifiers.sql.translate import Untranslatable
from verigym.verifiers.sql.turning_days import TurningDay, turning_days

Values = Mapping[Place, Cell]
"""A value for each class of cells, by the first cell of the class."""

_MAX_PROPOSALS = 24
_TRIES = 64
_ROUNDS = 4
_BATCH = 400
"""Assignments that one query tries, so that none meets the engine's limits."""
_MAX_PAIRS = 3
"""Comparisons of two day columns whose turns are looked for."""
_TABLE = "_cells"
_CASED = ("sqlite", "postgres")
"""Dialects to which upper and lower case are two, so that a text's twin breaks `=`."""


class Assignments:
    """Finds values for the classes of one query."""

    def __init__(self, classes: Classes, dialect: str | None, rng: random.Random) -> None:
        self.classes, self.scene, self.schema = classes, classes.scene, classes.schema
        self.hints, self.rng = classes.hints, rng
        self._cased = dialect in _CASED
        self.proposed = self._proposals()
        self.bound = set(self.proposed)
        self.choices = {root: self._choices(root) for root in classes.members}
        self.atoms = [atom for atom in self.scene.atoms if not self._is_met(atom)]
        self._engine = self._opened(dialect)
        self.good: dict[Place, list[Cell]] = {}
        """Choices that meet a class's own conditions, by class."""
        self.truth: dict[Place, dict[Cell, bool | None]] = {}
        """True if the conditions hold, by class and value of its own (None: unknown)."""
        self.turns: dict[int, list[list[TurningDay]]] = {}
        """Pairs of days beside which a condition turns, by condition and day."""

    def close(self) -> None:
        """Close the database in which values are tried."""
        self._engine.close()

    def _is_met(self, atom: Atom) -> bool:
        """Return True if an equality holds because its sides are one class."""
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
                        found[self.classes.root(cell)].append(value)
                if isinstance(node, exp.Binary):
                    for one, other in ((node.this, node.expression), (node.expression, node.this)):
                        part, value_ = part_of(one), constant(other)
                        cell = cell_of(part[0].name) if part else None
                        if part and cell and value_ is not None and str(value_).isdigit():
                            parts[self.classes.root(cell)][part[1]].append(int(value_))
        for root, asked in parts.items():
            found[root] = [*days_with(asked), *found[root]]
        return found

    def _choices(self, root: Place) -> list[Cell]:
        """Values that a class may take, the most likely ones first."""
        cell = self.classes.members[root][0]
        kind = self.classes.kind(cell)
        listed = next(
            (
                c.values
                for m in self.classes.members[root]
                if (c := self.classes.columns.get(m)) and c.values
            ),
            (),
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
        nulls: list[Cell] = [None] if self.classes.may_be_null(root) else []
        found = list(dict.fromkeys([*near, *usual(kind, self.hints)]))[:60]
        if self.classes.is_key(root) and not any(negative(v) for v in self.proposed.get(root, ())):
            # Ids below zero are legal, and nobody who writes `id % 2 = 1` thinks of them.
            found = [value for value in found if not negative(value)]
        return [*found, *nulls]

    def _opened(self, dialect: str | None) -> SqliteEngine:
        cells = sorted({cell for atom in self.atoms for cell in atom.cells})
        columns = [Column("_row", "int")]
        columns += [Column(cell_name(cell), self.classes.kind(cell)) for cell in cells]
        engine = SqliteEngine(
            Schema({_TABLE: tuple(columns)}), dialect, steps=500_000, max_rows=5000
        )
        self._cells = cells
        self.tests: dict[int, str] = {}
        for number, atom in enumerate(self.atoms):
            shown = exp.select(exp.alias_(atom.tree.copy(), f"_t{number}"))
            try:
                text = engine.printed(shown.from_(exp.to_table(_TABLE)))
                _, rows = engine.run(text)
            except (Untranslatable, QueryFailed):
                continue
            if rows:  # a row from no rows: an aggregate, which says nothing of one row
                continue
            self.tests[number] = text.removeprefix("SELECT ").rpartition(" FROM ")[0]
        return engine

    def try_values(self, many: Sequence[Values]) -> list[dict[int, bool | None]]:
        """Return the truth of each atom under each assignment."""
        if not self.tests:
            return [{} for _ in many]
        if len(many) > _BATCH:
            batches = [many[at : at + _BATCH] for at in range(0, len(many), _BATCH)]
            return [found for batch in batches for found in self.try_values(batch)]
        rows: list[Row] = [
            (at, *(self._value(values, cell) for cell in self._cells))
            for at, values in enumerate(many)
        ]
        numbers = list(self.tests)
        try:
            self._engine.load({_TABLE: rows})
            shown = ", ".join(self.tests.values())
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
        value = values.get(self.classes.root(cell))
        return None if value is None else fitted(value, self.classes.kind(cell))

    def solve(self) -> dict[Place, Cell]:
        """Return the assignment that meets all required conditions, or most."""
        used = sorted({self.classes.root(cell) for atom in self.atoms for cell in atom.cells})
        if not used:
            return {}
        lone: dict[Place, list[int]] = defaultdict(list)
        for number, atom in enumerate(self.atoms):
            roots = {self.classes.root(cell) for cell in atom.cells}
            if len(roots) == 1 and number in self.tests and atom.required:
                lone[roots.pop()].append(number)
        good: dict[Place, list[Cell]] = {}
        unmet = self._sift(used, lone, good)
        if unmet:
            for root in unmet:
                kind = self.classes.kind(self.classes.members[root][0])
                asked = self.proposed.get(root, ())[:_MAX_PROPOSALS]
                found = [c for value in asked if value is not None for c in around(value, kind)[:1]]
                self.choices[root] = list(
                    dict.fromkeys([*self.choices[root], *combined(found, kind)])
                )
            self._sift(unmet, lone, good)
        start = {root: values[0] for root, values in good.items()}
        wanted = {n for n, atom in enumerate(self.atoms) if atom.required and n in self.tests}
        self.good = good
        self._find_turns(start)
        return self.search(start, wanted, set(), good)

    def _find_turns(self, start: Values) -> None:
        """Find the days at which conditions on two day classes turn."""
        for number, atom in enumerate(self.atoms):
            roots = sorted({self.classes.root(cell) for cell in atom.cells})
            kinds = [self.classes.kind(root) for root in roots]
            if (
                len(roots) != 2
                or not {"date", "datetime"}.issuperset(kinds)
                or number not in self.tests
            ):
                continue
            years = [
                int(value[:4])
                for root in roots
                for value in self.good.get(root, ())[:1]
                if isinstance(value, str) and value[:4].isdigit()
            ]
            turns = turning_days(
                number,
                self.tests[number],
                (roots[0], roots[1]),
                "datetime" in kinds,
                years,
                lambda many: self.try_values([{**start, **values} for values in many]),
            )
            if turns:
                self.turns[number] = turns
            if len(self.turns) >= _MAX_PAIRS:
                break

    def _sift(
        self,
        roots: Sequence[Place],
        lone: Mapping[Place, Sequence[int]],
        good: dict[Place, list[Cell]],
    ) -> list[Place]:
        """Record the choices that meet the conditions of their class alone; return the classes
        that have none."""
        longest = max(len(self.choices[root]) for root in roots)
        rows = [
            {root: self.choices[root][at % len(self.choices[root])] for root in roots}
            for at in range(longest)
        ]
        found = self.try_values(rows)
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

    def search(
        self,
        start: Mapping[Place, Cell],
        true: set[int],
        false: set[int],
        choices: Mapping[Place, Sequence[Cell]],
    ) -> dict[Place, Cell]:
        """Return the best of some hundred assignments near `start`."""
        best = dict(start)
        truths = self.try_values([best])[0]
        score = self._score(best, truths, true, false)
        for turn in range(_ROUNDS):
            if score[0] == 0:
                break
            open_atoms = [n for n in true if truths.get(n) is not True]
            open_atoms += [n for n in false if truths.get(n) is not False]
            roots = sorted({self.classes.root(c) for n in open_atoms for c in self.atoms[n].cells})
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
                turning = [n for n in open_atoms if n in self.turns]
                if turning and self.rng.random() < 0.7:
                    number = self.rng.choice(turning)
                    days = self.rng.choice(self.rng.choice(self.turns[number]))
                    changed.update(days.holds if number in true else days.fails)
                many.append(changed)
            for values, found in zip(many, self.try_values(many), strict=True):
                other = self._score(values, found, true, false)
                if other < score:
                    best, truths, score = values, found, other
        return best

    def _score(
        self, values: Values, truths: Mapping[int, bool | None], true: set[int], false: set[int]
    ) -> tuple[int, int]:
        """Count the conditions that are not met, and rows with the same key; least is best."""
        missed = sum(truths.get(n) is not True for n in true)
        missed += sum(truths.get(n) is not False for n in false)
        seen: dict[tuple[object, ...], int] = {}
        clashes = 0
        for at, occurrence in enumerate(self.scene.occurrences):
            for key in self.schema.keys.get(occurrence.table, ()):
                found = [values.get(self.classes.root((at, name))) for name in key]
                if None not in found:
                    clashes += seen.setdefault((occurrence.table, *found), at) != at
        return missed + clashes, missed
