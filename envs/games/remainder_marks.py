"""Marks of codes that are remainders: which of all codes fit them, and what it takes to find out.

The mark of a guess is 2 for each digit in place and 1 for each further digit that is in the code elsewhere, modulo a small
number. A place that is still open can bring 0, 1 or 2 of them, so no mark rules out a code before its last digit is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

Digits = NDArray[np.uint8]

_SAMPLED = 97
"""Each code after so many is in the sample by which a guess is judged."""


@lru_cache(maxsize=4)
def all_codes(length: int, symbols: int) -> Digits:
    """Return all codes in ascending order: a row for each place, a column for each code."""
    places = np.indices((symbols,) * length, dtype=np.uint8).reshape(length, -1)
    places += 1
    places.flags.writeable = False
    return places


@lru_cache(maxsize=4)
def _all_counts(length: int, symbols: int) -> Digits:
    """Return how often each digit (row) occurs in each code (column)."""
    codes = all_codes(length, symbols)
    counts = np.array([(codes == n).sum(axis=0, dtype=np.uint8) for n in range(1, symbols + 1)])
    counts.flags.writeable = False
    return counts


def _remainders(codes: Digits, counts: Digits, guess: str, modulus: int) -> Digits:
    """Return the mark of `guess` for each code; a digit in place is in common, too, and so counts twice."""
    total = np.zeros(codes.shape[1], dtype=np.uint8)
    for place, digit in zip(codes, guess, strict=True):
        total += place == int(digit)
    for digit in sorted(set(guess)):
        total += np.minimum(counts[int(digit) - 1], np.uint8(guess.count(digit)))
    return total % np.uint8(modulus)


def tells_little(guess: str, symbols: int, modulus: int) -> bool:
    """Return True if each mark that `guess` may get is about as frequent as the others, give or take a fifth, in a sample
    of all codes."""
    length = len(guess)
    codes, counts = (of(length, symbols)[:, ::_SAMPLED].copy() for of in (all_codes, _all_counts))
    frequency = np.bincount(_remainders(codes, counts, guess, modulus), minlength=modulus)
    share = frequency * modulus / codes.shape[1]
    return bool(share.min() >= 0.8 and share.max() <= 1.2)


class Remaining:
    """The codes that fit the marks so far."""

    def __init__(self, length: int, symbols: int, modulus: int) -> None:
        self._modulus = modulus
        self._codes = all_codes(length, symbols)
        self._counts = _all_counts(length, symbols)

    def __len__(self) -> int:
        return int(self._codes.shape[1])

    def __iter__(self) -> Iterator[str]:
        return ("".join(map(str, code)) for code in self._codes.T.tolist())

    def keep(self, guess: str, mark: int) -> None:
        """Drop the codes for which `guess` would have another mark."""
        fits = _remainders(self._codes, self._counts, guess, self._modulus) == mark
        self._codes, self._counts = self._codes[:, fits], self._counts[:, fits]


Halves = dict[str, dict[tuple[int, ...], list[str]]]
"""Halves of codes by their digits in ascending order, then by what they add to the marks by digits in place."""


def find_by_halves(
    length: int, symbols: int, modulus: int, marked: Mapping[str, int]
) -> tuple[str | None, int]:
    """Return a code that fits the marks, and the operations to find it: a half or a set of digits compared with a guess, or
    a first half looked up among the second ones.

    The digits of a code, in whatever order, decide how many it has in common with each guess. What digits in place have to
    add is then known, and each first half of those digits asks for certain second ones.
    """
    operations, digits = 0, "".join(map(str, range(1, symbols + 1)))

    def halves(start: int, stop: int) -> Halves:
        nonlocal operations
        found: Halves = {}
        for half in map("".join, product(digits, repeat=stop - start)):
            placed = []
            for guess in marked:
                operations += 1
                placed.append(sum(map(str.__eq__, half, guess[start:stop])) % modulus)
            alike = found.setdefault("".join(sorted(half)), {})
            alike.setdefault(tuple(placed), []).append(half)
        return found

    first, second = halves(0, length // 2), halves(length // 2, length)
    guesses = [([guess.count(digit) for digit in digits], mark) for guess, mark in marked.items()]
    for (some, beginnings), (others, ends) in product(first.items(), second.items()):
        counts = [some.count(digit) + others.count(digit) for digit in digits]
        lacking = []
        for of_guess, mark in guesses:
            operations += 1
            lacking.append(mark - sum(map(min, counts, of_guess)))
        for placed, alike in beginnings.items():
            operations += 1
            wanted = tuple([(n - here) % modulus for n, here in zip(lacking, placed, strict=True)])
            if wanted in ends:
                return alike[0] + ends[wanted][0], operations
    return None, operations
