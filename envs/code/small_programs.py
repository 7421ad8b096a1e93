"""Small programs for `code/predict`: pieces with drawn numbers, put one after the other in a
function.

Each piece changes some of the names `nums` (a list of integers), `word` (a string), `total` (a
number) and `seen` (a dictionary), and is right for any of their values. `{a}` and similar fields
are numbers drawn from the range beside the piece, `{c}` letters.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Range = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """Lines of a program; `touches` are the names that it changes, `needs` those it reads besides."""

    touches: frozenset[str]
    text: str
    draws: Mapping[str, Range]
    needs: frozenset[str] = frozenset()


def _piece(touches: str, text: str, needs: str = "", **draws: Range) -> Piece:
    return Piece(frozenset(touches.split()), text.strip("\n"), draws, frozenset(needs.split()))


PIECES: tuple[Piece, ...] = (
    _piece(
        "total",
        """
for x in nums:
    if x % {m} == {r}:
        total += x
    else:
        total -= {d}
""",
        m=(2, 4),
        r=(0, 1),
        d=(1, 5),
    ),
    _piece(
        "nums",
        "nums = [x * {m} - {d} for x in nums if x % {q} != {r}]",
        m=(2, 3),
        d=(1, 9),
        q=(3, 5),
        r=(0, 2),
    ),
    _piece("nums", "nums = nums[{i}:] + nums[:{i}][::-1]", i=(1, 3)),
    _piece("nums", "nums.sort(key=lambda x: (x % {m}, -x))", m=(2, 5)),
    _piece(
        "nums",
        """
for i in range(len(nums) - 1):
    if nums[i] > nums[i + 1]:
        nums[i], nums[i + 1] = nums[i + 1], nums[i]
""",
    ),
    _piece(
        "nums total",
        """
while total > {t} and len(nums) < {n}:
    nums.append(total % {m})
    total //= 2
""",
        t=(3, 9),
        n=(7, 9),
        m=(4, 11),
    ),
    _piece(
        "total",
        """
for x in nums:
    if total > {t}:
        break
    total += abs(x)
else:
    total = -total
""",
        t=(15, 40),
    ),
    _piece("word", 'word = "".join(chr((ord(c) - 97 + {k}) % 26 + 97) for c in word)', k=(1, 25)),
    _piece("word", "word = word[{i}:] + word[:{i}]", i=(1, 4)),
    _piece("word", "word = word[::2] + word[1::2]"),
    _piece(
        "word",
        """
out = ""
for c in word:
    out = c + out if c > "{c}" else out + c
word = out
""",
        c=(4, 20),
    ),
    _piece(
        "word total",
        """
kept = []
for c in word:
    if kept and kept[-1] >= c:
        kept.pop()
        total += {d}
    else:
        kept.append(c)
word = "".join(kept) + word[-1:]
""",
        d=(1, 6),
    ),
    _piece(
        "total",
        """
for i, c in enumerate(word):
    if c in "aeiou" or i % {m} == 0:
        total += ord(c) - {d}
""",
        m=(2, 4),
        d=(90, 97),
    ),
    _piece(
        "total",
        """
for i in range({i}, {n}):
    for j in range(i):
        if (i + j) % {m} == 0:
            continue
        if j > {q}:
            break
        total += i * j
""",
        i=(1, 3),
        n=(4, 6),
        m=(2, 4),
        q=(1, 3),
    ),
    _piece(
        "seen",
        """
for x in nums:
    key = "abcde"[x % {m}]
    seen[key] = seen.get(key, 0) + x
""",
        m=(2, 5),
    ),
    _piece(
        "seen",
        """
for c in word:
    if c in seen:
        seen[c] += {d}
    elif len(seen) < {n}:
        seen[c] = len(seen)
""",
        d=(1, 7),
        n=(4, 7),
    ),
    _piece(
        "total",
        """
for key in sorted(seen):
    total = (total * {m} + seen[key]) % {q}
