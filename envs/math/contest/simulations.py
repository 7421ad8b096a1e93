"""Word problems that are played from event to event: reservoirs, a queue with two counters, a ledger of rules.

What happens next depends on what has happened so far, so no step can be left out, and no formula leads to the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from verigym.canonical import JSON
from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.contest.primes import draw_primes
from verigym.envs.math.paper import Paper

_NAMES = ("Ada", "Bo", "Cleo", "Dan", "Eva")


def reservoirs(rng: np.random.Generator, level: int) -> Problem:
    """Four reservoirs with inflow, losses and transfers that depend on what they hold."""
    days = {8: 20, 9: 70, 10: 200}[level] + among(rng, 0, 9)
    start = [among(rng, 2000, 9999) for _ in range(4)]
    factors = [among(rng, 3, 29) for _ in range(4)]
    moduli = [among(rng, 401, 999) for _ in range(4)]
    loss = among(rng, 4, 9)
    weights = [among(rng, 2, 99) for _ in range(4)]
    have = list(start)
    for day in range(1, days + 1):
        have = [v + (v * f + day) % m for v, f, m in zip(have, factors, moduli, strict=True)]
        have = [v - v * loss // 100 for v in have]
        full, empty = have.index(max(have)), have.index(min(have))
        third = have[full] // 3
        have[full] -= third
        have[empty] += third
        if sum(have) % 2:
            have[0], have[2] = have[2], have[0]
    flows = listed(
        [f"{f} and {m} for {name}" for f, m, name in zip(factors, moduli, "ABCD", strict=True)]
    )
    holds = listed([f"{name} holds {v}" for name, v in zip("ABCD", start, strict=True)])
    asked = " + ".join(f"{w} * {name}" for w, name in zip(weights, "ABCD", strict=True))
    text = (
        f"Of four reservoirs, {holds} liters of water. On each day, the first of which is day 1, four things happen, in this "
        f"order. First, each reservoir gains (v * f + d) mod m liters, where v is what it holds, d is the number of the day, "
        f"and f and m are {flows}. Second, each reservoir loses {loss}% of what it then holds, rounded down. Third, a third of "
        "what the fullest reservoir holds, rounded down, is pumped to the emptiest one; of equal ones the first in the "
        "alphabet counts. Fourth, if all four together hold an odd number of liters, A and C exchange what they hold. Write "
        f"each letter for what the reservoir holds after day {days}. What is {asked}?"
    )
    value = sum(w * v for w, v in zip(weights, have, strict=True))
    return Problem(text, [days, [*start], [*factors], [*moduli], loss, [*weights]], value)


def _solve_reservoirs(paper: Paper, numbers: list[int], text: str) -> int:
    have = [int(n) for n in re.findall(r"[A-D] holds (-?\d+)", text)]
    flows = [(int(f), int(m)) for f, m in re.findall(r"(\d+) and (\d+) for [A-D]", text)]
    loss = int(re.findall(r"loses (\d+)%", text)[0])
    days = int(re.findall(r"after day (\d+)", text)[0])
    for day in range(1, days + 1):
        for i, (factor, modulus) in enumerate(flows):
            gain = paper.divide(paper.add(paper.multiply(have[i], factor), day), modulus)[1]
            held = paper.add(have[i], gain)
            have[i] = paper.subtract(held, paper.multiply(held, loss) // 100)
        order = sorted(range(4), key=lambda i: have[i])
        empty, full = order[0], min(i for i in order if have[i] == have[order[-1]])
        third = paper.divide(have[full], 3)[0]
        have[full] = paper.subtract(have[full], third)
        have[empty] = paper.add(have[empty], third)
        paper.look()
        if sum(v & 1 for v in have) & 1:
            have[0], have[2] = have[2], have[0]
    total = 0
    for weight, held in zip(re.findall(r"(\d+) \* [A-D]", text), have, strict=True):
        total = paper.add(total, paper.multiply(int(weight), held))
    return total


def two_counters(rng: np.random.Generator, level: int) -> Problem:
    """A queue in front of two counters that pause; customers who would wait too long leave."""
    count = {8: 50, 9: 160, 10: 480}[level] + among(rng, 0, 9)
    a, c, m = among(rng, 101, 999), among(rng, 11, 999), draw_primes(rng, 1, 4001, 9999)[0]
    x = first = among(rng, 100, 999)
    gap, least, spread = among(rng, 6, 9), among(rng, 2, 4), among(rng, 9, 14)
    patience, after, pause = among(rng, 6, 12), among(rng, 4, 7), among(rng, 8, 15)
    now, total, gone = 0, 0, 0
    free, served = [0, 0], [0, 0]
    for k in range(1, count + 1):
        x = (a * x + c) % m
        now += x % gap
        counter = 0 if free[0] <= free[1] else 1
        begin = max(now, free[counter])
        if begin - now > patience:
            gone += 1
            continue
        total += k * (begin - now)
        served[counter] += 1
        free[counter] = begin + least + x % spread
        if served[counter] % after == 0:
            free[counter] += pause
    last = max(free)
    text = (
        f"Customers 1 to {count} come to a shop with two counters, one after the other. Let x_0 = {first}, and let x_k be the "
        f"remainder when {a} * x_(k-1) + {c} is divided by {m}. Customer 1 comes x_1 mod {gap} minutes after the shop opens, and "
        f"each further customer k comes x_k mod {gap} minutes after customer k - 1. Each customer goes to the counter that is "
        "free first, to counter 1 if both become free or were free at the same minute, and waits until it is free. Both "
        "counters are free at minute 0, and a counter has been free since it ended its last work or pause. "
        f"A customer k who would wait more than {patience} minutes leaves at once and is not served; otherwise the counter "
        f"works {least} + (x_k mod {spread}) minutes for this customer. Each time that a counter has served {after} more "
        f"customers, it pauses for {pause} minutes before it is free again. Let W be the sum of k times the minutes that "
        "customer k waits, over all customers who are served, let G be the number of customers who leave, and let E be the "
        "minute, counted from the opening, at which the second of the two counters has ended its last work, or the pause that "
        "follows it. What is W + 1000 * G + E?"
    )
    operands: list[JSON] = [count, first, a, c, m, gap, least, spread, patience, after, pause]
    return Problem(text, operands, total + 1000 * gone + last)


def _solve_two_counters(paper: Paper, numbers: list[int], text: str) -> int:
    def find(pattern: str) -> int:
        return int(re.findall(pattern, text)[0])

    count, x = find(r"Customers 1 to (\d+)"), find(r"x_0 = (-?\d+)")
    a, c, m = (
        int(n)
        for n in re.findall(r"when (-?\d+) \* x_\(k-1\) \+ (\d+) is divided by (\d+)", text)[0]
    )
    gap, patience = find(r"x_1 mod (\d+)"), find(r"more than (\d+) minutes")
    least, spread = find(r"works (\d+) "), find(r"\(x_k mod (\d+)\)")
    after, pause = find(r"served (\d+) more"), find(r"pauses for (\d+)")
    now, total, gone = 0, 0, 0
    # For each counter: when it is free, its number, and the customers that it still serves before its pause.
    counters = [(0, 1, after), (0, 2, after)]
    for k in range(1, count + 1):
        x = paper.divide(paper.add(paper.multiply(a, x), c), m)[1]
        now = paper.add(now, paper.divide(x, gap)[1])
        paper.look()
        free, counter, left = min(counters)
        wait = max(0, paper.subtract(free, now))
        if wait > patience:
            gone += 1
            continue
        total = paper.add(total, paper.multiply(k, wait))
        work = paper.add(least, paper.divide(x, spread)[1])
        free = paper.add(paper.add(now, wait), work)
        if left == 1:
            free = paper.add(free, pause)
        counters.remove(min(counters))
        counters.append((free, counter, left - 1 or after))
    return paper.add(paper.add(total, 1000 * gone), max(counters)[0])


Event = tuple[str, list[int]]
"""A rule of the ledger: its kind, and the people and numbers in it."""


def ledger(rng: np.random.Generator, level: int) -> Problem:
    """A list of conditional payments that is gone through many times."""
    rounds = {8: 8, 9: 30, 10: 130}[level] + among(rng, 0, 5)
    start = [among(rng, 1000, 9999) for _ in _NAMES]
    events: list[Event] = []
    kinds = list(_EVENTS)
    for place in range(12):
        i, j, k = (int(p) for p in rng.permutation(len(_NAMES))[:3])
        kind = kinds[place] if place < len(kinds) else kinds[int(rng.integers(len(kinds)))]
        events.append((kind, [i, j, k, among(rng, 3, 9), among(rng, 11, 59)]))
    events = [events[int(i)] for i in rng.permutation(len(events))]
    have = list(start)
    for number in range(1, rounds + 1):
        for kind, given in events:
            _EVENTS[kind][1](have, number, *given)
    weights = [among(rng, 2, 99) for _ in _NAMES]
    asked = " + ".join(f"{w} * {name}" for w, name in zip(weights, _NAMES, strict=True))
    holds = listed([f"{name} has {v}" for name, v in zip(_NAMES, start, strict=True)])
    lines = [
        f"- {_EVENTS[kind][0].format(*(_NAMES[p] for p in given[:3]), *given[3:])}"
        for kind, given in events
    ]
    text = (
        f"{holds} coins. They go through this list from top to bottom, {rounds} times; the first time is round 1. All "
        "quotients and percentages are rounded down, and each line uses what they have by then.\n"
        + "\n".join(lines)
        + "\nWrite each name for the number of coins that this person has at the end. What is "
        f"{asked}?"
    )
    value = sum(w * v for w, v in zip(weights, have, strict=True))
    shown: list[JSON] = [[kind, *given] for kind, given in events]
    return Problem(text, [rounds, [*start], shown, [*weights]], value)


def _pay(have: list[int], giver: int, taker: int, coins: int) -> None:
    have[giver] -= coins
    have[taker] += coins


def _part(have: list[int], number: int, i: int, j: int, k: int, n: int, m: int) -> None:
    _pay(have, i, j, have[i] // n)


def _compare(have: list[int], number: int, i: int, j: int, k: int, n: int, m: int) -> None:
    if have[i] > have[j]:
        _pay(have, i, k, have[i] // n)
    else:
        _pay(have, j, k, (have[j] * m) // 100)


def _swap(have: list[int], number: int, i: int, j: int, k: int, n: int, m: int) -> None:
    if (have[i] + have[j] + number) % n == 0:
        have[i], have[j] = have[j], have[i]


def _prize(have: list[int], number: int, i: int, j: int, k: int, n: int, m: int) -> None:
    have[i] += (have[j] * m + number) % 997


def _fee(have: list[int], number: int, i: int, j: int, k: int, n: int, m: int) -> None:
    if have[i] > have[j] + have[k]:
        have[i] -= have[i] * m // 100


def _rest(have: list[int], number: int, i: int, j: int, k: int, n: int, m: int) -> None:
    _pay(have, i, j if have[k] % 2 else k, have[i] % (n * m))


_EVENTS: dict[str, tuple[str, Callable[..., None]]] = {
    "part": ("{0} gives {1} the coins of {0} divided by {3}.", _part),
    "compare": (
        "If {0} has more coins than {1}, {0} gives {2} the coins of {0} divided by {3}; otherwise {1} gives {2} "
        "{4}% of the coins of {1}.",
        _compare,
    ),
    "swap": (
        "If the coins of {0} plus the coins of {1} plus the number of the round are divisible by {3}, {0} and {1} "
        "exchange all coins.",
        _swap,
    ),
    "prize": (
        "The bank gives {0} as many coins as the remainder when {4} times the coins of {1} plus the number of the round "
        "is divided by 997.",
        _prize,
    ),
    "fee": (
        "If {0} has more coins than {1} and {2} together, {0} pays the bank {4}% of the coins of {0}.",
        _fee,
    ),
    "rest": (
        "{0} gives away as many coins as the remainder when the coins of {0} are divided by {3} * {4}: to {1} if the "
        "coins of {2} are an odd number, otherwise to {2}.",
        _rest,
    ),
}


def _solve_ledger(paper: Paper, numbers: list[int], text: str) -> int:
    head, *lines, last = text.splitlines()
    have = {name: int(n) for name, n in re.findall(r"(\w+) has (-?\d+)", head)}
    rounds = int(re.findall(r"bottom, (\d+) times", head)[0])
    read = [
        (
            line,
            [name for name in re.findall(r"\b[A-Z][a-z]+\b", line) if name in have],
            [int(n) for n in re.findall(r"\d+", line)],
        )
        for line in lines
    ]
    for number in range(1, rounds + 1):
        for line, names, given in read:
            paper.look()
            _follow(paper, have, number, line, names, given)
    total = 0
    for weight, name in re.findall(r"(\d+) \* (\w+)", last):
        total = paper.add(total, paper.multiply(int(weight), have[name]))
    return total


def _follow(
    paper: Paper, have: dict[str, int], number: int, line: str, names: list[str], given: list[int]
) -> None:
    """Carry out one line of the ledger."""

    def move(giver: str, taker: str, coins: int) -> None:
        have[giver] = paper.subtract(have[giver], coins)
        have[taker] = paper.add(have[taker], coins)

    a, b = names[:2]
    if "odd number" in line:
        giver, _, first, odd = names[:4]
        rest = paper.divide(have[giver], paper.multiply(*given))[1]
        move(giver, first if have[odd] % 2 else odd, rest)
    elif "otherwise" in line:
        third = names[3]
        if have[a] > have[b]:
            move(a, third, paper.divide(have[a], given[0])[0])
        else:
            move(b, third, paper.multiply(have[b], given[1]) // 100)
    elif "exchange" in line:
        total = paper.add(paper.add(have[a], have[b]), number)
        if not paper.divide(total, given[0])[1]:
            have[a], have[b] = have[b], have[a]
    elif "The bank gives" in line:
        total = paper.add(paper.multiply(given[0], have[b]), number)
        have[a] = paper.add(have[a], paper.divide(total, given[1])[1])
    elif "together" in line:
        if have[a] > paper.add(have[b], have[names[2]]):
            have[a] = paper.subtract(have[a], paper.multiply(have[a], given[0]) // 100)
    else:
        move(a, b, paper.divide(have[a], given[0])[0])


KINDS = (
    Kind(reservoirs, _solve_reservoirs, first=8, free=r"(?<= holds )\d+"),
    Kind(two_counters, _solve_two_counters, first=8, free=r"(?<=x_0 = )\d+|(?<=when )\d+(?= \*)"),
    Kind(ledger, _solve_ledger, first=8, free=r"(?<= has )\d+"),
)
