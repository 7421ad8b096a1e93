"""Rows and tables that the columns of a query stand for, and the conditions between those rows.

Every mention of a table is an occurrence: one row that takes part in the result. Conditions of WHERE,
ON, HAVING, IN and set operations become atoms over cells of occurrences, columns of subqueries and of
WITH written out. Aggregates but COUNT are read as their argument: what one row gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from verigym.verifiers.sql.schema import Schema

Cell = tuple[int, str]
"""A column of an occurrence."""

_PASSED = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.AnyValue)
_MAX_OCCURRENCES = 40
_MAX_DEPTH = 12
_NAME = re.compile(r"_o(\d+)_(.*)", re.DOTALL)


@dataclass
class Occurrence:
    """A row of a table that takes part; `block` is the SELECT that it stands in."""

    table: str
    block: int
    outer: bool
    negated: bool


_SHOWN = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Like)
"""Comparisons that a query may show as a column."""


@dataclass
class Atom:
    """A condition over cells; `required` if the result needs it, else it is one way among others."""

    tree: exp.Expr
    cells: tuple[Cell, ...]
    required: bool
    branch: int = -1
    """Index of the OR or CASE of which it is a branch; -1 for none."""
    grouped: bool = False
    """True if the expression is about a group of rows (an aggregate or a window), not about one row."""


@dataclass
class Scene:
    """Everything that a query needs to show a result."""

    occurrences: list[Occurrence] = field(default_factory=list)
    atoms: list[Atom] = field(default_factory=list)
    equal: list[tuple[Cell, Cell]] = field(default_factory=list)
    grouped: set[Cell] = field(default_factory=set)
    """Cells that group rows: GROUP BY, PARTITION BY, and what ties an aggregate in a subquery
    to the row around it."""
    ordered: set[Cell] = field(default_factory=set)
    measured: dict[Cell, set[str]] = field(default_factory=dict)
    """Cells that aggregates and windows compute with, and the names of these."""
    beside_count: set[Cell] = field(default_factory=set)
    """Cells that are compared with a COUNT in a subquery."""


def read_scene(tree: exp.Expr, schema: Schema) -> Scene:
    """Return the scene of a query with lower-case names."""
    reader = _Reader(schema)
    reader.query(tree, None, {}, negated=False, depth=0)
    return reader.scene


def cell_name(cell: Cell) -> str:
    """Return the column that stands for a cell where atoms are evaluated."""
    return f"_o{cell[0]}_{cell[1]}"


def cell_of(name: str) -> Cell | None:
    """Return the cell that a column of an atom stands for."""
    found = _NAME.fullmatch(name)
    return (int(found[1]), found[2]) if found else None


_Columns = dict[str, exp.Expr | None]


@dataclass
class _Frame:
    """The sources of one SELECT by alias, in the frame around it."""

    sources: dict[str, _Columns]
    outer: _Frame | None

    def find(self, table: str, name: str) -> exp.Expr | None:
        if table:
            if table in self.sources:
                return self.sources[table].get(name)
        else:
            for columns in self.sources.values():
                if name in columns:
                    return columns[name]
        return self.outer.find(table, name) if self.outer else None


_Views = Mapping[str, tuple[exp.CTE, "_Views"]]


class _Reader:
    def __init__(self, schema: Schema) -> None:
        self.schema, self.scene, self.blocks, self.branches = schema, Scene(), 0, 0

    def query(
        self, node: exp.Expr, outer: _Frame | None, views: _Views, *, negated: bool, depth: int
    ) -> _Columns:
        """Read a query; give its columns by name."""
        if depth > _MAX_DEPTH or len(self.scene.occurrences) > _MAX_OCCURRENCES:
            return {}
        views = dict(views)
        ctes = node.args.get("with_")
        for cte in ctes.expressions if ctes is not None else ():
            views[cte.alias] = (cte, dict(views))
        if isinstance(node, exp.Subquery):
            return self.query(node.this, outer, views, negated=negated, depth=depth + 1)
        if isinstance(node, exp.SetOperation):
            left = self.query(node.left, outer, views, negated=negated, depth=depth + 1)
            other = negated or isinstance(node, exp.Except)
            right = self.query(node.right, outer, views, negated=other, depth=depth + 1)
            if isinstance(node, exp.Intersect | exp.Except):
                for one, two in zip(left.values(), right.values(), strict=False):
                    if one is not None and two is not None:
                        self._note(exp.EQ(this=one.copy(), expression=two.copy()), None, True)
            return left
        if isinstance(node, exp.Select):
            return self._select(node, outer, views, negated, depth)
        return {}

    def _select(
        self, node: exp.Select, outer: _Frame | None, views: _Views, negated: bool, depth: int
    ) -> _Columns:
        frame = _Frame({}, outer)
        self.blocks += 1
        block = self.blocks
        start = node.args.get("from_")
        joins = node.args.get("joins") or []
        if isinstance(start, exp.From):
            side = any(join.side in ("RIGHT", "FULL") for join in joins)
            self._source(start.this, frame, views, block, side, negated, depth)
        for join in joins:
            before = list(frame.sources)
            side = join.side in ("LEFT", "FULL")
            self._source(join.this, frame, views, block, side, negated, depth)
            if join.args.get("on") is not None:
                self._conditions(join.args["on"], frame, views, block, depth)
            names = [name.name for name in join.args.get("using") or ()]
            new = [columns for alias, columns in frame.sources.items() if alias not in before]
            if join.method == "NATURAL":
                names = [name for columns in new for name in columns]
            for name in names:
                for alias in before:
                    one = frame.sources[alias].get(name)
                    two = next((c[name] for c in new if c.get(name) is not None), None)
                    if one is not None and two is not None:
                        self._note(exp.EQ(this=one.copy(), expression=two.copy()), None, True)
                        break
        columns: _Columns = {}
        for item in node.expressions:
            if isinstance(item, exp.Star) or (
                isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
            ):
                for alias, source in frame.sources.items():
                    if isinstance(item, exp.Star) or item.table == alias:
                        columns.update({n: c for n, c in source.items() if n not in columns})
                continue
            columns[item.alias_or_name or f"_{len(columns)}"] = self._said(item.unalias(), frame)
        # What WHERE and the rest call by an alias is looked for after the tables' own columns.
        inner = _Frame(frame.sources, _Frame({"": columns}, outer))
        start_of_ties = len(self.scene.equal)
        for part in ("where", "having", "qualify"):
            if node.args.get(part):
                self._conditions(node.args[part].this, inner, views, block, depth)
        if self._measure(node, inner) and outer is not None:
            self.scene.grouped.update(c for pair in self.scene.equal[start_of_ties:] for c in pair)
        for item in node.expressions:
            self._choices(item, inner, views, block, depth)
        for key in node.args["group"].expressions if node.args.get("group") else ():
            if isinstance(key, exp.Literal) and key.name.isdigit():
                shown = list(columns.values())
                number = int(key.name)
                said = shown[number - 1] if 0 < number <= len(shown) else None
            else:
                said = self._said(key, inner)
            self.scene.grouped.update(_cells(said))
        for item in node.args["order"].expressions if node.args.get("order") else ():
            self.scene.ordered.update(_cells(self._said(item.this, inner)))
        return columns

    def _measure(self, node: exp.Select, frame: _Frame) -> bool:
        """Note what aggregates and windows are computed of, by and in which order; True if there is one."""
        found = False
        having, order = node.args.get("having"), node.args.get("order")
        for item in [*node.expressions, *(part for part in (having, order) if part)]:
            for part in _outside_queries(item):
                if isinstance(part, exp.AggFunc):
                    found = True
                    for cell in _cells(self._said(_argument(part), frame)):
                        self.scene.measured.setdefault(cell, set()).add(type(part).__name__)
                elif isinstance(part, exp.Window):
                    for key in part.args.get("partition_by") or ():
                        self.scene.grouped.update(_cells(self._said(key, frame)))
                    for key in part.args["order"].expressions if part.args.get("order") else ():
                        self.scene.ordered.update(_cells(self._said(key.this, frame)))
        return found

    def _source(
        self,
        source: exp.Expr,
        frame: _Frame,
        views: _Views,
        block: int,
        side: bool,
        negated: bool,
        depth: int,
    ) -> None:
        alias = source.alias_or_name
        columns: _Columns = {}
        if isinstance(source, exp.Table):
            if source.name in views:
                cte, before = views[source.name]
                columns = self.query(cte.this, None, before, negated=negated, depth=depth + 1)
                columns = _renamed(columns, cte.args.get("alias"))
            elif source.name in self.schema.tables:
                number = len(self.scene.occurrences)
                self.scene.occurrences.append(Occurrence(source.name, block, side, negated))
                columns = {
                    column.name: exp.column(cell_name((number, column.name)))
                    for column in self.schema.tables[source.name]
                }
            for join in source.args.get("joins") or ():
                self._source(join.this, frame, views, block, side, negated, depth)
                if join.args.get("on") is not None:
                    self._conditions(join.args["on"], frame, views, block, depth)
        elif isinstance(source, exp.Subquery | exp.Lateral):
            inner = source.this
            if isinstance(inner, exp.Table):
                self._source(inner, frame, views, block, side, negated, depth)
                return
            start = len(self.scene.occurrences)
            columns = self.query(inner, frame, views, negated=negated, depth=depth + 1)
            for occurrence in self.scene.occurrences[start:]:
                occurrence.outer = occurrence.outer or side
        frame.sources[alias] = _renamed(columns, source.args.get("alias"))

    def _conditions(
        self, node: exp.Expr, frame: _Frame, views: _Views, block: int, depth: int
    ) -> None:
        """Read what must hold, and the ways in which it may."""
        for part in conjuncts(node):
            self._note(part, frame, True)
            plain = part
            while isinstance(plain, exp.Not | exp.Paren):
                plain = plain.this
            if isinstance(plain, exp.And | exp.Or):
                self.branches += 1
                for leaf in _leaves(plain):
                    self._note(leaf, frame, False, self.branches)
            self._inside(part, frame, views, block, depth)

    def _choices(
        self, item: exp.Expr, frame: _Frame, views: _Views, block: int, depth: int
    ) -> None:
        """Read the conditions of CASE and FILTER, comparisons and subqueries among what is shown."""
        for node in _outside_queries(item):
            if isinstance(node, exp.If):
                self.branches += 1
                for leaf in _leaves(node.this):
                    self._note(leaf, frame, False, self.branches)
            elif isinstance(node, exp.Case) and node.this:
                self.branches += 1
                for one in node.args["ifs"]:
                    equal = exp.EQ(this=node.this.copy(), expression=one.this.copy())
                    self._note(equal, frame, False, self.branches)
            elif isinstance(node, exp.Filter):
                for leaf in _leaves(node.expression.this):
                    self._note(leaf, frame, False)
            elif isinstance(node, _SHOWN) and not node.find_ancestor(exp.If, exp.Filter, *_SHOWN):
                self._note(node, frame, False)  # SELECT a > b
        self._inside(item, frame, views, block, depth)

    def _inside(self, node: exp.Expr, frame: _Frame, views: _Views, block: int, depth: int) -> None:
        """Read the subqueries in a condition, and tie IN and comparisons to what they give."""
        for inner in _outside_queries(node):
            negated = isinstance(inner.parent, exp.Not) or (
                isinstance(inner.parent, exp.Paren) and isinstance(inner.parent.parent, exp.Not)
            )
            if isinstance(inner, exp.In) and inner.args.get("query"):
                query = inner.args["query"]
                body = query.this if isinstance(query, exp.Subquery) else query
                columns = self.query(body, frame, views, negated=negated, depth=depth + 1)
                left = inner.this.expressions if isinstance(inner.this, exp.Tuple) else [inner.this]
                for one, two in zip(left, columns.values(), strict=False):
                    said = self._said(one, frame)
                    if said is not None and two is not None:
                        self._note(exp.EQ(this=said, expression=two.copy()), None, True)
            elif isinstance(inner, exp.Exists):
                body = inner.this.this if isinstance(inner.this, exp.Subquery) else inner.this
                self.query(body, frame, views, negated=negated, depth=depth + 1)
            elif isinstance(inner, exp.Subquery) and not isinstance(
                inner.parent, exp.In | exp.Exists
            ):
                columns = self.query(inner.this, frame, views, negated=False, depth=depth + 1)
                value = next(iter(columns.values()), None)
                around = inner.parent
                while isinstance(around, exp.Paren | exp.All | exp.Any):
                    around = around.parent
                if isinstance(around, exp.Binary):
                    other = around.expression if _holds(around.this, inner) else around.this
                    said = self._said(other, frame)
                    if value is None and _counts(inner.this):
                        self.scene.beside_count.update(_cells(said))
                    if said is not None and value is not None:
                        mirrored = _holds(around.this, inner)
                        one, two = (value.copy(), said) if mirrored else (said, value.copy())
                        self._note(type(around)(this=one, expression=two), None, False)

    def _note(self, node: exp.Expr, frame: _Frame | None, required: bool, branch: int = -1) -> None:
        said = node if frame is None else self._said(node, frame)
        if said is None:
            return
        cells = tuple(dict.fromkeys(_cells(said)))
        if not cells:
            return
        plain = said.unnest()
        if required and isinstance(plain, exp.EQ):
            sides = [side.unnest() for side in (plain.this, plain.expression)]
            one, two = (
                cell_of(side.name) if isinstance(side, exp.Column) else None for side in sides
            )
            if one and two:
                self.scene.equal.append((one, two))
        grouped = node.find(exp.AggFunc, exp.Window) is not None
        self.scene.atoms.append(Atom(said, cells, required, branch, grouped))

    def _said(self, node: exp.Expr, frame: _Frame) -> exp.Expr | None:
        """An expression over cells; None if it has other things in it."""
        try:
            return node.copy().transform(lambda part: _over_cells(part, frame), copy=False)
        except _Beyond:
            return None


class _Beyond(Exception):
    pass


def _over_cells(node: exp.Expr, frame: _Frame) -> exp.Expr:
    if isinstance(node, exp.Column):
        if cell_of(node.name):
            return node
        found = None if isinstance(node.this, exp.Star) else frame.find(node.table, node.name)
        if found is None:
            raise _Beyond
        return found.copy() if isinstance(found, exp.Column) else exp.Paren(this=found.copy())
    if isinstance(node, _PASSED):
        inner = node.this
        if isinstance(inner, exp.Distinct):
            inner = inner.expressions[0]
        return exp.Paren(this=inner.transform(lambda part: _over_cells(part, frame), copy=False))
    if isinstance(node, exp.AggFunc | exp.Window | exp.Query | exp.Subquery | exp.Exists):
        raise _Beyond
    return node


def _renamed(columns: _Columns, alias: exp.Expr | None) -> _Columns:
    """Columns under the names that `AS t(a, b)` gives them."""
    names = [column.name for column in alias.columns] if isinstance(alias, exp.TableAlias) else []
    values = list(columns.values())
    return dict(zip(names, values, strict=False)) if names else columns


def conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the parts of a condition that AND joins."""
    plain = node.unnest()
    if isinstance(plain, exp.And):
        yield from conjuncts(plain.this)
        yield from conjuncts(plain.expression)
    else:
        yield plain


