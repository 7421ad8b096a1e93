"""Slow functions and fast ones that give the same: what `code/faster` asks to be improved.

Upper-case words of a source stand for numbers that are drawn for each task. All is written in the part
of Python that the step counter knows (`verifiers/code/counted/machine.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from verigym.envs.code.mutated import filled

Numbers = dict[str, int]
Calls = list[list[Any]]


@dataclass(frozen=True, kw_only=True)
class Slow:
    """One function, slow and fast; `calls` draws the arguments of the hidden calls."""

    name: str
    says: str
    takes: str
    draws: dict[str, tuple[int, int]]
    slow: str
    fast: str
    calls: Callable[[np.random.Generator, Numbers], Calls]

    def program(self, body: str, numbers: Numbers) -> str:
        """A source, ready to run."""
        return filled(body.strip("\n") + "\n", numbers)


def _wholes(rng: np.random.Generator, count: int, low: int, high: int) -> list[int]:
    return [int(n) for n in rng.integers(low, high + 1, count)]


def _lists(*sizes: int, low: int, high: int) -> Callable[[np.random.Generator, Numbers], Calls]:
    """One list for each size, short ones among them for the edges."""
    return lambda rng, numbers: [[_wholes(rng, size, low, high)] for size in sizes]


def _range_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    calls: Calls = [[_wholes(rng, 3, -9, 9), [[0, 3], [1, 1], [2, 3]]]]
    for size in (80, 120):
        ends = np.sort(rng.integers(0, size + 1, (60, 2)), axis=1).tolist()
        calls.append([_wholes(rng, size, -50, 50), ends])
    return calls


def _stair_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    # Without a list beside it, n would have so few values that a table of them would do.
    calls: Calls = [[0, []], [1, []], [2, [1]]]
    for n in _wholes(rng, 4, 12, 14):
        count = int(rng.integers(1, 4))
        calls.append([n, [1 + int(k) for k in rng.permutation(n - 1)[:count]]])
    return calls


def _tail_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    return [[b, e] for b in _wholes(rng, 2, 2, 99) for e in (0, 1, *_wholes(rng, 2, 900, 1900))]


def _prime_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    calls: Calls = [[2, 0], [2, 2], [4, 3]]
    ends = (_wholes(rng, 2, 2, 100), _wholes(rng, 2, 350, 600))
    return calls + [[first, n] for first, n in zip(*ends, strict=True)]


def _change_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    calls: Calls = [[0, [9, 7]], [1, [7, 8]]]
    for amount in _wholes(rng, 4, 50, 70):
        calls.append([amount, [7 + int(k) for k in rng.permutation(14)[:2]]])
    return calls


def _word_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    def word(size: int) -> str:
        return "".join("abc"[int(n)] for n in rng.integers(3, size=size))

    return [["", "ab"], ["b", "b"], *([word(5), word(int(n))] for n in rng.integers(5, 7, 2))]


def _knapsack_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    calls: Calls = [[[], 4], [[5, 5], 4]]
    for _ in range(2):
        calls.append([_wholes(rng, 10, 1, 20), int(rng.integers(50, 80))])
    return calls


def _span_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    calls: Calls = [[[]], [[[3, 4]]]]
    for count in (70, 110):
        starts = rng.integers(0, 200, count)
        spans = np.stack([starts, starts + rng.integers(1, 40, count)], axis=1)
        calls.append([spans.tolist()])
    return calls


_EASY = (
    Slow(
        name="pairs_to",
        says="how many pairs of different places hold two numbers whose sum is TARGET",
        takes="xs, a list of at most 150 whole numbers from -40 to 40",
        draws={"TARGET": (-30, 30)},
        slow="""
def pairs_to(xs):
    count = 0
    for i in range(len(xs)):
        for j in range(i + 1, len(xs)):
            if xs[i] + xs[j] == TARGET:
                count += 1
    return count
""",
        fast="""
def pairs_to(xs):
    count = 0
    seen = {}
    for x in xs:
        count += seen.get(TARGET - x, 0)
        seen[x] = seen.get(x, 0) + 1
    return count
""",
        calls=_lists(0, 2, 100, 150, low=-40, high=40),
    ),
    Slow(
        name="range_sums",
        says="for each query [a, b] the sum of the numbers at the places from a up to b, b left out, "
        "plus OFFSET",
        takes="xs, a list of at most 120 whole numbers, and queries, a list of at most 60 pairs with "
        "0 <= a <= b <= len(xs)",
        draws={"OFFSET": (-99, 99)},
        slow="""
def range_sums(xs, queries):
    sums = []
    for a, b in queries:
        total = OFFSET
        for i in range(a, b):
            total += xs[i]
        sums.append(total)
    return sums
""",
        fast="""
def range_sums(xs, queries):
    before = [0]
    total = 0
    for x in xs:
        total += x
        before.append(total)
    return [before[q[1]] - before[q[0]] + OFFSET for q in queries]
""",
        calls=_range_calls,
    ),
    Slow(
        name="kept",
        says="the numbers, each reduced modulo MODULUS, without those that came before",
        takes="xs, a list of at most 200 whole numbers from 0 to 100000",
        draws={"MODULUS": (300, 999)},
        slow="""
