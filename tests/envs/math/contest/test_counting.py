"""Contest questions of counting, answered by listing everything or by numerical iteration."""

import itertools
import math
import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from verigym.envs.math.contest import arrangements, chances, paths
from verigym.envs.math.contest import kind as contest

KINDS = {kind.name: kind for kind in arrangements.KINDS + paths.KINDS + chances.KINDS}


def asks(name, level, count=4):
    for seed in range(100, 100 + count):
        ask = contest.ask((KINDS[name],), np.random.default_rng([seed, level]), level)
        yield ask.prompt, contest.numbers(ask.prompt), Fraction(ask.answer)


def test_necklaces():
    for prompt, (n,), answer in asks("necklaces", 7, 2):
        banned = re.findall(r"([A-D]) and ([A-D])(?=,| or)", prompt.partition("may not be")[2])
        pairs = {frozenset(pair) for pair in banned}
        seen, rings = set(), 0
        for ring in itertools.product("ABCD", repeat=n):
            if ring in seen or any(
                frozenset((a, b)) in pairs for a, b in zip(ring, ring[1:] + ring[:1], strict=True)
            ):
                continue
            seen.update(ring[k:] + ring[:k] for k in range(n))
            rings += 1
        assert rings == answer


@pytest.mark.parametrize("level", [7, 8])
def test_no_equal_neighbours(level):
    for prompt, _, answer in asks("no_equal_neighbours", level):
        counts = Counter(re.search("letters of ([A-H]+)", prompt)[1])
        letters = sorted(counts)
        ways = {}

        def count(left, last, ways=ways):
            if not any(left):
                return 1
            if (left, last) not in ways:
                ways[left, last] = sum(
                    count((*left[:i], n - 1, *left[i + 1 :]), i)
                    for i, n in enumerate(left)
                    if n and i != last
                )
            return ways[left, last]

        assert count(tuple(counts[c] for c in letters), None) == answer


def test_bounded_sums():
    for _, (total, _, *limits), answer in asks("bounded_sums", 7):
        boxes = [range(low, high + 1) for low, high in zip(limits[::2], limits[1::2], strict=True)]
        assert sum(sum(one) == total for one in itertools.product(*boxes)) == answer


@pytest.mark.parametrize("level", [7, 9])
def test_permutations_of_order(level):
    for _, (n, *lengths), answer in asks("permutations_of_order", level):
        # The number with given cycles is n! over the product of k^m * m! (Cauchy).
        total = Fraction(0)
        for counts in itertools.product(*(range(n // k + 1) for k in lengths)):
            if sum(k * m for k, m in zip(lengths, counts, strict=True)) == n:
                total += Fraction(
                    math.factorial(n),
                    math.prod(
                        k**m * math.factorial(m) for k, m in zip(lengths, counts, strict=True)
                    ),
                )
        assert total == answer


def test_torus():
    for _, (rows, columns, colours), answer in asks("torus", 8):
        total = 0
        for down, right in itertools.product(range(rows), range(columns)):
            squares = set(itertools.product(range(rows), range(columns)))
            cycles = 0
            while squares:
                i, j = squares.pop()
                cycles += 1
                while (i, j) in squares or (i, j) != ((i + down) % rows, (j + right) % columns):
                    i, j = (i + down) % rows, (j + right) % columns
                    if (i, j) not in squares:
                        break
                    squares.remove((i, j))
            total += colours**cycles
        assert Fraction(total, rows * columns) == answer


@pytest.mark.parametrize("level", [7, 9])
def test_barrier_paths(level):
    for _, n, answer in asks("barrier_paths", level):
        _, _, across, up, _, _, above, below, *rest = n
        grid = np.zeros((across + 1, up + 1), dtype=object)
        blocked = set(zip(rest[::2], rest[1::2], strict=True))
        for x, y in itertools.product(range(across + 1), range(up + 1)):
            if y <= x + above and x <= y + below and (x, y) not in blocked:
                grid[x, y] = (
                    int(x == y == 0) + (grid[x - 1, y] if x else 0) + (grid[x, y - 1] if y else 0)
                )
        assert grid[across, up] == answer


def test_forbidden_words():
    for prompt, (n,), answer in asks("forbidden_words", 7, 8):
        if n <= 11:
            bad = re.compile("|".join(re.findall(r"'(\w+)'", prompt)))
            assert (
                sum(not bad.search("".join(w)) for w in itertools.product("ABC", repeat=n))
                == answer
            )


@pytest.mark.parametrize("level", [7, pytest.param(8, marks=pytest.mark.slow)])
def test_race_of_words(level):
    for prompt, _, answer in asks("race_of_words", level):
        chance = {
            c: float(Fraction(p)) for c, p in re.findall(r"(\w) with probability (\d+/\d+)", prompt)
        }
        words = re.findall(r"'(\w+)'", prompt.partition(" has appeared")[0])
        ends, time, won = {"": 1.0}, 0.0, 0.0
        for _ in range(6000):
            more = Counter()
            time += sum(ends.values())
            for end, share in ends.items():
                for letter, p in chance.items():
                    longer = end + letter
                    if longer.endswith(tuple(words)):
                        won += share * p * longer.endswith(words[0])
                    else:
                        more[longer[-6:]] += share * p
            ends = more
            if sum(ends.values()) < 1e-12 or time > 600:
                break
        if time < 600:
            assert (time if "expected" in prompt else won) == pytest.approx(float(answer), rel=1e-6)


@pytest.mark.parametrize("level", [7, 8])
def test_markov_chain(level):
    for prompt, _, answer in asks("markov_chain", level, 8):
        rows = {}
        for place, line in re.findall(r"From (\w): (.*)\.", prompt):
            moves = re.findall(r"to (?:the )?(\w+)(?: exit)? with probability (\d+)/(\d+)", line)
            rows[place] = {goal: int(w) / int(below) for goal, w, below in moves}
            assert sum(rows[place].values()) == pytest.approx(1)
        at, time, visits, north = {"A": 1.0}, 0.0, 0.0, 0.0
        last = max(rows)
        while sum(at.values()) > 1e-12:
            time += sum(at.values())
            visits += at.get(last, 0)
            more = Counter()
            for place, share in at.items():
                for goal, p in rows[place].items():
                    more[goal] += share * p
            north += more.pop("North", 0)
            more.pop("South", 0)
            at = more
        found = time if "to leave" in prompt else visits if "begin at" in prompt else north
        assert found == pytest.approx(float(answer), rel=1e-6)


@pytest.mark.parametrize("level", [7, 9])
def test_collector(level):
    for _, (whole, *weights), answer in asks("collector", level):
        waits = {}
        kinds = len(weights)
        for seen in reversed(range(2**kinds)):
            new = [i for i in range(kinds) if not seen >> i & 1]
            if new:
                more = sum(weights[i] * waits[seen | 1 << i] for i in new)
                waits[seen] = (whole + more) / Fraction(sum(weights[i] for i in new))
            else:
                waits[seen] = Fraction(0)
        assert waits[0] == answer
