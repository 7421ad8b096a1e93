"""Functions and methods that programs of `machine.py` may call, with the cost of each; runs in the
sandbox.

Exact types only. Reading, copying, searching or returning a text or list costs one step per item
or character, a key its length, a sort n log n, arithmetic on long numbers one step per pair of
64-bit words (addition: per word). Uses only the standard library.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

MAX_BITS = 1 << 16
_DEEP = 60


def words(number: int) -> int:
    """64-bit words of a number."""
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


def _whole(*values: Any) -> None:
    for value in values:
        if type(value) is not int and type(value) is not bool:
            raise TypeError(f"a whole number is wanted, got {type(value).__name__}")


def _both(kinds: tuple[type, ...], a: Any, b: Any) -> bool:
    return type(a) is type(b) and type(a) in kinds


def _add(meter: Any, a: Any, b: Any) -> Any:
    if _both((str, list, tuple), a, b):
        meter.spend(len(a) + len(b))
        return a + b
    _whole(a, b)
    meter.spend(max(words(a), words(b)))
    total = a + b
    check_size(total)
    return total


def _extend(meter: Any, a: Any, b: Any) -> Any:
    """`a += b`: a list is changed, and only what is added counts."""
    if type(a) is not list:
        return _add(meter, a, b)
    if type(b) not in (list, tuple, str, set, dict, range):
        raise TypeError(f"a list cannot grow by {type(b).__name__}")
    meter.spend(len(b))
    a += b
    return a


def _subtract(meter: Any, a: Any, b: Any) -> Any:
    if _both((set,), a, b):
        meter.spend(len(a))
        return a - b
    _whole(a, b)
    meter.spend(max(words(a), words(b)))
    return a - b


def _multiply(meter: Any, a: Any, b: Any) -> Any:
    if type(b) in (str, list, tuple):
        a, b = b, a
    if type(a) in (str, list, tuple):
        _whole(b)
        meter.spend(max(0, len(a) * b))
        return a * b
    _whole(a, b)
    meter.spend(words(a) * words(b))
    product = a * b
    check_size(product)
    return product


def _divided(divide: Callable[[int, int], Any]) -> Callable[[Any, Any, Any], Any]:
    def operate(meter: Any, a: Any, b: Any) -> Any:
        _whole(a, b)
        meter.spend(words(a) * words(b))
        return divide(a, b)

    return operate


def _power(meter: Any, a: Any, b: Any) -> int:
    _whole(a, b)
    if b < 0 or (abs(a) > 1 and a.bit_length() * b > MAX_BITS):
        raise ValueError("the exponent is negative or the power too long")
    made: int = a**b
    meter.spend(words(made) ** 2 + b.bit_length())
    return made


def _left(meter: Any, a: Any, b: Any) -> int:
    _whole(a, b)
    if not 0 <= b <= MAX_BITS - a.bit_length():
        raise ValueError("shifted by a negative or too long way")
    made: int = a << b
    meter.spend(words(made))
    return made


def _right(meter: Any, a: Any, b: Any) -> int:
    _whole(a, b)
    meter.spend(words(a))
    made: int = a >> b
    return made


def _bits(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def combine(meter: Any, a: Any, b: Any) -> Any:
        if _both((set,), a, b):
            meter.spend(len(a) + len(b))
        else:
            _whole(a, b)
            meter.spend(max(words(a), words(b)))
        return operate(a, b)

    return combine


OPERATORS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Add": _add,
    "Sub": _subtract,
    "Mult": _multiply,
    "FloorDiv": _divided(operator.floordiv),
    "Mod": _divided(operator.mod),
    "Pow": _power,
    "LShift": _left,
    "RShift": _right,
    "BitAnd": _bits(operator.and_),
    "BitOr": _bits(operator.or_),
    "BitXor": _bits(operator.xor),
}
IN_PLACE: dict[str, Callable[[Any, Any, Any], Any]] = {"Add": _extend}


def _negative(meter: Any, value: Any) -> int:
    _whole(value)
    meter.spend(words(value))
    return -int(value)


def _inverted(meter: Any, value: Any) -> int:
    _whole(value)
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
        _whole(a)
        return a in b
    if kind is not list and kind is not tuple:
        raise TypeError(f"{kind.__name__} is not searched")
    return any(_step_equal(meter, item, a) for item in b)


def _step_equal(meter: Any, a: Any, b: Any) -> bool:
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
    """`thing[at]`."""
    if type(thing) is dict:
        weigh(meter, at)
        return thing[at]
    if type(thing) not in (list, tuple, str, range):
        raise TypeError(f"{type(thing).__name__} has no items by number")
    _whole(at)
    return thing[at]


def store_item(meter: Any, thing: Any, at: Any, value: Any) -> None:
    """`thing[at] = value`."""
    if type(thing) is dict:
        weigh(meter, at)
    elif type(thing) is list:
        _whole(at)
    else:
        raise TypeError(f"{type(thing).__name__} has no items to set")
    thing[at] = value


def load_slice(meter: Any, thing: Any, low: Any, high: Any, step: Any) -> Any:
    """`thing[low:high:step]`."""
    if type(thing) not in (list, tuple, str):
        raise TypeError(f"{type(thing).__name__} has no slices")
    _whole(*(bound for bound in (low, high, step) if bound is not None))
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


def _taken(machine: Any, value: Any) -> list[Any]:
    """The items of a value as a list; one step each."""
    got = []
    for item in machine.items(value):
        machine.meter.spend(1)
        got.append(item)
    return got


def _in_order(machine: Any, items: list[Any], key: Any, reverse: Any) -> list[Any]:
    """Sorted; n log n comparisons are counted, each by the items' length."""
    keys = [machine.call(key, [item], {}) for item in items] if key is not None else items
    rounds = max(1, len(items).bit_length())
    for one in keys:
        before = machine.meter.used
        weigh(machine.meter, one)
        machine.meter.spend((machine.meter.used - before) * (rounds - 1))
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(reverse))
    return [items[at] for at in order]


