"""Statistics over groups of rows, without a Python loop over the groups.

The estimators of this folder are written with these few functions. Arrays are float64, `[N]` rows;
`ids` are integers 0..K-1, one per row, made by `number`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]

EQUAL = 1e-9


def floats(values: npt.ArrayLike, name: str) -> Floats:
    """Return `values` as a float64 vector [N]. Raises ValueError if it is not one-dimensional."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {array.shape}")
    return array


def same_length(
    length: int, /, **arrays: Sequence[object] | npt.NDArray[np.generic] | None
) -> None:
    """Raise ValueError naming the argument whose length is not `length`; None is passed over."""
    for name, array in arrays.items():
        if array is not None and len(array) != length:
            raise ValueError(
                f"{name} must hold one entry per row: got {len(array)}, expected {length}"
            )


def kept(valid: npt.ArrayLike | None, length: int) -> Bools:
    """Return `valid` as a boolean vector [N]; None means that every row counts."""
    if valid is None:
        return np.ones(length, dtype=np.bool_)
    mask = np.asarray(valid, dtype=np.bool_)
    if mask.shape != (length,):
        raise ValueError(f"valid must have shape ({length},), got {mask.shape}")
    return mask


def finite(values: Floats, name: str) -> None:
    """Raise ValueError if a value that enters a statistic is NaN or infinite.

    A reward that does not exist is a fault, and its row is left out with `valid`.
    """
    if not np.isfinite(values).all():
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(
            f"{name} must be finite, got {values[at]} among the rows that count (number {at}); "
            "leave rows without an outcome out with valid="
        )


def number(keys: Iterable[Hashable] | Ints, length: int) -> tuple[Ints, int]:
    """Return an integer per key, numbered by first appearance, and how many there are. Integers in an array are sorted,
    other keys take one pass through a dict."""
    if isinstance(keys, np.ndarray) and keys.dtype.kind == "i":
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.intp)
        rank[np.argsort(first)] = np.arange(len(first))
        return rank[inverse.reshape(-1)], len(first)
    seen: dict[Hashable, int] = {}
    ids = np.fromiter((seen.setdefault(key, len(seen)) for key in keys), np.intp, length)
    return ids, len(seen)


def number_pairs(one: Ints, other: Sequence[Hashable] | Ints) -> tuple[Ints, int]:
    """Number pairs of a small integer and a key, as `number`; no tuple is made."""
    ids, count = number(other, len(one))
    return number(one * count + ids, len(one))


def sizes(ids: Ints, count: int) -> Ints:
    """Return the rows per group, [K]."""
    return np.bincount(ids, minlength=count).astype(np.intp, copy=False)


def mean(x: Floats, ids: Ints, count: int, weights: Floats | None = None) -> Floats:
    """Return the weighted mean of `x` per group, [K]; 0 for a group without rows or weight."""
    if weights is None:
        total, mass = np.bincount(ids, x, count), np.bincount(ids, minlength=count)
    else:
        total, mass = np.bincount(ids, x * weights, count), np.bincount(ids, weights, count)
    return np.divide(total, mass, out=np.zeros(count), where=mass > 0)


def std(x: Floats, ids: Ints, count: int, *, ddof: int, weights: Floats | None = None) -> Floats:
    """Return the standard deviation per group, [K]; `weights` count rows, so n is their sum.

    A group whose values are all equal gives exactly 0, also where rounding of the mean would leave
    a speck that a tiny eps blows up to an advantage. So does one with n <= ddof.
    """
    centred = x - mean(x, ids, count, weights)[ids]
    square = centred * centred
    if weights is None:
        total, mass = np.bincount(ids, square, count), np.bincount(ids, minlength=count)
    else:
        total, mass = np.bincount(ids, square * weights, count), np.bincount(ids, weights, count)
    out: Floats = np.zeros(count)
    np.divide(total, mass - ddof, out=out, where=mass > ddof)
    out[constant(x, ids, count)] = 0.0
    return np.sqrt(out)


def constant(x: Floats, ids: Ints, count: int) -> Bools:
    """Return True for each group whose values are all equal, [K]; also for a group without rows.

    Values are equal if their range is at most `EQUAL` times the largest magnitude: sums of the same
    rewards in another order differ by rounding, and a tiny eps would blow that up to an advantage.
    """
    flat = np.ones(count, dtype=np.bool_)
    if len(x) == 0:
        return flat
    order = np.lexsort((x, ids))
    sorted_ids = ids[order]
    first = np.flatnonzero(np.diff(sorted_ids, prepend=-1))
    last = np.append(first[1:], len(x)) - 1
    least, most = x[order[first]], x[order[last]]
    largest = np.maximum(np.abs(least), np.abs(most))
    flat[sorted_ids[first]] = most - least <= EQUAL * largest
    return flat


def normalise(centred: Floats, scale: Floats, eps: float) -> Floats:
    """Return `centred / (scale + eps)`, and 0 where `scale` is 0: zero variance carries no signal."""
    return np.divide(centred, scale + eps, out=np.zeros_like(centred), where=scale > 0)
