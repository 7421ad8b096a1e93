"""Hard families of `code/functions`: search, recursion, tables."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np

from verigym.envs.code.family import letters, one_of, whole, wholes
from verigym.envs.code.function_family import WantedFunction, some_words


def grid_paths(rng: np.random.Generator) -> WantedFunction:
    """Count ways through a grid."""
    turns, modulus = whole(rng, 1, 4), (97, 997, 10007)[whole(rng, 0, 2)]
    return WantedFunction(
        signature="grid_paths(grid: list[str]) -> int",
        statement="The strings are the rows of a grid, all of the same length; # is a wall, . is free. A path goes from the "
        "top left cell to the bottom right cell over free cells. Each step goes one cell right or one cell down, "
        f"and the path changes between these directions at most {turns} {'time' if turns == 1 else 'times'}. "
        f"Return the number of paths modulo {modulus}: 0 if the first or the last cell is a wall, 1 if the grid "
        "is a single free cell.",
        values={"TURNS": turns, "MODULUS": modulus},
        arguments=lambda rng, size: [_grid(rng, min(3 + size // 4, 9))],
        answer=lambda grid: _grid_paths(grid, turns) % modulus,
    )


def _grid(rng: np.random.Generator, side: int) -> list[str]:
    h, w = whole(rng, 1, side), whole(rng, 1, side)
    cells = np.where(rng.random((h, w)) < 0.12, "#", ".")
    return ["".join(row) for row in cells]


def _grid_paths(grid: list[str], turns: int) -> int:
    """Cell by cell: ways by the direction of the last step and the turns so far."""
    h, w = len(grid), len(grid[0])
    ways: dict[tuple[int, int, str, int], int] = {}
    for y, x in product(range(h), range(w)):
        if grid[y][x] == "#":
            continue
        if (y, x) == (0, 0):
            ways[0, 0, "", 0] = 1
            continue
        for way, (i, j) in {"right": (y, x - 1), "down": (y - 1, x)}.items():
            for (a, b, last, used), count in list(ways.items()):
                if (a, b) == (i, j):
                    now = used + (last not in ("", way))
                    if now <= turns:
                        ways[y, x, way, now] = ways.get((y, x, way, now), 0) + count
    return sum(count for (y, x, _, _), count in ways.items() if (y, x) == (h - 1, w - 1))


def unpacked(rng: np.random.Generator) -> WantedFunction:
    """Unpack a nested form of a text."""
    back, most = bool(whole(rng, 0, 1)), whole(rng, 12, 40)
    way = ", with every second copy (the second, the fourth, ...) reversed" if back else ""
    return WantedFunction(
        signature="unpacked(form: list) -> str",
        statement="A form is a list of strings and of pairs [n, form], where n is a whole number from 0 to 9. It stands for a "
        f"text: its parts, joined in order, where a pair stands for n copies of the text of its form{way}. Return "
        f"the first {most} letters of the text of the form, or all of them if there are fewer.",
        values={"PART": "once[::-1] if i % 2 else once" if back else "once", "MOST": most},
        arguments=lambda rng, size: [_form(rng, min(size, 4), 2)],
        answer=lambda form: _unpacked(form, back)[:most],
    )


def _form(rng: np.random.Generator, size: int, depth: int) -> list[Any]:
    form: list[Any] = []
    for _ in range(whole(rng, 1, max(1, size))):
        if depth and rng.random() < 0.5:
            form.append([whole(rng, 0, 4), _form(rng, size, depth - 1)])
        else:
            form.append(letters(rng, whole(rng, 1, 3), "abcd"))
    return form


def _unpacked(form: list[Any], back: bool) -> str:
    pieces = []
    for part in form:
        if isinstance(part, str):
            pieces.append(part)
            continue
        inner = _unpacked(part[1], back)
        pair = inner + ("".join(reversed(inner)) if back else inner)
        pieces.append(pair * (part[0] // 2) + inner * (part[0] % 2))
    return "".join(pieces)


def choices(rng: np.random.Generator) -> WantedFunction:
    """List the subsets with a sum."""
    size, how = whole(rng, 2, 3), one_of(rng, ("exactly", "at most"))
    first = whole(rng, 3, 9)
    test = "==" if how == "exactly" else "<="
    return WantedFunction(
        signature="choices(prices: list[int], money: int) -> list[list[int]]",
        statement=f"Return all ways to choose {size} of the prices, at different positions, that cost {how} money in total. "
        "Each way is the list of its prices in ascending order. Sort the ways in ascending order and give equal "
        f"ones only once; if there are more than {first}, return the first {first}.",
        values={"SIZE": size, "FITS": f"sum(c) {test} money", "FIRST": first},
        arguments=_prices,
        answer=lambda prices, money: _choices(prices, money, size, how == "exactly")[:first],
    )


def _prices(rng: np.random.Generator, size: int) -> list[Any]:
    prices = wholes(rng, min(size + 2, 12), 1, 9)
    return [prices, sum(prices[:2]) + whole(rng, 0, 4)]


def _choices(prices: list[int], money: int, size: int, exactly: bool) -> list[list[int]]:
    found: list[list[int]] = []
    ordered = sorted(prices)
    for places in combinations(range(len(ordered)), size):
        way = [ordered[i] for i in places]
        if (sum(way) == money or (not exactly and sum(way) < money)) and way not in found:
            found.append(way)
    return sorted(found)


def word_chain(rng: np.random.Generator) -> WantedFunction:
    """Find the longest chain of words."""
    longer, turned, k = whole(rng, 0, 3), bool(whole(rng, 0, 1)), whole(rng, 1, 3)
    meet = "last letter of the word before" if not turned else "first letter of the word before"
    return WantedFunction(
        signature="word_chain(words: list[str]) -> int",
        statement="A chain is a selection of words in the order of the list; words may be skipped. Each word of a chain but the "
        f"first begins with the {meet} and is {_no_longer(longer)}. "
        f"{f'Words of fewer than {k} letters are in no chain. ' if k > 1 else ''}Return the number of words in the "
        "longest chain.",
        values={"K": k, "END": 0 if turned else -1, "LONGER": longer},
        arguments=lambda rng, size: [some_words(rng, min(size, 40), "abc", 7)],
        answer=lambda words: _word_chain(
            tuple(w for w in words if w[k - 1 :]), longer, 0 if turned else -1
        ),
    )


def _no_longer(letters: int) -> str:
    if not letters:
        return "no longer than that word"
    return f"at most {letters} {'letter' if letters == 1 else 'letters'} longer than that word (or not longer)"


def _word_chain(words: tuple[str, ...], longer: int, end: int) -> int:
    """The longest chain from each word on, from the last word back."""
    longest: list[int] = []
    for i in range(len(words) - 1, -1, -1):
        after = [
            longest[len(words) - 1 - j]
            for j in range(i + 1, len(words))
            if words[j][0] == words[i][end] and len(words[j]) <= len(words[i]) + longer
        ]
        longest.append(1 + max(after, default=0))
    return max(longest, default=0)


def spreading(rng: np.random.Generator) -> WantedFunction:
    """Let fire spread."""
    steps, dry, around = whole(rng, 2, 5), whole(rng, 3, 7), bool(whole(rng, 0, 1))
    cells = (
        "cells that share a side or a corner with it"
        if around
        else "cells that share a side with it"
    )
    return WantedFunction(
        signature="spreading(wood: list[list[int]]) -> int",
        statement="The lists are the rows of a forest, all of the same length; each number is the dampness of a cell, from 0 to 9. "
        f"Cells with dampness 0 burn from the start. The neighbours of a cell are the {cells}. Each minute, a cell "
        f"with dampness below {dry} starts to burn if at least one of its neighbours burns, a cell with dampness "
        f"{dry} if at least two do, and a damper cell never does. Return the number of burning cells after {steps} "
        "minutes.",
        values={
            "STEPS": steps,
            "NEAR": "a or b" if around else "(a == 0) != (b == 0)",
            "DRY": dry,
        },
        arguments=lambda rng, size: [
            [
                wholes(rng, min(1 + size // 2, 9), 0, 9)
                for _ in range(whole(rng, 1, min(2 + size // 3, 9)))
            ]
        ],
        answer=lambda wood: _spreading(wood, steps, dry, around),
    )


def _spreading(wood: list[list[int]], steps: int, dry: int, around: bool) -> int:
    damp = np.array(wood)
    burning = damp == 0
    for _ in range(steps):
        edge = np.pad(burning.astype(int), 1)
        h, w = damp.shape
        near = sum(
            edge[1 + a : 1 + a + h, 1 + b : 1 + b + w]
            for a, b in product((-1, 0, 1), repeat=2)
            if (a or b) and (around or not (a and b))
        )
        burning = burning | ((damp < dry) & (near >= 1)) | ((damp == dry) & (near >= 2))
    return int(burning.sum())


FAMILIES = (grid_paths, unpacked, choices, word_chain, spreading)
