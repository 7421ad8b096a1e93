"""Countdown: reach a target from given numbers with + - * / and parentheses; one turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import ClassVar, TypeAlias

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Env, Transition
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verifiers.math.countdown import Answer, read, reference_of

Number: TypeAlias = int | Fraction

_PROMPT = """\
Numbers: {numbers}
Target: {target}
Write one arithmetic expression that equals the target. Use each number exactly once, with + - * / \
and parentheses only. Intermediate results may be fractions.
Think as long as you like, then put the expression alone in tags: <answer>expression</answer>"""


@dataclass(frozen=True)
class CountdownSize:
    """Settings of one level: `count` numbers of 1..`largest`, and the range of the target. With `rest`, the target is a
    product of two sums or differences plus or minus what that many numbers give, else any expression."""

    count: int
    largest: int
    target_min: int
    target_max: int
    rest: int = 0


LEVELS = {
    1: CountdownSize(2, 30, 5, 99),
    2: CountdownSize(3, 10, 10, 50),
    3: CountdownSize(4, 8, 10, 50),
    4: CountdownSize(4, 25, 20, 100),
    5: CountdownSize(5, 50, 50, 300),
    6: CountdownSize(6, 100, 100, 999),
    7: CountdownSize(7, 50, 100_000, 9_999_999, 1),
    8: CountdownSize(8, 100, 1_000_000, 99_999_999, 2),
    9: CountdownSize(9, 300, 100_000_000, 99_999_999_999, 3),
    10: CountdownSize(10, 600, 1_000_000_000, 9_999_999_999_999, 4),
}


_MANY = 9
"""From so many numbers on, products are looked for by windows."""
_LARGEST_REST = 1_000_000
"""Largest number that is added to a product of many numbers or taken from it."""


@dataclass(frozen=True)
class CountdownState:
    """The state: what is asked, and whether it has been answered. `numbers` ascend."""

    numbers: tuple[int, ...]
    target: int
    answered: bool = False


class Countdown(Env[CountdownState]):
    """Numbers and a target; the first action is the answer, judged by `math/countdown`.

    Every task is drawn by combining its numbers at random, so that it has a solution whose
    intermediate results are positive whole numbers. An action is valid if an answer can be read in
    it. `max_turns` changes nothing: the first answer ends the episode. From level 7 on targets are so large that few
    expressions reach them, from level 9 on seldom more than the drawn one.
    """

    id: ClassVar[str] = "verigym/math/countdown-v0"
    verifier_id: ClassVar[str] = "math/countdown"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    max_observation_chars: ClassVar[int] = 1024
    max_action_chars: ClassVar[int] = 1 << 16

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        """A draw that leaves the target range is repeated."""
        settings = LEVELS[level]
        while True:
            # One call for the whole draw: scalar draws would cost half the reset.
            draws = rng.random(4 * settings.count).tolist()
            numbers = sorted(1 + int(u * settings.largest) for u in draws[: settings.count])
            more = draws[settings.count :]
            target = (
                _product(numbers, more, settings.rest)
                if settings.rest
                else _combined(numbers, more)
            )
            if settings.target_min <= target <= settings.target_max:
                return Draft(
                    prompt=_PROMPT.format(numbers=", ".join(map(str, numbers)), target=target),
                    reference={"numbers": numbers, "target": target},
                )

    @override
    def initial(self, task: Task) -> CountdownState:
        numbers, target = reference_of(task)
        return CountdownState(tuple(sorted(numbers)), target)

    @override
    def observe(self, state: CountdownState) -> str:
        """The prompt says it all."""
        return ""

    @override
    def transition(self, state: CountdownState, action: str) -> Transition[CountdownState]:
        """Take any action as the answer."""
        return Transition(
            state=replace(state, answered=True),
            terminated=True,
            valid=isinstance(read(action), Answer),
            submission=action,
        )

    @override
    def submission(self, state: CountdownState) -> JSON:
        """Return no answer; used if an action was too long to be read."""
        return ""

    @override
    def turns_allowed(self, task: Task) -> int:
        return 1

    @override
    def work(self, state: CountdownState) -> int:
        """Count the joins of two numbers, and the comparisons, that the search tries until it finds a solution."""
        search = _Search(whole=True)
        search.tabulate(state.numbers)
        if search.find_product(state.numbers, state.target) is None:
            search.find(state.numbers, state.target)
        return search.operations

    @override
    def key(self, state: CountdownState) -> JSON:
        return [state.numbers, state.target, state.answered]

    @override
    def solve(self, state: CountdownState) -> str:
        """Search for an expression; tens of milliseconds at the hardest."""
        return f"<answer>{solution(state.numbers, state.target)}</answer>"


def _combined(numbers: list[int], draws: list[float]) -> int:
    """The value of a random expression over `numbers` with positive whole intermediate results."""
    pool = list(numbers)
    draw = iter(draws)
    while len(pool) > 1:
        a = pool.pop(int(next(draw) * len(pool)))
        b = pool.pop(int(next(draw) * len(pool)))
        if a < b:
            a, b = b, a
        sign = int(next(draw) * 4)
        if sign == 1 and a > b:
            pool.append(a - b)
        elif sign == 2:
            pool.append(a * b)
        elif sign == 3 and a % b == 0:
            pool.append(a // b)
        else:
            pool.append(a + b)
    return pool[0]


def _product(numbers: list[int], draws: list[float], rest: int) -> int:
    """The value of `(a * b + c) * (d * e - f) + g`, of another such form, or 0 where it is not positive."""
    draw = iter(draws)
    pool = list(numbers)
    values = []
    for _ in range(2):
        a, b, c = (pool.pop(int(next(draw) * len(pool))) for _ in range(3))
        sign = 1 if next(draw) < 0.5 else -1
        values.append(a * b + sign * c if next(draw) < 0.5 else (a + sign * b) * c)
    last = _combined(pool, [next(draw) for _ in range(3 * rest)])
    if min(values) < 2 or (rest > 2 and last > _LARGEST_REST):
        return 0
    return values[0] * values[1] + (last if next(draw) < 0.5 else -last)


def solution(numbers: tuple[int, ...], target: int) -> str:
    """Return an expression that uses each number once and equals `target`.

    Looks first among positive whole intermediate results, where every generated task has a
    solution, then among fractions. Raises TaskError if there is none.
    """
    for whole in (True, False):
        search = _Search(whole)
        found = search.find_product(numbers, target) if whole else None
        if found is None:
            found = search.find(numbers, target)
        if found is not None:
            return found
    raise TaskError(f"no expression over {list(numbers)} equals {target}")


class _Search:
    """Works backwards from the target; sets of up to three numbers are tabulated forwards."""

    def __init__(self, whole: bool) -> None:
        self.operations = 0
        self._whole = whole
        self._table = cache(self._tabulate)
        self._sorted = cache(self._ascending)
        self._failed: set[tuple[tuple[int, ...], Number]] = set()

    def tabulate(self, numbers: tuple[int, ...]) -> None:
        """Fill the tables of all sets of up to three of the numbers."""
        for size in range(1, min(3, len(numbers)) + 1):
            for some in combinations(numbers, size):
                self._table(some)

    def find(self, numbers: tuple[int, ...], target: Number) -> str | None:
        if len(numbers) <= 3:
            return self._table(numbers).get(target)
        if (numbers, target) in self._failed:
            return None
        for small, rest in _halves(numbers):
            for value, text in self._table(small).items():
                for needed, form in self._inverses(value, target):
                    self.operations += 1
                    other = self.find(rest, needed)
                    if other is not None:
                        return form.format(text, other)
        self._failed.add((numbers, target))
        return None

    def find_product(self, numbers: tuple[int, ...], target: int) -> str | None:
        """Return an expression for seven to ten numbers: a product of what three numbers and what three others make,
        plus or minus what is left; None if there is none."""
        if len(numbers) >= _MANY:
            return self._find_by_windows(numbers, target)
        if len(numbers) not in (7, 8):
            return None
        for some in dict.fromkeys(combinations(numbers, len(numbers) - 6)):
            left = list(numbers)
            for number in some:
                left.remove(number)
            for value, text in self._table(some).items():
                for goal, form in (
                    (target - value, "({0} + {1})"),
                    (target + value, "({0} - {1})"),
                ):
                    if goal > 0 and (found := self._split(tuple(left), int(goal))):
                        return form.format(found, text)
        return None

    def _find_by_windows(self, numbers: tuple[int, ...], target: int) -> str | None:
        """Return such an expression for many numbers: for each value of one factor, the other lies in a narrow window."""
        for some in dict.fromkeys(combinations(numbers, len(numbers) - 6)):
            left = list(numbers)
            for number in some:
                left.remove(number)
            rest = self._table(some)
            largest = max(value for value in rest if value <= _LARGEST_REST)
            first, *others = left
            for pair in combinations(range(5), 2):
                small = (first, *(others[i] for i in pair))
                other = tuple(number for i, number in enumerate(others) if i not in pair)
                values, place = self._sorted(other), 0
                # The larger the one factor, the further down lies the window of the other.
                for a in reversed(self._sorted(small)):
                    self.operations += 1
                    while place < len(values) and a * values[place] < target - largest:
                        self.operations += 1
                        place += 1
                    for b in values[place:]:
                        self.operations += 1
                        if a * b > target + largest:
                            break
                        missing = target - a * b
                        size, sign = (missing, "+") if missing > 0 else (-missing, "-")
                        if size in rest:
                            product = f"({self._table(small)[a]} * {self._table(other)[b]})"
                            return f"({product} {sign} {rest[size]})"
        return None

    def _split(self, numbers: tuple[int, ...], target: int) -> str | None:
        """Return a product of what three of six numbers make and what the others make."""
        first, *others = numbers
        for pair in combinations(range(5), 2):
            small = (first, *(others[i] for i in pair))
            rest = tuple(number for i, number in enumerate(others) if i not in pair)
            table = self._table(rest)
            for value, text in self._table(small).items():
                self.operations += 1
                if target % value == 0 and target // value in table:
                    return f"({text} * {table[target // value]})"
        return None

    def _tabulate(self, numbers: tuple[int, ...]) -> dict[Number, str]:
        """Every value that `numbers` can make, each with an expression."""
        if len(numbers) == 1:
            return {numbers[0]: str(numbers[0])}
        found: dict[Number, str] = {}
        for small, rest in _halves(numbers):
            for a, left in self._table(small).items():
                for b, right in self._table(rest).items():
                    self.operations += 1
                    high, low, first, second = (
                        (a, b, left, right) if a >= b else (b, a, right, left)
                    )
                    found.setdefault(high + low, f"({first} + {second})")
                    found.setdefault(high * low, f"({first} * {second})")
                    if high > low or not self._whole:
                        found.setdefault(high - low, f"({first} - {second})")
                    for up, down, form in (
                        (high, low, f"({first} / {second})"),
                        (low, high, f"({second} / {first})"),
                    ):
                        quotient = self._quotient(up, down)
                        if quotient is not None:
                            found.setdefault(quotient, form)
        return found

    def _ascending(self, numbers: tuple[int, ...]) -> list[Number]:
        return sorted(self._table(numbers))

    def _inverses(self, value: Number, target: Number) -> Iterator[tuple[Number, str]]:
        """Yield the values that the rest must make so that, joined with `value`, it makes
        `target`."""
        least = 1 if self._whole else 0
        if target - value >= least:
            yield target - value, "({0} + {1})"
        yield target + value, "({1} - {0})"
        if value - target >= least:
            yield value - target, "({0} - {1})"
        quotient = self._quotient(target, value)
        if quotient is not None:
            yield quotient, "({0} * {1})"
        if value:
            yield target * value, "({1} / {0})"
        quotient = self._quotient(value, target)
        if quotient:
            yield quotient, "({0} / {1})"

    def _quotient(self, up: Number, down: Number) -> Number | None:
        if not down:
            return None
        if self._whole:
            return up // down if up % down == 0 else None
        return Fraction(up) / down


def _halves(numbers: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Each way to part `numbers` in two, the smaller part first, equal parts once or twice."""
    seen = set()
    places = range(len(numbers))
    for size in range(1, len(numbers) // 2 + 1):
        for chosen in combinations(places, size):
            small = tuple(numbers[i] for i in chosen)
            if small not in seen:
                seen.add(small)
                yield small, tuple(numbers[i] for i in places if i not in chosen)
