"""Values that make a comparison true: what its columns must hold, read backwards through arithmetic,
casts, texts and days.

Covers: one column beside constants in each comparison, LIKE, GLOB, regular expressions, IN, BETWEEN,
IS NULL. The values are proposals, whose truth an engine tells; neighbours are added by `cells.py`.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Sequence
from itertools import islice

from sqlglot import exp

from verigym.verifiers.sql.near import Value, matching, values_of
from verigym.verifiers.sql.patterns import example_of
from verigym.verifiers.sql.sqlite_days import constant_day, unshifted

Proposal = tuple[exp.Column, Value]

_COMPARISONS = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is,
)  # fmt: skip
_THROUGH = (
    exp.Cast, exp.TryCast, exp.Round, exp.Ceil, exp.Floor, exp.Trunc, exp.Coalesce, exp.Nullif,
    exp.Trim, exp.TsOrDsToDate, exp.TsOrDsToTimestamp, exp.Date, exp.Timestamp, exp.Sum, exp.Avg,
    exp.Min, exp.Max, exp.Distinct, exp.Collate,
)  # fmt: skip
_MAX_NUMBER = 2**62
_MAX_TEXT = 300
_MAX_DAYS = 8


def solutions(node: exp.Expr) -> Iterator[Proposal]:
    """Return the columns of a comparison with values that may make it true, best first."""
    if isinstance(node, exp.In):
        for item in node.expressions:
            yield from _equal(node.this, item)
    elif isinstance(node, exp.Between):
        for bound in (node.args["low"], node.args["high"]):
            yield from _equal(node.this, bound)
    elif isinstance(node, exp.Like | exp.ILike | exp.Glob):
        pattern = constant(node.expression)
        if isinstance(pattern, str):
            if isinstance(node, exp.Glob):
                pattern = pattern.replace("*", "%").replace("?", "_")
            yield from _back(node.this, list(matching(pattern)))
    elif isinstance(node, exp.RegexpLike | exp.RegexpILike | exp.SimilarTo):
        pattern = constant(node.expression)
        text = example_of(pattern) if isinstance(pattern, str) else None
        if text is not None:
            yield from _back(node.this, [text, text[:-1], text + "-", "-" + text])
    elif isinstance(node, _COMPARISONS):
        yield from _equal(node.this, node.expression)


def _equal(left: exp.Expr, right: exp.Expr) -> Iterator[Proposal]:
    for one, other in ((left, right), (right, left)):
        value = constant(other)
        if value is not None:
            yield from _back(one, [value])


def constant(node: exp.Expr | None) -> Value | None:
    """Return the value of an expression without columns; None if it has some or is not understood."""
    if isinstance(node, exp.Literal):
        return next(values_of(node), None)
    if isinstance(node, exp.Paren | exp.Cast | exp.TryCast | exp.TsOrDsToDate | exp.Date):
        return constant(node.this)
    if isinstance(node, exp.Boolean):
        return int(bool(node.this))
    if isinstance(node, exp.Neg):
        value = constant(node.this)
        return -value if isinstance(value, int | float) else None
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
        return _counted(node, constant(node.this), node.expression)
    return None if node is None else constant_day(node)


def _counted(node: exp.Expr, one: Value | None, right: exp.Expr) -> Value | None:
    """One step of arithmetic with numbers, or of a day by an interval."""
    if isinstance(right, exp.Interval):
        days = _days_of(right)
        if isinstance(one, str) and days is not None:
            return _moved(one, days if isinstance(node, exp.Add) else -days)
        return None
    other = constant(right)
    if not isinstance(one, int | float) or not isinstance(other, int | float):
        return None
    try:
        if isinstance(node, exp.Add):
            value: float = one + other
        elif isinstance(node, exp.Sub):
            value = one - other
        elif isinstance(node, exp.Mul):
            value = one * other
        else:
            value = one / other
    except (ZeroDivisionError, OverflowError):
        return None
    return _tidy(value) if abs(value) < _MAX_NUMBER else None


def _tidy(value: float) -> Value:
    return int(value) if float(value).is_integer() else float(value)


def _back(node: exp.Expr, wanted: Sequence[Value]) -> Iterator[Proposal]:
    """Yield values of the columns in `node` that give it one of the wanted values."""
    if isinstance(node, exp.Column):
        for value in wanted:
            yield node, value
    elif isinstance(node, exp.Paren):
        yield from _back(node.this, wanted)
    elif isinstance(node, exp.Neg):
        yield from _back(node.this, [-v for v in wanted if isinstance(v, int | float)])
    elif isinstance(node, exp.Abs):
        numbers = [v for v in wanted if isinstance(v, int | float)]
        yield from _back(node.this, [*numbers, *(-v for v in numbers)])
    elif isinstance(node, _THROUGH):
        yield from _back(node.this, wanted)
    elif isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv | exp.Mod):
        yield from _arithmetic(node, wanted)
    elif isinstance(node, exp.Lower | exp.Upper | exp.Initcap):
        texts = [str(v) for v in wanted]
        yield from _back(node.this, [*texts, *(t.swapcase() for t in texts)])
    elif isinstance(node, exp.Substring):
        start = constant(node.args.get("start"))
        if isinstance(start, int) and 0 < start < _MAX_TEXT:
            front = "a" * (start - 1)
            texts = [str(v) for v in wanted]
            yield from _back(
                node.this, [*(front + t for t in texts), *(front + t + "z" for t in texts)]
            )
    elif isinstance(node, exp.Left):
        yield from _back(node.this, [str(v) + tail for v in wanted for tail in ("", "z")])
    elif isinstance(node, exp.Right):
        yield from _back(node.this, [front + str(v) for v in wanted for front in ("", "z")])
    elif isinstance(node, exp.Length):
        counts = [v for v in wanted if isinstance(v, int) and 0 <= v < _MAX_TEXT]
        yield from _back(node.this, ["x" * n for v in counts for n in (v, v + 1, max(0, v - 1))])
    elif isinstance(node, exp.Replace):
        yield from _back(node.this, wanted)
    elif isinstance(node, exp.StrPosition):
        part = constant(node.args.get("substr"))
        if isinstance(part, str):
            fronts = [v - 1 for v in wanted if isinstance(v, int) and 0 < v < _MAX_TEXT] or [0]
            yield from _back(node.this, ["y" * front + part for front in (*fronts, 1)])
    elif isinstance(node, exp.DPipe | exp.Concat):
        yield from _joined(node, wanted)
    elif isinstance(node, exp.DateAdd | exp.DateSub | exp.TsOrDsAdd):
        days = _shift_of(node)
        if days is not None:
            sign = 1 if isinstance(node, exp.DateSub) else -1
            yield from _back(node.this, [d for v in wanted if (d := _moved(str(v), sign * days))])
    elif isinstance(node, exp.Sqrt):
        yield from _back(node.this, [v * v for v in wanted if isinstance(v, int | float)])
    elif isinstance(node, exp.Pow):
        power = constant(node.expression)
        if isinstance(power, int) and power > 0:
            roots = [v ** (1 / power) for v in wanted if isinstance(v, int | float) and v >= 0]
            yield from _back(node.this, [_tidy(round(root, 9)) for root in roots])
    elif (asked := part_of(node)) is not None:
        column, name = asked
        parts = {name: [int(v) for v in wanted if not isinstance(v, str) or v.isdigit()]}
        yield from ((column, day) for day in islice(days_with(parts), _MAX_DAYS) if parts[name])
    elif isinstance(node, exp.TimeToStr):
        yield from _back(node.this, wanted)
    elif (inner := unshifted(node, list(wanted))) is not None:
        yield from _back(*inner)


def _arithmetic(node: exp.Expr, wanted: Sequence[Value]) -> Iterator[Proposal]:
    left, right = node.this, node.expression
    if isinstance(right, exp.Interval):
        days = _days_of(right)
        if days is not None:
            sign = -1 if isinstance(node, exp.Add) else 1
            yield from _back(left, [d for v in wanted if (d := _moved(str(v), sign * days))])
        return
    known, other, first = constant(right), left, True
    if known is None:
        known, other, first = constant(left), right, False
    if (
        isinstance(known, str) and known.isdigit()
    ):  # strftime('%Y', ...) is a text that SQLite counts with
        known = int(known)
    if not isinstance(known, int | float):
        return
    found: list[Value] = []
    for value in wanted:
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                continue
        found += [
            _tidy(round(v, 9))
            for v in _unwound(node, value, known, first)
            if math.isfinite(v) and abs(v) < _MAX_NUMBER
        ]
    yield from _back(other, found)


def _unwound(node: exp.Expr, value: float, known: float, first: bool) -> list[float]:
    """The operand that gives `value` with the other one known; `first` if it stands on the left."""
    if isinstance(node, exp.Add):
        return [value - known]
    if isinstance(node, exp.Sub):
        return [value + known] if first else [known - value]
    if isinstance(node, exp.Mul):
        return [value / known] if known else []
    if isinstance(node, exp.Mod):
        return [value, value + known, value + 2 * known] if first else []
    if first:
        return [value * known]
    return [known / value] if value else []


def _joined(node: exp.Expr, wanted: Sequence[Value]) -> Iterator[Proposal]:
    """Texts joined: what one column must be between constants."""
    parts = list(node.flatten()) if isinstance(node, exp.DPipe) else node.expressions
    open_parts = [part for part in parts if constant(part) is None]
    if len(open_parts) != 1:
        return
    at = parts.index(open_parts[0])
    front = "".join(str(constant(part)) for part in parts[:at])
    back = "".join(str(constant(part)) for part in parts[at + 1 :])
    texts = [
        text[len(front) : len(text) - len(back)]
        for text in map(str, wanted)
        if text.startswith(front) and text.endswith(back)
    ]
    yield from _back(open_parts[0], texts)


_UNIT_DAYS = {"DAY": 1, "WEEK": 7, "MONTH": 31, "QUARTER": 92, "YEAR": 366}


def _days_of(interval: exp.Interval) -> int | None:
    """The days of an interval, roughly for months and years."""
    amount = interval.this
    if not isinstance(amount, exp.Literal):
        return None
    number, _, word = amount.name.partition(" ")
    unit = (interval.text("unit") or word or "DAY").upper().removesuffix("S")
    try:
        return int(float(number)) * _UNIT_DAYS.get(unit, 1)
    except (ValueError, OverflowError):
        return None


def _shift_of(node: exp.Expr) -> int | None:
    """The days that a call of DATE_ADD or DATE_SUB moves a day by."""
    if isinstance(node.expression, exp.Interval):
        return _days_of(node.expression)
    amount = constant(node.expression)
    unit = (node.text("unit") or "DAY").upper().removesuffix("S")
    try:
        return None if amount is None else int(float(amount)) * _UNIT_DAYS.get(unit, 1)
    except (ValueError, OverflowError):
        return None


def _moved(day: str, days: int) -> str | None:
    try:
        return str(datetime.date.fromisoformat(day[:10]) + datetime.timedelta(days))
    except (ValueError, OverflowError):
        return None


_PARTS: dict[type[exp.Expr], str] = {
    exp.Year: "year", exp.Month: "month", exp.Day: "day", exp.DayOfMonth: "day",
    exp.Quarter: "quarter",
}  # fmt: skip
_FORMATS = {"%Y": "year", "%m": "month", "%d": "day", "%Y-%m": "month_of_year", "%y": "year"}


def part_of(node: exp.Expr) -> tuple[exp.Column, str] | None:
    """Return the column and the part of a day (year, month, day, quarter) that an expression asks for."""
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    name, inner = "", None
    if type(node) in _PARTS:
        name, inner = _PARTS[type(node)], node.this
    elif isinstance(node, exp.Extract):
        name, inner = node.name.lower(), node.expression
    elif isinstance(node, exp.TimeToStr):
        name, inner = _FORMATS.get(node.text("format"), ""), node.this
    elif isinstance(node, exp.Anonymous) and node.expressions:
        name, inner = node.name.lower(), node.expressions[-1]
        if name == "date_part":
            name = node.expressions[0].name.lower()
    if not isinstance(inner, exp.Expr) or name not in (*_PARTS.values(), "month_of_year"):
        return None
    column = inner if isinstance(inner, exp.Column) else inner.find(exp.Column)
    return (column, name) if column is not None else None


def days_with(parts: dict[str, list[int]]) -> Iterator[str]:
    """Return the days that have the asked for parts, the first of each part first; then those beside them."""
    years = parts.get("year") or [2020]
    months = parts.get("month") or [(q - 1) * 3 + 1 for q in parts.get("quarter", ())] or [6]
    days = parts.get("day") or [15]
    for year in years[:3]:
        for month in months[:4]:
            for day in days[:3]:
                try:
                    middle = datetime.date(year, month, day)
                except (ValueError, OverflowError):
                    continue
                for near in (0, -1, 1, 31, -31, 366, -365):
                    try:
                        yield str(middle + datetime.timedelta(near))
                    except OverflowError:
                        continue
