"""Functions that other databases have and SQLite lacks, for `sqlite3.create_function`.

All are pure, cheap and bounded, give NULL for NULL and for what they cannot read, and never raise
for a value. Regular expressions are left out on purpose: Python's may hang (DuckDB's do not).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from verigym.verifiers.sql.dates import DATES, Value

MAX_TEXT = 20_000


def text_of(value: Value) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def left(value: Value, count: Value) -> str | None:
    """Return the first characters."""
    if value is None or not isinstance(count, int):
        return None
    return text_of(value)[:count] if count >= 0 else ""


def right(value: Value, count: Value) -> str | None:
    """Return the last characters."""
    if value is None or not isinstance(count, int):
        return None
    return text_of(value)[-count:] if count > 0 else ""


def _padded(value: Value, size: Value, fill: Value, at_left: bool) -> str | None:
    if value is None or fill is None or not isinstance(size, int) or size < 0:
        return None
    text, size = text_of(value), min(size, MAX_TEXT)
    pad = (text_of(fill) * size)[: max(0, size - len(text))] if len(text_of(fill)) <= 100 else ""
    return (pad + text if at_left else text + pad)[:size]


def lpad(value: Value, size: Value, fill: Value = " ") -> str | None:
    """Return the text filled from the left, cut to size."""
    text = _padded(value, size, fill, True)
    return (
        text_of(value)[: len(text)]
        if text is not None and len(text_of(value)) > len(text)
        else text
    )


def rpad(value: Value, size: Value, fill: Value = " ") -> str | None:
    """Return the text filled from the right, cut to size."""
    return _padded(value, size, fill, False)


def reverse(value: Value) -> str | None:
    """Return the text backwards."""
    return None if value is None else text_of(value)[::-1]


def repeat(value: Value, count: Value) -> str | None:
    """Return the text repeated, up to a bound."""
    if value is None or not isinstance(count, int):
        return None
    text = text_of(value)
    return text * max(0, min(count, MAX_TEXT // max(1, len(text))))


def initcap(value: Value) -> str | None:
    """Return each word with a capital."""
    return None if value is None else text_of(value).title()


def substring_index(value: Value, mark: Value, count: Value) -> str | None:
    """Return MySQL's SUBSTRING_INDEX."""
    if value is None or mark is None or not isinstance(count, int):
        return None
    if not mark:
        return ""
    parts = text_of(value).split(text_of(mark))
    return text_of(mark).join(parts[:count] if count >= 0 else parts[count:]) if count else ""


def split_part(value: Value, mark: Value, count: Value) -> str | None:
    """Return PostgreSQL's SPLIT_PART."""
    if value is None or not mark or not isinstance(count, int):
        return None
    parts = text_of(value).split(text_of(mark))
    return parts[count - 1] if 1 <= count <= len(parts) else ""


def printf(pattern: Value, *values: Value) -> str | None:
    """Return SQLite's own, without widths beyond 999: those take seconds even if the result is refused."""
    if not isinstance(pattern, str) or "*" in pattern or re.search(r"\d{4}", pattern):
        return None
    try:
        return pattern % tuple("" if value is None else value for value in values)
    except (TypeError, ValueError, OverflowError):
        return None


def concat_ws(mark: Value, *values: Value) -> str | None:
    """Return the texts joined with a mark; nulls left out."""
    return None if mark is None else text_of(mark).join(text_of(v) for v in values if v is not None)


def concat(*values: Value) -> str | None:
    """Return the texts joined; NULL if any is."""
    return None if None in values else "".join(map(text_of, values))


def texts(*values: Value) -> str:
    """Return the texts joined, nulls left out, as PostgreSQL's CONCAT does."""
    return "".join(text_of(value) for value in values if value is not None)


def field(value: Value, *values: Value) -> int:
    """Return MySQL's FIELD."""
    return next(
        (at for at, other in enumerate(values, 1) if value == other and value is not None), 0
    )


def find_in_set(value: Value, values: Value) -> int | None:
    """Return MySQL's FIND_IN_SET."""
    if value is None or values is None:
        return None
    parts = text_of(values).split(",")
    return parts.index(text_of(value)) + 1 if text_of(value) in parts else 0


def packed(*values: Value) -> str | None:
    """Return several values as one that is equal if all of them are; NULL if any is."""
    if None in values:
        return None
    return repr([float(v) if isinstance(v, int | float) else v for v in values])


