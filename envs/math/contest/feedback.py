"""Sequences whose rule depends on the terms themselves: branches, and indices that are terms."""

from __future__ import annotations

import re

import numpy as np

from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.contest.primes import factorize
from verigym.envs.math.paper import Paper


def branches(rng: np.random.Generator, level: int) -> Problem:
    """A nonlinear recurrence modulo a prime, with a rule for each remainder of the last term by 3."""
    digits, n = {8: (5, 55), 9: (6, 100), 10: (8, 200)}[level]
    n += among(rng, 0, 9)
    p = among(rng, 10 ** (digits - 1), 10**digits) | 1
    while factorize(p) != {p: 1}:
        p += 2
    x = first = among(rng, 100, p - 1)
    a, b, c, d, e = (among(rng, 11, 99) for _ in range(5))
    for k in range(n):
        x = (a * x * x + b, c * x + d * k, x * (x + e))[x % 3] % p
    text = (
        f"Let x_0 = {first}. For k >= 0, x_(k+1) is the remainder when a number y is divided by the prime {p}: y = {a} * "
        f"(x_k)^2 + {b} if x_k is divisible by 3, y = {c} * x_k + {d} * k if x_k leaves the remainder 1 when divided by 3, and y = "
        f"x_k * (x_k + {e}) if it leaves the remainder 2. What is x_{n}?"
    )
    return Problem(text, [first, p, a, b, c, d, e, n], x)


def _solve_branches(paper: Paper, numbers: list[int], text: str) -> int:
    found = re.search(
        r"x_0 = (\d+)\. .* prime (\d+): y = (\d+) \* \(x_k\)\^2 \+ (\d+) if .* y = (\d+) \* x_k \+ (\d+) \* k if .* "
        r"\(x_k \+ (\d+)\) .* x_(\d+)\?",
        text,
    )
    assert found
    x, p, a, b, c, d, e, n = map(int, found.groups())
    for k in range(n):
        branch = paper.divide(x, 3)[1]
        if branch == 0:
            y = paper.add(paper.multiply(a, paper.multiply(x, x)), b)
        elif branch == 1:
            y = paper.add(paper.multiply(c, x), paper.multiply(d, k))
        else:
            y = paper.multiply(x, paper.add(x, e))
        x = paper.divide(y, p)[1]
    return x


def looking_back(rng: np.random.Generator, level: int) -> Problem:
    """A recurrence that looks up earlier terms at places that the last two terms give."""
    n = {8: 75, 9: 220, 10: 640}[level] + among(rng, 0, 9)
    s, t = among(rng, 5, 8), among(rng, 5, 8)
    u, v, m = among(rng, 11, 99), among(rng, 11, 99), among(rng, 1001, 9999)
    terms = [among(rng, 0, m - 1) for _ in range(9)]
    firsts = list(terms)
    while len(terms) < n:
        k = len(terms) + 1
        back, further = terms[-1] % s, terms[-2] % t
        terms.append((u * terms[-1 - back] + v * terms[-1 - further] + k) % m)
    given = listed([f"a_{k} = {term}" for k, term in enumerate(firsts, 1)])
    text = (
        f"A sequence has {given}. For k > 9, let p = k - 1 - (a_(k-1) mod {s}) and q = k - 1 - (a_(k-2) mod {t}); then a_k is the "
        f"remainder when {u} * a_p + {v} * a_q + k is divided by {m}. What is a_{n}?"
    )
    return Problem(text, [n, s, t, u, v, m, firsts], terms[-1])


def _solve_looking_back(paper: Paper, numbers: list[int], text: str) -> int:
    terms = [0, *(int(v) for v in re.findall(r"a_\d+ = (-?\d+)", text))]
    s, t = (int(v) for v in re.findall(r"a_\(k-\d\) mod (\d+)", text))
    u, v, m = (
        int(n)
        for n in re.findall(r"when (\d+) \* a_p \+ (\d+) \* a_q \+ k is divided by (\d+)", text)[0]
    )
    for k in range(len(terms), numbers[-1] + 1):
        p = k - 1 - paper.divide(terms[k - 1], s)[1]
        q = k - 1 - paper.divide(terms[k - 2], t)[1]
        paper.look()
        total = paper.add(paper.multiply(u, terms[p]), paper.multiply(v, terms[q]))
        terms.append(paper.divide(paper.add(total, k), m)[1])
    return terms[-1]


KINDS = (
    Kind(branches, _solve_branches, first=8, free=r"(?<=x_0 = )\d+|(?<=y = )\d+"),
    Kind(looking_back, _solve_looking_back, first=8, free=r"(?<=a_\d = )\d+"),
)