def kept(xs):
    out = []
    for x in xs:
        known = False
        for y in out:
            if x % MODULUS == y:
                known = True
        if not known:
            out.append(x % MODULUS)
    return out
""",
        fast="""
def kept(xs):
    out = []
    seen = set()
    for x in xs:
        y = x % MODULUS
        if y not in seen:
            seen.add(y)
            out.append(y)
    return out
""",
        calls=_lists(0, 3, 120, 200, low=0, high=100000),
    ),
    Slow(
        name="power_tail",
        says="base to the power exponent, modulo MODULUS",
        takes="base from 2 to 99 and exponent from 0 to 1900, whole numbers",
        draws={"MODULUS": (1000, 99999)},
        slow="""
def power_tail(base, exponent):
    value = 1 % MODULUS
    for i in range(exponent):
        value = value * base % MODULUS
    return value
""",
        fast="""
def power_tail(base, exponent):
    return pow(base, exponent, MODULUS)
""",
        calls=_tail_calls,
    ),
)

_MEDIUM = (
    Slow(
        name="stairs",
        says="WEIGHT times the number of ways in which n steps can be climbed by 1, 2 or LONG steps at a time, in "
        "different orders, without standing on a broken one",
        takes="n, a whole number from 0 to 14, and broken, a list of at most 3 different numbers of "
        "steps from 1 to n - 1",
        draws={"LONG": (3, 5), "WEIGHT": (1, 9)},
        slow="""
def stairs(n, broken):
    def ways(at):
        if at > n or at in broken:
            return 0
        if at == n:
            return 1
        return ways(at + 1) + ways(at + 2) + ways(at + LONG)
    return ways(0) * WEIGHT
""",
        fast="""
def stairs(n, broken):
    ways = [1]
    for i in range(1, n + 1):
        count = 0
        if i not in broken:
            count = ways[i - 1]
            if i >= 2:
                count += ways[i - 2]
            if i >= LONG:
                count += ways[i - LONG]
        ways.append(count)
    return ways[n] * WEIGHT
""",
        calls=_stair_calls,
    ),
    Slow(
        name="prime_sum",
        says="the sum of the primes from first to n, each reduced modulo MODULUS before it is added",
        takes="first, a whole number from 2 to 100, and n, from 0 to 600",
        draws={"MODULUS": (20, 400)},
        slow="""
def prime_sum(first, n):
    total = 0
    for k in range(first, n + 1):
        prime = True
        for d in range(2, k):
            if k % d == 0:
                prime = False
                break
        if prime:
            total += k % MODULUS
    return total
""",
        fast="""
