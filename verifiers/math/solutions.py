"""Equality of general solutions: formulas that are linear in arbitrary constants, as the functions that they stand for.

C_1 e^x + C_2 e^{-x} and a cosh x + b sinh x are the same solutions, whatever the constants are called and
in whatever order they come; C(e^x + e^{-x}) are fewer.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from verigym.verifiers.math.numeric import Undefined, value_of
from verigym.verifiers.math.trees import Node, TooBig

_MOST_CONSTANTS = 4
_NEAR = 1e-8
_PLACES = (0.31, 0.57, 0.83, 1.13, 1.37, 1.61, 1.93, 2.29, 2.71, 3.07)

Row = list[complex]


def same_solutions(
    gold: Node, constants: frozenset[str], answer: Node, others: frozenset[str]
) -> bool | None:
    """Return True if two formulas hold the same functions, for all values of the constants of each.

    None if either is not linear in its constants, or cannot be evaluated.
    """
    if not 0 < len(constants) <= _MOST_CONSTANTS or len(constants) != len(others):
        return None
    letters = gold.variables() - constants
    if answer.variables() - others != letters:
        return None
    points = [
        {name: place * (1 + 0.17 * k) for k, name in enumerate(sorted(letters))}
        for place in _PLACES
    ]
    first, second = _affine(gold, constants, points), _affine(answer, others, points)
    if first is None or second is None:
        return None
    basis, start = first
    other_basis, other_start = second
    gap = [x - y for x, y in zip(start, other_start, strict=True)]
    rank = _rank(basis)
    if rank != len(constants):
        return None
    return rank == _rank(other_basis) == _rank([*basis, *other_basis, gap])


def _affine(
    node: Node, constants: frozenset[str], points: Sequence[dict[str, float]]
) -> tuple[list[Row], Row] | None:
    """The functions that each constant multiplies, and the rest, at the points; None if it is not linear."""
    names = sorted(constants)
    try:
        start = _values(node, dict.fromkeys(names, 0.0), points)
        basis: list[Row] = []
        for name in names:
            shown = _values(node, dict.fromkeys(names, 0.0) | {name: 1.0}, points)
            basis.append([x - y for x, y in zip(shown, start, strict=True)])
        trial = {name: 2.0 + 1.5 * k for k, name in enumerate(names)}
        found = _values(node, trial, points)
    except (Undefined, TooBig, ArithmeticError, ValueError, TypeError):
        return None
    for k, value in enumerate(found):
        wanted = start[k] + sum(
            trial[name] * row[k] for name, row in zip(names, basis, strict=True)
        )
        if abs(value - wanted) > _NEAR * max(1.0, abs(value)):
            return None
    return basis, start


def _values(node: Node, constants: dict[str, float], points: Sequence[dict[str, float]]) -> Row:
    return [complex(value_of(node, {**point, **constants})) for point in points]


def _rank(rows: Sequence[Row]) -> int:
    """The number of independent rows, by elimination."""
    left = [[x / size for x in row] for row in rows if (size := max(map(abs, row))) > _NEAR]
    rank = 0
    for column in itertools.count():
        if column >= len(_PLACES) or rank >= len(left):
            return rank
        pivot = max(range(rank, len(left)), key=lambda k: abs(left[k][column]))
        if abs(left[pivot][column]) <= _NEAR:
            continue
        left[rank], left[pivot] = left[pivot], left[rank]
        for k in range(rank + 1, len(left)):
            factor = left[k][column] / left[rank][column]
            left[k] = [x - factor * y for x, y in zip(left[k], left[rank], strict=True)]
        rank += 1
    return rank
