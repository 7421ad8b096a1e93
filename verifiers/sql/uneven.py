"""Groups of rows with uneven values, on which aggregates, windows and orders show what they do.

In a group the values of a column are an anchor three times, one a step above it and one three steps above
it, in mixed order; or downwards. So the mean is not the mean of the different values, and one row lies between the two;
sums and counts of different values are less; rows tie, and no order of values is that of the ids. Anchors
are chosen so that each condition on the column holds for the whole group or for none of it, or so that a
constant that an aggregate is compared with lies between the mean and the mean of the different values.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from verigym.verifiers.sql.assign import Assignments
from verigym.verifiers.sql.cells import Cell, fitted
from verigym.verifiers.sql.classes import is_key
from verigym.verifiers.sql.copies import Copy
from verigym.verifiers.sql.hints import Place
from verigym.verifiers.sql.near import days_near
from verigym.verifiers.sql.scopes import Cell as Slot
from verigym.verifiers.sql.scopes import cell_of

Ladder = tuple[Cell, Cell, Cell]
"""The anchor, a value a step above it, and one three steps above it."""

_RUNGS = (0, 2, 0, 1, 0)
_STEPS = (5, 1)
_MAX_ANCHORS = 3
_MAX_BETWEEN = 2
_MAX_SIZE = 60
_MAX_CONSTANTS = 6
_LARGEST = 2**40
_ANCHORS = (1, 50)
_FIRST_DAY = "2020-03-01"
_TEXTS = ("a", "b", "c")
_ORDERS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NEQ, exp.EQ)


def uneven_groups(values: Assignments, plain: Copy) -> Iterator[list[Copy]]:
    """Return the copies of `plain` that make up one group each, of five rows, or of as many as are counted."""
    columns = _columns(values)
    shown = {values.classes.place(cell) for cell in [*values.scene.measured, *values.scene.ordered]}
    ladders: dict[Place, list[Ladder]] = {}
    for place, roots in columns.items():
        if found := _ladders(values, place, roots):
            ladders[place] = found if place in shown else found[:1]
    for number in range(max(map(len, ladders.values()), default=0)):
        chosen = {place: found[number % len(found)] for place, found in ladders.items()}
        compared = _compared(values, chosen)
        copies: list[Copy] = []
        for at in range(len(_RUNGS)):
            changed: dict[Slot, Cell] = {}
            for turn, (place, ladder) in enumerate(chosen.items()):
                rung = _RUNGS[(at + turn) % len(_RUNGS)]
                changed |= dict.fromkeys(columns[place], ladder[rung])
            copies.append(_member(plain, changed | compared, at))
        yield copies
    yield from _equal_groups(values, plain, columns)


def _equal_groups(
    values: Assignments, plain: Copy, columns: dict[Place, list[Slot]]
) -> Iterator[list[Copy]]:
    """Groups of rows with one value, so that its sum or count is on the other side of a constant.

    Where nulls may be, one row of a group that is just large enough has a null, which COUNT(*) counts.
    """
    for place, roots in columns.items():
        functions = _functions(values, place)
        if "Sum" in functions:
            for number in [n for n in _constants(values, place) if n > 1][:_MAX_BETWEEN]:
                half: dict[Slot, Cell] = dict.fromkeys(roots, number // 2 + 1)
                yield [_member(plain, half, at) for at in range(2)]
                yield from _with_nulls(values, plain, place, roots, number)
        if "Count" in functions:
            for size in [n for n in values.hints.sizes if n < _MAX_SIZE][:1]:
                same: dict[Slot, Cell] = dict.fromkeys(roots, values.choices.get(roots[0], [1])[0])
                yield [_member(plain, same, at) for at in range(size + 1)]
                null: dict[Slot, Cell] = dict.fromkeys(roots)
                column = values.classes.schema.column(*place)
                if column is not None and column.nullable:
                    yield [_member(plain, same if at else null, at) for at in range(size)]


def _with_nulls(
    values: Assignments, plain: Copy, place: Place, roots: Sequence[Slot], number: int
) -> Iterator[list[Copy]]:
    """A sum above a constant from one row among nulls, and one of rows that have no group's key."""
    rows = min([size for size in values.hints.sizes if size < _MAX_SIZE], default=1) + 1
    column = values.classes.schema.column(*place)
    if column is not None and column.nullable:
        large: dict[Slot, Cell] = dict.fromkeys(roots, number + 1)
        null: dict[Slot, Cell] = dict.fromkeys(roots)
        yield [_member(plain, null if at else large, at) for at in range(rows)]
    keys = {values.classes.root(cell) for cell in values.scene.grouped} - values.bound
    keyless = [root for root in sorted(keys) if values.classes.may_be_null(root)]
    for root in keyless[:1]:
        each: dict[Slot, Cell] = {**dict.fromkeys(roots, number // rows + 1), root: None}
        yield [_member(plain, each, at) for at in range(rows)]


def _member(plain: Copy, changed: dict[Slot, Cell], number: int) -> Copy:
    return replace(plain, values={**plain.values, **changed}, number=number, together=True)


def _columns(values: Assignments) -> dict[Place, list[Slot]]:
    """Columns whose values may differ within a group, neither keys nor joined, with the classes of their cells."""
    classes, scene = values.classes, values.scene
    grouped = {classes.root(cell) for cell in scene.grouped}
    tables = dict.fromkeys(occurrence.table for occurrence in scene.occurrences)
    places = [(table, c.name) for table in tables for c in classes.schema.tables[table]]
    found: dict[Place, list[Slot]] = {}
    for place in places:
        column = classes.schema.column(*place)
        kind = values.hints.kinds.get(place, "int")
        if column is None or column.values or kind in ("bool", "time", "enum"):
            continue
        roots = {
            classes.root((at, place[1]))
            for at, occurrence in enumerate(scene.occurrences)
            if occurrence.table == place[0]
        }
        if roots & grouped or is_key(classes.schema, *place):
            continue
        # What rows are joined by stays one value, or each row would meet no other, or many.
        if all({place} >= set(map(classes.place, classes.members.get(root, ()))) for root in roots):
            found[place] = sorted(roots)
    return found


def _functions(values: Assignments, place: Place) -> set[str]:
    """Names of the aggregates that are computed of a column."""
    return {
        name
        for cell, names in values.scene.measured.items()
        if values.classes.place(cell) == place
        for name in names
    }


def _constants(values: Assignments, place: Place) -> list[int]:
    """Whole numbers that a column, or what is computed of it, is compared with."""
    exact = values.hints.exact.get(place, ())
    found = [round(v) for v in exact if isinstance(v, int | float) and abs(v) < _LARGEST]
    return list(dict.fromkeys(found))[:_MAX_CONSTANTS]


def _ladders(values: Assignments, place: Place, roots: Sequence[Slot]) -> list[Ladder]:
    """Ladders for a column: those of which conditions hold for all or none, then those around constants."""
    kind = values.hints.kinds.get(place, "int")
    even = _candidates(values, place, roots, kind)
    between: list[Ladder] = []
    functions = _functions(values, place) if kind in ("int", "real") else set()
    if "Avg" in functions:
        between = [(n - 1, n, n + 2) for n in _constants(values, place)]
    if functions >= {"Max", "Min"}:
        # As far apart as a constant says, and one further.
        between += [
            (1, 2, 1 + n + off) for n in _constants(values, place) for off in (1, 0) if n > 0
        ]
    numbers = [
        number
        for number, atom in enumerate(values.atoms)
        if number in values.tests
        and not atom.grouped
        and {values.classes.root(cell) for cell in atom.cells} <= set(roots)
    ]
    required = {number for number in numbers if values.atoms[number].required}
    rows = [dict.fromkeys(roots, value) for ladder in [*even, *between] for value in ladder]
    truths = values.try_values(rows) if numbers else [{} for _ in rows]
    found: dict[tuple[bool | None, ...], Ladder] = {}
    around: list[Ladder] = []
    most: tuple[int, Ladder | None] = (-1, None)
    for at, ladder in enumerate([*even, *between]):
        three = truths[3 * at : 3 * at + 3]
        met = sum(truth.get(number) is True for truth in three for number in required)
        if met < 3 * len(required):
            most = max(most, (met, ladder), key=lambda pair: pair[0])
            continue
        signs = tuple(three[0].get(number) for number in numbers)
        if at >= len(even):
            around.append(ladder)
        elif all(tuple(truth.get(number) for number in numbers) == signs for truth in three):
            found.setdefault(signs, ladder)
    first = list(found.values())[:_MAX_ANCHORS]
    if not first and most[1] is not None:
        first = [most[1]]
    return [*first, *map(_mirrored, first[:1]), *around[:_MAX_BETWEEN]]


def _mirrored(ladder: Ladder) -> Ladder:
    """The ladder downwards, so that the rows that tie come first in the other order."""
    low, middle, high = ladder
    if (
        isinstance(low, str | None)
        or isinstance(middle, str | None)
        or isinstance(high, str | None)
    ):
        return high, middle, low
    return high, high - (middle - low), low


def _candidates(
    values: Assignments, place: Place, roots: Sequence[Slot], kind: str
) -> list[Ladder]:
    """Ladders on either side of the constants of a column, and plain ones."""
    if kind in ("date", "datetime"):
        asked = [v for v in values.hints.exact.get(place, ()) if isinstance(v, str)]
        days = [day for v in asked[:_MAX_CONSTANTS] if (day := next(iter(days_near(v)), None))]
        return [
            _days(day, shift, kind)
            for day in [*dict.fromkeys(days), _FIRST_DAY]
            for shift in (1, -16)
        ]
    if kind in ("int", "real"):
        anchors = [
            (anchor, step)
            for step in _STEPS
            for n in _constants(values, place)
            for anchor in (n + 1, n - 1 - 3 * step)
        ]
        anchors += [(anchor, step) for step in _STEPS for anchor in _ANCHORS]
        return [(anchor, anchor + step, anchor + 3 * step) for anchor, step in anchors]
    good = [v for root in roots for v in values.good.get(root, ()) if isinstance(v, str)]
    texts = sorted(set(good if any(root in values.bound for root in roots) else _TEXTS))[:3]
    return [(texts[0], texts[1], texts[-1])] if len(texts) > 1 else []


def _days(day: str, shift: int, kind: str) -> Ladder:
    first = datetime.date.fromisoformat(day)
    clock = " 00:00:00" if kind == "datetime" else ""
    low, middle, high = (
        str(first + datetime.timedelta(shift + step)) + clock for step in (0, 5, 15)
    )
    return low, middle, high


def _compared(values: Assignments, chosen: dict[Place, Ladder]) -> dict[Slot, Cell]:
    """Values of other columns between what an aggregate gives and what it gives of different values."""
    found: dict[Slot, Cell] = {
        values.classes.root(cell): fitted(len(_RUNGS) - 1, values.classes.kind(cell))
        for cell in values.scene.beside_count
    }
    for atom in values.scene.atoms:
        plain = atom.tree.unnest()
        if not isinstance(plain, _ORDERS):
            continue
        sides = [side.unnest() for side in (plain.this, plain.expression)]
        cells = [cell_of(side.name) if isinstance(side, exp.Column) else None for side in sides]
        for one, other in (cells, cells[::-1]):
            if one is None or other is None or other not in values.scene.measured:
                continue
            place, root = values.classes.place(other), values.classes.root(one)
            if place in chosen and values.classes.place(one) != place:
                value = _between(chosen[place], values.scene.measured[other])
                if value is not None:
                    found[root] = fitted(value, values.classes.kind(one))
    return found


def _between(ladder: Ladder, functions: set[str]) -> Cell:
    """A value between an aggregate of a group of five and that of its three different values."""
    if "Sum" in functions:
        numbers = [v for v in ladder if isinstance(v, int | float)]
        return 2 * numbers[0] + numbers[1] + numbers[2] if numbers else None
    return ladder[1]