def _sorted(machine: Any, items: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
    return _in_order(machine, _taken(machine, items), key, reverse)


def _best(better: str) -> Callable[..., Any]:
    test = COMPARISONS[better]
    missing = object()

    def choose(machine: Any, *values: Any, key: Any = None, default: Any = missing) -> Any:
        items = _taken(machine, values[0] if len(values) == 1 else values)
        if not items:
            if default is missing:
                raise ValueError("nothing to choose from")
            return default
        best = items[0]
        mark = machine.call(key, [best], {}) if key is not None else best
        for item in items[1:]:
            other = machine.call(key, [item], {}) if key is not None else item
            if test(machine.meter, other, mark):
                best, mark = item, other
        return best

    return choose


def _sum(machine: Any, items: Any, start: Any = 0) -> Any:
    total = start
    for item in _taken(machine, items):
        total = _add(machine.meter, total, item)
    return total


def _any(machine: Any, items: Any) -> bool:
    for item in machine.items(items):
        machine.meter.spend(1)
        if item:
            return True
    return False


def _all(machine: Any, items: Any) -> bool:
    for item in machine.items(items):
        machine.meter.spend(1)
        if not item:
            return False
    return True


def _len(machine: Any, value: Any) -> int:
    if type(value) not in (list, tuple, str, dict, set, range):
        raise TypeError(f"{type(value).__name__} has no length")
    return len(value)


def _range(machine: Any, *bounds: Any) -> range:
    _whole(*bounds)
    return range(*bounds)


def _int(machine: Any, value: Any = 0, base: Any = 10) -> int:
    if type(value) is str:
        _whole(base)
        machine.meter.spend(1 + len(value) ** 2 // 64)
        return int(value, base)
    _whole(value)
    return int(value)


def _str(machine: Any, value: Any = "") -> str:
    if value is not None and type(value) not in (int, bool, str):
        raise TypeError("str() takes a number, a truth value or a text")
    if type(value) is int:
        machine.meter.spend(words(value) ** 2)
    text = str(value)
    machine.meter.spend(len(text))
    return text


def _abs(machine: Any, value: Any) -> int:
    _whole(value)
    machine.meter.spend(words(value))
    return abs(int(value))


def _divmod(machine: Any, a: Any, b: Any) -> tuple[int, int]:
    _whole(a, b)
    machine.meter.spend(words(a) * words(b))
    return divmod(int(a), int(b))


def _pow(machine: Any, a: Any, b: Any, modulus: Any = None) -> int:
    if modulus is None:
        return _power(machine.meter, a, b)
    _whole(a, b, modulus)
    # Before the work is done, not after it.
    machine.meter.spend((b.bit_length() + 1) * words(modulus) ** 2 + words(a) * words(modulus))
    return pow(int(a), int(b), int(modulus))


def _chr(machine: Any, value: Any) -> str:
    _whole(value)
    return chr(value)


def _ord(machine: Any, value: Any) -> int:
    if type(value) is not str:
        raise TypeError("ord() takes a character")
    return ord(value)


def _dict(machine: Any, items: Any = ()) -> dict[Any, Any]:
    if type(items) is dict:
        machine.meter.spend(len(items))
        return dict(items)
    made: dict[Any, Any] = {}
    for pair in _taken(machine, items):
        key, value = pair
        store_item(machine.meter, made, key, value)
    return made


def _zip(machine: Any, *values: Any) -> list[Any]:
    made = list(zip(*(_taken(machine, value) for value in values), strict=False))
    machine.meter.spend(len(made))
    return made


def _enumerate(machine: Any, items: Any, start: Any = 0) -> list[Any]:
    _whole(start)
    return [(start + at, item) for at, item in enumerate(_taken(machine, items))]


BUILTINS: dict[str, Callable[..., Any]] = {
    "abs": _abs,
    "all": _all,
    "any": _any,
    "bool": lambda machine, value=False: bool(value),
    "chr": _chr,
    "dict": _dict,
    "divmod": _divmod,
    "enumerate": _enumerate,
    "filter": lambda machine, test, items: [
        item
        for item in _taken(machine, items)
        if (machine.call(test, [item], {}) if test is not None else item)
    ],
    "int": _int,
    "len": _len,
    "list": lambda machine, items=(): _taken(machine, items),
    "map": lambda machine, function, items: [
        machine.call(function, [item], {}) for item in _taken(machine, items)
    ],
    "max": _best("Gt"),
    "min": _best("Lt"),
    "ord": _ord,
    "pow": _pow,
    "range": _range,
    "reversed": lambda machine, items: _taken(machine, items)[::-1],
    "set": lambda machine, items=(): make_set(machine.meter, _taken(machine, items)),
    "sorted": _sorted,
    "str": _str,
    "sum": _sum,
    "tuple": lambda machine, items=(): tuple(_taken(machine, items)),
    "zip": _zip,
}


def _append(machine: Any, thing: Any, item: Any) -> None:
    thing.append(item)


def _pop(machine: Any, thing: Any, at: Any = -1) -> Any:
    _whole(at)
    # Everything behind it moves.
    machine.meter.spend(-at if at < 0 else max(0, len(thing) - at))
    return thing.pop(at)


def _insert(machine: Any, thing: Any, at: Any, item: Any) -> None:
    _whole(at)
    machine.meter.spend(-at if at < 0 else max(0, len(thing) - at))
    thing.insert(at, item)


def _index(machine: Any, thing: Any, wanted: Any) -> int:
    for at, item in enumerate(thing):
        if _step_equal(machine.meter, item, wanted):
            return at
    raise ValueError("it is not in the list")


def _remove(machine: Any, thing: Any, wanted: Any) -> None:
    del thing[_index(machine, thing, wanted)]


def _count(machine: Any, thing: Any, wanted: Any) -> int:
    return sum(_step_equal(machine.meter, item, wanted) for item in thing)


def _sort(machine: Any, thing: Any, *, key: Any = None, reverse: Any = False) -> None:
    machine.meter.spend(len(thing))
    thing[:] = _in_order(machine, list(thing), key, reverse)


def _whole_of(name: str) -> Callable[..., Any]:
    """A method that reads its value from end to end; its arguments are texts or numbers."""

    def method(machine: Any, thing: Any, *args: Any) -> Any:
        for arg in args:
            if type(arg) not in (str, int, bool):
                raise TypeError(f"{name} takes texts and numbers")
            if type(arg) is str:
                machine.meter.spend(len(arg))
        machine.meter.spend(1 + len(thing))
        return getattr(thing, name)(*args)

    return method


def _replace(machine: Any, thing: str, old: Any, new: Any) -> str:
    if type(old) is not str or type(new) is not str:
        raise TypeError("replace takes two texts")
    machine.meter.spend(len(thing) + (thing.count(old) if old else len(thing) + 1) * len(new))
    return thing.replace(old, new)


def _join(machine: Any, thing: str, items: Any) -> str:
    parts = _taken(machine, items)
    for part in parts:
        if type(part) is not str:
            raise TypeError("only texts can be joined")
        machine.meter.spend(len(part) + len(thing))
    return thing.join(parts)


def _get(machine: Any, thing: Any, key: Any, default: Any = None) -> Any:
    weigh(machine.meter, key)
    return thing.get(key, default)


def _setdefault(machine: Any, thing: Any, key: Any, default: Any = None) -> Any:
    weigh(machine.meter, key)
    return thing.setdefault(key, default)


def _pop_key(machine: Any, thing: Any, key: Any, *default: Any) -> Any:
    weigh(machine.meter, key)
    return thing.pop(key, *default)


def _update(machine: Any, thing: Any, items: Any) -> None:
    thing.update(_dict(machine, items))


def _listing(read: Callable[[Any], Any]) -> Callable[..., Any]:
    def method(machine: Any, thing: Any) -> Any:
        machine.meter.spend(1 + len(thing))
        return read(thing)

    return method


def _with_key(name: str) -> Callable[..., Any]:
    def method(machine: Any, thing: Any, key: Any) -> Any:
        weigh(machine.meter, key)
        return getattr(thing, name)(key)

    return method


def _with_items(name: str) -> Callable[..., Any]:
    def method(machine: Any, thing: Any, items: Any) -> Any:
        machine.meter.spend(len(thing))
        return getattr(thing, name)(make_set(machine.meter, _taken(machine, items)))

    return method


_TEXT = (
    "count", "endswith", "find", "index", "isalnum", "isalpha", "isdigit", "islower", "isspace",
    "isupper", "lower", "lstrip", "rfind", "rstrip", "split", "startswith", "strip", "swapcase",
    "title", "upper",
)  # fmt: skip
_SETS = ("difference", "intersection", "isdisjoint", "issubset", "issuperset", "union", "update")

METHODS: dict[type, dict[str, Callable[..., Any]]] = {
    list: {
        "append": _append,
        "clear": _listing(list.clear),
        "copy": _listing(list),
        "count": _count,
        "extend": lambda machine, thing, items: thing.extend(_taken(machine, items)),
        "index": _index,
        "insert": _insert,
        "pop": _pop,
        "remove": _remove,
        "reverse": _listing(list.reverse),
        "sort": _sort,
    },
    tuple: {"count": _count, "index": _index},
    dict: {
        "clear": _listing(dict.clear),
        "copy": _listing(dict),
        "get": _get,
        "items": _listing(lambda thing: list(thing.items())),
        "keys": _listing(list),
        "pop": _pop_key,
        "setdefault": _setdefault,
        "update": _update,
        "values": _listing(lambda thing: list(thing.values())),
    },
    set: {
        "add": _with_key("add"),
        "copy": _listing(set),
        "discard": _with_key("discard"),
        "remove": _with_key("remove"),
        **{name: _with_items(name) for name in _SETS},
    },
    str: {"join": _join, "replace": _replace, **{name: _whole_of(name) for name in _TEXT}},
}
"""Methods by type; a dot reaches nothing else."""
