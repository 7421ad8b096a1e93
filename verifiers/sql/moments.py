"""Days, moments and what computes with them, in the words that SQLite is given for it."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

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
_MOMENTS = {
    exp.DataType.Type.DATETIME, exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ,
    exp.DataType.Type.TIMESTAMPNTZ, exp.DataType.Type.DATETIME2, exp.DataType.Type.TIMESTAMPLTZ,
}  # fmt: skip


def call(name: str, *values: exp.Expr | str | int | None) -> exp.Expr:
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


_STEPS = (exp.Add, exp.Sub, exp.DateAdd, exp.DateSub, exp.TsOrDsAdd, exp.Paren, exp.Min, exp.Max)


def is_moment(node: exp.Expr, kinds: Mapping[str, str]) -> bool:
    """Return True if an expression is a moment, as far as that shows."""
    if isinstance(node, exp.Column):
        return kinds.get(node.name) == "datetime"
    if isinstance(node, exp.Cast):
        return node.to.this in _MOMENTS
    return isinstance(node, (*_STEPS, exp.TsOrDsToTimestamp)) and is_moment(node.this, kinds)


def is_day(node: exp.Expr, kinds: Mapping[str, str]) -> bool:
    """Return True if an expression is a day, as far as that shows."""
    if isinstance(node, exp.Column):
        return kinds.get(node.name) == "date"
    if isinstance(node, exp.Cast):
        return node.to.this in _WHOLE
    if isinstance(node, exp.TsOrDsToDate | exp.Date):
        return True
    if isinstance(node, exp.Sub) and is_day(node.expression, kinds):
        return False  # a number of days
    return isinstance(node, _STEPS) and is_day(node.this, kinds)


def day_less_day(node: exp.Expr, kinds: Mapping[str, str], dialect: str | None) -> exp.Expr | None:
    """Return a day less a day: days to most, the numbers that they are written with to MySQL."""
    if not isinstance(node, exp.Sub) or dialect == "sqlite":
        return None
    if not is_day(node.this, kinds) or not is_day(node.expression, kinds):
        return None
    if dialect != "mysql":
        return call("vg_date_diff", node.this, node.expression, "DAY")
    return exp.Paren(
        this=exp.Sub(
            this=call("vg_digits", node.this), expression=call("vg_digits", node.expression)
        )
    )


def day_and_number(
    node: exp.Expr, kinds: Mapping[str, str], dialect: str | None
) -> exp.Expr | None:
    """Return a day and a whole number, which Postgres and its kin add as days."""
    if not isinstance(node, exp.Add | exp.Sub) or dialect in (None, "sqlite", "mysql"):
        return None
    for day, number in ((node.this, node.expression), (node.expression, node.this)):
        bare = number.unnest()
        whole = isinstance(bare, exp.Literal) and not bare.is_string and bare.name.isdigit()
        if whole and is_day(day, kinds) and (day is node.this or isinstance(node, exp.Add)):
            return _shifted(day, bare, isinstance(node, exp.Sub))
    return None


def dated(node: exp.Expr) -> exp.Expr | None:
    """Return the expressions that compute with days and moments."""
    for kind, part in _NAMED_PARTS.items():
        if isinstance(node, kind):
            return call("vg_extract", part, _bare(node.this))
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        args = node.expressions
        if name in _CALLED_PARTS and len(args) == 1:
            return call("vg_extract", name.upper(), _bare(args[0]))
        if name in ("adddate", "subdate", "date_add", "date_sub") and len(args) == 2:
            return _shifted(args[0], args[1], name.startswith("sub") or name.endswith("sub"))
        if name == "make_date" and len(args) == 3:
            return call("vg_day", call("printf", "%04d-%02d-%02d", *args))
        return None
    if isinstance(node, exp.Extract):
        return call("vg_extract", node.name.upper(), _bare(node.expression))
    if isinstance(node, exp.DateAdd | exp.TsOrDsAdd | exp.DatetimeAdd | exp.TimestampAdd):
        return _shifted(node.this, node.expression, False, _unit(node))
    if isinstance(node, exp.DateSub | exp.DatetimeSub | exp.TimestampSub):
        return _shifted(node.this, node.expression, True, _unit(node))
    if isinstance(node, exp.Add | exp.Sub) and isinstance(node.expression, exp.Interval):
        return _shifted(node.this, node.expression, isinstance(node, exp.Sub))
    if isinstance(node, exp.Add) and isinstance(node.this, exp.Interval):
        return _shifted(node.expression, node.this, False)
    if isinstance(node, exp.StrToDate | exp.StrToTime):
        return call("vg_parsed", node.this, node.args["format"])
    if isinstance(node, exp.DateDiff | exp.TsOrDsDiff):
        return call("vg_date_diff", _bare(node.this), _bare(node.expression), _unit(node))
    if isinstance(node, exp.TimestampDiff | exp.DatetimeDiff):
        return call("vg_ts_diff", node.this, node.expression, _unit(node))
    if isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
        return call("vg_trunc", _unit(node), node.this)
    if isinstance(node, exp.TimeToStr):
        return call("vg_format", _bare(node.this), node.args["format"])
    if (
        isinstance(node, exp.TsOrDsToDate | exp.Date)
        and len(node.args.get("expressions") or ()) == 0
    ):
        return call("vg_day", node.this) if node.this else None
    if isinstance(node, exp.TsOrDsToTimestamp | exp.Timestamp):
        return call("vg_moment", node.this)
    if isinstance(node, exp.Cast):
        if node.to.this in _WHOLE:
            return call("vg_day", node.this)
        if node.to.this in _MOMENTS:
            return call("vg_moment", node.this)
    return None


def _bare(node: exp.Expr) -> exp.Expr:
    """Remove the casts to a day that sqlglot wraps around arguments."""
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
    return call("vg_date_add", _bare(moment), amount, unit)
