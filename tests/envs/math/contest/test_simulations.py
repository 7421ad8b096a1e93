"""Stories played from event to event, played again by other programs from their words."""

import heapq
import re
from fractions import Fraction

import numpy as np
import pytest

from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest import simulations

KINDS = {kind.name: kind for kind in simulations.KINDS}


def asks(name, level, count=4):
    for seed in range(100, 100 + count):
        ask = contest.ask((KINDS[name],), np.random.default_rng([seed, level]), level)
        yield ask.prompt, int(ask.answer)


def combined(prompt, have):
    asked = re.findall(r"(\d+) \* (\w+)", prompt.rpartition("What is ")[2])
    assert len(asked) == len(have)
    return sum(int(weight) * have[name] for weight, name in asked)


@pytest.mark.parametrize("level", [8, 9, 10])
def test_reservoirs(level):
    for prompt, answer in asks("reservoirs", level):
        held = {name: int(n) for name, n in re.findall(r"([A-D]) holds (\d+)", prompt)}
        flows = {
            name: (int(f), int(m))
            for f, m, name in re.findall(r"(\d+) and (\d+) for ([A-D])", prompt)
        }
        loss = int(re.search(r"loses (\d+)%", prompt)[1])
        for day in range(1, int(re.search(r"after day (\d+)", prompt)[1]) + 1):
            for name, (factor, modulus) in flows.items():
                gained = held[name] + (factor * held[name] + day) % modulus
                held[name] = gained - int(Fraction(gained * loss, 100))
            high, low = max(held.values()), min(held.values())
            giver, taker = (next(name for name in "ABCD" if held[name] == v) for v in (high, low))
            pumped = high // 3
            held[giver], held[taker] = held[giver] - pumped, held[taker] + pumped
            if sum(held.values()) % 2 == 1:
                held["A"], held["C"] = held["C"], held["A"]
        assert combined(prompt, held) == answer


@pytest.mark.parametrize("level", [8, 9, 10])
def test_two_counters(level):
    left = 0
    for prompt, answer in asks("two_counters", level):
        patterns = (
            r"Customers 1 to (\d+)",
            r"x_0 = (\d+)",
            r"when (\d+) \*",
            r"x_\(k-1\) \+ (\d+)",
            r"divided by (\d+)",
            r"x_k mod (\d+) minutes after",
            r"works (\d+) \+",
            r"\+ \(x_k mod (\d+)\)",
            r"more than (\d+) minutes",
            r"served (\d+) more",
            r"pauses for (\d+)",
        )
        count, x, a, c, m, gap, least, spread, most, after, pause = (
            int(re.search(pattern, prompt)[1]) for pattern in patterns
        )
        # Events by minute and counter: when a counter ends its work or pause, it goes back to the heap.
        heap, served = [(0, 1), (0, 2)], {1: 0, 2: 0}
        minute = waited = gone = 0
        for k in range(1, count + 1):
            x = (a * x + c) % m
            minute += x % gap
            free, counter = heapq.heappop(heap)
            if free > minute + most:
                gone += 1
                heapq.heappush(heap, (free, counter))
                continue
            waited += k * max(free - minute, 0)
            served[counter] += 1
            end = (
                max(free, minute)
                + least
                + x % spread
                + (pause if served[counter] % after == 0 else 0)
            )
            heapq.heappush(heap, (end, counter))
        assert waited + 1000 * gone + max(heap)[0] == answer
        left += gone
    assert left


@pytest.mark.parametrize("level", [8, 9, 10])
def test_ledger(level):
    rules = (
        (r"(\w+) gives (\w+) the coins of \1 divided by (\d+)\.", _part),
        (
            r"If (\w+) has more coins than (\w+), \1 gives (\w+) the coins of \1 divided by (\d+); otherwise \2 gives \3 "
            r"(\d+)% of the coins of \2\.",
            _compare,
        ),
        (
            r"If the coins of (\w+) plus the coins of (\w+) plus the number of the round are divisible by (\d+), \1 and \2 "
            r"exchange all coins\.",
            _exchange,
        ),
        (
            r"The bank gives (\w+) as many coins as the remainder when (\d+) times the coins of (\w+) plus the number of "
            r"the round is divided by 997\.",
            _prize,
        ),
        (
            r"If (\w+) has more coins than (\w+) and (\w+) together, \1 pays the bank (\d+)% of the coins of \1\.",
            _fee,
        ),
        (
            r"(\w+) gives away as many coins as the remainder when the coins of \1 are divided by (\d+) \* (\d+): to "
            r"(\w+) if the coins of (\w+) are an odd number, otherwise to \5\.",
            _rest,
        ),
    )
    for prompt, answer in asks("ledger", level):
        have = {name: int(n) for name, n in re.findall(r"(\w+) has (\d+)", prompt.splitlines()[0])}
        lines = [line[2:] for line in prompt.splitlines() if line.startswith("- ")]
        assert len(lines) == 12
        for number in range(1, int(re.search(r"bottom, (\d+) times", prompt)[1]) + 1):
            for line in lines:
                (found,) = [
                    (found, do) for pattern, do in rules if (found := re.fullmatch(pattern, line))
                ]
                words = [int(w) if w.isdigit() else w for w in found[0].groups()]
                found[1](have, number, *words)
                assert min(have.values()) >= 0
        assert combined(prompt, have) == answer


def _give(have, giver, taker, coins):
    have[giver] -= coins
    have[taker] += coins


def _part(have, number, a, b, n):
    _give(have, a, b, have[a] // n)


def _compare(have, number, a, b, c, n, percent):
    if have[a] > have[b]:
        _give(have, a, c, have[a] // n)
    else:
        _give(have, b, c, int(Fraction(percent * have[b], 100)))


def _exchange(have, number, a, b, n):
    if (have[a] + have[b] + number) % n == 0:
        have[a], have[b] = have[b], have[a]


def _prize(have, number, a, n, b):
    have[a] += (n * have[b] + number) % 997


def _fee(have, number, a, b, c, percent):
    if have[a] > have[b] + have[c]:
        have[a] -= int(Fraction(percent * have[a], 100))


def _rest(have, number, a, n, m, b, c):
    _give(have, a, b if have[c] % 2 else c, have[a] % (n * m))
