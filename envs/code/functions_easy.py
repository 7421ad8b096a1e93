"""Easy families of `code/functions`: one pass."""

from __future__ import annotations

import numpy as np

from verigym.envs.code.family import one_of, whole, wholes
from verigym.envs.code.function_family import WantedFunction, some_words


def keep_between(rng: np.random.Generator) -> WantedFunction:
    """Filter and move numbers."""
    low, more = whole(rng, -9, 5), whole(rng, 1, 9)
    high = low + whole(rng, 4, 15)
    return WantedFunction(
        signature="keep_between(nums: list[int]) -> list[int]",
        statement=f"Return the numbers from {low} to {high}, both included, in their original order, each "
        f"increased by {more}.",
        values={"MORE": more, "LOW": low, "HIGH": high},
        arguments=lambda rng, size: [wholes(rng, size, -20, 25)],
        answer=lambda nums: [n + more for n in nums if n in range(low, high + 1)],
    )


def every_nth(rng: np.random.Generator) -> WantedFunction:
    """Change every n-th letter of a text."""
    n, sign = whole(rng, 2, 5), one_of(rng, "-.*+")
    drop = bool(whole(rng, 0, 1))
    what = "left out" if drop else f"replaced by {sign}"
    return WantedFunction(
        signature="every_nth(text: str) -> str",
        statement=f"The text has lower-case letters and spaces. Number its letters from 1, without counting "
        f"spaces. Return the text with every letter whose number is divisible by {n} {what}.",
        values={"N": n, "SIGN": repr("" if drop else sign)},
        arguments=lambda rng, size: [" ".join(some_words(rng, size, "abcdefgh"))],
        answer=lambda text: _every_nth(text, n, "" if drop else sign),
    )


def _every_nth(text: str, n: int, sign: str) -> str:
    places = [i for i, c in enumerate(text) if c.isalpha()]
    changed = set(places[n - 1 :: n])
    return "".join(sign if i in changed else c for i, c in enumerate(text))


def trimmed(rng: np.random.Generator) -> WantedFunction:
    """Sum without the extremes."""
    low, high = whole(rng, 0, 3), whole(rng, 0, 3)
    return WantedFunction(
        signature="trimmed(nums: list[int]) -> int",
        statement=f"Return the sum of {_left(low, high)}; return -1 if there are fewer than "
        f"{low + high + 1} numbers. Equal numbers are counted one by one.",
        values={"LOW": low, "HIGH": high, "BOTH": low + high},
        arguments=lambda rng, size: [wholes(rng, size + 2, -9, 30)],
        answer=lambda nums: _trimmed(nums, low, high),
    )


def _left(low: int, high: int) -> str:
    ends = [f"the {n} {end}" for n, end in ((low, "smallest"), (high, "largest")) if n]
    return f"the numbers without {' and '.join(ends)}" if ends else "the numbers"


def _trimmed(nums: list[int], low: int, high: int) -> int:
    rest = list(nums)
    if len(rest) <= low + high:
        return -1
    for _ in range(low):
        rest.remove(min(rest))
    for _ in range(high):
        rest.remove(max(rest))
    return sum(rest)


def price_text(rng: np.random.Generator) -> WantedFunction:
    """Write an amount of coins."""
    names = [("crown", "penny"), ("mark", "groat"), ("dollar", "dime")][whole(rng, 0, 2)]
    each, join = whole(rng, 6, 24), one_of(rng, (", ", " + ", "/"))
    return WantedFunction(
        signature="price_text(amount: int) -> str",
        statement=f"Write a price as text. The amount is given in the small coin, the {names[1]}; {each} of them are "
        f"worth one large coin, the {names[0]}. Use as many large coins as possible, and the form "
        f"'3 {names[0]}{join}5 {names[1]}', without plurals. Leave out a part whose number is 0, and the sign "
        "between the parts with it; a price of 0 is 'free'. The amount is not negative.",
        values={"EACH": each, "CROWN": names[0], "PENNY": names[1], "JOIN": repr(join)},
        arguments=lambda rng, size: [
            one_of_numbers(rng, [0, each, each * size, each - 1, whole(rng, 0, 9 * size * each)])
        ],
        answer=lambda amount: (
            join.join(
                f"{n} {name}"
                for n, name in zip((amount // each, amount % each), names, strict=True)
                if n > 0
            )
            or "free"
        ),
    )


def one_of_numbers(rng: np.random.Generator, numbers: list[int]) -> int:
    """Draw one of `numbers`."""
    return numbers[whole(rng, 0, len(numbers) - 1)]


def pair_sums(rng: np.random.Generator) -> WantedFunction:
    """Combine two lists item by item."""
    a, b, rest = whole(rng, 1, 5), whole(rng, 2, 6), one_of(rng, ("left out", "kept as they are"))
    kept = rest != "left out"
    return WantedFunction(
        signature="pair_sums(first: list[int], second: list[int]) -> list[int]",
        statement=f"Return the list that has at each position {a} times the number in first plus {b} times the "
        f"number in second. Numbers of the longer list that have no partner in the other are {rest}.",
        values={"A": a, "B": b, "OUT": "out + first[n:] + second[n:]" if kept else "out"},
        arguments=lambda rng, size: [
            wholes(rng, whole(rng, 0, size + 1), -9, 9),
            wholes(rng, whole(rng, 0, size + 1), -9, 9),
        ],
        answer=lambda first, second: [
            a * first[i] + b * second[i]
            if i < len(first) and i < len(second)
            else (first + second[len(first) :] if len(second) > len(first) else first)[i]
            for i in range(max(len(first), len(second)) if kept else min(len(first), len(second)))
        ],
    )


FAMILIES = (keep_between, every_nth, trimmed, price_text, pair_sums)
