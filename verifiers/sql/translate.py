"""Prints a query for an engine. What SQLite lacks becomes a call of `functions.py`.

sqlglot prints functions for SQLite that it does not have; those are replaced beforehand. What
cannot be said in SQLite raises Untranslatable, and the pair is run on DuckDB.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.sqlite import SQLite

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
_NAMED_PARTS = {
    exp.Year: "YEAR", exp.Month: "MONTH", exp.Day: "DAY", exp.DayOfMonth: "DAY",
    exp.Quarter: "QUARTER", exp.Week: "WEEK", exp.DayOfWeek: "DAYOFWEEK", exp.DayOfYear: "DOY",
    exp.WeekOfYear: "WEEK", exp.Hour: "HOUR", exp.Minute: "MINUTE", exp.Second: "SECOND",
}  # fmt: skip
_CALLED_PARTS = {
    "year",
    "month",
    "day",
    "quarter",
    "weekday",
    "hour",
    "minute",
    "second",
    "dayofweek",
    "dayofyear",
    "week",
}
_WHOLE = {exp.DataType.Type.DATE, exp.DataType.Type.DATE32}
_INTEGERS = {
    exp.DataType.Type.INT, exp.DataType.Type.BIGINT, exp.DataType.Type.SMALLINT,
    exp.DataType.Type.TINYINT, exp.DataType.Type.UBIGINT,
}  # fmt: skip
_ROUNDING = ("mysql", "postgres", "duckdb")
_MOMENTS = {
    exp.DataType.Type.DATETIME, exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ,
    exp.DataType.Type.TIMESTAMPNTZ, exp.DataType.Type.DATETIME2, exp.DataType.Type.TIMESTAMPLTZ,
}  # fmt: skip


def for_sqlite(tree: exp.Expr, schema: Schema, dialect: str | None) -> str:
    """The query in SQLite's words. Raises Untranslatable."""
    for node in tree.walk():
        if isinstance(node, _NOT_IN_SQLITE):
            raise Untranslatable(f"SQLite has no {node.key}")
        if isinstance(node, exp.Except | exp.Intersect) and node.args.get("distinct") is False:
            raise Untranslatable(f"SQLite has no {node.key} ALL")
    names = _numbered()
    moments = {
        column.name
        for columns in schema.tables.values()
        for column in columns
        if column.kind == "datetime"
    }
    plain = tree.copy().transform(_sqlite, names, moments, dialect, copy=False)
    return plain.sql(_VerigymSqlite, unsupported_level=ErrorLevel.IGNORE)


def for_engine(tree: exp.Expr, dialect: str) -> str:
    """The query in the words of DuckDB or PostgreSQL."""
    return tree.sql(dialect, unsupported_level=ErrorLevel.IGNORE)


def _numbered() -> Callable[[], str]:
    counter = itertools.count()
    return lambda: f"_vg{next(counter)}"


def _call(name: str, *values: exp.Expr | str | int | None) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[_made(value) for value in values])


def _made(value: exp.Expr | str | int | None) -> exp.Expr:
    if isinstance(value, exp.Expr):
        return value.copy()
    if value is None:
        return exp.null()
    return exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(value)


def _unit(node: exp.Expr, default: str = "DAY") -> str:
    unit = node.args.get("unit")
    return unit.name.upper() if isinstance(unit, exp.Expr) else default


def _sqlite(
    node: exp.Expr, names: Callable[[], str], moments: set[str], dialect: str | None
) -> exp.Expr:
    changed = _dated(node) or _other(node, names, dialect)
    if changed is not None:
        return changed
    if isinstance(
        node, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.Between | exp.In
    ):
        sides = list(node.iter_expressions())
        if any(_momentous(side, moments) for side in sides):
            for side in sides:
                if isinstance(side, exp.Literal) and side.is_string and len(side.name) == 10:
                    side.replace(exp.Literal.string(side.name + " 00:00:00"))
                elif not _momentous(side, moments) and _daily(side):
                    side.replace(_call("vg_moment", side))
    return node


_STEPS = (exp.Add, exp.Sub, exp.DateAdd, exp.DateSub, exp.TsOrDsAdd, exp.Paren, exp.Min, exp.Max)


def _momentous(node: exp.Expr, moments: set[str]) -> bool:
    """Whether an expression is a moment, as far as that shows."""
    if isinstance(node, exp.Column):
        return node.name in moments
    if isinstance(node, exp.Cast):
        return node.to.this in _MOMENTS
    return isinstance(node, (*_STEPS, exp.TsOrDsToTimestamp)) and _momentous(node.this, moments)


def _daily(node: exp.Expr) -> bool:
    """Whether an expression is a day, as far as that shows."""
    if isinstance(node, exp.Cast):
        return node.to.this in _WHOLE
    if isinstance(node, exp.TsOrDsToDate | exp.Date):
        return True
    return isinstance(node, _STEPS) and _daily(node.this)


