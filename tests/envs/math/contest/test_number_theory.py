"""Contest questions of number theory, answered by trying all numbers."""

import itertools
import math
import re

import numpy as np
import pytest
import sympy
from sympy.solvers.diophantine.diophantine import diop_DN

from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest import residues, whole_numbers

KINDS = {kind.name: kind for kind in residues.KINDS + whole_numbers.KINDS}


def asks(name, level, count=4):
    for seed in range(100, 100 + count):
        ask = contest.ask((KINDS[name],), np.random.default_rng([seed, level]), level)
        yield ask.prompt, contest.numbers(ask.prompt), int(ask.answer)


@pytest.mark.parametrize("level", [7, 8])
def test_congruences(level):
    for _, n, answer in asks("congruences", level):
        given = list(zip(n[::3], n[1::3], n[2::3], strict=True))
        x, step = 0, 1
        for a, rest, m in given:
            # The numbers that satisfy the congruences so far are one class; walk through it.
            while a * x % m != rest:
                x += step
            step *= m // math.gcd(step * a, m)
        assert (x or step) == answer


@pytest.mark.parametrize("level", [7, 8, 10])
def test_multiplicative_order(level):
    for _, n, answer in asks("multiplicative_order", level):
        *primes, a, b = n
        m = math.prod(primes)
        if level == 7:
            assert answer == next(
                k for k in itertools.count(1) if (pow(a, k, m) - pow(b, k, m)) % m == 0
            )
        assert answer == sympy.n_order(a * pow(b, -1, m), m)


def test_discrete_logarithm():
    for _, n, answer in asks("discrete_logarithm", 8):
        g, p, rest = n[0], n[3], n[-1]
        assert sympy.isprime(p)
        assert sympy.isprime(p // 2)
        assert sympy.is_primitive_root(g, p)
        assert sympy.discrete_log(p, rest, g) == answer


@pytest.mark.parametrize("level", [7, 8])
def test_tower(level):
    for prompt, n, answer in asks("tower", level):
        *numbers, modulus = n
        assert re.search(r"when [\d^()]+ is divided", prompt)
        assert _tower(numbers, modulus) == answer


def _tower(numbers, modulus):
    """Return the tower modulo a number, by walking its powers until they come round."""
    if len(numbers) == 1:
        return numbers[0] % modulus
    seen, value = {}, 1 % modulus
    for k in itertools.count():
        if value in seen:
            break
        seen[value] = k
        value = value * numbers[0] % modulus
    start = seen[value]
    # The exponent is far beyond the start of the cycle: all numbers are at least 3.
    length = len(seen) - start
    exponent = _tower(numbers[1:], length)
    exponent += -(-max(0, start - exponent) // length) * length
    return next(value for value, k in seen.items() if k == exponent)


def test_quadric():
    for _, n, answer in asks("quadric", 7):
        *primes, _, _, a, _, b, _, rest = n
        assert answer == math.prod(
            sum((a * x * x + b * y * y - rest) % p == 0 for x in range(p) for y in range(p))
            for p in primes
        )
    for prompt, n, answer in asks("quadric", 8, 4):
        if "triples" in prompt:
            *primes, _, _, a, _, b, _, c, _, rest = n
            found = 1
            for p in primes:
                first, second, third = (
                    np.bincount([f * x * x % p for x in range(p)], minlength=p) for f in (a, b, c)
                )
                two = np.zeros(p, dtype=int)
                for i in range(p):
                    two += first[i] * np.roll(second, i)
                found *= int(sum(two[i] * third[(rest - i) % p] for i in range(p)))
            assert found == answer


@pytest.mark.parametrize("level", [8, 10])
def test_square_root(level):
    for _, n, answer in asks("square_root", level):
        *primes, _, rest = n
        m = math.prod(primes)
        assert answer == min(sympy.sqrt_mod(rest, m, all_roots=True))
        assert answer**2 % m == rest


@pytest.mark.parametrize("level", [7, 8, 9])
def test_pell(level):
    for _, n, answer in asks("pell", level):
        d, k, p = n[1], n[-2], n[-1]
        if level == 7 and d < 40:
            some = range(1, 200_000)
            y = next(y for y in some if math.isqrt(d * y * y + 1) ** 2 == d * y * y + 1)
            x = math.isqrt(d * y * y + 1)
        else:
            ((x, y),) = diop_DN(d, 1)
        a, b = 1, 0
        for _ in range(k):
            a, b = a * x + d * b * y, a * y + b * x
        assert a * a - d * b * b == 1
        assert a % p == answer


def test_divisor_sum():
    for level, count in ((7, 6), (8, 12)):
        for prompt, n, answer in asks("divisor_sum", level, count):
            number = next(m for m in n if m > 1)
            if "for all whole numbers k" in prompt and number < 10**8:
                join = math.gcd if "greatest" in prompt else math.lcm
                assert answer == sum(join(k, number) for k in range(1, number + 1))
            elif "for all whole numbers k" in prompt:
                # As many k from 1 to n have gcd d with n as there are numbers prime to n / d up to it.
                classes = [(d, _totient(number // d)) for d in _divisors(number)]
                if "greatest" in prompt:
                    assert answer == sum(d * count for d, count in classes)
                else:
                    # Those k = d * j with j prime to n / d add up to d * (n / d) * totient / 2.
                    sums = [number // d * count // 2 if d < number else 1 for d, count in classes]
                    assert answer == number * sum(sums)
            elif "multiply" in prompt:
                assert answer == sum(d * len(_divisors(d)) for d in _divisors(number))
            else:
                assert answer == sum(sum(_divisors(d)) ** 2 for d in _divisors(number))


def _divisors(n):
    found, p = [1], 2
    while n > 1:
        powers = [1]
        while n % p == 0:
            powers.append(powers[-1] * p)
            n //= p
        found = [d * q for d in found for q in powers]
        p += 1
    return found


def _totient(n):
    return (
        sum(math.gcd(k, n) == 1 for k in range(1, n + 1))
        if n < 1000
        else n
        * math.prod(p - 1 for p in range(2, 60) if n % p == 0 and all(p % q for q in range(2, p)))
        // math.prod(p for p in range(2, 60) if n % p == 0 and all(p % q for q in range(2, p)))
    )


@pytest.mark.parametrize("level", [7, 8])
def test_coprime_count(level):
    for _, n, answer in asks("coprime_count", level):
        low, high, rest, modulus, *primes = n
        some = np.arange(low + (rest - low) % modulus, high + 1, modulus)
        for p in primes:
            some = some[some % p > 0]
        assert answer == len(some)


def test_three_coins():
    for _, n, answer in asks("three_coins", 7):
        _, a, b, c, total = n
        ways = [1] + [0] * total
        for coin in (a, b, c):
            for paid in range(coin, total + 1):
                ways[paid] += ways[paid - coin]
        assert answer == ways[total]
