"""Clues of zebra puzzles: sets without a clue too many, and the solver that proves them.

Words are numbers: word `v` of row `r` is `r * houses + v`. What is known of a word is a set of houses,
bit i for house i. A clue narrows the set of one word by that of the other, through a table, until
nothing changes; then the solver tries the houses of one word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from verigym.envs.games.group_clues import GroupClue
from verigym.verifiers.games.zebra import KINDS, PAIRS


@dataclass(frozen=True)
class PairClue:
    """A clue about words `a` and `b`: what each set of houses of the one leaves to the other.

    For a clue about one word and a house, `a` is the word, `b` the house, and `alone` what is left to it. `numbers` are
    those of a kind in the verifier's `PAIRS`.
    """

    kind: str
    a: int
    b: int
    onto_b: tuple[int, ...] = ()
    onto_a: tuple[int, ...] = ()
    alone: int = 0
    numbers: tuple[int, ...] = ()


Clue: TypeAlias = PairClue | GroupClue
_STRONG = ("at", "same", "next")
"""Kinds that say most, and are spared first beside long clues."""


@cache
def tables(
    kind: str, houses: int, true: bool, numbers: tuple[int, ...] = ()
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return, for each set of houses of `a`, the houses where `b` can be if the clue is true or
    not, and the converse."""
    pairs = [
        (i, j)
        for i in range(houses)
        for j in range(houses)
        if (PAIRS[kind](i + 1, j + 1, numbers) if kind in PAIRS else KINDS[kind](i, j)) == true
    ]
    onto_b, onto_a = [0] * (1 << houses), [0] * (1 << houses)
    for some in range(1 << houses):
        for i, j in pairs:
            onto_b[some] |= (some >> i & 1) << j
            onto_a[some] |= (some >> j & 1) << i
    return tuple(onto_b), tuple(onto_a)


@cache
def link(
    kind: str, a: int, b: int, houses: int, true: bool = True, numbers: tuple[int, ...] = ()
) -> PairClue:
    """Return the clue with its tables, or its denial; for `at` and `not at`, `b` is a house from 0."""
    if kind in ("at", "not at"):
        alone = 1 << b if (kind == "at") == true else ((1 << houses) - 1) & ~(1 << b)
        return PairClue(kind, a, b, alone=alone)
    return PairClue(kind, a, b, *tables(kind, houses, true, numbers), numbers=numbers)


def deny(one: Clue, houses: int) -> Clue:
    """Return the denial of a clue."""
    if isinstance(one, GroupClue):
        return one.denied()
    return link(one.kind, one.a, one.b, houses, False, one.numbers)


def narrowed(known: list[int], links: list[Clue], houses: int) -> bool:
    """Narrow `known` by the clues and by one word of a row a house; False if nothing is left."""
    full = (1 << houses) - 1
    pairs, groups = [], []
    for one in links:
        if isinstance(one, GroupClue):
            groups.append(one)
        elif one.alone:
            known[one.a] &= one.alone
        else:
            pairs.append((one.a, one.b, one.onto_b, one.onto_a))
    seen = [0] * len(groups)
    changed = True
    while changed:
        changed = False
        for a, b, onto_b, onto_a in pairs:
            old_a, old_b = known[a], known[b]
            left_b = old_b & onto_b[old_a]
            left_a = old_a & onto_a[left_b]
            if left_a != old_a or left_b != old_b:
                if not left_a or not left_b:
                    return False
                known[a], known[b] = left_a, left_b
                changed = True
        if changed:
            continue  # longer clues and rows only when the short ones have nothing more to say
        for place, group in enumerate(groups):
            total = sum([known[word] for word in group.words])
            if total == seen[place]:
                continue  # sets only grow smaller: none of its words has changed
            if not group.narrow(known) or 0 in [known[word] for word in group.words]:
                return False
            seen[place] = sum([known[word] for word in group.words])
            changed = changed or seen[place] != total
        for start in range(0, len(known), houses):
            row = known[start : start + houses]
            once = twice = taken = 0
            for here in row:
                twice |= once & here
                once |= here
                if not here & (here - 1):
                    if taken & here or not here:
                        return False
                    taken |= here
            if once != full:
                return False
            if taken != full:
                alone = once & ~twice & ~taken
                for word, here in enumerate(row, start):
                    if here & (here - 1):
                        left = here & alone or here & ~taken
                        if left != here:
                            known[word] = left
                            changed = True
    return True


class TooHard(Exception):
    """The tries of a search are used up."""


def solvable(
    known: list[int], links: list[Clue], houses: int, tries: list[None] | None = None
) -> bool:
    """Return True if some solution satisfies all the clues; narrows `known` on the way.

    Takes one of `tries` for each word whose houses it tries. Raises TooHard when none is left.
    """
    if not narrowed(known, links, houses):
        return False
    open_words = [word for word, here in enumerate(known) if here & (here - 1)]
    if not open_words:
        return True
    if tries is not None:
        if not tries:
            raise TooHard
        tries.pop()
    word = min(open_words, key=lambda one: known[one].bit_count())
    for house in range(houses):
        if known[word] >> house & 1:
            tried = list(known)
            tried[word] = 1 << house
            if solvable(tried, links, houses, tries):
                return True
    return False


