"""Ways in which questions split the choices of hidden things, without a list of the choices.

Things of which the same asked facts are true are of one kind. How many of the hidden things are of each kind decides the
answers so far; a further fact then splits each kind in two, and the choices are counted by binomial coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb


def part_sizes(
    count: int,
    hidden: int,
    facts: Sequence[int],
    answers: Sequence[tuple[int, int]],
    base: int,
) -> tuple[list[list[int]], int]:
    """Return how many choices that fit the answers each fact leaves for each further answer, and the operations.

    Operations are looks at a thing, and products of numbers of choices.
    """
    operations, kinds = 0, dict[tuple[int, ...], int]()
    for thing in range(count):
        asked = []
        for fact, _ in answers:
            operations += 1
            asked.append(facts[fact] >> thing & 1)
        kinds[tuple(asked)] = kinds.get(tuple(asked), 0) | 1 << thing
    fitting = [
        numbers
        for numbers in _spread(hidden, [things.bit_count() for things in kinds.values()])
        if all(
            sum(n * kind[i] for n, kind in zip(numbers, kinds, strict=True)) % base == answer
            for i, (_, answer) in enumerate(answers)
        )
    ]
    sizes = []
    for held in facts:
        halves = []
        for things in kinds.values():
            operations += 1
            halves.append(((things & held).bit_count(), (things & ~held).bit_count()))
        parts = [0] * base
        for numbers in fitting:
            by_answer = [1] + [0] * (base - 1)
            for number, (yes, no) in zip(numbers, halves, strict=True):
                if number:
                    before, by_answer = by_answer, [0] * base
                    for held_by in range(number + 1):
                        operations += 1
                        ways = comb(yes, held_by) * comb(no, number - held_by)
                        for answer, choices in enumerate(before):
                            by_answer[(answer + held_by) % base] += choices * ways
            parts = [a + b for a, b in zip(parts, by_answer, strict=True)]
        sizes.append(parts)
    return sizes, operations


def _spread(number: int, room: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all ways to spread a number of things over kinds of so many things each."""
    if not room:
        if number == 0:
            yield ()
        return
    for here in range(min(number, room[0]) + 1):
        for rest in _spread(number - here, room[1:]):
            yield (here, *rest)
