"""Number theory: divisors, remainders, powers modulo a number; one turn."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.math.contest import curves, long_numbers, residues, whole_numbers
from verigym.envs.math.contest.kind import Kind
from verigym.envs.math.modular import invert
from verigym.envs.math.paper import Paper
from verigym.envs.math.worked import Worked
from verigym.question import Ask

# How large numbers are, in questions that need their factors and in those that do not.
SIZES = {
    1: (15, 15),
    2: (60, 60),
    3: (150, 150),
    4: (400, 400),
    5: (1100, 1100),
    6: (3000, 3000),
    7: (8000, 10**6),
}


Drawn = tuple[str, list[JSON], int]
"""Question, operands, and answer."""


class NumberTheory(Worked):
    """Greatest divisors, least multiples, counts of divisors, totients, powers and inverses modulo n,
    simultaneous remainders; from level 7 on contest questions on residues and on whole numbers."""

    id: ClassVar[str] = "verigym/math/number-theory-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    contest_kinds: ClassVar[tuple[Kind, ...]] = (
        residues.KINDS + whole_numbers.KINDS + long_numbers.KINDS + curves.KINDS
    )

    @override
    def exercise(self, rng: np.random.Generator, level: int) -> Ask:
        # Greatest common divisors are short: level 5 is between its neighbours without them.
        kinds = KINDS[1:] if level == 5 else KINDS[: level + 1]
        kind = kinds[int(rng.integers(len(kinds)))]
        size = SIZES[level][kind in UNFACTORED]
        text, operands, value = kind(rng, size)
        steps = 2 * size.bit_length() + KINDS.index(kind)
        return Ask(
            prompt=text,
            answer=str(value),
            answer_form="evaluated",
            steps=steps,
            tags=(kind.__name__,),
            essence=[kind.__name__, *operands],
        )

    @override
    def work_exercise(self, paper: Paper, question: str, kind: str) -> str:
        numbers = [int(n) for n in re.findall(r"\d+", question)]
        return str(SOLVERS[kind](paper, numbers, question))


def gcd_or_lcm(rng: np.random.Generator, size: int) -> Drawn:
    """Ask for the greatest common divisor or least common multiple of two numbers with a common factor."""
    common = int(rng.integers(1, 13))
    a, b = (common * int(rng.integers(2, size)) for _ in range(2))
    if rng.integers(2):
        return f"What is the greatest common divisor of {a} and {b}?", ["gcd", a, b], math.gcd(a, b)
    return f"What is the least common multiple of {a} and {b}?", ["lcm", a, b], math.lcm(a, b)


def remainder(rng: np.random.Generator, size: int) -> Drawn:
    """Ask for the remainder of a product or sum."""
    a, b = int(rng.integers(size, 20 * size)), int(rng.integers(size, 20 * size))
    n = int(rng.integers(3, size))
    sign, value = ("*", a * b) if rng.integers(2) else ("+", a + b)
    text = f"What is the remainder when {a} {sign} {b} is divided by {n}?"
    return text, [sign, a, b, n], value % n


def divisor_count(rng: np.random.Generator, size: int) -> Drawn:
    """Return the number of the positive divisors, or their sum."""
    n = int(rng.integers(size // 2, 2 * size))
    counts = [math.prod(e + 1 for e in factors(n).values())]
    counts.append(math.prod((p ** (e + 1) - 1) // (p - 1) for p, e in factors(n).items()))
    what = int(rng.integers(2))
    words = (
        "How many positive divisors does {} have?",
        "What is the sum of the positive divisors of {}?",
    )
    return words[what].format(n), [what, n], counts[what]


def power(rng: np.random.Generator, size: int) -> Drawn:
    """Return a power modulo a number."""
    a, e = int(rng.integers(2, size)), int(rng.integers(5, size))
    n = int(rng.integers(7, 7 + size // 4))
    return f"What is the remainder when {a}^{e} is divided by {n}?", [a, e, n], pow(a, e, n)


def totient(rng: np.random.Generator, size: int) -> Drawn:
    """Ask for Euler's totient."""
    n = int(rng.integers(size // 2, 2 * size))
    value = n
    for prime in factors(n):
        value -= value // prime
    text = f"How many of the whole numbers from 1 to {n} share no factor with {n} other than 1?"
    return text, [n], value


def inverse(rng: np.random.Generator, size: int) -> Drawn:
    """Ask for the inverse of a number modulo another."""
    while True:
        n = int(rng.integers(11, size))
        a = int(rng.integers(2, n))
        if math.gcd(a, n) == 1:
            text = (
                f"For which whole number x from 1 to {n - 1} does {a} * x leave the remainder 1 when divided "
                f"by {n}?"
            )
            return text, [a, n], pow(a, -1, n)


def simultaneous(rng: np.random.Generator, size: int) -> Drawn:
    """Ask for the number with given remainders modulo coprime numbers (the Chinese remainder theorem)."""
    while True:
        moduli = [int(n) for n in rng.integers(3, 20, 3)]
        if math.lcm(*moduli) == math.prod(moduli):
            break
    whole = math.prod(moduli)
    x = int(rng.integers(whole))
    *parts, last = (f"the remainder {x % n} when divided by {n}" for n in moduli)
    text = f"Which whole number from 0 to {whole - 1} leaves {', '.join(parts)} and {last}?"
    return text, [x, *moduli], x


KINDS: tuple[Callable[[np.random.Generator, int], Drawn], ...] = (
    gcd_or_lcm,
    remainder,
    divisor_count,
    power,
    totient,
    inverse,
    simultaneous,
)

UNFACTORED = (gcd_or_lcm, remainder, inverse, simultaneous)


def _solve_gcd_or_lcm(paper: Paper, numbers: list[int], question: str) -> int:
    a, b = numbers
    common = paper.common_divisor(a, b)
    if "greatest" in question:
        return common
    return paper.multiply(paper.divide_exactly(a, common), b)


def _solve_remainder(paper: Paper, numbers: list[int], question: str) -> int:
    a, b, n = numbers
    join = paper.multiply if "*" in question else paper.add
    return paper.divide(join(a, b), n)[1]


def _solve_divisor_count(paper: Paper, numbers: list[int], question: str) -> int:
    total = 1
    for prime, exponent in paper.factorize(numbers[0]).items():
        times = 1
        for _ in range(exponent):
            times = paper.add(paper.multiply(times, prime), 1) if "sum" in question else times + 1
        total = paper.multiply(total, times)
    return total


def _solve_power(paper: Paper, numbers: list[int], question: str) -> int:
    a, e, n = numbers
    value = 1
    for bit in f"{e:b}":
        value = paper.divide(paper.multiply(value, value), n)[1]
        if bit == "1":
            value = paper.divide(paper.multiply(value, a), n)[1]
    return value


def _solve_totient(paper: Paper, numbers: list[int], question: str) -> int:
    value = numbers[1]
    for prime in paper.factorize(value):
        value = paper.subtract(value, paper.divide_exactly(value, prime))
    return value


def _solve_inverse(paper: Paper, numbers: list[int], question: str) -> int:
    _, _, a, _, n = numbers
    return invert(paper, a, n)


def _solve_simultaneous(paper: Paper, numbers: list[int], question: str) -> int:
    x, whole = numbers[2:4]
    for rest, modulus in zip(numbers[4::2], numbers[5::2], strict=True):
        missing = paper.divide(paper.subtract(rest, x), modulus)[1]
        step = invert(paper, paper.divide(whole, modulus)[1], modulus)
        times = paper.divide(paper.multiply(missing, step), modulus)[1]
        x = paper.add(x, paper.multiply(times, whole))
        whole = paper.multiply(whole, modulus)
    return x


SOLVERS: dict[str, Callable[[Paper, list[int], str], int]] = {
    "gcd_or_lcm": _solve_gcd_or_lcm,
    "remainder": _solve_remainder,
    "divisor_count": _solve_divisor_count,
    "power": _solve_power,
    "totient": _solve_totient,
    "inverse": _solve_inverse,
    "simultaneous": _solve_simultaneous,
}


def factors(n: int) -> dict[int, int]:
    """Return the prime factors with their exponents, by trial division."""
    found: dict[int, int] = {}
    prime = 2
    while prime * prime <= n:
        while n % prime == 0:
            found[prime] = found.get(prime, 0) + 1
            n //= prime
        prime += 1
    if n > 1:
        found[n] = found.get(n, 0) + 1
    return found
