"""Operators, comparisons and items of values, with the cost of each.

Exact types only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

MAX_BITS = 1 << 16
_DEEP = 60


def words(number: int) -> int:
    """Return the number of 64-bit words that a number takes."""
    return (number.bit_length() >> 6) + 1


def check_size(value: Any) -> None:
    """Raise ValueError for a number that is too long."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ValueError(f"a number of more than {MAX_BITS} bits")


def weigh(meter: Any, value: Any, depth: int = 0) -> None:
    """Count the items and characters in a value, before they are compared or hashed."""
    kind = type(value)
    if kind is int:
        meter.spend(words(value))
    elif kind is str:
        meter.spend(1 + len(value))
    elif kind in (list, tuple, set, dict):
        if depth > _DEEP:
            raise ValueError(f"nested more than {_DEEP} deep")
        meter.spend(1 + len(value))
        for item in value:
            if type(item) is not int:
                weigh(meter, item, depth + 1)
        if kind is dict:
            for item in value.values():
                weigh(meter, item, depth + 1)
    else:
        meter.spend(1)


def require_whole(*values: Any) -> None:
    for value in values:
        if type(value) is not int and type(value) is not bool:
            raise TypeError(f"a whole number is wanted, got {type(value).__name__}")


def _both(kinds: tuple[type, ...], a: Any, b: Any) -> bool:
    return type(a) is type(b) and type(a) in kinds


def add(meter: Any, a: Any, b: Any) -> Any:
    if _both((str, list, tuple), a, b):
        meter.spend(len(a) + len(b))
        return a + b
    require_whole(a, b)
    meter.spend(max(words(a), words(b)))
    total = a + b
    check_size(total)
    return total


def _extend(meter: Any, a: Any, b: Any) -> Any:
    """`a += b`: a list is changed, and only what is added counts."""
    if type(a) is not list:
        return add(meter, a, b)
    if type(b) not in (list, tuple, str, set, dict, range):
        raise TypeError(f"a list cannot grow by {type(b).__name__}")
    meter.spend(len(b))
    a += b
    return a


def _subtract(meter: Any, a: Any, b: Any) -> Any:
    if _both((set,), a, b):
        meter.spend(len(a))
        return a - b
    require_whole(a, b)
    meter.spend(max(words(a), words(b)))
    return a - b


def _multiply(meter: Any, a: Any, b: Any) -> Any:
    if type(b) in (str, list, tuple):
        a, b = b, a
    if type(a) in (str, list, tuple):
        require_whole(b)
        meter.spend(max(0, len(a) * b))
        return a * b
    require_whole(a, b)
    meter.spend(words(a) * words(b))
    product = a * b
    check_size(product)
    return product


def _divided(divide: Callable[[int, int], Any]) -> Callable[[Any, Any, Any], Any]:
    def operate(meter: Any, a: Any, b: Any) -> Any:
        require_whole(a, b)
        meter.spend(words(a) * words(b))
        return divide(a, b)

    return operate


def power(meter: Any, a: Any, b: Any) -> int:
    require_whole(a, b)
    if b < 0 or (abs(a) > 1 and a.bit_length() * b > MAX_BITS):
        raise ValueError("the exponent is negative or the power too long")
    made: int = a**b
    meter.spend(words(made) ** 2 + b.bit_length())
    return made


def _left(meter: Any, a: Any, b: Any) -> int:
    require_whole(a, b)
    if not 0 <= b <= MAX_BITS - a.bit_length():
        raise ValueError("shifted by a negative or too long way")
    made: int = a << b
    meter.spend(words(made))
    return made


def _right(meter: Any, a: Any, b: Any) -> int:
    require_whole(a, b)
    meter.spend(words(a))
    made: int = a >> b
    return made


def _bits(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def combine(meter: Any, a: Any, b: Any) -> Any:
        if _both((set,), a, b):
            meter.spend(len(a) + len(b))
        else:
            require_whole(a, b)
            meter.spend(max(words(a), words(b)))
        return operate(a, b)

    return combine


OPERATORS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Add": add,
    "Sub": _subtract,
    "Mult": _multiply,
    "FloorDiv": _divided(operator.floordiv),
    "Mod": _divided(operator.mod),
    "Pow": power,
    "LShift": _left,
    "RShift": _right,
    "BitAnd": _bits(operator.and_),
    "BitOr": _bits(operator.or_),
    "BitXor": _bits(operator.xor),
}
IN_PLACE: dict[str, Callable[[Any, Any, Any], Any]] = {"Add": _extend}


