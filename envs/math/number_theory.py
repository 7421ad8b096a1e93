"""Number theory: divisors, remainders, powers modulo a number; one turn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.question import Ask, Question

SIZES = {2: 60, 4: 400, 6: 3000}


class NumberTheory(Question):
    """Greatest divisors, least multiples, counts of divisors, totients, powers and inverses modulo n,
    simultaneous remainders."""

    id: ClassVar[str] = "verigym/math/number-theory-v0"
    verifier_id: ClassVar[str] = "math/answer"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        size = SIZES[level]
        kinds = KINDS[: level + 1]
        kind = kinds[int(rng.integers(len(kinds)))]
        text, value = kind(rng, size)
        steps = 2 * size.bit_length() + KINDS.index(kind)
        return Ask(
            prompt=text,
            answer=str(value),
            answer_form="evaluated",
            steps=steps,
            tags=(kind.__name__,),
        )


def gcd_or_lcm(rng: np.random.Generator, size: int) -> tuple[str, int]:
    """Greatest common divisor or least common multiple of two numbers with a common factor."""
    common = int(rng.integers(1, 13))
    a, b = (common * int(rng.integers(2, size)) for _ in range(2))
    if rng.integers(2):
        return f"What is the greatest common divisor of {a} and {b}?", math.gcd(a, b)
    return f"What is the least common multiple of {a} and {b}?", math.lcm(a, b)


def remainder(rng: np.random.Generator, size: int) -> tuple[str, int]:
    """Remainder of a product or sum."""
    a, b = int(rng.integers(size, 20 * size)), int(rng.integers(size, 20 * size))
    n = int(rng.integers(3, size))
    if rng.integers(2):
        return f"What is the remainder of {a} * {b} when divided by {n}?", a * b % n
    return f"What is the remainder of {a} + {b} when divided by {n}?", (a + b) % n


def divisor_count(rng: np.random.Generator, size: int) -> tuple[str, int]:
    """Number of the positive divisors, or their sum."""
    n = int(rng.integers(size // 2, 2 * size))
    counts = [math.prod(e + 1 for e in factors(n).values())]
    counts.append(math.prod((p ** (e + 1) - 1) // (p - 1) for p, e in factors(n).items()))
    what = int(rng.integers(2))
    words = (
        "How many positive divisors does {} have?",
        "What is the sum of the positive divisors of {}?",
    )
    return words[what].format(n), counts[what]


def power(rng: np.random.Generator, size: int) -> tuple[str, int]:
    """A power modulo a number."""
    a, e = int(rng.integers(2, size)), int(rng.integers(5, size))
    n = int(rng.integers(7, 7 + size // 4))
    return f"What is the remainder of {a}^{e} when divided by {n}?", pow(a, e, n)


def totient(rng: np.random.Generator, size: int) -> tuple[str, int]:
    """Euler's totient."""
    n = int(rng.integers(size // 2, 2 * size))
    value = n
    for prime in factors(n):
        value -= value // prime
    return f"How many of the numbers 1 to {n} have no common factor with {n} but 1?", value


def inverse(rng: np.random.Generator, size: int) -> tuple[str, int]:
    """Inverse of a number modulo another."""
    while True:
        n = int(rng.integers(11, size))
        a = int(rng.integers(2, n))
        if math.gcd(a, n) == 1:
            text = f"Which x from 1 to {n - 1} satisfies {a} * x = 1 modulo {n}?"
            return text, pow(a, -1, n)


def simultaneous(rng: np.random.Generator, size: int) -> tuple[str, int]:
    """Remainders modulo three coprime numbers (the Chinese remainder theorem)."""
    while True:
        moduli = [int(n) for n in rng.integers(3, 20, 3)]
        if math.lcm(*moduli) == math.prod(moduli):
            break
    whole = math.prod(moduli)
    x = int(rng.integers(whole))
    parts = ", ".join(f"{x % n} modulo {n}" for n in moduli)
    return f"Which x from 0 to {whole - 1} is {parts}?", x


KINDS: tuple[Callable[[np.random.Generator, int], tuple[str, int]], ...] = (
    gcd_or_lcm,
    remainder,
    divisor_count,
    power,
    totient,
    inverse,
    simultaneous,
)


def factors(n: int) -> dict[int, int]:
    """Prime factors with their exponents, by trial division."""
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
