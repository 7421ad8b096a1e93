"""Short stories that turn one whole number into another; the parts of contest word problems."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verigym.canonical import JSON
from verigym.envs.math.contest.kind import FIRST, Kind, Problem, among
from verigym.envs.math.modular import combine
from verigym.envs.math.paper import Paper
from verigym.levels import HIGHEST


@dataclass(frozen=True)
class NumberStory:
    """A story. `text` has `{x}` for the number that goes in and `{}` for each of the drawn numbers; `value` is what
    comes out, `work` the same on paper. Numbers from `low` to `high` may go in on level 7,
    `growth` times as large ones on each further level."""

    name: str
    text: str
    draw: Callable[[np.random.Generator, int], list[int]]
    value: Callable[..., int]
    work: Callable[..., int]
    low: int
    high: int
    growth: int = 1

    def problem(self, rng: np.random.Generator, level: int) -> Problem:
        """Return the story with drawn numbers."""
        x = int(self.low * (self.high / self.low) ** rng.random()) * self.growth ** (level - FIRST)
        drawn = self.draw(rng, level)
        text = self.text.replace("{x}", str(x)).format(*drawn)
        return Problem(text, list[JSON]([x, *drawn]), self.value(x, *drawn))

    def solve(self, paper: Paper, numbers: list[int], text: str) -> int:
        """Work the story out."""
        return self.work(paper, *self.order(numbers))

    def order(self, numbers: list[int]) -> list[int]:
        """Return the number that goes in and the drawn numbers, from all numbers of the text."""
        slots = re.findall(r"\{x?\}|\d+", self.text)
        filled = list(zip(slots, numbers, strict=True))
        x = [n for slot, n in filled if slot == "{x}"]
        return x + [n for slot, n in filled if slot == "{}"]


def _rounds(rng: np.random.Generator, level: int) -> int:
    return among(rng, *{7: (3, 6), 8: (30, 40), 9: (80, 100), 10: (200, 240)}[level])


def _ants(x: int, percent: int, weeks: int) -> int:
    for _ in range(weeks):
        x = x * (100 + percent) // 100
    return x


def _work_ants(paper: Paper, x: int, percent: int, weeks: int) -> int:
    for _ in range(weeks):
        x = paper.add(x, paper.multiply(x, percent) // 100)
    return x


def _bank(x: int, percent: int, out: int, years: int) -> int:
    for _ in range(years):
        x = x + x * percent // 100 - out
    return x


def _work_bank(paper: Paper, x: int, percent: int, out: int, years: int) -> int:
    for _ in range(years):
        x = paper.subtract(paper.add(x, paper.multiply(x, percent) // 100), out)
    return x


def _bells(x: int, r: int, m: int, s: int, n: int) -> int:
    first = next(t for t in range(r, m * n + r, m) if t % n == s % n and t >= s)
    return first + (x - 1) * math.lcm(m, n)


def _draw_bells(rng: np.random.Generator, level: int) -> list[int]:
    while True:
        m, n = (among(rng, 11, 60 * (level - 6)) for _ in range(2))
        if m != n and math.gcd(m, n) == 1:
            return [among(rng, 1, m - 1), m, among(rng, 1, n - 1), n]


def _work_bells(paper: Paper, x: int, r: int, m: int, s: int, n: int) -> int:
    first, whole = combine(paper, [(r, m), (s, n)])
    return paper.add(first, paper.multiply(paper.subtract(x, 1), whole))


def _pages(x: int) -> int:
    return sum(max(0, x - 10**k + 1) for k in range(len(str(x))))


def _work_pages(paper: Paper, x: int) -> int:
    total = 0
    for k in range(len(str(x))):
        total = paper.add(total, paper.subtract(x, 10**k - 1))
    return total


def _rows(x: int, first: int, more: int) -> int:
    rows = seats = 0
    while seats < x:
        seats += first + rows * more
        rows += 1
    return rows


def _work_rows(paper: Paper, x: int, first: int, more: int) -> int:
    """Halve the interval in which the number of rows lies."""
    low, high = 0, 2 * math.isqrt(x) + 1
    while high - low > 1:
        rows = (low + high) // 2
        ends = paper.add(2 * first, paper.multiply(rows - 1, more))
        if paper.multiply(rows, ends) >= 2 * x:
            high = rows
        else:
            low = rows
    return high


def _melons(x: int, crates: int, melons: int, net: int) -> int:
    return x * crates * melons % net


def _work_melons(paper: Paper, x: int, crates: int, melons: int, net: int) -> int:
    return paper.divide(paper.multiply(x, paper.multiply(crates, melons)), net)[1]


def _squares(x: int, width: int) -> int:
    count = 0
    while width:
        count += x // width
        x, width = width, x % width
    return count


def _work_squares(paper: Paper, x: int, width: int) -> int:
    count = 0
    while width:
        times, rest = paper.divide(x, width)
        count = paper.add(count, times)
        x, width = width, rest
    return count


def _chairs(x: int) -> int:
    return x * math.comb(x - 1, 2)


def _work_chairs(paper: Paper, x: int) -> int:
    return paper.divide_exactly(paper.multiply(x, paper.multiply(x - 1, x - 2)), 2)


def _machines(x: int, a: int, b: int, c: int, d: int) -> int:
    return -(-x * b * d // (a * d + c * b))


def _work_machines(paper: Paper, x: int, a: int, b: int, c: int, d: int) -> int:
    rate = paper.add(paper.multiply(a, d), paper.multiply(c, b))
    whole, rest = paper.divide(paper.multiply(x, paper.multiply(b, d)), rate)
    return whole + bool(rest)


def _circle(x: int, step: int) -> int:
    left, at = list(range(1, x + 1)), 0
    while len(left) > 1:
        at = (at + step - 1) % len(left)
        left.pop(at)
    return left[0]


def _work_circle(paper: Paper, x: int, step: int) -> int:
    """Go from the circle of one child up: with each child more, the last place moves on by a step."""
    place = 0
    for count in range(2, x + 1):
        place = paper.divide(paper.add(place, step), count)[1]
    return place + 1


def _stairs(x: int, *strides: int) -> int:
    ways = [1] + [0] * x
    for height in range(1, x + 1):
        ways[height] = sum(ways[height - stride] for stride in strides if stride <= height)
    return ways[x]


def _work_stairs(paper: Paper, x: int, *strides: int) -> int:
    ways = [1]
    for height in range(1, x + 1):
        total = 0
        for stride in strides:
            if stride <= height:
                total = paper.add(total, ways[height - stride])
        ways.append(total)
    return ways[x]


def _draw_stairs(rng: np.random.Generator, level: int) -> list[int]:
    return sorted(int(stride) + 1 for stride in rng.permutation(6)[:3])


def _key(x: int, more: int, m: int, presses: int) -> int:
    for _ in range(presses):
        x = (x * x + more) % m
    return x


def _work_key(paper: Paper, x: int, more: int, m: int, presses: int) -> int:
    for _ in range(presses):
        x = paper.divide(paper.add(paper.multiply(x, x), more), m)[1]
    return x


def _draw_key(rng: np.random.Generator, level: int) -> list[int]:
    digits = level - 4
    return [among(rng, 11, 99), among(rng, 10 ** (digits - 1), 10**digits), _rounds(rng, level)]


STAGES = (
    NumberStory(
        "ants",
        "A colony starts with {x} ants and grows by {}% each week, where the growth is rounded down to whole ants. How "
        "many ants are there after {} weeks?",
        lambda rng, level: [among(rng, 3, 40), _rounds(rng, level)],
        _ants,
        _work_ants,
        100,
        10**6,
    ),
    NumberStory(
        "account",
        "An account holds {x} coins. At the end of each year {}% interest, rounded down to whole coins, is added, and "
        "then {} coins are taken out. How many coins does it hold after {} years?",
        lambda rng, level: [
            among(rng, 3, 15),
            among(rng, 5, 40),
            _rounds(rng, level),
        ],
        _bank,
        _work_bank,
        2000,
        10**6,
    ),
    NumberStory(
        "bells",
        "The first bell rings {} seconds after noon and then every {} seconds, the second bell {} seconds after noon and "
        "then every {} seconds. Count the moments at which both ring. How many seconds after noon is the moment with "
        "the number {x}?",
        _draw_bells,
        lambda *numbers: _bells(*numbers),
        _work_bells,
        2,
        20_000,
    ),
    NumberStory(
        "pages",
        "The pages of an encyclopedia are numbered from 1 to {x}. How many digits are printed for that?",
        lambda rng, level: [],
        _pages,
        _work_pages,
        100,
        10**6,
    ),
    NumberStory(
        "stadium",
        "A stadium has {} seats in its first row, and in each further row {} seats more than in the row before. Guests "
        "take the rows one after the other, from the first on. How many rows are needed for {x} guests?",
        lambda rng, level: [among(rng, 11, 30), among(rng, 2, 6)],
        _rows,
        _work_rows,
        20_000,
        10**8,
    ),
    NumberStory(
        "melons",
        "Each of {x} lorries brings {} crates with {} melons each. All melons together are packed into nets of {}. How "
        "many melons are left over?",
        lambda rng, level: [among(rng, 12, 99), among(rng, 12, 99), among(rng, 1001, 9999)],
        _melons,
        _work_melons,
        1000,
        10**9,
    ),
    NumberStory(
        "squares",
        "A sheet is {x} mm long and {} mm wide. Squares as large as possible are cut off, one after the other, until "
        "nothing is left. How many squares are there?",
        lambda rng, level: [among(rng, 301, 10 ** (2 * level - 11))],
        _squares,
        _work_squares,
        5000,
        10**12,
    ),
    NumberStory(
        "club",
        "A club of {x} members elects a chair and two deputies of equal rank, three different people. How many results "
        "are possible?",
        lambda rng, level: [],
        _chairs,
        _work_chairs,
        10,
        400,
    ),
    NumberStory(
        "machines",
        "One machine makes {} parts every {} minutes, another one {} parts every {} minutes, both at a steady pace. Both "
        "start together. After how many minutes, rounded up, have they made {x} parts?",
        lambda rng, level: [
            among(rng, 11, 40),
            among(rng, 3, 10),
            among(rng, 11, 40),
            among(rng, 3, 10),
        ],
        _machines,
        _work_machines,
        2000,
        10**8,
    ),
    NumberStory(
        "circle",
        "{x} children stand in a circle and are numbered from 1 on. They count from 1 to {} again and again, beginning with "
        "child 1, and each child who says {} leaves the circle at once. Which number has the child who is left at the end?",
        lambda rng, level: [among(rng, 3, level)] * 2,
        lambda x, step, _: _circle(x, step),
        lambda paper, x, step, _: _work_circle(paper, x, step),
        60,
        300,
        2,
    ),
    NumberStory(
        "key",
        "A calculator shows {x}. Each press of its red key takes the square of the number shown, adds {}, and shows the remainder "
        "of the sum when it is divided by {}. What does it show after {} presses?",
        _draw_key,
        _key,
        _work_key,
        100,
        10**4,
    ),
    NumberStory(
        "stairs",
        "A staircase has {x} steps. Kim climbs it and takes {}, {} or {} steps at a time, in any order. In how many ways can "
        "Kim reach the top exactly?",
        _draw_stairs,
        _stairs,
        _work_stairs,
        30,
        60,
        2,
    ),
)
_LAST = {
    "account": 9,
    "ants": 9,
    "bells": 8,
    "circle": 9,
    "club": 7,
    "machines": 7,
    "melons": 7,
    "pages": 7,
    "squares": 8,
    "stadium": 8,
}
"""Last levels of stories that take few steps."""
KINDS = tuple(
    Kind(stage.problem, stage.solve, last=_LAST.get(stage.name, HIGHEST), title=stage.name)
    for stage in STAGES
)
