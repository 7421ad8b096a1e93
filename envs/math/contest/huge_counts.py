"""Counts whose sizes have 15 to 50 digits: bracelets, trinomial coefficients by their divisibility, permutations near the
identity. Each has a structure that makes the size a matter of its divisors or digits."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable

import numpy as np

from verigym.envs.math.contest.exact import advance, product
from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.contest.primes import draw_primes, factorize
from verigym.envs.math.paper import Paper

Grid = list[list[int]]
_LARGEST_LCM = 3000


def bracelets(rng: np.random.Generator, level: int) -> Problem:
    """Rings of beads with allowed neighbours, which may be turned and turned over, modulo a number that shares factors with
    the number of beads."""
    colours, primes = {8: (3, 2), 9: (4, 2), 10: (4, 3)}[level]
    while True:
        pairs = [
            pair
            for pair in itertools.combinations_with_replacement(range(colours), 2)
            if rng.integers(2)
        ]
        if colours < len(pairs) and 0 < sum(a == b for a, b in pairs) < colours:
            break
    n = (1, 2, 3, 5)[among(rng, 0, 3)]
    for prime in draw_primes(rng, primes, 10_000, 99_999):
        n *= prime
    modulus = max(factorize(n)) * among(rng, 1000, 9999)
    names = "ABCDE"[:colours]
    shown = listed([names[a] + names[b] for a, b in pairs])
    text = (
        f"A closed ring has {n} beads, each of one of the colours {listed(list(names))}. Two beads may be neighbours only if their "
        f"colours, in one order or the other, are among {shown}; AA stands for two beads of colour A. Rings that differ only by being turned "
        f"or turned over are the same. What is the remainder when the number of different rings is divided by {modulus}?"
    )
    rows = allowed(colours, pairs)
    return Problem(text, [n, modulus, shown], count_bracelets(n, rows, modulus))


def allowed(colours: int, pairs: list[tuple[int, int]]) -> Grid:
    """Return the matrix of which colours may be neighbours."""
    rows = [[0] * colours for _ in range(colours)]
    for a, b in pairs:
        rows[a][b] = rows[b][a] = 1
    return rows


def count_bracelets(n: int, rows: Grid, modulus: int, paper: Paper | None = None) -> int:
    """Return the number of rings modulo a number, as the mean of those that each motion leaves as they are (Burnside).

    A turn leaves closed walks of a length that divides n; turning over leaves walks from one end of the axis to the other,
    where an axis between two beads needs a colour that may stand beside itself.
    """
    m = 2 * n * modulus
    size = len(rows)
    paper = paper or Paper()
    powers = [[[int(i == j) for j in range(size)] for i in range(size)]]
    for _ in rows:
        powers.append(product(powers[-1], rows))
    last = _characteristic(powers)

    def power(e: int) -> list[int]:
        """Return the coefficients of the power of the matrix as a sum of its first powers (Cayley and Hamilton)."""
        value = [1] + [0] * (size - 1)
        for bit in f"{e:b}":
            value = _times(value, value, last, m)
            if bit == "1":
                value = _times(value, [0, 1], last, m)
        paper.operations += 3 * size * size * e.bit_length()
        return value

    def walks(steps: int, ends: Grid) -> int:
        """Return the number of walks of that length, by the number of ways to close them."""
        values = [
            sum(
                a * b
                for row, end in zip(grid, ends, strict=True)
                for a, b in zip(row, end, strict=True)
            )
            for grid in powers
        ]
        return sum(c * value for c, value in zip(power(steps), values, strict=False))

    total = 0
    # Divisors, and how many numbers up to each have no factor in common with it (Euler's totient).
    divisors = [(1, 1)]
    for p, exponent in factorize(n).items():
        some = [(1, 1), *((p**e, p**e - p ** (e - 1)) for e in range(1, exponent + 1))]
        divisors = [(d * part, t * share) for d, t in divisors for part, share in some]
    for turns, totient in divisors:
        total += totient * walks(n // turns, powers[0])
    loops = [rows[i][i] for i in range(size)]
    if n % 2:
        total += n * walks(n // 2, [loops] * size)
    else:
        total += n // 2 * walks(n // 2, [[1] * size] * size)
        total += n // 2 * walks(n // 2 - 1, [[a * b for b in loops] for a in loops])
    return total % m // (2 * n)


def _characteristic(powers: list[Grid]) -> list[int]:
    """Return the coefficients with which the first powers of a matrix give the next one (Faddeev and Le Verrier)."""
    size = len(powers) - 1
    traces = [sum(grid[i][i] for i in range(size)) for grid in powers]
    found: list[int] = []
    for k in range(1, size + 1):
        found.append((traces[k] - sum(found[i] * traces[k - 1 - i] for i in range(k - 1))) // k)
    return found[::-1]


def _times(a: list[int], b: list[int], last: list[int], m: int) -> list[int]:
    """Return the product of polynomials modulo m and x^size - last."""
    size = len(last)
    total = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            total[i + j] += x * y
    while len(total) > size:
        head = total.pop()
        shift = len(total) - size
        for i, x in enumerate(last):
            total[shift + i] += head * x
    return [x % m for x in total]


def _solve_bracelets(paper: Paper, numbers: list[int], text: str) -> int:
    names = re.findall(r"[A-E]", text.partition("colours ")[2].partition(". Two")[0])
    pairs = re.findall(r"\b([A-E])([A-E])\b", text.partition(" are among ")[2].partition(";")[0])
    rows = allowed(len(names), [(names.index(a), names.index(b)) for a, b in pairs])
    return count_bracelets(numbers[0], rows, numbers[-1], paper)


def trinomials(rng: np.random.Generator, level: int) -> Problem:
    """The number of trinomial coefficients of a row that a prime divides exactly so often."""
    digits, times = {8: (18, 4), 9: (28, 8), 10: (38, 12)}[level]
    p = (3, 5, 7, 11, 13)[among(rng, 0, 4)]
    n = among(rng, 10 ** (digits - 1), 10**digits - 1)
    carries = 2 * len(digits_of(n, p)) - 2
    times = min(times, carries // 2) + among(rng, 0, 3)
    text = (
        f"For how many triples (a, b, c) of whole numbers from 0 on with a + b + c = {n} is (a + b + c)! / (a! * b! * c!) divisible by "
        f"{p}^{times}, but not by {p}^{times + 1}?"
    )
    return Problem(text, [n, p, times], count_trinomials(n, p, times))


def digits_of(n: int, base: int) -> list[int]:
    """Return the digits of n in a base, the last one first."""
    found = []
    while n:
        n, digit = divmod(n, base)
        found.append(digit)
    return found


def count_trinomials(n: int, p: int, times: int, paper: Paper | None = None) -> int:
    """Return the number of triples with the sum n whose addition in base p has carries that add up to `times`: as often
    the prime divides the coefficient (Kummer 1852)."""
    paper = paper or Paper()
    ones = [1] * p
    sums = np.convolve(np.convolve(ones, ones), ones).tolist()
    ways = {(0, 0): 1}
    for digit in digits_of(n, p):
        after: dict[tuple[int, int], int] = {}
        for (carry, count), number in ways.items():
            for over in range(3):
                total = digit + over * p - carry
                if 0 <= total < len(sums) and count + over <= times:
                    paper.look()
                    key = over, count + over
                    after[key] = after.get(key, 0) + number * sums[total]
        ways = after
    return ways.get((0, times), 0)


def _solve_trinomials(paper: Paper, numbers: list[int], text: str) -> int:
    n, p, times = re.findall(r"c = (\d+) .* by (\d+)\^(\d+), but", text)[0]
    return count_trinomials(int(n), int(p), int(times), paper)


def short_moves(rng: np.random.Generator, level: int) -> Problem:
    """Permutations of a long row in which each item moves by one of a few distances, modulo a number."""
    down, up, digits = {8: (1, 2, 10), 9: (2, 2, 15), 10: (2, 3, 20)}[level]
    inner = list(range(-down + 1, up))
    while True:
        moves = [-down, *(d for d in inner if rng.integers(4)), up]
        if len(moves) > 3 + (level > 8):
            break
    n = among(rng, 10 ** (digits - 1), 10**digits - 1)
    modulus = among(rng, 10**8, 9 * 10**8)
    text = (
        f"{n} people sit in a row of {n} seats and stand up. In how many ways can they sit down again, one on each seat, so that for "
        f"each of them the number of the new seat minus that of the old one is {listed([str(d) for d in moves], 'or')}? Give the remainder when "
        f"this number of ways is divided by {modulus}."
    )
    return Problem(text, [n, modulus, *moves], count_short_moves(n, moves, modulus))


def count_short_moves(n: int, moves: list[int], modulus: int, paper: Paper | None = None) -> int:
    """Return the number of permutations modulo a number: people choose one after the other, and what matters is which seats
    near them are taken."""
    down = -moves[0]
    start = (1 << down) - 1  # seats before the first one, as if taken
    states, steps = [start], dict[int, list[int]]()
    for taken in states:
        steps[taken] = []
        for move in moves:
            bit = 1 << (move + down)
            after = taken | bit
            if not taken & bit and after & 1:
                steps[taken].append(after >> 1)
                if after >> 1 not in states:
                    states.append(after >> 1)
    rows = [[steps[old].count(new) for old in states] for new in states]
    # At the end the seats of the row are taken, and none beyond it.
    if paper is None:
        # The products of 10 rows modulo 9 * 10^8 fit into 63 bits.
        grid, value = np.array(rows, dtype=np.int64), np.eye(len(states), dtype=np.int64)
        for digit in f"{n:b}":
            value = value @ value % modulus
            value = value @ grid % modulus if digit == "1" else value
        return int(value[0, 0])
    paper.operations += len(states) ** 3 * n.bit_length()
    return advance(rows, [int(s == start) for s in states], n, modulus)[0]


def _solve_short_moves(paper: Paper, numbers: list[int], text: str) -> int:
    moves = [
        int(d) for d in re.findall(r"-?\d+", text.partition("old one is ")[2].partition("?")[0])
    ]
    return count_short_moves(numbers[0], moves, numbers[-1], paper)


def far_change(rng: np.random.Generator, level: int) -> Problem:
    """The ways to pay a huge amount with a few coins, of some of which there are not enough."""
    count, largest, digits = {8: (4, 20, 15), 9: (5, 25, 25), 10: (5, 30, 40)}[level]
    while True:
        coins = [int(c) for c in 2 + rng.permutation(largest - 1)[:count]]
        if math.lcm(*coins) < _LARGEST_LCM and math.gcd(*coins[2:]) == 1:
            break
    total = among(rng, 10 ** (digits - 1), 10**digits - 1)
    limits = [among(rng, total // (9 * coin), total // (4 * coin)) for coin in coins[:2]]
    text = (
        f"In how many ways can an amount of {total} be paid with coins worth {listed([str(c) for c in coins])}, if there are {limits[0]} coins "
        f"worth {coins[0]}, {limits[1]} coins worth {coins[1]}, and more than enough of the others? Coins of the same worth are alike, and their "
        "order does not matter."
    )
    answer = count_change(total, coins, limits)
    return Problem(text, [total, *limits, *coins], answer)


def count_change(total: int, coins: list[int], limits: list[int]) -> int:
    """Return the number of ways to pay with coins, of the first of which there are only so many.

    With enough coins the generating function has the denominator (1 - x^m)^n, m a common multiple of the n coins.
    """
    m, n = math.lcm(*coins), len(coins)
    above = np.ones(1, dtype=np.int64)
    for coin in coins:
        # (1 - x^m) / (1 - x^coin) has m / coin terms.
        wide = np.zeros(len(above) + m - coin, dtype=np.int64)
        for shift in range(0, m, coin):
            wide[shift : shift + len(above)] += above
        above = wide

    def pay(rest: int) -> int:
        whole, at = divmod(rest, m)
        terms = above[at::m].tolist()
        return sum(
            c * math.comb(whole - i + n - 1, n - 1) for i, c in enumerate(terms) if i <= whole
        )

    return _excluding(total, coins, limits, pay)


def _excluding(total: int, coins: list[int], limits: list[int], pay: Callable[[int], int]) -> int:
    """Return the number of ways with limits, by inclusion and exclusion of those that pass them."""
    found = 0
    for chosen in itertools.product((0, 1), repeat=len(limits)):
        over = [
            c * coin * (limit + 1) for c, coin, limit in zip(chosen, coins, limits, strict=False)
        ]
        if sum(over) <= total:
            found += (-1) ** sum(chosen) * pay(total - sum(over))
    return found


def _pay(paper: Paper, total: int, coins: list[int]) -> int:
    """Return the number of ways with any number of each coin: the binary digits of the numbers of coins are chosen from the
    last ones on, of which only the carry of their sum matters."""
    sums = [0]
    for coin in coins:
        sums += [value + coin for value in sums]
    counts = Counter(sums)
    ways = {0: 1}
    while total:
        total, bit = divmod(total, 2)
        after: dict[int, int] = {}
        for carry, number in ways.items():
            for value, times in counts.items():
                if (carry + value) % 2 == bit:
                    paper.look()
                    key = (carry + value) // 2
                    after[key] = after.get(key, 0) + number * times
        ways = after
    return ways.get(0, 0)


def _solve_change(paper: Paper, numbers: list[int], text: str) -> int:
    total, *coins = numbers[: text.partition(", if")[0].count(",") + 3]
    first, _, second, _ = numbers[len(coins) + 1 :]
    return _excluding(total, coins, [first, second], lambda rest: _pay(paper, rest, coins))


KINDS = (
    Kind(far_change, _solve_change, first=8, free=r"\d{8,}"),
    Kind(bracelets, _solve_bracelets, first=8, free=r"(?<=divided by )\d+(?=\?)"),
    Kind(trinomials, _solve_trinomials, first=8, free=r"(?<=c = )\d+"),
    Kind(short_moves, _solve_short_moves, first=8, free=r"(?<=divided by )\d+(?=\.)"),
)
