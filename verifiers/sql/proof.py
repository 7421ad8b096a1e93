"""Canonical forms: two queries of one form give the same result on every database.

Names are qualified and renamed by order of appearance, predicates sorted, inner joins written as a
sorted list of tables with one condition, comparisons turned one way. Each step keeps the result
under three-valued logic and bags. Where the forms differ, nothing is known.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.merge_subqueries import merge_subqueries
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.simplify import simplify

from verigym.verifiers.sql.schema import Schema

_TURNED: dict[type[exp.Expr], type[exp.Binary]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}
_NOT: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
}
_EITHER = (exp.EQ, exp.NEQ, exp.Mul, exp.Add, exp.NullSafeEQ)
_TYPES = {
    "int": "bigint", "real": "double", "text": "text", "enum": "text", "date": "date",
    "datetime": "timestamp", "time": "time", "bool": "boolean",
}  # fmt: skip


def proved_equal(
    left: exp.Expr, right: exp.Expr, schema: Schema, dialect: str | None, *, ordered: bool
) -> bool:
    """Return True if the canonical forms are the same."""
    if left == right:
        return True
    try:
        one, other = (canonical(tree, schema, dialect, ordered=ordered) for tree in (left, right))
    except (SqlglotError, RecursionError):
        return False
    return one == other


def canonical(tree: exp.Expr, schema: Schema, dialect: str | None, *, ordered: bool) -> str:
    """Return the canonical form as a text."""
    types: dict[str, Any] = {
        table: {column.name: _TYPES.get(column.kind, "text") for column in columns}
        for table, columns in schema.tables.items()
    }
    plain: Any = qualify(tree.copy(), schema=types, dialect=dialect, validate_qualify_columns=True)
    plain = merge_subqueries(plain)
    plain = plain.transform(_spread, copy=False)
    plain = simplify(plain, dialect=dialect)
    if not ordered and not plain.args.get("limit") and not plain.args.get("offset"):
        plain.set("order", None)
    for select in list(plain.find_all(exp.Select)):
        _flatten(select)
    plain = _sorted(plain)
    return _renamed(plain, dialect)


def _spread(node: exp.Expr) -> exp.Expr:
    """BETWEEN, IN lists, and NOT before a comparison, in smaller words."""
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        return exp.Paren(
            this=exp.and_(
                exp.GTE(this=node.this.copy(), expression=node.args["low"].copy()),
                exp.LTE(this=node.this.copy(), expression=node.args["high"].copy()),
            )
        )
    if isinstance(node, exp.In) and node.expressions and not node.args.get("query"):
        return exp.Paren(
            this=exp.or_(
                *(exp.EQ(this=node.this.copy(), expression=e.copy()) for e in node.expressions)
            )
        )
    if isinstance(node, exp.Not):
        inner = node.this.unnest()
        if type(inner) in _NOT:
            return _NOT[type(inner)](this=inner.this.copy(), expression=inner.expression.copy())
    return node


def _flatten(select: exp.Select) -> None:
    """Inner joins as tables in a row, with their conditions in WHERE."""
    joins = select.args.get("joins") or []
    if any(
        join.side
        or join.kind not in ("", "INNER", "CROSS")
        or join.args.get("using")
        or join.method
        for join in joins
    ):
        return
    for join in joins:
        condition = join.args.get("on")
        if condition is not None:
            join.set("on", None)
            select.where(condition.copy(), copy=False)
        join.set("kind", None)


def _sorted(node: exp.Expr) -> exp.Expr:
    """Operands that may change places, in the order of their texts; done from the leaves."""
    for child in list(node.iter_expressions()):
        _sorted(child)
    if type(node) in _TURNED:
        turned = _TURNED[type(node)](this=node.expression.copy(), expression=node.this.copy())
        node.replace(turned)
        return turned
    if (
        isinstance(node, _EITHER)
        and node.sql() > type(node)(this=node.expression.copy(), expression=node.this.copy()).sql()
    ):
        one, other = node.this.copy(), node.expression.copy()
        node.set("this", other)
        node.set("expression", one)
    elif isinstance(node, exp.And | exp.Or) and not isinstance(node.parent, type(node)):
        parts = sorted(
            {part.unnest().sql(): part.unnest().copy() for part in node.flatten()}.items()
        )
        joined = (exp.and_ if isinstance(node, exp.And) else exp.or_)(*(part for _, part in parts))
        if node.parent is None:
            return joined
        node.replace(joined)
        return joined
    elif isinstance(node, exp.Group):
        node.set("expressions", sorted(node.expressions, key=lambda item: item.sql()))
    return node


def _renamed(tree: exp.Expr, dialect: str | None) -> str:
    """The text with tables of each inner join sorted and aliases by order of appearance."""
    for select in tree.find_all(exp.Select):
        start = select.args.get("from_") or select.args.get("from")
        joins = select.args.get("joins") or []
        if (
            start is None
            or not joins
            or any(join.side or join.kind or join.args.get("on") for join in joins)
        ):
            continue
        tables = [start.this, *(join.this for join in joins)]
        if len({table.name for table in tables if isinstance(table, exp.Table)}) < len(tables):
            continue  # A table joined with itself, or a subquery: left as written.
        tables = sorted((table.copy() for table in tables), key=lambda table: table.name)
        start.set("this", tables[0])
        for join, table in zip(joins, tables[1:], strict=True):
            join.set("this", table)
    names: dict[str, str] = {}
    for table in tree.find_all(exp.Table, exp.Subquery):
        if table.alias:
            names.setdefault(table.alias, f"_t{len(names)}")
    root: Any = tree
    while isinstance(root, exp.SetOperation):
        root = root.this
    for number, item in enumerate(root.selects):
        if isinstance(item, exp.Alias) and not tree.args.get("order"):
            item.set("alias", exp.to_identifier(f"_c{number}"))
    for node in tree.walk():
        if isinstance(node, exp.Column) and node.table in names:
            node.set("table", exp.to_identifier(names[node.table]))
        elif isinstance(node, exp.TableAlias) and node.name in names:
            node.set("this", exp.to_identifier(names[node.name]))
    # Sorted once more: the names have changed.
    return _sorted(tree).sql(dialect=dialect)