def _leaves(node: exp.Expr) -> Iterator[exp.Expr]:
    plain = node
    while isinstance(plain, exp.Paren | exp.Not):
        plain = plain.this
    if isinstance(plain, exp.And | exp.Or):
        yield from _leaves(plain.this)
        yield from _leaves(plain.expression)
    else:
        yield plain


def _outside_queries(node: exp.Expr) -> Iterator[exp.Expr]:
    """The node and what is below; of subqueries only themselves."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if not isinstance(current, exp.Query | exp.Subquery | exp.Exists):
            stack.extend(current.iter_expressions())


def _counts(node: exp.Expr) -> bool:
    """Return True if a subquery gives a count."""
    return isinstance(node, exp.Query) and any(item.find(exp.Count) for item in node.selects[:1])


def _argument(part: exp.AggFunc) -> exp.Expr:
    """Return the expression that an aggregate is computed of."""
    inner = part.this
    if isinstance(inner, exp.Distinct) and inner.expressions:
        inner = inner.expressions[0]
    return inner if isinstance(inner, exp.Expr) else exp.Star()


def _holds(node: exp.Expr, inner: exp.Expr) -> bool:
    return any(part is inner for part in node.walk())


def _cells(node: exp.Expr | None) -> Iterator[Cell]:
    for column in node.find_all(exp.Column) if node is not None else ():
        cell = cell_of(column.name)
        if cell:
            yield cell
