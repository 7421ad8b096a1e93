"""Find the best entries to strike out of a journal, from its words, and count the entries done on the way."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

Purse = tuple[int, tuple[int, ...]]
"""Euros, and crates by firm."""


class JournalFigures(NamedTuple):
    """Ways to find figures that hold, and firms and carriers named by a town."""

    held: Callable[[str, str], int]
    figure: Callable[[str, str], int]
    who: Callable[[str], str]


class StrikeReader:
    """Does the entries of a journal with all choices of what is struck out; equal purses at an entry are done once."""

    def __init__(self, lines: list[str], find: JournalFigures) -> None:
        self.find = find
        self.firms: list[str] = []
        self.operations = 0
        self.acts = [self._read(line) for line in lines]

    def most(self, purse: int, k: int, each: int) -> int:
        """Return the most euros in the end, with `each` for a crate, if `k` entries are struck out."""
        reached: list[set[Purse]] = [{(purse, (0,) * len(self.firms))}]
        for act in self.acts:
            done = [{self._do(act, one) for one in before} for before in reached]
            # So many entries are struck out already: those before this one, or one more by now.
            reached = [
                (done[n] if n < len(done) else set()) | (reached[n - 1] if n else set())
                for n in range(min(k, len(reached)) + 1)
            ]
        return max(held + each * sum(crates) for held, crates in reached[k])

    def _do(self, act: Callable[[Purse], Purse], one: Purse) -> Purse:
        self.operations += 1
        return act(one)

    def _place(self, firm: str) -> int:
        if firm not in self.firms:
            self.firms.append(firm)
        return self.firms.index(firm)

    def _read(self, line: str) -> Callable[[Purse], Purse]:
        """Return what an entry does. Raises LookupError if it is of an unknown kind."""
        held, figure, who = self.find
        if match := re.match(r"Buy .* crates from (.*) as the purse .* most (\d+)\.", line):
            firm = who(match[1])
            return _buying(self._place(firm), held(firm, "price"), int(match[2]), True)
        if match := re.match(r"Buy .* crates from (.*) as weigh at most (\d+)", line):
            firm = who(match[1])
            n = int(match[2]) // held(firm, "weight")
            return _buying(self._place(firm), held(firm, "price"), n, False)
        if match := re.match(r"Sell half of the crates from (.*) that are .* for (\d+)", line):
            return _selling(self._place(match[1]), held(match[1], "price") * int(match[2]))
        if match := re.match(r"Let (.*) carry all crates", line):
            carrier = who(match[1])
            each, off = held(carrier, "carriage"), figure(carrier, "percent")
            return _carrying(each, off, figure(carrier, "crates"))
        match = re.search(r"inhabitants of (\w+) by", line)
        if match is None:
            raise LookupError(f"no reading of {line!r}")
        return _paying(held(match[1], "now"), held(f"{match[1]} bridge", "bridge"))


def _changed(crates: tuple[int, ...], place: int, more: int) -> tuple[int, ...]:
    return (*crates[:place], crates[place] + more, *crates[place + 1 :])


def _buying(place: int, price: int, most: int, in_part: bool) -> Callable[[Purse], Purse]:
    def buy(one: Purse) -> Purse:
        purse, crates = one
        n = most if most * price <= purse else purse // price if in_part else 0
        return purse - n * price, _changed(crates, place, n)

    return buy


def _selling(place: int, hundredths: int) -> Callable[[Purse], Purse]:
    def sell(one: Purse) -> Purse:
        purse, crates = one
        n = crates[place] // 2
        return purse + n * hundredths // 100, _changed(crates, place, -n)

    return sell


def _carrying(each: int, percent: int, least: int) -> Callable[[Purse], Purse]:
    def carry(one: Purse) -> Purse:
        purse, crates = one
        n = sum(crates)
        cost = n * each * (100 - percent if n >= least else 100) // 100
        return (purse - cost if cost <= purse else purse), crates

    return carry


def _paying(people: int, length: int) -> Callable[[Purse], Purse]:
    def pay(one: Purse) -> Purse:
        purse, crates = one
        return purse + (-length if 10 * purse > people else length), crates

    return pay
