"""Slow functions and fast ones that give the same: what `code/faster` asks to be improved.

Upper-case words of a source stand for numbers that are drawn for each task. All is written in the part
of Python that the step counter knows (`verifiers/code/counted/program.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from verigym.envs.code.program_files import filled, program

Numbers = dict[str, int]
Calls = list[list[Any]]


@dataclass(frozen=True, kw_only=True)
class Slow:
    """One function, slow and fast; `calls` draws the arguments of the hidden calls.

    The programs stand in programs/slow and programs/fast, under the function's name.
    """

    name: str
    says: str
    takes: str
    draws: dict[str, tuple[int, int]]
    calls: Callable[[np.random.Generator, Numbers], Calls]

    def program(self, kind: Literal["slow", "fast"], numbers: Numbers) -> str:
        """Return a program with its numbers."""
        return filled(program(f"{kind}/{self.name}.py"), numbers)


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


def _divisible_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    goal = numbers["GOAL"]
    calls: Calls = [[[]], [[goal]]]
    for size in (60, 90):
        # Few numbers that do not share the divisor, and many divisors in common.
        factors = rng.choice([1, 2, 2, 4, 6, 12, 12, 30, 60], size).tolist()
        calls.append([[int(f) * goal * int(rng.integers(1, 9)) for f in factors]])
        calls[-1][0][int(rng.integers(size))] += 1
    return calls


def _tree_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    calls: Calls = [[[], []], [[0], [4]]]
    for n, reach in ((60, 2), (80, 80)):
        parents = [int(rng.integers(max(0, i - reach), i)) for i in range(1, n)]
        calls.append([parents, _wholes(rng, n - 1, 1, 99)])
    return calls


def _block_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    calls: Calls = [[["."]], [["#", "#"]]]
    for height, width in ((7, 9), (9, 8)):
        cells = rng.random((height, width)) < 0.85
        calls.append([["".join("#" if cell else "." for cell in row) for row in cells]])
    return calls


def _term_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    calls: Calls = [[n, _wholes(rng, 3, 0, 99)] for n in (0, 2, 5)]
    return calls + [[n, _wholes(rng, 3, 0, 999)] for n in _wholes(rng, 2, 6000, 8000)]


def _mirror_calls(rng: np.random.Generator, numbers: Numbers) -> Calls:
    calls: Calls = [[""], ["abba"]]
    for size, period in ((56, 3), (64, 9)):
        piece = "".join("ab"[int(n)] for n in rng.integers(2, size=period))
        word = ((piece + piece[::-1]) * size)[:size]
        at = int(rng.integers(size))
        calls.append([word[:at] + "c" + word[at + 1 :]])
    return calls


_EASY = (
    Slow(
        name="pairs_to",
        says="the number of pairs of different positions whose two numbers add up to TARGET",
        takes="xs, a list of at most 150 whole numbers from -40 to 40",
        draws={"TARGET": (-30, 30)},
        calls=_lists(0, 2, 100, 150, low=-40, high=40),
    ),
    Slow(
        name="range_sums",
        says="a list that holds, for each query [a, b], the sum of xs[a:b] plus OFFSET",
        takes="xs, a list of at most 120 whole numbers, and queries, a list of at most 60 pairs with "
        "0 <= a <= b <= len(xs)",
        draws={"OFFSET": (-99, 99)},
        calls=_range_calls,
    ),
    Slow(
        name="kept",
        says="a list of the numbers modulo MODULUS, each value only once, in the order in which they first "
        "appear",
        takes="xs, a list of at most 200 whole numbers from 0 to 100000",
        draws={"MODULUS": (300, 999)},
        calls=_lists(0, 3, 120, 200, low=0, high=100000),
    ),
    Slow(
        name="power_tail",
        says="base to the power of exponent, modulo MODULUS",
        takes="base from 2 to 99 and exponent from 0 to 1900, whole numbers",
        draws={"MODULUS": (1000, 99999)},
        calls=_tail_calls,
    ),
)

_MEDIUM = (
    Slow(
        name="stairs",
        says="WEIGHT times the number of ways to climb n steps, taking 1, 2 or LONG steps at a time, where "
        "different orders are different ways and a broken step must not be stood on",
        takes="n, a whole number from 0 to 14, and broken, a list of at most 3 different numbers of "
        "steps from 1 to n - 1",
        draws={"LONG": (3, 5), "WEIGHT": (1, 9)},
        calls=_stair_calls,
    ),
    Slow(
        name="prime_sum",
        says="the sum of the primes from first to n, each reduced modulo MODULUS before it is added",
        takes="first, a whole number from 2 to 100, and n, from 0 to 600",
        draws={"MODULUS": (20, 400)},
        calls=_prime_calls,
    ),
    Slow(
        name="shortest",
        says="the length of the shortest run of consecutive items whose sum is at least GOAL, or -1 if there "
        "is none",
        takes="xs, a list of at most 150 whole numbers from 1 to 30",
        draws={"GOAL": (200, 700)},
        calls=_lists(0, 5, 90, 150, low=1, high=30),
    ),
    Slow(
        name="close_pairs",
        says="the number of pairs of different positions whose two numbers differ by at most NEAR",
        takes="xs, a list of at most 150 whole numbers from -5000 to 5000",
        draws={"NEAR": (10, 90)},
        calls=_lists(0, 2, 100, 150, low=-5000, high=5000),
    ),
)

_HARD = (
    Slow(
        name="climb",
        says="the length of the longest strictly increasing subsequence of the items, after each of them is "
        "reduced modulo MODULUS",
        takes="xs, a list of at most 150 whole numbers from 0 to 100000",
        draws={"MODULUS": (500, 9999)},
        calls=_lists(0, 1, 110, 150, low=0, high=100000),
    ),
    Slow(
        name="change",
        says="the number of ways to pay amount with coins of SMALL, of MIDDLE and of the two values in more, "
        "where the order of the coins does not matter",
        takes="amount, a whole number from 0 to 70, and more, a list of two different whole numbers from 7 "
        "to 20",
        draws={"SMALL": (1, 2), "MIDDLE": (3, 6)},
        calls=_change_calls,
    ),
    Slow(
        name="distance",
        says="the least cost of turning one word into the other, where adding or removing a letter costs "
        "SHIFT and replacing one costs CHANGE",
        takes="a and b, strings of at most 6 letters",
        draws={"SHIFT": (2, 9), "CHANGE": (2, 16)},
        calls=_word_calls,
    ),
    Slow(
        name="fullest",
        says="the largest sum of a selection of the weights, each used at most once, that is at most room "
        "plus SPARE",
        takes="weights, a list of at most 10 whole numbers from 1 to 20, and room, from 0 to 80",
        draws={"SPARE": (0, 60)},
        calls=_knapsack_calls,
    ),
    Slow(
        name="busiest",
        says="WEIGHT times the largest number of spans that share a moment, where a span [a, b] holds a and "
        "every moment after it up to b + PAUSE, but not b + PAUSE itself",
        takes="spans, a list of at most 110 pairs a < b of whole numbers",
        draws={"PAUSE": (0, 20), "WEIGHT": (1, 9)},
        calls=_span_calls,
    ),
)

_TOP = (
    Slow(
        name="gcd_runs",
        says="the number of non-empty runs of consecutive items whose greatest common divisor is GOAL",
        takes="xs, a list of at most 90 positive whole numbers up to 100000",
        draws={"GOAL": (2, 60)},
        calls=_divisible_calls,
    ),
    Slow(
        name="small_xors",
        says="the number of non-empty runs of consecutive items whose exclusive or is less than LIMIT",
        takes="xs, a list of at most 150 whole numbers from 0 to 1023",
        draws={"LIMIT": (100, 900)},
        calls=_lists(0, 2, 110, 150, low=0, high=1023),
    ),
    Slow(
        name="all_distances",
        says="the sum of the distances between all ordered pairs of nodes of a tree, where node i + 1 hangs from "
        "node parents[i] by an edge of length lengths[i] + FACTOR",
        takes="parents, a list of at most 79 node numbers with parents[i] <= i (node 0 is the root), and lengths, "
        "a list of as many whole numbers from 1 to 99",
        draws={"FACTOR": (0, 99)},
        calls=_tree_calls,
    ),
    Slow(
        name="full_blocks",
        says='WEIGHT times the sum of the heights of all rectangles of the grid that hold only "#"',
        takes='rows, a list of at most 9 strings of the same length, at most 9, of "#" and "."',
        draws={"WEIGHT": (1, 99)},
        calls=_block_calls,
    ),
    Slow(
        name="far_term",
        says="term n, counted from 0, of the sequence that begins with the three numbers of first, where each "
        "later term is A times the one before it plus B times the one three places before it plus its own "
        "number, modulo MODULUS",
        takes="n, a whole number from 0 to 8000, and first, a list of three whole numbers below MODULUS",
        draws={"A": (2, 9), "B": (2, 9), "MODULUS": (1000, 99999)},
        calls=_term_calls,
    ),
    Slow(
        name="mirrors",
        says="the number of pairs of a start and an end at which the word has a palindrome of at least LEAST letters",
        takes="word, a string of at most 64 letters",
        draws={"LEAST": (2, 12)},
        calls=_mirror_calls,
    ),
    Slow(
        name="low_points",
        says="WEIGHT times the sum, over all non-empty runs of consecutive items, of the least item of the run times "
        "the length of the run",
        takes="xs, a list of at most 90 whole numbers from -99 to 99",
        draws={"WEIGHT": (1, 99)},
        calls=_lists(0, 2, 70, 90, low=-99, high=99),
    ),
)

LEVELS: dict[int, tuple[Slow, ...]] = {2: _EASY, 4: _MEDIUM, 6: _HARD, 8: _TOP}
FUNCTIONS: dict[str, Slow] = {one.name: one for level in LEVELS.values() for one in level}