def count_solving(words: int, links: list[Clue], houses: int) -> int:
    """Solve as `solvable` does, and count: to apply a clue to two words, or to compare a word with the others
    of its row."""
    operations = 0
    full = (1 << houses) - 1

    def narrow(known: list[int]) -> bool:
        nonlocal operations
        changed = True
        while changed:
            changed = False
            for one in links:
                operations += 1
                if isinstance(one, GroupClue):
                    before = [known[word] for word in one.words]
                    if not one.narrow(known) or not all(known[word] for word in one.words):
                        return False
                    changed = changed or before != [known[word] for word in one.words]
                    continue
                left_a, left_b = known[one.a], known[one.b] if not one.alone else full
                if one.alone:
                    left_a &= one.alone
                else:
                    left_b &= one.onto_b[left_a]
                    left_a &= one.onto_a[left_b]
                if not left_a or not left_b:
                    return False
                changed = changed or left_a != known[one.a]
                known[one.a] = left_a
                if not one.alone:
                    changed = changed or left_b != known[one.b]
                    known[one.b] = left_b
            for word in range(words):
                operations += 1
                start = word // houses * houses
                others = [known[i] for i in range(start, start + houses) if i != word]
                left = known[word]
                for other in others:
                    if not other & (other - 1):
                        left &= ~other
                elsewhere = 0
                for other in others:
                    elsewhere |= other
                left = left & ~elsewhere or left
                if not left or (left & (left - 1) == 0 and left in others):
                    return False
                changed = changed or left != known[word]
                known[word] = left
        return True

    def solve(known: list[int]) -> bool:
        if not narrow(known):
            return False
        open_words = [word for word, here in enumerate(known) if here & (here - 1)]
        if not open_words:
            return True
        word = min(open_words, key=lambda one: known[one].bit_count())
        return any(
            solve([*known[:word], 1 << house, *known[word + 1 :]])
            for house in range(houses)
            if known[word] >> house & 1
        )

    solved = solve([full] * words)
    assert solved, "a drawn puzzle has a solution"
    return operations


def clues_for(
    draws: list[float],
    places: list[int],
    houses: int,
    direct: float,
    given: Sequence[Clue] = (),
    most: tuple[int, int] | None = None,
) -> list[Clue] | None:
    """Return the clues that leave one solution, of which none can be spared; None if the draws do not suffice.

    `places` is the house of each word, from 0. Three `draws` make a true clue; `direct` is the share of
    those about a word and a house. Clues that tell nothing new are passed over. The clues `given` come first and are
    spared last. `most` is the number of tries to prove that a short clue can be spared, and that a long one can; None for
    any.
    """
    words = len(places)
    solution = [1 << place for place in places]
    known = [(1 << houses) - 1] * words
    links: list[Clue] = list(given)
    narrowed(known, links, houses)
    for i in range(0, len(draws) - 2, 3):
        fresh = _clue(draws[i], draws[i + 1], draws[i + 2], places, houses, direct)
        if fresh is None:
            continue
        a, b = fresh.a, fresh.b
        if fresh.alone:
            news = known[a] & ~fresh.alone
        else:
            news = known[b] & ~fresh.onto_b[known[a]] or known[a] & ~fresh.onto_a[known[b]]
        if not news:
            continue
        links.append(fresh)
        narrowed(known, links, houses)
        if known == solution:
            break
    else:
        return None
    tried = links[len(given) :]
    if given:
        tried = [*sorted(tried, key=lambda one: one.kind not in _STRONG), *given]
    for one in tried:
        # It can be spared if no solution of the others breaks it.
        rest = [other for other in links if other is not one]
        tries = None if most is None else [None] * most[one in given]
        try:
            if not solvable([(1 << houses) - 1] * words, [deny(one, houses), *rest], houses, tries):
                links = rest
        except TooHard:
            pass
    return links


def _clue(
    x: float, y: float, z: float, places: list[int], houses: int, direct: float
) -> PairClue | None:
    """A true clue about two words, or a word and a house; None if the two say nothing."""
    words = len(places)
    a = int(x * words)
    if z < direct:
        other = int(y * houses)
        return link("at" if other == places[a] else "not at", a, other, houses)
    b = int(y * words)
    far = places[b] - places[a]
    if far < 0:
        a, b, far = b, a, -far
    row = a // houses == b // houses
    kinds = {0: ("same",), 1: ("next", "beside", "left")}.get(far, ("left",))
    if far and not row:
        kinds = (*kinds, "apart")
    if a == b:
        return None
    turn = (z - direct) / (1 - direct)
    kind = kinds[int(turn * len(kinds))]
    if kind in ("beside", "apart") and turn * 97 % 1 < 0.5:
        a, b = b, a  # these hold both ways
    return link(kind, a, b, houses)