def prime_sum(first, n):
    if n < first:
        return 0
    total = 2 % MODULUS if first == 2 else 0
    odd = [True] * (n // 2 + 1)
    for k in range(3, n + 1, 2):
        if odd[k // 2]:
            if k >= first:
                total += k % MODULUS
            if k * k <= n:
                for j in range(k * k // 2, n // 2 + 1, k):
                    odd[j] = False
    return total
""",
        calls=_prime_calls,
    ),
    Slow(
        name="shortest",
        says="the length of the shortest stretch of neighbours whose sum is GOAL or more, -1 where there "
        "is none",
        takes="xs, a list of at most 150 whole numbers from 1 to 30",
        draws={"GOAL": (200, 700)},
        slow="""
def shortest(xs):
    best = -1
    for i in range(len(xs)):
        total = 0
        for j in range(i, len(xs)):
            total += xs[j]
            if total >= GOAL and (best == -1 or j - i + 1 < best):
                best = j - i + 1
    return best
""",
        fast="""
def shortest(xs):
    best = -1
    total = 0
    left = 0
    for right, x in enumerate(xs):
        total += x
        while total >= GOAL:
            if best == -1 or right - left + 1 < best:
                best = right - left + 1
            total -= xs[left]
            left += 1
    return best
""",
        calls=_lists(0, 5, 90, 150, low=1, high=30),
    ),
    Slow(
        name="close_pairs",
        says="how many pairs of different places hold two numbers that differ by at most NEAR",
        takes="xs, a list of at most 150 whole numbers from -5000 to 5000",
        draws={"NEAR": (10, 90)},
        slow="""
def close_pairs(xs):
    count = 0
    for i in range(len(xs)):
        for j in range(len(xs)):
            if i < j and abs(xs[i] - xs[j]) <= NEAR:
                count += 1
    return count
""",
        fast="""
def close_pairs(xs):
    count = 0
    left = 0
    ordered = sorted(xs)
    for right, x in enumerate(ordered):
        while x - ordered[left] > NEAR:
            left += 1
        count += right - left
    return count
""",
        calls=_lists(0, 2, 100, 150, low=-5000, high=5000),
    ),
)

_HARD = (
    Slow(
        name="climb",
        says="the length of the longest choice of items, in their order and not only of neighbours, in "
        "which each is above the one before; the items are reduced modulo MODULUS first",
        takes="xs, a list of at most 150 whole numbers from 0 to 100000",
        draws={"MODULUS": (500, 9999)},
        slow="""
def climb(xs):
    best = []
    for i in range(len(xs)):
        longest = 0
        for j in range(i):
            if xs[j] % MODULUS < xs[i] % MODULUS and best[j] > longest:
                longest = best[j]
        best.append(longest + 1)
    return max(best, default=0)
""",
        fast="""
def climb(xs):
    tails = []
    for x in xs:
        y = x % MODULUS
        low = 0
        high = len(tails)
        while low < high:
            middle = (low + high) // 2
            if tails[middle] < y:
                low = middle + 1
            else:
                high = middle
        if low == len(tails):
            tails.append(y)
        else:
            tails[low] = y
    return len(tails)
""",
        calls=_lists(0, 1, 110, 150, low=0, high=100000),
    ),
    Slow(
        name="change",
        says="in how many ways amount can be paid with coins of SMALL, MIDDLE and those in more, the order of the "
        "coins of no matter",
        takes="amount, a whole number from 0 to 70, and more, a list of two different whole numbers from 7 "
        "to 20",
        draws={"SMALL": (1, 2), "MIDDLE": (3, 6)},
        slow="""
def change(amount, more):
    coins = [SMALL, MIDDLE] + more
    def ways(left, first):
        if left == 0:
            return 1
        count = 0
        for i in range(first, 4):
            if coins[i] <= left:
                count += ways(left - coins[i], i)
        return count
    return ways(amount, 0)
""",
        fast="""
def change(amount, more):
    ways = [1] + [0] * amount
    for coin in [SMALL, MIDDLE] + more:
        for left in range(coin, amount + 1):
            ways[left] += ways[left - coin]
    return ways[amount]
""",
        calls=_change_calls,
    ),
    Slow(
        name="distance",
        says="the least cost of turning one word into the other, where a letter added or taken away costs "
        "SHIFT and one replaced by another CHANGE",
        takes="a and b, texts of at most 6 letters",
        draws={"SHIFT": (2, 9), "CHANGE": (2, 16)},
        slow="""
def distance(a, b):
    if not a:
        return len(b) * SHIFT
    if not b:
        return len(a) * SHIFT
    last = 0 if a[-1] == b[-1] else CHANGE
    return min(
        distance(a[:-1], b) + SHIFT,
        distance(a, b[:-1]) + SHIFT,
        distance(a[:-1], b[:-1]) + last,
    )
""",
        fast="""
def distance(a, b):
    row = [j * SHIFT for j in range(len(b) + 1)]
    for i, x in enumerate(a):
        corner = row[0]
        row[0] = left = corner + SHIFT
        for j, y in enumerate(b, 1):
            above = row[j]
            if x == y:
                left = corner
            else:
                best = (left if left < above else above) + SHIFT
                left = corner + CHANGE if corner + CHANGE < best else best
            corner = above
            row[j] = left
    return row[-1]
""",
        calls=_word_calls,
    ),
    Slow(
        name="fullest",
        says="the largest sum of a choice of the weights that is at most room plus SPARE",
        takes="weights, a list of at most 10 whole numbers from 1 to 20, and room, from 0 to 80",
        draws={"SPARE": (0, 60)},
        slow="""
def fullest(weights, room):
    best = 0
    for mask in range(2 ** len(weights)):
        total = 0
        for i in range(len(weights)):
            if mask >> i & 1:
                total += weights[i]
        if best < total <= room + SPARE:
            best = total
    return best
""",
        fast="""
def fullest(weights, room):
    sums = 1
    keep = (1 << room + SPARE + 1) - 1
    for w in weights:
        sums = (sums | sums << w) & keep
    return len_of(sums)


def len_of(sums):
    low = 0
    high = 1
    while sums >> high:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if sums >> middle:
            low = middle
        else:
            high = middle
    return low
""",
        calls=_knapsack_calls,
    ),
    Slow(
        name="busiest",
        says="the most spans that hold one common moment; a span [a, b] holds a and all up to b + PAUSE, which "
        "is left out",
        takes="spans, a list of at most 110 pairs a < b of whole numbers",
        draws={"PAUSE": (0, 20), "WEIGHT": (1, 9)},
        slow="""
def busiest(spans):
    best = 0
    for a, b in spans:
        count = 0
        for c, d in spans:
            if c <= a and a < d + PAUSE:
                count += 1
        best = max(best, count)
    return best * WEIGHT
""",
        fast="""
def busiest(spans):
    ends = sorted([s[1] + PAUSE for s in spans])
    best = 0
    gone = 0
    for i, a in enumerate(sorted([s[0] for s in spans])):
        while ends[gone] <= a:
            gone += 1
        if i - gone >= best:
            best = i - gone + 1
    return best * WEIGHT
""",
        calls=_span_calls,
    ),
)

LEVELS: dict[int, tuple[Slow, ...]] = {2: _EASY, 4: _MEDIUM, 6: _HARD}
FUNCTIONS: dict[str, Slow] = {one.name: one for level in LEVELS.values() for one in level}
