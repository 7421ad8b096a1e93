"""Hints from two queries: the constants and sizes that tell them apart from near misses.

Every literal is noted with the base columns it is compared with, through aliases, expressions and
subqueries, as far as names tell; columns that are compared with one another form one class and
share their values, so that joins match. The reference alone decides about kinds; a submission only
adds as many constants and sizes as the reference has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from verigym.verifiers.sql.near import (
    DATE,
    MOMENT,
    NUMBER,
    Value,
    by_month,
    by_year,
    dates,
    matching,
    stepped,
    stepping,
    values_of,
)
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.solve import constant, days_with, part_of, solutions

Place = tuple[str, str]

MAX_SIZE = 1_100
_COMPARES = (
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Is,
)
_DATE_PARTS = (exp.Year, exp.Month, exp.Day, exp.Extract, exp.Quarter)
_NEAR = (
    exp.In,
    exp.Between,
    exp.Like,
    exp.ILike,
    exp.Coalesce,
    exp.Nullif,
    exp.RegexpLike,
    exp.RegexpILike,
    exp.SimilarTo,
    exp.Glob,
)
_NUMBERS = {
    exp.DataType.Type.INT, exp.DataType.Type.BIGINT, exp.DataType.Type.SMALLINT,
    exp.DataType.Type.TINYINT, exp.DataType.Type.UBIGINT, exp.DataType.Type.UINT,
    exp.DataType.Type.FLOAT, exp.DataType.Type.DOUBLE, exp.DataType.Type.DECIMAL,
}  # fmt: skip
_CASED = (exp.Upper, exp.Lower, exp.Initcap, exp.ILike)


@dataclass
class Hints:
    """Values by class of columns, class by column, and sizes that tables or groups should reach."""

    values: dict[Place, list[Value]] = field(default_factory=lambda: defaultdict(list))
    loose: list[Value] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    exact: dict[Place, list[Value]] = field(default_factory=lambda: defaultdict(list))
    """The constants themselves, without their neighbours."""
    grouped: set[Place] = field(default_factory=set)
    """Columns that groups are made by: few values, so that groups grow large."""
    counted: set[Place] = field(default_factory=set)
    """Columns whose distinct values are counted: many values, so that counts grow."""
    cased: bool = False
    """True if a query treats upper and lower case in a way of its own."""
    reckoned: set[Place] = field(default_factory=set)
    """Columns that are computed with, as numbers."""
    cast: set[Place] = field(default_factory=set)
    """Columns that are cast to numbers."""
    worded: set[Place] = field(default_factory=set)
    """Columns that are treated as texts."""
    dated: set[Place] = field(default_factory=set)
    """Columns whose day, month or year is asked for."""
    parent: dict[Place, Place] = field(default_factory=dict)
    kinds: dict[Place, str] = field(default_factory=dict)

    def root(self, place: Place) -> Place:
        """Return the class that a column belongs to, by its first member."""
        while self.parent.get(place, place) != place:
            place = self.parent[place]
        return place

    def join(self, left: Place, right: Place) -> None:
        """Let two columns share their values."""
        one, other = sorted((self.root(left), self.root(right)))
        self.parent[other] = one


def read_hints(schema: Schema, reference: exp.Expr) -> Hints:
    """Return the hints of the reference, with a kind for each column."""
    hints = Hints()
    for foreign in schema.foreign:
        for child, parent in zip(foreign.columns, foreign.parent_columns, strict=True):
            hints.join((foreign.table, child), (foreign.parent, parent))
    _Reader(schema, hints, reference).read()
    hints.kinds = kinds_of(schema, hints)
    return hints


def widened(hints: Hints, schema: Schema, submission: exp.Expr) -> tuple[Hints, Hints]:
    """Return the reference's hints with those of a submission, which adds no more than there are; and all its own.

    `schema` may have tables and columns that the reference does not name. Kinds are the reference's.
    """
    theirs = Hints(parent=dict(hints.parent))
    for foreign in schema.foreign:
        for child, parent in zip(foreign.columns, foreign.parent_columns, strict=True):
            theirs.join((foreign.table, child), (foreign.parent, parent))
    _Reader(schema, theirs, submission).read()
    both = Hints(
        values=_beside(hints.values, theirs.values),
        loose=hints.loose + _spread(theirs.loose, hints.loose, len(hints.loose)),
        sizes=hints.sizes + _spread(theirs.sizes, hints.sizes, len(hints.sizes)),
        exact=_beside(hints.exact, theirs.exact),
        grouped=hints.grouped | theirs.grouped,
        counted=hints.counted | theirs.counted,
        cased=hints.cased or theirs.cased,
        parent=theirs.parent,
    )
    both.kinds = {**kinds_of(schema, Hints(parent=theirs.parent)), **hints.kinds}
    return both, theirs


_FEW = 6


def _spread(values: Sequence[Any], known: Sequence[Any], count: int) -> list[Any]:
    """Return at most `count` of the new values (six if there are fewer known ones), spread evenly."""
    new = [value for value in values if value not in known]
    most = max(count, _FEW)
    return new if len(new) <= most else [new[at * len(new) // most] for at in range(most)]


def _beside(
    ours: Mapping[Place, list[Value]], theirs: Mapping[Place, list[Value]]
) -> dict[Place, list[Value]]:
    both: dict[Place, list[Value]] = defaultdict(list)
    for place in {**ours, **theirs}:
        known = ours.get(place, [])
        both[place] = known + _spread(theirs.get(place, []), known, len(known))
    return both


def kinds_of(schema: Schema, hints: Hints) -> dict[Place, str]:
    """Return the kind of each column: declared, or what the reference does with it, or what its name says."""
    kinds: dict[Place, str] = {}
    classes: dict[Place, str] = {}
    for table, columns in schema.tables.items():
        for column in columns:
            place = (table, column.name)
            kinds[place] = kind = _kind(column.kind, place, hints)
            if kind:
                classes.setdefault(hints.root(place), kind)
    for place, kind in kinds.items():
        if not kind:
            kinds[place] = classes.get(hints.root(place)) or _named(place[1])
    return kinds


def _kind(declared: str, place: Place, hints: Hints) -> str:
    """The declared kind, unless it has none or the reference compares the column with other things."""
    values: Iterable[Value] = hints.exact.get(place, ())
    texts = [value for value in values if isinstance(value, str)]
    odd = [text for text in texts if not NUMBER.fullmatch(text)]
    if not declared and place in hints.dated:
        return "date"
    if declared in ("", "int") and odd:
        if all(MOMENT.fullmatch(text) for text in odd):
            return "datetime"
        return "date" if all(DATE.fullmatch(text) for text in odd) else "text"
    if declared == "text" and place in hints.reckoned and not odd:
        return "numeral"
    if declared:
        return declared
    if place in hints.cast and not odd:
        return "numeral"
    if place in hints.worded:
        return "text"
    if place in hints.reckoned:
        return "real" if any(isinstance(value, float) for value in values) else "int"
    return ""


_DAY_NAMES = re.compile(r"date|(^|_)(day|dob|birthday|on)$", re.IGNORECASE)
_TEXT_NAMES = re.compile(
    r"name|title|city|country|state|status|type|kind|gender|sex|email|mail|phone|address|street"
    r"|description|comment|note|text|label|colou?r|category|genre|code|language|nationality"
    r"|department|author|url|tag",
    re.IGNORECASE,
)
_NUMBER_NAMES = re.compile(
    r"(^|_)(id|key|no|num|nr|number|count|year|age|size|level|rank|index|score|total|sum)s?$",
    re.IGNORECASE,
)


def _named(name: str) -> str:
    """The kind that a column's name suggests."""
    if _NUMBER_NAMES.search(name):
        return "int"
    if _DAY_NAMES.search(name):
        return "date"
    return "text" if _TEXT_NAMES.search(name) else "int"


