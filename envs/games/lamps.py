"""Presses that turn off lights with shades: one linear equation for each light, over as many elements as shades."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from verigym.verifiers.games.lights import Lamps


@lru_cache(maxsize=256)
def pressed(lamps: Lamps) -> list[tuple[int, int]]:
    """Return the presses that turn all off, as rows and columns; none if there is not exactly one way.

    By elimination modulo the number of shades, which is a prime.
    """
    prime, width = lamps.shades, len(lamps.rows[0])
    system = np.array(_system(lamps))
    n = len(system)
    for column in range(n):
        leads = np.flatnonzero(system[column:, column])
        if not len(leads):
            return []
        row = column + int(leads[0])
        system[[column, row]] = system[[row, column]]
        system[column] = system[column] * pow(int(system[column, column]), -1, prime) % prime
        factors = system[:, column].copy()
        factors[column] = 0
        system = (system - np.outer(factors, system[column])) % prime
    return [
        divmod(cell, width)
        for cell, times in enumerate(system[:, n].tolist())
        for _ in range(times)
    ]


def count_elimination(lamps: Lamps) -> int:
    """Solve as `pressed` does, and count the digits of rows that are added."""
    prime, rows, operations = lamps.shades, _system(lamps), 0
    n = len(rows)
    for column in range(n):
        row = next(i for i in range(column, n) if rows[i][column])
        rows[column], rows[row] = rows[row], rows[column]
        lead = rows[column]
        inverse = pow(lead[column], -1, prime)
        for other in range(column + 1, n):
            factor = rows[other][column] * inverse
            if factor % prime == 0:
                continue
            line = rows[other]
            for i in range(column, n + 1):
                if lead[i]:
                    line[i] = (line[i] - factor * lead[i]) % prime
                    operations += 1
    return operations


def _system(lamps: Lamps) -> list[list[int]]:
    """Return a row for each light: which presses turn it, and by how much it has to be turned."""
    height, width = len(lamps.rows), len(lamps.rows[0])
    rows = [[0] * (height * width) for _ in range(height * width)]
    for cell in range(height * width):
        for r, c in lamps.turned(*divmod(cell, width)):
            rows[r * width + c][cell] += 1
    shades = [shade for line in lamps.rows for shade in line]
    return [
        [*(n % lamps.shades for n in row), -shade % lamps.shades]
        for row, shade in zip(rows, shades, strict=True)
    ]
