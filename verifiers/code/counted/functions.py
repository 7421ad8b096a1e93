"""Functions that programs may call, with the cost of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verigym.verifiers.code.counted.operators import (
    COMPARISONS,
    add,
    make_set,
    power,
    require_whole,
    store_item,
    weigh,
    words,
)


def take(machine: Any, value: Any) -> list[Any]:
    """Return the items of a value as a list; one step each."""
    got = []
    for item in machine.items(value):
        machine.meter.spend(1)
        got.append(item)
    return got


def put_in_order(machine: Any, items: list[Any], key: Any, reverse: Any) -> list[Any]:
    """Return the items sorted; n log n comparisons are counted, each by the items' length."""
    keys = [machine.call(key, [item], {}) for item in items] if key is not None else items
    rounds = max(1, len(items).bit_length())
    for one in keys:
        before = machine.meter.used
        weigh(machine.meter, one)
        machine.meter.spend((machine.meter.used - before) * (rounds - 1))
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(reverse))
    return [items[at] for at in order]


def _sorted(machine: Any, items: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
    return put_in_order(machine, take(machine, items), key, reverse)


def _best(better: str) -> Callable[..., Any]:
    test = COMPARISONS[better]
    missing = object()

    def choose(machine: Any, *values: Any, key: Any = None, default: Any = missing) -> Any:
        items = take(machine, values[0] if len(values) == 1 else values)
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
    for item in take(machine, items):
        total = add(machine.meter, total, item)
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
    require_whole(*bounds)
    return range(*bounds)


def _int(machine: Any, value: Any = 0, base: Any = 10) -> int:
    if type(value) is str:
        require_whole(base)
        machine.meter.spend(1 + len(value) ** 2 // 64)
        return int(value, base)
    require_whole(value)
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
    require_whole(value)
    machine.meter.spend(words(value))
    return abs(int(value))


def _divmod(machine: Any, a: Any, b: Any) -> tuple[int, int]:
    require_whole(a, b)
    machine.meter.spend(words(a) * words(b))
    return divmod(int(a), int(b))


def _pow(machine: Any, a: Any, b: Any, modulus: Any = None) -> int:
    if modulus is None:
        return power(machine.meter, a, b)
    require_whole(a, b, modulus)
    # Before the work is done, not after it.
    machine.meter.spend((b.bit_length() + 1) * words(modulus) ** 2 + words(a) * words(modulus))
    return pow(int(a), int(b), int(modulus))


def _chr(machine: Any, value: Any) -> str:
    require_whole(value)
    return chr(value)


def _ord(machine: Any, value: Any) -> int:
    if type(value) is not str:
        raise TypeError("ord() takes a character")
    return ord(value)


def make_dict(machine: Any, items: Any = ()) -> dict[Any, Any]:
    if type(items) is dict:
        machine.meter.spend(len(items))
        return dict(items)
    made: dict[Any, Any] = {}
    for pair in take(machine, items):
        key, value = pair
        store_item(machine.meter, made, key, value)
    return made


def _zip(machine: Any, *values: Any) -> list[Any]:
    made = list(zip(*(take(machine, value) for value in values), strict=False))
    machine.meter.spend(len(made))
    return made


def _enumerate(machine: Any, items: Any, start: Any = 0) -> list[Any]:
    require_whole(start)
    return [(start + at, item) for at, item in enumerate(take(machine, items))]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": _abs,
    "all": _all,
    "any": _any,
    "bool": lambda machine, value=False: bool(value),
    "chr": _chr,
    "dict": make_dict,
    "divmod": _divmod,
    "enumerate": _enumerate,
    "filter": lambda machine, test, items: [
        item
        for item in take(machine, items)
        if (machine.call(test, [item], {}) if test is not None else item)
    ],
    "int": _int,
    "len": _len,
    "list": lambda machine, items=(): take(machine, items),
    "map": lambda machine, function, items: [
        machine.call(function, [item], {}) for item in take(machine, items)
    ],
    "max": _best("Gt"),
    "min": _best("Lt"),
    "ord": _ord,
    "pow": _pow,
    "range": _range,
    "reversed": lambda machine, items: take(machine, items)[::-1],
    "set": lambda machine, items=(): make_set(machine.meter, take(machine, items)),
    "sorted": _sorted,
    "str": _str,
    "sum": _sum,
    "tuple": lambda machine, items=(): tuple(take(machine, items)),
    "zip": _zip,
}
