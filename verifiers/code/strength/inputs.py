"""Inputs of functions from a description of their arguments: random ones, and boundary values.

One description an argument:

    {"int": [low, high]}                 {"float": [low, high]}        {"bool": true}
    {"text": alphabet, "length": [0, 9]}                               {"one_of": [value, ...]}
    {"list": description, "length": [0, 9], "sorted": true, "unique": true}

Every value made here fits its description, so what a task does not promise is never tested.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

from verigym.errors import TaskError

Description = dict[str, Any]


def check(descriptions: Any) -> list[Description]:
    """Return the descriptions of all arguments. Raises TaskError if one is invalid."""
    if not isinstance(descriptions, list) or not descriptions:
        raise TaskError('"inputs" must be a list of descriptions, one an argument')
    for description in descriptions:
        try:
            draw(description, random.Random(0), 3)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise TaskError(f"no description of an argument: {description!r} ({error})") from error
    return descriptions


def draw(description: Description, rng: random.Random, size: int) -> Any:
    """Return a value of about `size` items; near its ends, near 0 and equal to others more often than
    evenly, since that is where programs are wrong."""
    if "one_of" in description:
        return rng.choice(description["one_of"])
    if "bool" in description:
        return rng.random() < 0.5
    if "int" in description:
        low, high = description["int"]
        if rng.random() < 0.6:
            middle = min(max(0, low), high)
            low, high = max(low, middle - size - 1), min(high, middle + size + 1)
        return rng.randint(low, high)
    if "float" in description:
        low, high = description["float"]
        return round(rng.uniform(low, high), rng.randint(0, 4))
    low, high = description["length"]
    length = min(high, max(low, rng.randint(0, 2 * size) if rng.random() < 0.7 else size))
    if "text" in description:
        few = rng.sample(description["text"], rng.randint(1, min(4, len(description["text"]))))
        return "".join(
            rng.choice(few if rng.random() < 0.8 else description["text"]) for _ in range(length)
        )
    inner = description["list"]
    items = [draw(inner, rng, size if "int" in inner else max(1, size // 2)) for _ in range(length)]
    return _arranged(description, items, rng, size)


def _arranged(description: Description, items: list[Any], rng: random.Random, size: int) -> Any:
    low = description["length"][0]
    if description.get("unique"):
        kept = [item for number, item in enumerate(items) if item not in items[:number]]
        for _ in range(1000):
            if len(kept) >= low:
                break
            item = draw(description["list"], rng, size + 10)
            if item not in kept:
                kept.append(item)
        items = kept
    elif items and rng.random() < 0.15:
        items = [items[0]] * len(items)
    if description.get("sorted"):
        items.sort()
    elif rng.random() < 0.2 and all(isinstance(item, int | float | str) for item in items):
        items = sorted(items, reverse=rng.random() < 0.5)
    return items


def boundaries(description: Description) -> list[Any]:
    """Return the values at the edges of a description, the simplest first."""
    if "one_of" in description:
        return list(description["one_of"])
    if "bool" in description:
        return [False, True]
    if "int" in description or "float" in description:
        low, high = description.get("int") or description["float"]
        near = [low, high, 0, 1, -1, 2, low + 1, high - 1]
        return [value for value in dict.fromkeys(near) if low <= value <= high]
    low, high = description["length"]
    lengths = [n for n in dict.fromkeys((low, low + 1, 1, 2, 3, min(high, 12))) if low <= n <= high]
    if "text" in description:
        letters = description["text"]
        ends = dict.fromkeys((letters[0], letters[-1]))
        found = [letter * n for n in lengths for letter in ends]
        return [*dict.fromkeys([*found, letters[:high]])]
    return [value for value in _lists(description, lengths) if fits(description, value)]


def _lists(description: Description, lengths: Sequence[int]) -> Iterator[list[Any]]:
    edges = boundaries(description["list"])[:6]
    for length in lengths:
        if length == 0:
            yield []
        for edge in edges if length else ():
            yield [edge] * length
        if length > 1:
            yield (edges * length)[:length]
            yield (edges[::-1] * length)[:length]
            if all(isinstance(edge, int | float) for edge in edges):
                low, high = min(edges), max(edges)
                yield sorted((edges * length)[:length])
                yield [low] * (length - 1) + [high]
                yield [high] + [low] * (length - 1)


def fits(description: Description, value: Any) -> bool:
    """Return True if the description allows `value`."""
    if "one_of" in description:
        return value in description["one_of"]
    if "bool" in description:
        return isinstance(value, bool)
    if "int" in description or "float" in description:
        low, high = description.get("int") or description["float"]
        kinds = int if "int" in description else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high
    low, high = description["length"]
    kind = str if "text" in description else list
    if not isinstance(value, kind) or not low <= len(value) <= high:
        return False
    if "text" in description:
        return all(letter in description["text"] for letter in value)
    if description.get("sorted") and value != sorted(value):
        return False
    if description.get("unique") and any(item in value[:at] for at, item in enumerate(value)):
        return False
    return all(fits(description["list"], item) for item in value)


def changed(value: Any, rng: random.Random) -> Any:
    """Return `value` with one small change; it may not fit its description any more."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return rng.choice((value + 1, value - 1, -value, 0, value * 2))
    if isinstance(value, float):
        return rng.choice((value + 0.5, -value, 0.0, math.floor(value)))
    if isinstance(value, str):
        at = rng.randint(0, len(value))
        return rng.choice(
            (value[:at] + value[at + 1 :], value[:at] + value[at : at + 1] + value[at:])
        )
    if not isinstance(value, list) or not value:
        return value
    at, other = rng.randrange(len(value)), rng.randrange(len(value))
    out = list(value)
    way = rng.randrange(4)
    if way == 0:
        del out[at]
    elif way == 1:
        out.insert(at, out[other])
    elif way == 2:
        out[at] = out[other]
    else:
        out[at] = changed(out[at], rng)
    return out


def covering(descriptions: Sequence[Description], rng: random.Random, most: int) -> list[list[Any]]:
    """Return the arguments of boundary values: each value of each argument at least once, paired at random."""
    columns = [boundaries(description) for description in descriptions]
    found = []
    for number, column in enumerate(columns):
        for value in column:
            for _ in range(2 if len(columns) > 1 else 1):
                row = [rng.choice(other) for other in columns]
                row[number] = value
                found.append(row)
    rng.shuffle(found)
    return found[:most]