""",
        "seen",
        m=(2, 3),
        q=(50, 400),
    ),
    _piece(
        "nums",
        "nums = [max(x, y) - min(x, y) for x, y in zip(nums, nums[1:])] + nums[-{i}:]",
        i=(1, 2),
    ),
    _piece(
        "word",
        'word = "".join(c * (1 + (i % {m} == {r})) for i, c in enumerate(word[:9]))',
        m=(2, 4),
        r=(0, 1),
    ),
    _piece(
        "total",
        "total += sum(x for i, x in enumerate(nums) if i % 2 == {r}) - len(word) * {d}",
        r=(0, 1),
        d=(1, 3),
    ),
)

# Helpers: a definition, and pieces that call it.
_HELPERS: tuple[tuple[Piece, tuple[Piece, ...]], ...] = (
    (
        _piece(
            "",
            """
def step(n):
    if n < {q}:
        return n
    return step(n - {d}) + n % {m}
""",
            q=(2, 5),
            d=(2, 4),
            m=(3, 7),
        ),
        (
            _piece("total", "total += step({n})", n=(8, 16)),
            _piece("nums", "nums = [step(abs(x) % {n}) for x in nums]", n=(9, 15)),
        ),
    ),
    (
        _piece(
            "",
            """
def fold(text):
    if len(text) < 2:
        return text
    half = len(text) // 2
    return fold(text[half:]) + text[{i}:half]
""",
            i=(0, 1),
        ),
        (
            _piece("word", "word = fold(word)"),
            _piece("total word", "word = fold(word + word[:{i}])\ntotal += len(word)", i=(1, 3)),
        ),
    ),
    (
        _piece(
            "",
            """
def ways(a, b):
    if a == 0 or b == 0:
        return {q}
    return ways(a - 1, b) + ways(a, b - 1) - {d}
""",
            q=(1, 3),
            d=(0, 1),
        ),
        (
            _piece("total", "total += ways({i}, {n})", i=(2, 3), n=(2, 3)),
            _piece("nums", "nums.insert({i}, ways(2, len(nums) % 3 + 1))", i=(0, 2)),
        ),
    ),
)

_ORDER = ("nums", "word", "total", "seen")


@dataclass(frozen=True)
class SmallProgram:
    """A program that defines `run(nums, word)`, and what to call it with."""

    source: str
    nums: tuple[int, ...]
    word: str

    @property
    def call(self) -> str:
        """The call as Python writes it."""
        return f"run({list(self.nums)}, {self.word!r})"


def draw_program(rng: np.random.Generator, pieces: int, helper: bool) -> SmallProgram:
    """Return a program of this many pieces; with a `helper`, one more and a recursive function for
    it."""
    chosen: list[Piece] = []
    ready = {"nums", "word", "total"}
    while len(chosen) < pieces:
        piece = PIECES[int(rng.integers(len(PIECES)))]
        # What no piece before has filled shows nothing, and no piece twice running.
        if piece.needs <= ready and piece not in chosen[-2:]:
            chosen.append(piece)
            ready |= piece.touches
    before = ""
    if helper:
        definition, calls = _HELPERS[int(rng.integers(len(_HELPERS)))]
        before = _drawn(rng, definition) + "\n\n\n"
        chosen.insert(int(rng.integers(len(chosen) + 1)), calls[int(rng.integers(len(calls)))])
    touched = frozenset[str]().union(*(piece.touches for piece in chosen))
    body = (
        [f"total = {int(rng.integers(40))}"]
        if any("total" in piece.text for piece in chosen)
        else []
    )
    body += ["seen = {}"] if any("seen" in piece.text for piece in chosen) else []
    body += [_drawn(rng, piece) for piece in chosen]
    body.append("return " + ", ".join(name for name in _ORDER if name in touched))
    inner = textwrap.indent("\n".join(body), "    ")
    source = f"{before}def run(nums, word):\n{inner}\n"
    nums = tuple(int(n) for n in rng.integers(-9, 20, int(rng.integers(4, 7))))
    word = "".join(chr(97 + int(n)) for n in rng.integers(0, 26, int(rng.integers(4, 8))))
    return SmallProgram(source, nums, word)


def _drawn(rng: np.random.Generator, piece: Piece) -> str:
    text = piece.text
    for name, (low, high) in piece.draws.items():
        number = int(rng.integers(low, high + 1))
        text = text.replace(f"{{{name}}}", chr(97 + number) if name == "c" else str(number))
    return text