def to_decimal(value: Value, scale: Value) -> float | None:
    """Return CAST(value AS DECIMAL(p, scale))."""
    if value is None or not isinstance(scale, int) or not 0 <= scale <= 30:
        return None
    try:
        return float(Decimal(str(value)).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP))
    except InvalidOperation:
        return 0.0


def to_integer(value: Value) -> int | None:
    """Return CAST(value AS INTEGER) where that rounds, halves away from zero; of a text its first number."""
    if value is None:
        return None
    found = re.match(r"\s*([+-]?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?)", text_of(value), re.IGNORECASE)
    try:
        return int(Decimal(found[1]).quantize(Decimal(1), ROUND_HALF_UP)) if found else 0
    except InvalidOperation:
        return 0


def mid(value: Value, start: Value, count: Value = None) -> str | None:
    """Return MySQL's MID: characters from a place, counted from 1 or from the end."""
    if value is None or not isinstance(start, int):
        return None
    text = text_of(value)
    if start == 0 or abs(start) > len(text):
        return ""
    text = text[start - 1 if start > 0 else start :]
    return text if count is None else text[: max(0, int(count))]


def compared(one: Value, other: Value) -> int | None:
    """Return MySQL's STRCMP, without case."""
    if one is None or other is None:
        return None
    left_text, right_text = text_of(one).lower(), text_of(other).lower()
    return (left_text > right_text) - (left_text < right_text)


def chosen(number: Value, *values: Value) -> Value:
    """Return MySQL's ELT: the value of that number."""
    return values[number - 1] if isinstance(number, int) and 0 < number <= len(values) else None


def code_of(value: Value) -> int | None:
    """Return the code of the first character."""
    text = "" if value is None else text_of(value)
    return None if value is None else ord(text[0]) if text else 0


def digest(value: Value) -> str | None:
    """Return MD5, as hexadecimal digits."""
    plain = None if value is None else text_of(value).encode()
    return None if plain is None else hashlib.md5(plain, usedforsecurity=False).hexdigest()


def truncate(value: Value, digits: Value = 0) -> float | None:
    """Truncate after this many decimals."""
    if not isinstance(value, int | float) or not isinstance(digits, int) or abs(digits) > 30:
        return None
    factor = 10.0**digits
    cut: float = math.trunc(value * factor) / factor
    return cut


def _real(function: Callable[..., float]) -> Callable[..., float | None]:
    def call(*values: Value) -> float | None:
        try:
            return (
                function(*(float(v) for v in values if v is not None))
                if None not in values
                else None
            )
        except (ValueError, OverflowError, ZeroDivisionError, TypeError):
            return None

    return call


def _mod(a: float, b: float) -> float:
    return math.fmod(a, b)


def _log(base: float, value: float) -> float:
    return math.log(value, base)


SCALARS: dict[str, tuple[int, Callable[..., Any]]] = {
    **DATES,
    "printf": (-1, printf), "format": (-1, printf), "vg_packed": (-1, packed),
    "vg_decimal": (2, to_decimal), "vg_integer": (1, to_integer), "strcmp": (2, compared), "elt": (-1, chosen), "ascii": (1, code_of), "md5": (1, digest), "vg_text": (-1, texts), "mid": (-1, mid), "vg_left": (2, left), "vg_right": (2, right),
    "lpad": (-1, lpad), "rpad": (-1, rpad), "reverse": (1, reverse),
    "repeat": (2, repeat), "initcap": (1, initcap), "substring_index": (3, substring_index),
    "split_part": (3, split_part), "concat_ws": (-1, concat_ws), "concat": (-1, concat),
    "field": (-1, field), "find_in_set": (2, find_in_set), "vg_truncate": (2, truncate),
    "power": (2, _real(math.pow)), "pow": (2, _real(math.pow)), "sqrt": (1, _real(math.sqrt)),
    "exp": (1, _real(math.exp)), "ln": (1, _real(math.log)), "log10": (1, _real(math.log10)),
    "log2": (1, _real(math.log2)), "log": (2, _real(_log)), "mod": (2, _real(_mod)),
    "ceil": (1, _real(math.ceil)), "ceiling": (1, _real(math.ceil)), "floor": (1, _real(math.floor)),
}  # fmt: skip
