"""Medium families of `code/functions`: a few steps, or care at the edges."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np

from verigym.envs.code.family import one_of, whole, wholes
from verigym.envs.code.function_family import WantedFunction, some_words


def grouped(rng: np.random.Generator) -> WantedFunction:
    """Group numbers by a remainder."""
    m, what = whole(rng, 2, 6), one_of(rng, ("sum", "largest", "count"))
    says = {"sum": "the sum", "largest": "the largest", "count": "the number"}[what]
    code = {"sum": "sum", "largest": "max", "count": "len"}[what]
    functions: dict[str, Callable[[list[int]], int]] = {"sum": sum, "largest": max, "count": len}
    return WantedFunction(
        signature="grouped(nums: list[int]) -> dict[str, int]",
        statement=f"Group the numbers by their remainder when divided by {m}, which is from 0 to {m - 1} for "
        f"negative numbers, too. Return a dictionary that maps each remainder that occurs, as a string, to "
        f"{says} of the different numbers in its group.",
        values={"M": m, "FUNCTION": code},
        arguments=lambda rng, size: [wholes(rng, size, -15, 15)],
        answer=lambda nums: {
            str(r): functions[what](sorted({n for n in nums if (n - r) % m == 0}))
            for r in range(m)
            if any((n - r) % m == 0 for n in nums)
        },
    )


def dealt(rng: np.random.Generator) -> WantedFunction:
    """Deal cards to players."""
    players, hand, back = whole(rng, 2, 4), whole(rng, 1, 3), bool(whole(rng, 0, 1))
    way = "from the last player back to the first" if back else "from the first player to the last"
    return WantedFunction(
        signature="dealt(cards: list[str]) -> list[list[str]]",
        statement=f"Cards are dealt from the front of the list to {players} players, {hand} at a time to each player "
        f"in turn, {way}, in as many rounds as it takes until no card is left; the last player to get cards may "
        "get fewer. Return a list of the players' lists of cards, first player first, each in the order in which "
        "the cards were dealt.",
        values={"PLAYERS": players, "HAND": hand, "HANDS": "hands[::-1]" if back else "hands"},
        arguments=lambda rng, size: [some_words(rng, size + whole(rng, 0, 3), "abcdef", 2)],
        answer=lambda cards: [
            [card for i, card in enumerate(cards) if (i // hand) % players == place]
            for place in (range(players - 1, -1, -1) if back else range(players))
        ],
    )


def long_runs(rng: np.random.Generator) -> WantedFunction:
    """Find runs of equal letters."""
    least, want = whole(rng, 1, 3), one_of(rng, ("place", "length"))
    most = least + whole(rng, 1, 3)
    says = "the index at which it begins" if want == "place" else "its length"
    return WantedFunction(
        signature="long_runs(text: str) -> list[list]",
        statement="A run is a sequence of equal letters that is not part of a longer one. Return a list that has, "
        f"for each run of {least} to {most} letters from left to right, the list of its letter and {says}.",
        values={"LEAST": least, "MOST": most, "FOUND": "i" if want == "place" else "j - i"},
        arguments=lambda rng, size: [
            "".join(one_of(rng, "abcd") * whole(rng, 1, 6) for _ in range(size))
        ],
        answer=lambda text: _long_runs(text, range(least, most + 1), want),
    )


def _long_runs(text: str, lengths: range, want: str) -> list[list[Any]]:
    out: list[list[Any]] = []
    place = 0
    for letter, run in groupby(text):
        length = len(list(run))
        if length in lengths:
            out.append([letter, place if want == "place" else length])
        place += length
    return out


def best_window(rng: np.random.Generator) -> WantedFunction:
    """Find a window."""
    width, last, most = whole(rng, 2, 4), bool(whole(rng, 0, 1)), bool(whole(rng, 0, 1))
    which, tie = ("largest" if most else "smallest"), ("last" if last else "first")
    return WantedFunction(
        signature="best_window(nums: list[int]) -> int",
        statement=f"Return the index at which the {width} consecutive numbers with the {which} sum begin; if there are "
        f"several such places, the {tie} one. Return -1 if there are fewer than {width} numbers.",
        values={
            "LAST": width - 1,
            "WIDTH": width,
            "BETTER": f"s {'>' if most else '<'}{'=' if last else ''} top",
        },
        arguments=lambda rng, size: [wholes(rng, size + 1, -4, 4)],
        answer=lambda nums: _best_window(nums, width, last, most),
    )


def _best_window(nums: list[int], width: int, last: bool, most: bool) -> int:
    sums = [sum(nums[i : i + width]) for i in range(len(nums) - width + 1)]
    if not sums:
        return -1
    found = [i for i, s in enumerate(sums) if s == (max(sums) if most else min(sums))]
    return found[-1 if last else 0]


def weighted_sum(rng: np.random.Generator) -> WantedFunction:
    """Add up a nested list, by depth."""
    k, empty = whole(rng, 2, 4), whole(rng, 1, 9)
    return WantedFunction(
        signature="weighted_sum(tree: list) -> int",
        statement="A tree is a list of whole numbers and trees. Return its weight: the sum of its numbers, plus "
        f"{k} times the weight of each tree in it. An empty tree weighs {empty}.",
        values={"EMPTY": empty, "K": k},
        arguments=lambda rng, size: [_tree(rng, min(size, 30), 3)],
        answer=lambda tree: _weight(tree, k, empty),
    )


def _tree(rng: np.random.Generator, size: int, depth: int) -> list[Any]:
    tree: list[Any] = []
    for _ in range(whole(rng, 0 if depth < 3 else 1, max(1, min(size, 5)))):
        inner = depth > 0 and rng.random() < 0.4
        tree.append(_tree(rng, size // 2, depth - 1) if inner else whole(rng, -9, 20))
    return tree


def _weight(tree: list[Any], k: int, empty: int) -> int:
    """Sum without recursion: each list is paired with the factor that it counts with."""
    total, open_lists = 0, [(tree, 1)]
    while open_lists:
        items, factor = open_lists.pop()
        total += factor * (sum(x for x in items if isinstance(x, int)) if items else empty)
        open_lists += [(x, factor * k) for x in items if isinstance(x, list)]
    return total


def ranked(rng: np.random.Generator) -> WantedFunction:
    """Sort words by two rules."""
    letter, down, third = one_of(rng, "aeiou"), bool(whole(rng, 0, 1)), whole(rng, 2, 6)
    order = "most often" if down else "least often"
    return WantedFunction(
        signature="ranked(words: list[str]) -> list[str]",
        statement=f"Sort the words by how often they hold the letter '{letter}', the {order} first; words that hold it "
        "equally often by length, the shortest first; and words of the same length alphabetically. Return the first "
        f"{third} different words in this order, or all of them if there are fewer.",
        values={"COUNT": f"{'-' if down else ''}w.count({letter!r})", "THIRD": third},
        arguments=lambda rng, size: [some_words(rng, size, f"{letter}bcd", 4)],
        answer=lambda words: _ranked(words, letter, down)[:third],
    )


def _ranked(words: list[str], letter: str, down: bool) -> list[str]:
    once = sorted(dict.fromkeys(words))
    once.sort(key=len)
    counts = sorted({word.count(letter) for word in once}, reverse=down)
    return [word for count in counts for word in once if word.count(letter) == count]


_TOWNS = (
    *("rome", "oslo", "bonn", "lima", "bern", "cork"),
    *("graz", "kyiv", "nice", "pisa", "riga", "york"),
)


def turned_round(rng: np.random.Generator) -> WantedFunction:
    """Turn a dictionary round."""
    least, reverse, k = whole(rng, 1, 3), bool(whole(rng, 0, 1)), whole(rng, 1, 3)
    order = "in reverse alphabetical order" if reverse else "in alphabetical order"
    return WantedFunction(
        signature="turned_round(homes: dict[str, str]) -> dict[str, list[str]]",
        statement="The keys are names of people, the values are the towns where they live. "
        f"{f'Ignore names of fewer than {k} letters. ' if k > 1 else ''}Return a dictionary that maps each town "
        f"with at least {least} {'person' if least == 1 else 'people'} to the list of their names, {order}.",
        values={"REVERSE": reverse, "K": k, "LEAST": least},
        arguments=lambda rng, size: [
            {
                # So many towns that few names live in each: those with just enough tell most.
                name: one_of(rng, _TOWNS[: 2 + size // 3])
                for name in some_words(rng, size, "abcde", 4)
            }
        ],
        answer=lambda homes: _turned_round(homes, least, reverse, k),
    )


def _turned_round(homes: dict[str, str], least: int, reverse: bool, k: int) -> dict[str, list[str]]:
    long = [(town, name) for name, town in homes.items() if len(name) >= k]
    found = {}
    for town, _ in long:
        names = sorted(name for other, name in long if other == town)
        if len(names) >= least:
            found[town] = names[::-1] if reverse else names
    return found


FAMILIES = (turned_round, grouped, dealt, long_runs, best_window, weighted_sum, ranked)