class _Reader:
    def __init__(self, schema: Schema, hints: Hints, tree: exp.Expr) -> None:
        self.schema, self.hints, self.tree = schema, hints, tree
        self.tables: dict[str, set[str]] = defaultdict(set)
        for table in tree.find_all(exp.Table):
            self.tables[table.alias_or_name].add(table.name)
        self.used = set().union(*self.tables.values()) if self.tables else set[str]()
        self.parts: dict[Place, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self.aliases: dict[str, list[exp.Expr]] = defaultdict(list)
        for alias in tree.find_all(exp.Alias):
            self.aliases[alias.alias].append(alias.this)
        for named in tree.find_all(exp.TableAlias):
            body = named.parent.this if named.parent is not None else None
            if named.columns and isinstance(body, exp.Query):
                for column, item in zip(named.columns, body.selects, strict=False):
                    self.aliases[column.name].append(item)

    def read(self) -> None:
        self.hints.cased = self.hints.cased or self.tree.find(*_CASED) is not None
        for node in self.tree.walk():
            self._use(node)
            if isinstance(node, (*_COMPARES, *_NEAR)):
                self._compare(node)
            elif isinstance(node, exp.Case) and node.this:
                for one in node.args["ifs"]:
                    self._compare(exp.EQ(this=node.this.copy(), expression=one.this.copy()))
            elif isinstance(node, exp.Limit | exp.Offset | exp.Fetch):
                self._size(node)
            elif isinstance(node, exp.SetOperation):
                for left, right in zip(node.left.selects, node.right.selects, strict=False):
                    self._together(self._places(left), self._places(right))
            elif isinstance(node, exp.Join) and node.args.get("using"):
                for name in node.args["using"]:
                    self._together(*([(t, name.name)] for t in self.schema.having(name.name)))
            elif isinstance(node, exp.Join) and node.args.get("method") == "NATURAL":
                names = {c.name for t in self.schema.tables.values() for c in t}
                for name in names:
                    self._together(*([(t, name)] for t in self.schema.having(name)))
            elif isinstance(node, exp.Group):
                self.hints.grouped.update(p for key in node.expressions for p in self._keys(key))
            elif isinstance(node, exp.Window):
                keys = node.args.get("partition_by") or ()
                self.hints.grouped.update(p for key in keys for p in self._places(key))
            elif isinstance(node, exp.Distinct) and isinstance(node.parent, exp.AggFunc):
                self.hints.counted.update(p for one in node.expressions for p in self._places(one))
            elif isinstance(node, exp.Literal):
                self.hints.loose += [v for v in values_of(node) if v not in self.hints.loose]
        self._days()

    def _keys(self, key: exp.Expr) -> list[Place]:
        """The base columns of a grouping key, which may be the number of a column."""
        select = key.find_ancestor(exp.Select)
        if isinstance(key, exp.Literal) and select is not None and key.name.isdigit():
            items = select.expressions[int(key.name) - 1 : int(key.name)]
            return [place for item in items for place in self._places(item)]
        return self._places(key)

    def _compare(self, node: exp.Expr) -> None:
        places: list[Place] = []
        sides: list[list[Place]] = []
        counts: list[list[Place]] = []
        literals: list[exp.Literal] = []
        counted = summed = dated = False
        lengths = False
        for child in node.iter_expressions():
            side: list[Place] = []
            here = False
            for inner in _within(child):
                if isinstance(inner, exp.Column):
                    side += self._places(inner)
                    counted = counted or self._counts(inner)
                elif isinstance(inner, exp.Literal):
                    if inner.arg_key != "format":
                        literals.append(inner)
                elif isinstance(inner, exp.Count | exp.RowNumber | exp.Rank | exp.DenseRank):
                    counted = here = True
                elif isinstance(inner, exp.Sum):
                    summed = True
                elif isinstance(inner, exp.Length):
                    lengths = True
                elif isinstance(inner, _DATE_PARTS) or (
                    isinstance(inner, exp.Anonymous)
                    and inner.name.lower() in ("year", "month", "day", "quarter")
                ):
                    dated = True
                elif isinstance(inner, exp.Query):
                    here = here or any(isinstance(i.unalias(), exp.Count) for i in inner.selects)
                    for item in inner.selects:
                        side += self._places(item)
            # A count is no value of what it counts.
            (counts if here else sides).append(side)
            counted = counted or here
            places += side
        if counts and not literals:
            for place in (place for side in sides for place in side):
                self.hints.values[place] += [
                    v for v in (0, 1, 2) if v not in self.hints.values[place]
                ]
        self._together(*sides)
        self._solve(node)
        steps = [
            value * (31 if by_month(one) else 366 if by_year(one) else 1)
            for one in literals
            for value in stepping(one)
        ]
        signs = {id(one): -1 if isinstance(one.parent, exp.Neg) else 1 for one in literals}
        for literal in literals:
            for value in values_of(literal):
                if isinstance(value, int | float) and signs[id(literal)] < 0:
                    value = -value
                if counted and isinstance(value, int):
                    self._note_size(value)
                near = [value]
                if isinstance(node, exp.Like | exp.ILike) and isinstance(value, str):
                    near = list(matching(value))
                    if isinstance(node, exp.ILike) or self.hints.cased:
                        near.append(str(near[0]).swapcase())
                elif dated and isinstance(value, int):
                    near = list(dates(value))
                elif lengths and isinstance(value, int) and 0 <= value <= 300:
                    near = ["x" * n for n in (value - 1, value, value + 1) if n >= 0]
                elif summed and isinstance(value, int) and abs(value) > 3:
                    near = [value, value // 2, value - value // 2]
                elif isinstance(value, str) and steps:
                    near = [value, *stepped(value, steps)]
                for place in places:
                    self.hints.exact[place] += near[: 2 if summed else 1]
                    known = self.hints.values[place]
                    known += [v for v in near if v not in known]

    def _solve(self, node: exp.Expr) -> None:
        """Note what columns must hold behind arithmetic, casts, functions of texts and of days."""
        for column, value in solutions(node):
            if column in (node.this, node.args.get("expression")) and not isinstance(
                node, exp.Like
            ):
                continue  # Compared as it is; `_compare` notes that.
            for place in self._places(column):
                self.hints.exact[place].append(value)
                if value not in self.hints.values[place]:
                    self.hints.values[place].append(value)
        if isinstance(node, _COMPARES):
            for one, other in ((node.this, node.expression), (node.expression, node.this)):
                found, number = part_of(one), constant(other)
                if found is None or number is None or not re.fullmatch(r"\d{1,4}", str(number)):
                    continue
                for place in self._places(found[0]):
                    self.parts[place][found[1]].append(int(number))

    def _days(self) -> None:
        """Days that have all the parts that are asked for of one column."""
        for place, parts in self.parts.items():
            for day in days_with(parts):
                self.hints.exact[place].append(day)
                if day not in self.hints.values[place]:
                    self.hints.values[place].append(day)

    def _use(self, node: exp.Expr) -> None:
        """Note what is done with columns: computed with, cast, treated as texts or as days."""
        noted: set[Place] | None = None
        sides: Iterable[exp.Expr] = node.iter_expressions()
        if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.Sum | exp.Avg):
            noted = self.hints.reckoned
            if node.find(exp.Interval):
                noted = self.hints.dated
        elif isinstance(node, exp.Round | exp.Abs | exp.Ceil | exp.Floor | exp.Neg):
            noted, sides = self.hints.reckoned, (node.this,)
        elif isinstance(node, exp.Cast | exp.TryCast) and node.to.this in _NUMBERS:
            noted, sides = self.hints.cast, (node.this,)
        elif isinstance(node, exp.Like | exp.ILike | exp.Lower | exp.Upper | exp.Substring):
            noted, sides = self.hints.worded, (node.this,)
        elif isinstance(node, exp.DPipe | exp.RegexpLike | exp.Trim | exp.Replace | exp.Left):
            noted = self.hints.worded
        elif isinstance(node, (*_DATE_PARTS, exp.TimeToStr, exp.DateDiff)):
            noted = self.hints.dated
        elif isinstance(node, (*_COMPARES, exp.Between, exp.In)) and any(
            isinstance(constant(side), int | float) for side in node.iter_expressions()
        ):
            noted = self.hints.reckoned
        if noted is None:
            return
        for side in sides:
            inner: exp.Expr = side
            while isinstance(inner, exp.Paren | exp.Neg | exp.Distinct | exp.TsOrDsToTimestamp):
                inner = inner.expressions[0] if isinstance(inner, exp.Distinct) else inner.this
            if isinstance(inner, exp.Cast) and noted is self.hints.reckoned:
                continue
            if isinstance(inner, exp.Column):
                noted.update(self._places(inner))
                if noted is self.hints.cast:
                    self.hints.reckoned.update(self._places(inner))

    def _counts(self, column: exp.Column) -> bool:
        return any(
            isinstance(item, exp.Count | exp.Window)
            or item.find(exp.Count, exp.RowNumber) is not None
            for item in self.aliases.get(column.name, ())
        )

    def _size(self, node: exp.Expr) -> None:
        for literal in node.find_all(exp.Literal):
            for value in values_of(literal):
                if isinstance(value, int):
                    self._note_size(value)

    def _note_size(self, value: int) -> None:
        if 1 < value <= MAX_SIZE and value not in self.hints.sizes:
            self.hints.sizes.append(value)

    def _together(self, *sides: Sequence[Place]) -> None:
        filled = [side for side in sides if side]
        if len(filled) > 1:
            first = filled[0][0]
            for side in filled:
                for place in side:
                    self.hints.join(first, place)

    def _places(self, node: exp.Expr, depth: int = 0) -> list[Place]:
        """The base columns that an expression is made of."""
        found: list[Place] = []
        for inner in _within(node):
            if not isinstance(inner, exp.Column):
                if isinstance(inner, exp.Query) and inner is not node and depth < 4:
                    for item in inner.selects:
                        found += self._places(item, depth + 1)
                continue
            owners = [
                t for t in self.tables.get(inner.table, ()) if self.schema.column(t, inner.name)
            ]
            owners = owners or self.schema.having(inner.name)
            if inner.table and inner.table in self.tables:
                found += [(table, inner.name) for table in owners]
                if not found and depth < 4:
                    owners = []
            elif owners:
                found += [(table, inner.name) for table in owners if table in self.used]
            if depth < 4 and (not owners or inner.table not in self.tables):
                for item in self.aliases.get(inner.name, ()):
                    if item is not node:
                        found += self._places(item, depth + 1)
        return list(dict.fromkeys(found))


def _within(node: exp.Expr) -> Iterator[exp.Expr]:
    """The node and what is below, without the insides of subqueries."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if isinstance(current, exp.Subquery):
            stack.append(current.this)
        elif not (isinstance(current, exp.Query)):
            stack.extend(current.iter_expressions())