def _dated(node: exp.Expr) -> exp.Expr | None:
    """What computes with days and moments."""
    for kind, part in _NAMED_PARTS.items():
        if isinstance(node, kind):
            return _call("vg_extract", part, _bare(node.this))
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        args = node.expressions
        if name in _CALLED_PARTS and len(args) == 1:
            return _call("vg_extract", name.upper(), _bare(args[0]))
        if name in ("adddate", "subdate", "date_add", "date_sub") and len(args) == 2:
            return _shifted(args[0], args[1], name.startswith("sub") or name.endswith("sub"))
        if name == "make_date" and len(args) == 3:
            return _call("vg_day", _call("printf", "%04d-%02d-%02d", *args))
        return None
    if isinstance(node, exp.Extract):
        return _call("vg_extract", node.name.upper(), _bare(node.expression))
    if isinstance(node, exp.DateAdd | exp.TsOrDsAdd | exp.DatetimeAdd | exp.TimestampAdd):
        return _shifted(node.this, node.expression, False, _unit(node))
    if isinstance(node, exp.DateSub | exp.DatetimeSub | exp.TimestampSub):
        return _shifted(node.this, node.expression, True, _unit(node))
    if isinstance(node, exp.Add | exp.Sub) and isinstance(node.expression, exp.Interval):
        return _shifted(node.this, node.expression, isinstance(node, exp.Sub))
    if isinstance(node, exp.Add) and isinstance(node.this, exp.Interval):
        return _shifted(node.expression, node.this, False)
    if isinstance(node, exp.DateDiff | exp.TsOrDsDiff):
        return _call("vg_date_diff", _bare(node.this), _bare(node.expression), _unit(node))
    if isinstance(node, exp.TimestampDiff | exp.DatetimeDiff):
        return _call("vg_ts_diff", node.this, node.expression, _unit(node))
    if isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
        return _call("vg_trunc", _unit(node), node.this)
    if isinstance(node, exp.TimeToStr):
        return _call("vg_format", _bare(node.this), node.args["format"])
    if (
        isinstance(node, exp.TsOrDsToDate | exp.Date)
        and len(node.args.get("expressions") or ()) == 0
    ):
        return _call("vg_day", node.this) if node.this else None
    if isinstance(node, exp.TsOrDsToTimestamp | exp.Timestamp):
        return _call("vg_moment", node.this)
    if isinstance(node, exp.Cast):
        if node.to.this in _WHOLE:
            return _call("vg_day", node.this)
        if node.to.this in _MOMENTS:
            return _call("vg_moment", node.this)
    return None


def _bare(node: exp.Expr) -> exp.Expr:
    """Without the casts to a day that sqlglot wraps around arguments."""
    while isinstance(node, exp.TsOrDsToDate | exp.TsOrDsToTimestamp) and node.this:
        node = node.this
    return node


def _shifted(moment: exp.Expr, by: exp.Expr, back: bool, unit: str = "DAY") -> exp.Expr:
    amount = by
    if isinstance(by, exp.Interval):
        unit = _unit(by)
        amount = by.this or exp.Literal.number(0)
        if not by.args.get("unit") and isinstance(amount, exp.Literal):
            number, _, word = amount.name.partition(" ")
            amount, unit = exp.Literal.number(number), (word or "DAY").upper()
    amount = exp.Literal.number(amount.name) if isinstance(amount, exp.Literal) else amount
    if back:
        amount = exp.Neg(this=exp.Paren(this=amount.copy()))
    return _call("vg_date_add", _bare(moment), amount, unit)


def _other(node: exp.Expr, names: Callable[[], str], dialect: str | None) -> exp.Expr | None:
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        parts = node.this.expressions
        if len(parts) == 1 and isinstance(parts[0], exp.Tuple):
            parts = parts[0].expressions
        if len(parts) > 1:
            return exp.Count(this=exp.Distinct(expressions=[_call("vg_packed", *parts)]))
    if isinstance(node, exp.GroupConcat):
        return _joined(node)
    if isinstance(node, exp.Left | exp.Right):
        return _call(
            "vg_left" if isinstance(node, exp.Left) else "vg_right", node.this, node.expression
        )
    if isinstance(node, exp.Trunc):
        return _call("vg_truncate", node.this, node.args.get("decimals") or 0)
    if isinstance(node, exp.Xor):
        return exp.NEQ(this=_truth(node.this), expression=_truth(node.expression))
    if isinstance(node, exp.Cast) and node.to.this in _INTEGERS and dialect in _ROUNDING:
        return _call("vg_integer", node.this)
    if isinstance(node, exp.TableAlias) and node.columns:
        return _listed(node, names)
    if isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DECIMAL:
        sizes = node.to.expressions
        if len(sizes) == 2:
            return _call("vg_decimal", node.this, int(sizes[1].name))
        if dialect == "mysql" or len(sizes) == 1:
            return _call("vg_decimal", node.this, 0)
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


def _listed(alias: exp.TableAlias, names: Callable[[], str]) -> exp.Expr | None:
    """`(q) AS t(a, b)`, as a WITH inside: SQLite takes a list of columns only there."""
    owner = alias.parent
    if not isinstance(owner, exp.Subquery | exp.Values) or isinstance(owner.parent, exp.CTE):
        return None
    name = names()
    inner = (
        owner.this if isinstance(owner, exp.Subquery) else exp.Values(expressions=owner.expressions)
    )
    cte = exp.CTE(
        this=inner.copy(),
        alias=exp.TableAlias(
            this=exp.to_identifier(name), columns=[c.copy() for c in alias.columns]
        ),
    )
    body = exp.select("*").from_(exp.to_table(name))
    body.set("with_" if "with_" in exp.Select.arg_types else "with", exp.With(expressions=[cte]))
    if isinstance(owner, exp.Subquery):
        owner.set("this", body)
    alias.set("columns", None)
    return None if isinstance(owner, exp.Subquery) else alias


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
    shown = parts[0] if len(parts) == 1 else _call("concat", *parts)
    return _call("vg_joined", shown, mark, int(distinct), ways, *keys)


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
