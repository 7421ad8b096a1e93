"""Methods that programs may call, by type, with the cost of each; a dot reaches nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verigym.verifiers.code.counted.functions import make_dict, put_in_order, take
from verigym.verifiers.code.counted.operators import equal_in_search, make_set, require_whole, weigh


def _append(machine: Any, thing: Any, item: Any) -> None:
    thing.append(item)


def _pop(machine: Any, thing: Any, at: Any = -1) -> Any:
    require_whole(at)
    # Everything behind it moves.
    machine.meter.spend(-at if at < 0 else max(0, len(thing) - at))
    return thing.pop(at)


def _insert(machine: Any, thing: Any, at: Any, item: Any) -> None:
    require_whole(at)
    machine.meter.spend(-at if at < 0 else max(0, len(thing) - at))
    thing.insert(at, item)


def _index(machine: Any, thing: Any, wanted: Any) -> int:
    for at, item in enumerate(thing):
        if equal_in_search(machine.meter, item, wanted):
            return at
    raise ValueError("it is not in the list")


def _remove(machine: Any, thing: Any, wanted: Any) -> None:
    del thing[_index(machine, thing, wanted)]


def _count(machine: Any, thing: Any, wanted: Any) -> int:
    return sum(equal_in_search(machine.meter, item, wanted) for item in thing)


def _sort(machine: Any, thing: Any, *, key: Any = None, reverse: Any = False) -> None:
    machine.meter.spend(len(thing))
    thing[:] = put_in_order(machine, list(thing), key, reverse)


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
    parts = take(machine, items)
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
    thing.update(make_dict(machine, items))


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
        return getattr(thing, name)(make_set(machine.meter, take(machine, items)))

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
        "extend": lambda machine, thing, items: thing.extend(take(machine, items)),
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
