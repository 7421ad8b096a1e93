"""Long programs for `code/predict`: parts with a state of their own, called in turn by a loop.

The parts lie in programs/predict: classes with inheritance, properties and operators, functions that share
variables, generators, handlers of exceptions, lists under several names. What one part returns is what the next
is called with, so that nothing but going through all rounds tells the result.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from verigym.envs.code.family import one_of, whole
from verigym.envs.code.program_files import filled, program

Range = tuple[int, int]


@dataclass(frozen=True)
class LongPart:
    """One part: what makes its state, how it is called with a number, and what shows its state in the end."""

    name: str
    makes: str
    call: str
    shows: str = ""
    draws: Mapping[str, Range] = field(default_factory=dict)
    letters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


PARTS: tuple[LongPart, ...] = (
    LongPart(
        "tank",
        "tanks = [Tank(SIZE), Tank(SIZE - 7)]",
        "pour(tanks, {x})",
        "tanks[0].level",
        {"START": (3, 9), "SIZE": (26, 39), "DROP": (4, 7), "PART": (13, 23)},
    ),
    LongPart(
        "shapes",
        "both = Both()",
        "both.rate({x})",
        "both.seen",
        {
            "CUT": (6, 9),
            "RISE": (2, 5),
            "BITS": (3, 13),
            "SCALE": (3, 7),
            "WRAP": (19, 31),
            "SIZE": (4, 6),
            "BOUND": (71, 97),
        },
    ),
    LongPart(
        "cells",
        "put, choose = make_cells()",
        "choose({x})({y})",
        "put(1)",
        {"START": (5, 30), "SCALE": (3, 8), "BOUND": (61, 97), "TURNS": (3, 6), "LIMIT": (2, 4)},
    ),
    LongPart(
        "rules",
        "apply = make_rules()",
        "apply({x})",
        "apply(1)",
        {"COUNT": (3, 5), "SCALE": (3, 8), "BOUND": (61, 97)},
    ),
    LongPart(
        "feed",
        "log = [3]\nfeeder = feed(log)\nnext(feeder)",
        "feeder.send({x})",
        "log",
        {
            "START": (3, 9),
            "EVERY": (3, 5),
            "SCALE": (3, 7),
            "BOUND": (59, 97),
            "NOTE": (7, 10),
            "MOST": (4, 6),
        },
    ),
    LongPart(
        "sift",
        "items = [4, 11, 7]",
        "sift(items, {x})",
        "items",
        {"CUT": (9, 17), "MOST": (7, 9), "ADD": (5, 9), "KEEP": (4, 5), "BOUND": (53, 97)},
    ),
    LongPart(
        "notes",
        "notes = [2]",
        "check({x}, notes)",
        "notes",
        {
            "EVERY": (5, 8),
            "LOW": (3, 4),
            "BELOW": (7, 12),
            "OFTEN": (3, 5),
            "SCALE": (3, 7),
            "BOUND": (59, 97),
        },
    ),
    LongPart(
        "grid",
        "grid = make_grid()",
        "stir(grid, {x})",
        "grid[1]",
        {"SIZE": (3, 4), "ADD": (7, 12), "ROW": (2, 3), "BOUND": (59, 97)},
    ),
    LongPart(
        "ring",
        "ring = [3, 1, 4, 1, 5, 9]",
        "spin(ring, {x})",
        "ring",
        {"BOUND": (41, 79), "BITS": (3, 14), "SHIFT": (1, 3)},
    ),
    LongPart(
        "store",
        "store = Store()",
        "store.touch({x})",
        "list(store)",
        {"SIZE": (3, 5), "SCALE": (3, 7), "KEYS": (7, 11), "BOUND": (53, 89)},
    ),
    LongPart(
        "bag",
        "bag = {2, 5}",
        "toggle(bag, {x})",
        "sorted(bag)",
        {"RANGE": (15, 23), "ADD": (3, 7), "SCALE": (3, 7), "MOST": (4, 5), "BOUND": (53, 89)},
    ),
    LongPart(
        "machine",
        "regs = [1, 6, 3]",
        "execute(regs, {x})",
        "regs",
        {"FUEL": (4, 6), "BOUND": (43, 79)},
        {"ORDERS": ("adjsxk", "xsjakd", "kajdsx", "sxdjka", "jxaskd", "dkjxas", "axdsjak")},
    ),
    LongPart(
        "past",
        "",
        "recall({x})",
        "recall(9)",
        {"FIRST": (2, 9), "SECOND": (2, 9), "BOUND": (37, 89), "CUT": (3, 5), "MOST": (4, 7)},
    ),
    LongPart(
        "chain",
        "chain = Chain(8, 3, 12, 5)",
        "chain.find({x})",
        "list(chain.head)",
        {"ADD": (2, 9), "BOUND": (37, 67), "SPLIT": (3, 5)},
    ),
    LongPart(
        "pairs",
        "pairs = [Pair(2, 9), Pair(7, 3), Pair(4, 4)]",
        "combine(pairs, {x})",
        "[(p.a, p.b) for p in pairs]",
        {"BOUND": (29, 53), "SCALE": (2, 5), "SHIFT": (1, 5)},
    ),
    LongPart(
        "dials",
        "dials = [Dial(), Dial()]",
        "dials[{y} % 2].bump({x})",
        "[dial.step for dial in dials]",
        {"STEP": (3, 9), "KINDS": (4, 5), "ADD": (5, 9), "SCALE": (2, 5), "BOUND": (31, 61)},
    ),
    LongPart(
        "words",
        'box = ["bdaec"]',
        "rewrite(box, {x})",
        "box[0]",
        {"MOST": (7, 9), "SHIFT": (1, 4)},
        {"LETTERS": ("abcde", "ebdac", "cadbe", "dceab", "baced")},
    ),
    LongPart(
        "guard",
        "guard = Guard()",
        "guard.swap({x})",
        "guard.kept",
        {"MOST": (2, 4), "SCALE": (3, 6), "BOUND": (29, 47), "KEYS": (5, 8)},
    ),
    LongPart(
        "limits",
        "",
        "grow({x})",
        "grow(5)",
        {"EVERY": (4, 7), "BOUND": (53, 89), "SCALE": (3, 7), "MOST": (4, 6)},
    ),
    LongPart(
        "partners",
        "kept = []",
        "meet(kept, {x})",
        "kept",
        {"BOUND": (47, 79), "START": (5, 12), "SCALE": (2, 5)},
    ),
)

_ONCE = (
    "x = (x + {first} * {k}) % {m}",
    "y = ({first} + y * {k}) % {m}",
    "y = {first} ^ (y + turn) % {k}",
)
_TWICE = (
    "if (x + y) % {k} < 2:\n    x = (x + {first}) % {m}\nelse:\n    y = (y * 2 + {second}) % {m}",
    "x, y = ({first} + y) % {m}, {second} ^ x % {k}",
    "y = {first} + x // {k}\nif y % 2:\n    x = (x * 3 + {second}) % {m}",
    "for _ in range(3):\n    x = ({first} + x + turn) % {m}\n    if x % {k} < 3:\n        break\n    x = (x + {second}) // 2",
)
_PRIMES = (503, 547, 599, 641, 691, 743, 797, 853, 907, 967)
"""Moduli of `x` after each round: primes, so that no two values become one there."""
_LARGE_PRIMES = (50021, 57037, 63029, 68041, 74017, 81017, 87011, 93001, 95003, 99013)
"""The same of programs with many parts, in which a round ends with a square."""
_MANY = 7
_SHOWN = 4
"""Most parts whose state is part of the result."""


@dataclass(frozen=True)
class LongProgram:
    """A program that defines `run(nums, rounds)` after its parts, and the numbers to call it with."""

    parts: tuple[tuple[str, Mapping[str, int | str]], ...]
    """Text of each part, with the values of its upper-case names."""
    run: str
    nums: tuple[int, ...]

    @property
    def source(self) -> str:
        """The whole program."""
        texts = [
            filled(text, {name: repr(value) for name, value in own.items()})
            for text, own in self.parts
        ]
        return "\n\n\n".join([*texts, self.run]) + "\n"

    def call(self, rounds: int) -> str:
        """Return the call as Python writes it."""
        return f"run({list(self.nums)}, {rounds})"


def draw_long_program(rng: np.random.Generator, count: int) -> LongProgram:
    """Return a program of `count` parts in a drawn order."""
    parts = [PARTS[int(at)] for at in rng.permutation(len(PARTS))[:count]]
    values = [_draw_values(rng, part) for part in parts]
    makes = [filled(part.makes, own) for part, own in zip(parts, values, strict=True) if part.makes]
    body = [
        "x, y = nums[0], nums[-1]",
        *makes,
        "for turn in range(rounds):",
        textwrap.indent("\n".join(_draw_round(rng, parts)), "    "),
        f"return x, y, {', '.join(_draw_shown(rng, parts))}",
    ]
    texts = [program(f"predict/{part.name}.py").strip() for part in parts]
    return LongProgram(
        parts=tuple(zip(texts, values, strict=True)),
        run="def run(nums, rounds):\n" + textwrap.indent("\n".join(body), "    "),
        nums=tuple(whole(rng, 10, 99) for _ in range(whole(rng, 3, 5))),
    )


def _draw_values(rng: np.random.Generator, part: LongPart) -> dict[str, int | str]:
    values: dict[str, int | str] = {
        name: whole(rng, low, high) for name, (low, high) in part.draws.items()
    }
    return values | {name: one_of(rng, choices) for name, choices in part.letters.items()}


def _draw_round(rng: np.random.Generator, parts: Sequence[LongPart]) -> list[str]:
    """Return the statements of a round, which call each part once."""
    lines, left = [], list(parts)
    while left:
        first = _called(rng, left.pop())
        form = one_of(rng, _TWICE if left and rng.random() < 0.7 else _ONCE)
        second = _called(rng, left.pop()) if "{second}" in form else ""
        numbers = {"k": whole(rng, 4, 9), "m": whole(rng, 200, 990)}
        lines.append(form.format(first=first, second=second, **numbers))
    k, at = whole(rng, 3, 9), whole(rng, 0, len(_PRIMES) - 1)
    lines.append("nums.append(nums.pop(0) + x % 10)")
    if len(parts) < _MANY:
        lines.append(f"x = (x * {k} + y + nums[0]) % {_PRIMES[at]}")
    else:
        lines.append(f"x = (x * x + y * {k} + nums[0]) % {_LARGE_PRIMES[at]}")
    return lines


def _called(rng: np.random.Generator, part: LongPart) -> str:
    x, y = ("x", "y") if rng.random() < 0.5 else ("y", "x")
    return part.call.format(x=one_of(rng, (x, f"{x} + turn", f"{x} + {y}")), y=y)


def _draw_shown(rng: np.random.Generator, parts: Sequence[LongPart]) -> list[str]:
    shown = [part.shows for part in parts]
    return [shown[int(at)] for at in rng.permutation(len(shown))[:_SHOWN]]
