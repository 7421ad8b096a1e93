"""Prints a query for an engine. What SQLite lacks becomes a call of `functions.py`.

sqlglot prints functions for SQLite that it does not have; those are replaced beforehand. What
cannot be said in SQLite raises Untranslatable, and the pair is run on DuckDB.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.sqlite import SQLite

from verigym.verifiers.sql.moments import (
    call,
    dated,
    day_and_number,
    day_less_day,
    is_day,
    is_moment,
)
from verigym.verifiers.sql.schema import Schema


class Untranslatable(ValueError):
    """A construct that an engine has no words for."""


class _VerigymSqlite(SQLite):
    """SQLite that quotes names with backticks: "x" could be read as a text."""

    class Tokenizer(SQLite.Tokenizer):
        IDENTIFIERS = ["`"]  # noqa: RUF012


_NOT_IN_SQLITE = (
    exp.GroupingSets, exp.Rollup, exp.Cube, exp.Lateral, exp.RegexpLike, exp.RegexpILike,
    exp.PercentileCont, exp.PercentileDisc, exp.Median, exp.Qualify, exp.Unnest, exp.ArrayAgg,
    exp.SimilarTo, exp.RegexpReplace, exp.RegexpExtract, exp.Pivot,
)  # fmt: skip
_INTEGERS = {
    exp.DataType.Type.INT, exp.DataType.Type.BIGINT, exp.DataType.Type.SMALLINT,
    exp.DataType.Type.TINYINT, exp.DataType.Type.UBIGINT,
}  # fmt: skip
_ROUNDING = ("mysql", "postgres", "duckdb")


def for_sqlite(tree: exp.Expr, schema: Schema, dialect: str | None) -> str:
    """Return the query in SQLite's words. Raises Untranslatable."""
    for node in tree.walk():
        if isinstance(node, _NOT_IN_SQLITE):
            raise Untranslatable(f"SQLite has no {node.key}")
        if isinstance(node, exp.Except | exp.Intersect) and node.args.get("distinct") is False:
            raise Untranslatable(f"SQLite has no {node.key} ALL")
    names = _numbered()
    kinds = {
        column.name: column.kind
        for columns in schema.tables.values()
        for column in columns
        if column.kind in ("date", "datetime")
    }
    plain = _deep(tree.copy(), names, kinds, dialect)
    return plain.sql(_VerigymSqlite, unsupported_level=ErrorLevel.IGNORE)


def for_engine(tree: exp.Expr, dialect: str) -> str:
    """Return the query in the words of DuckDB or PostgreSQL."""
    return tree.sql(dialect, unsupported_level=ErrorLevel.IGNORE)


def _deep(
    node: exp.Expr, names: Callable[[], str], kinds: Mapping[str, str], dialect: str | None
) -> exp.Expr:
    """The tree said in SQLite's words, what stands inside replaced parts included."""
    changed = _sqlite(node, names, kinds, dialect)
    for child in list(changed.iter_expressions()):
        new = _deep(child, names, kinds, dialect)
        if new is not child:
            child.replace(new)
    return changed


def _numbered() -> Callable[[], str]:
    counter = itertools.count()
    return lambda: f"_vg{next(counter)}"


def _sqlite(
    node: exp.Expr, names: Callable[[], str], kinds: Mapping[str, str], dialect: str | None
) -> exp.Expr:
    changed = (
        day_less_day(node, kinds, dialect)
        or day_and_number(node, kinds, dialect)
        or dated(node)
        or _other(node, names, dialect)
    )
    if changed is not None:
        return changed
    if isinstance(
        node, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.Between | exp.In
    ):
        sides = list(node.iter_expressions())
        if any(is_moment(side, kinds) for side in sides):
            for side in sides:
                if isinstance(side, exp.Literal) and side.is_string and len(side.name) == 10:
                    side.replace(exp.Literal.string(side.name + " 00:00:00"))
                elif not is_moment(side, kinds) and is_day(side, kinds):
                    side.replace(call("vg_moment", side))
    return node


def _other(node: exp.Expr, names: Callable[[], str], dialect: str | None) -> exp.Expr | None:
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        parts = node.this.expressions
        if len(parts) == 1 and isinstance(parts[0], exp.Tuple):
            parts = parts[0].expressions
        if len(parts) > 1:
            return exp.Count(this=exp.Distinct(expressions=[call("vg_packed", *parts)]))
    if isinstance(node, exp.GroupConcat):
        return _joined(node)
    if isinstance(node, exp.Left | exp.Right):
        return call(
            "vg_left" if isinstance(node, exp.Left) else "vg_right", node.this, node.expression
        )
    if isinstance(node, exp.Trunc):
        return call("vg_truncate", node.this, node.args.get("decimals") or 0)
    if isinstance(node, exp.Xor):
        return exp.NEQ(this=_truth(node.this), expression=_truth(node.expression))
    if isinstance(node, exp.Cast) and node.to.this in _INTEGERS and dialect in _ROUNDING:
        return call("vg_integer", node.this)
    if isinstance(node, exp.Subquery | exp.Values) and node.args.get("alias"):
        return _listed(node, names)
    if type(node) is exp.Concat and node.args.get("coalesce"):  # CONCAT_WS is one of its kind
        return call("vg_text", *node.expressions)
    if isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DECIMAL:
        sizes = node.to.expressions
        if len(sizes) == 2:
            return call("vg_decimal", node.this, int(sizes[1].name))
        if dialect == "mysql" or len(sizes) == 1:
            return call("vg_decimal", node.this, 0)
    if isinstance(node, exp.In) and isinstance(node.this, exp.Tuple):
        return _tuples(node)
    if isinstance(node, exp.Binary) and isinstance(node.expression, exp.All | exp.Any):
        return _quantified(node, names)
    if (
        isinstance(node, exp.Subquery)
        and isinstance(node.parent, exp.SetOperation)
        and not node.alias
    ):
        # SQLite takes no parentheses around the sides of UNION.
        inner = node.this
        if isinstance(inner, exp.Select) and not (
            inner.args.get("limit") or inner.args.get("order")
        ):
            return inner
        return exp.select("*").from_(
            exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(names())))
        )
    if isinstance(node, exp.Boolean):
        return exp.Literal.number(int(bool(node.this)))
    return None


