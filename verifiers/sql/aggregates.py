"""Aggregates that other databases have and SQLite lacks, for `sqlite3.create_aggregate`."""

from __future__ import annotations

import math
from typing import Any

from verigym.verifiers.sql.dates import Value
from verigym.verifiers.sql.functions import MAX_TEXT, text_of


class _Moments:
    """Variance and its kin over numbers that are not null."""

    sample, root = True, False

    def __init__(self) -> None:
        self.values: list[float] = []

    def step(self, value: Value) -> None:
        if isinstance(value, int | float):
            self.values.append(float(value))

    def finalize(self) -> float | None:
        count = len(self.values)
        if count == 0 or (self.sample and count == 1):
            return None
        middle = math.fsum(self.values) / count
        found = math.fsum((v - middle) ** 2 for v in self.values) / (count - self.sample)
        return math.sqrt(found) if self.root else found


class _VarPop(_Moments):
    sample = False


class _Std(_Moments):
    root = True


class _StdPop(_Moments):
    sample, root = False, True


class _Joined:
    """`(value, mark, distinct, ways, keys...)`: texts in the order of the keys, then of themselves."""

    def __init__(self) -> None:
        self.items: list[tuple[tuple[Value, ...], str]] = []
        self.mark, self.distinct, self.ways, self.size = ",", 0, "", 0

    def step(self, value: Value, mark: Value, distinct: int, ways: str, *keys: Value) -> None:
        if value is None or self.size > MAX_TEXT:
            return
        self.mark, self.distinct, self.ways = text_of(mark or ""), distinct, ways
        self.size += len(text_of(value)) + 1
        self.items.append((keys, text_of(value)))

    def finalize(self) -> str | None:
        if not self.items:
            return None
        items = sorted(self.items, key=lambda item: item[1])
        for at in reversed(range(len(self.ways))):
            items.sort(key=lambda item: _rank(item[0][at]), reverse=self.ways[at] == "d")
        texts = [text for _, text in items]
        return self.mark.join(dict.fromkeys(texts) if self.distinct else texts)


def _rank(value: Value) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    return (1, value) if isinstance(value, int | float) else (2, text_of(value))


AGGREGATES: dict[str, tuple[int, type]] = {
    "stddev": (1, _Std), "stddev_samp": (1, _Std), "stddev_pop": (1, _StdPop), "std": (1, _StdPop),
    "variance": (1, _Moments), "var_samp": (1, _Moments), "var_pop": (1, _VarPop),
    "variance_pop": (1, _VarPop), "vg_joined": (-1, _Joined),
}  # fmt: skip
