"""Several hidden things at once: the question that splits the choices still possible most evenly.

A choice is a set of things, as many as are hidden; it fits if each answer is the number of its things of which the
fact holds; that number itself, or the rest when it is divided by a `base` (2: odd or even).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from verigym.envs.games.kinds_of_things import part_sizes

Facts = tuple[int, ...]
"""For each question the things of which the answer is yes: bit i stands for thing i."""

Answers = tuple[tuple[int, int], ...]
"""Questions that were asked, by number, with their answers."""

_LISTED = 50_000
"""The most choices that are looked at one by one from the first answer on."""

_ASKED = 3
"""If there are more, they are listed once more questions than these were asked."""


@lru_cache(maxsize=4)
def _choices(count: int, hidden: int) -> NDArray[np.int16]:
    """All choices, a column each."""
    return np.array(list(combinations(range(count), hidden)), dtype=np.int16).T.copy()


@lru_cache(maxsize=64)
def _held(count: int, facts: Facts) -> NDArray[np.uint8]:
    """1 where a fact (row) holds of a thing (column)."""
    bits = [[held >> thing & 1 for thing in range(count)] for held in facts]
    return np.array(bits, dtype=np.uint8)


@lru_cache(maxsize=4)
def _fitting(
    count: int, hidden: int, facts: Facts, answers: Answers, base: int
) -> NDArray[np.int16]:
    if not answers:
        return _choices(count, hidden)
    choices, (fact, answer) = _fitting(count, hidden, facts, answers[:-1], base), answers[-1]
    sums = _held(count, facts)[fact][choices].sum(axis=0, dtype=np.uint8)
    return choices[:, sums % base == answer]


def _is_long(count: int, hidden: int, answers: Answers) -> bool:
    """Return True if so many choices may fit that they are counted by kinds of things and not listed."""
    return comb(count, hidden) > _LISTED and len(answers) <= _ASKED


@lru_cache(maxsize=256)
def next_question(
    count: int, hidden: int, facts: Facts, answers: Answers, base: int
) -> int | tuple[int, ...] | None:
    """Return the question that leaves the fewest choices in the worst case, the first of equals, by its number; or the
    only choice that fits. None if several fit that no question tells apart."""
    if not answers or _is_long(count, hidden, answers):
        sizes, _ = part_sizes(count, hidden, facts, answers, base)
        worsts = list(map(max, sizes))
        if min(worsts) < sum(sizes[0]):
            return worsts.index(min(worsts))
    choices = _fitting(count, hidden, facts, answers, base)
    total = choices.shape[1]
    if total == 1:
        return tuple(choices[:, 0].tolist())
    held = _held(count, facts)
    sums = held[:, choices[0]]
    for place in choices[1:]:
        sums += held[:, place]
    if base <= hidden:
        sums %= base
    parts = [np.count_nonzero(sums == n, axis=1) for n in range(1, min(hidden + 1, base))]
    worst = np.max([total - sum(parts), *parts], axis=0)
    fact = int(worst.argmin())
    return fact if worst[fact] < total else None


def questions_needed(secret: tuple[int, ...], count: int, facts: Facts, base: int) -> int | None:
    """Return how many questions single out `secret` if each is the one of `next_question`; None if they cannot."""
    answers: Answers = ()
    while True:
        move = next_question(count, len(secret), facts, answers, base)
        if not isinstance(move, int):
            return None if move is None else len(answers)
        answers = (*answers, (move, sum(facts[move] >> thing & 1 for thing in secret) % base))


def count_splitting(count: int, hidden: int, facts: Facts, answers: Answers, base: int) -> int:
    """Count what `next_question` does on paper: each look at a choice, for one fact, is an operation.

    Before the first answer, the sizes of the parts follow from the number of things of which a fact holds. Masses of
    choices are counted by kinds of things first, and then listed as two halves that together fit the answers.
    """
    operations, fitting = 0, list[int]()
    if not answers:
        for held in facts:
            for thing in range(count):
                operations += 1
                fitting.append(held >> thing & 1)
        return operations
    if _is_long(count, hidden, answers):
        return part_sizes(count, hidden, facts, answers, base)[1]
    if comb(count, hidden) > _LISTED:
        fitting, operations = list_by_halves(count, hidden, facts, answers, base)
    else:
        for choice in combinations(range(count), hidden):
            for fact, answer in answers:
                operations += 1
                if sum([facts[fact] >> thing & 1 for thing in choice]) % base != answer:
                    break
            else:
                fitting.append(sum([1 << thing for thing in choice]))
    if len(fitting) == 1:
        return operations
    for held in facts:
        parts = [0] * base
        for chosen in fitting:
            operations += 1
            parts[(chosen & held).bit_count() % base] += 1
    return operations


def list_by_halves(
    count: int, hidden: int, facts: Facts, answers: Answers, base: int
) -> tuple[list[int], int]:
    """Return the choices that fit, each as a set of bits, and the operations: each look at a half for one fact, and each
    pair of halves whose answers add up to those that were given."""
    operations = 0

    def halves(size: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        nonlocal operations
        for half in combinations(range(count), size):
            told = []
            for fact, _ in answers:
                operations += 1
                told.append(sum([facts[fact] >> thing & 1 for thing in half]))
            yield half, tuple(told)

    ends: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for end, told in halves(hidden - hidden // 2):
        ends.setdefault(tuple([n % base for n in told]), []).append(end)
    found = []
    for beginning, told in halves(hidden // 2):
        lacks = [(answer - n) % base for (_, answer), n in zip(answers, told, strict=True)]
        for end in ends.get(tuple(lacks), ()):
            operations += 1
            if beginning[-1] < end[0]:
                found.append(sum([1 << thing for thing in beginning + end]))
    return found, operations