def _listed(owner: exp.Expr, names: Callable[[], str]) -> exp.Expr | None:
    """`(q) AS t(a, b)`, as a WITH inside: SQLite takes a list of columns only there."""
    alias = owner.args["alias"]
    if not isinstance(alias, exp.TableAlias) or not alias.columns:
        return None
    values = isinstance(owner, exp.Values)
    inner = exp.Values(expressions=owner.expressions) if values else owner.this
    name = names()
    body = exp.select("*").from_(exp.to_table(name))
    inside = exp.TableAlias(
        this=exp.to_identifier(name), columns=[column.copy() for column in alias.columns]
    )
    cte = exp.With(expressions=[exp.CTE(this=inner.copy(), alias=inside)])
    body.set("with_" if "with_" in exp.Select.arg_types else "with", cte)
    return exp.Subquery(this=body, alias=exp.TableAlias(this=alias.this.copy()))


def _truth(node: exp.Expr) -> exp.Expr:
    return exp.Paren(
        this=exp.NEQ(this=exp.Paren(this=node.copy()), expression=exp.Literal.number(0))
    )


def _tuples(node: exp.In) -> exp.Expr | None:
    left = node.this.expressions
    rows = node.expressions
    if not rows or not all(
        isinstance(row, exp.Tuple) and len(row.expressions) == len(left) for row in rows
    ):
        return None
    return exp.Paren(
        this=exp.or_(
            *(
                exp.and_(
                    *(
                        exp.EQ(this=a.copy(), expression=b.copy())
                        for a, b in zip(left, row.expressions, strict=True)
                    )
                )
                for row in rows
            )
        )
    )


def _joined(node: exp.GroupConcat) -> exp.Expr:
    value, mark = node.this, node.args.get("separator") or exp.Literal.string(",")
    keys: list[exp.Expr] = []
    ways = ""
    if isinstance(value, exp.Order):
        for item in value.expressions:
            keys.append(item.this)
            ways += "d" if item.args.get("desc") else "a"
        value = value.this
    distinct = isinstance(value, exp.Distinct)
    parts = value.expressions if isinstance(value, exp.Distinct) else [value]
    if parts and isinstance(parts[-1], exp.Order):
        order = parts[-1]
        parts = [*parts[:-1], order.this]
        for item in order.expressions:
            keys.append(item.this)
            ways += "d" if item.args.get("desc") else "a"
    shown = parts[0] if len(parts) == 1 else call("concat", *parts)
    return call("vg_joined", shown, mark, int(distinct), ways, *keys)


def _quantified(node: exp.Binary, names: Callable[[], str]) -> exp.Expr:
    """`x > ALL (q)` and `x > ANY (q)` as aggregates over q, exact for nulls and empty results."""
    bound = node.expression
    body = bound.this
    if isinstance(body, exp.Subquery):
        body = body.this
    if not isinstance(body, exp.Query):
        raise Untranslatable("ANY and ALL need a subquery")
    if isinstance(bound, exp.Any) and isinstance(node, exp.EQ):
        return exp.In(this=node.this.copy(), query=exp.Subquery(this=body.copy()))
    inner = body.copy()
    value, source = names(), names()
    first: exp.Expr = inner
    while isinstance(first, exp.SetOperation):
        first = first.this
    if not isinstance(first, exp.Select) or len(first.expressions) != 1 or first.is_star:
        raise Untranslatable("ANY and ALL need one named column")
    item = first.expressions[0]
    first.set(
        "expressions", [exp.alias_(item.this if isinstance(item, exp.Alias) else item, value)]
    )
    test = exp.Paren(this=type(node)(this=node.this.copy(), expression=exp.column(value)))
    every = isinstance(bound, exp.All)
    found = exp.Sum(this=exp.Not(this=test.copy()) if every else test.copy())
    unsure = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Count(this=test.copy()))
    case = exp.Case(
        ifs=[
            exp.If(
                this=exp.GT(this=found, expression=exp.Literal.number(0)),
                true=exp.Literal.number(int(not every)),
            ),
            exp.If(this=unsure, true=exp.null()),
        ],
        default=exp.Literal.number(int(every)),
    )
    table = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(source)))
    return exp.Subquery(this=exp.select(case).from_(table))
