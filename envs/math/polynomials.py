"""Polynomials with whole coefficients: their text, and their whole roots on paper."""

from __future__ import annotations

import re

from verigym.envs.math.paper import Paper

_TERM = re.compile(r"([-+]?) ?(?:(\d+)(x)?|(x))(?:\^(\d+))?")


def read_polynomial(text: str) -> dict[int, int]:
    """Return the coefficients of a polynomial in x, by the power."""
    found: dict[int, int] = {}
    for sign, number, x, bare, power in _TERM.findall(text):
        found[int(power or 1) if x or bare else 0] = int(sign + (number or "1"))
    return found


def whole_roots(paper: Paper, p: list[int]) -> list[int]:
    """Return the roots of a polynomial, highest power first, all of which are whole numbers.

    Divisors of the constant are tried by Horner's scheme; a root divides the polynomial down.
    """
    roots: list[int] = []
    size = 1
    if p[0] != 1:
        p = [paper.divide_exactly(c, p[0]) if c else 0 for c in p]
    while len(p) > 2:
        if not p[-1]:
            roots.append(0)
            p = p[:-1]
            continue
        while paper.divide(abs(p[-1]), size)[1]:
            size += 1
        for root in (size, -size):
            while len(p) > 2 and p[-1] and not (row := horner(paper, p, root))[-1]:
                roots.append(root)
                p = row[:-1]
        size += 1
    return [*roots, -p[1]]


def horner(paper: Paper, p: list[int], x: int) -> list[int]:
    """Return the rows of Horner's scheme: the quotient by x - `x`, and the value there."""
    row = [p[0]]
    for c in p[1:]:
        row.append(paper.add(paper.multiply(row[-1], x), c))
    return row


def polynomial(coefficients: list[int], name: str = "x") -> str:
    """Return the polynomial as text, highest power first: `2x^2 - x + 3`."""
    terms: list[str] = []
    for place, c in enumerate(coefficients):
        power = len(coefficients) - 1 - place
        if not c:
            continue
        size = str(abs(c)) if abs(c) != 1 or not power else ""
        letter = "" if not power else name if power == 1 else f"{name}^{power}"
        sign = ("-" if c < 0 else "") if not terms else (" - " if c < 0 else " + ")
        terms.append(f"{sign}{size}{letter}")
    return "".join(terms) or "0"