def _negative(meter: Any, value: Any) -> int:
    require_whole(value)
    meter.spend(words(value))
    return -int(value)


def _inverted(meter: Any, value: Any) -> int:
    require_whole(value)
    meter.spend(words(value))
    return ~int(value)


UNARY: dict[str, Callable[[Any, Any], Any]] = {
    "USub": _negative,
    "Invert": _inverted,
    "Not": lambda meter, value: not value,
}


def _equal(meter: Any, a: Any, b: Any) -> bool:
    if type(a) in (str, list, tuple, set, dict) and type(b) is type(a):
        if len(a) != len(b):
            return False
        weigh(meter, a)
        weigh(meter, b)
    elif type(a) in (int, bool) and type(b) in (int, bool):
        meter.used += words(a) - 1
    elif type(a) is type(b) is range:
        pass
    elif type(a) is not type(b):
        return False
    return bool(a == b)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any, Any], bool]:
    def test(meter: Any, a: Any, b: Any) -> bool:
        if type(a) in (int, bool) and type(b) in (int, bool):
            meter.used += words(a) - 1
        elif _both((str, list, tuple, set), a, b):
            weigh(meter, a if len(a) < len(b) else b)
        else:
            raise TypeError(f"{type(a).__name__} and {type(b).__name__} have no order")
        return compare(a, b)

    return test


def _within(meter: Any, a: Any, b: Any) -> bool:
    kind = type(b)
    if kind is dict or kind is set:
        weigh(meter, a)
        return a in b
    if kind is str:
        if type(a) is not str:
            raise TypeError("only a text can be in a text")
        meter.spend(len(a) + len(b))
        return a in b
    if kind is range:
        require_whole(a)
        return a in b
    if kind is not list and kind is not tuple:
        raise TypeError(f"{kind.__name__} is not searched")
    return any(equal_in_search(meter, item, a) for item in b)


def equal_in_search(meter: Any, a: Any, b: Any) -> bool:
    meter.spend(1)
    return _equal(meter, a, b)


COMPARISONS: dict[str, Callable[[Any, Any, Any], bool]] = {
    "Eq": _equal,
    "NotEq": lambda meter, a, b: not _equal(meter, a, b),
    "Lt": _ordered(operator.lt),
    "LtE": _ordered(operator.le),
    "Gt": _ordered(operator.gt),
    "GtE": _ordered(operator.ge),
    "In": _within,
    "NotIn": lambda meter, a, b: not _within(meter, a, b),
    "Is": lambda meter, a, b: a is b,
    "IsNot": lambda meter, a, b: a is not b,
}


def load_item(meter: Any, thing: Any, at: Any) -> Any:
    """Return `thing[at]`."""
    if type(thing) is dict:
        weigh(meter, at)
        return thing[at]
    if type(thing) not in (list, tuple, str, range):
        raise TypeError(f"{type(thing).__name__} has no items by number")
    require_whole(at)
    return thing[at]


def store_item(meter: Any, thing: Any, at: Any, value: Any) -> None:
    """Store a value: `thing[at] = value`."""
    if type(thing) is dict:
        weigh(meter, at)
    elif type(thing) is list:
        require_whole(at)
    else:
        raise TypeError(f"{type(thing).__name__} has no items to set")
    thing[at] = value


def load_slice(meter: Any, thing: Any, low: Any, high: Any, step: Any) -> Any:
    """Return `thing[low:high:step]`."""
    if type(thing) not in (list, tuple, str):
        raise TypeError(f"{type(thing).__name__} has no slices")
    require_whole(*(bound for bound in (low, high, step) if bound is not None))
    got = thing[low:high:step]
    meter.spend(1 + len(got))
    return got


def make_set(meter: Any, items: Any) -> set[Any]:
    """Return a set of items whose cost has been counted already."""
    made: set[Any] = set()
    for item in items:
        weigh(meter, item)
        made.add(item)
    return made
