"""Find the best entries to strike out of a journal, from its words, and count the entries done on the way.

All choices are tried, what they begin with once: those that have struck out equally many entries so far are columns of one
array, and each entry is done for all of them at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Act = Callable[[Ints], None]
"""Does an entry in states: rows are the euros in the purse, the entries struck out as bits, and crates by firm."""
_PURSE, _MASK, _CRATES = 0, 1, 2


class JournalFigures(NamedTuple):
    """Ways to find figures that hold, and firms and carriers named by a town."""

    held: Callable[[str, str], int]
    figure: Callable[[str, str], int]
    who: Callable[[str], str]


def who_is(page: Callable[[str], str | None], words: str) -> str:
    """Return a firm or carrier that may be named by a town, of which `page` gives the text by its title."""
    if match := re.fullmatch(r"the firm that the market of (\w+) buys from", words):
        return (page(f"Market of {match[1]}") or "").partition("buys from ")[2][:-1]
    if match := re.fullmatch(r"the carrier that serves (\w+)", words):
        return (page(f"Freight to {match[1]}") or "").partition("served by ")[2][:-1]
    return words


class Choices(NamedTuple):
    """All choices of entries to strike out, as bits, and what is left of each."""

    masks: Ints
    left: Ints


class StrikeReader:
    """Does the entries of a journal with all choices of what is struck out."""

    def __init__(self, lines: list[str], find: JournalFigures) -> None:
        self.find = find
        self.firms: list[str] = []
        self.operations = 0
        self.acts = [self._read(line) for line in lines]

    def choices(self, purse: int, k: int, each: int) -> Choices:
        """Return what is left in the end, with `each` euros for a crate, for all ways to strike `k` entries out."""
        start = np.zeros((_CRATES + len(self.firms), 1), dtype=np.int32)
        start[_PURSE] = purse
        none = start[:, :0]
        reached = [start] + [none] * k
        self.operations = 0
        for place, act in enumerate(self.acts):
            after: list[Ints] = []
            for n in reversed(range(k + 1)):
                struck = reached[n - 1].copy() if n else none
                struck[_MASK] |= np.int32(1 << place)
                done = reached[n]
                self.operations += done.shape[1]
                act(done)
                # What has too few entries left to strike out is no choice.
                is_open = k - n < len(self.acts) - place
                after.append(np.concatenate([done, struck], 1) if is_open else none)
            reached = after[::-1]
        last = reached[k]
        return Choices(last[_MASK], last[_PURSE] + each * last[_CRATES:].sum(0, dtype=np.int32))

    def _place(self, firm: str) -> int:
        if firm not in self.firms:
            self.firms.append(firm)
        return _CRATES + self.firms.index(firm)

    def _read(self, line: str) -> Act:
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
        if match := re.match(
            r"Buy .* crates from (.*) as the remainder .* divided by (\d+)\.", line
        ):
            firm = who(match[1])
            return _buying_for_rest(self._place(firm), held(firm, "price"), int(match[2]))
        if match := re.match(r"Divide .* bridge at (\w+), which", line):
            return _dividing(held(f"{match[1]} bridge", "bridge"))
        match = re.search(r"inhabitants of (\w+) by", line)
        if match is None:
            raise LookupError(f"no reading of {line!r}")
        return _paying(held(match[1], "now"), held(f"{match[1]} bridge", "bridge"))


def _buying(row: int, price: int, most: int, in_part: bool) -> Act:
    def buy(states: Ints) -> None:
        n = np.minimum(most, states[_PURSE] // price)
        if not in_part:
            n = np.where(n == most, n, 0)
        states[_PURSE] -= n * price
        states[row] += n

    return buy


def _buying_for_rest(row: int, price: int, divisor: int) -> Act:
    def buy(states: Ints) -> None:
        n = states[_PURSE] % divisor // price
        states[_PURSE] -= n * price
        states[row] += n

    return buy


def _selling(row: int, hundredths: int) -> Act:
    def sell(states: Ints) -> None:
        n = states[row] // 2
        states[_PURSE] += n * hundredths // 100
        states[row] -= n

    return sell


def _carrying(each: int, percent: int, least: int) -> Act:
    def carry(states: Ints) -> None:
        n = states[_CRATES:].sum(0, dtype=np.int32)
        cost = n * each * np.where(n >= least, 100 - percent, 100).astype(np.int32) // 100
        states[_PURSE] -= np.where(cost <= states[_PURSE], cost, 0)

    return carry


def _paying(people: int, length: int) -> Act:
    def pay(states: Ints) -> None:
        states[_PURSE] += np.where(10 * states[_PURSE] > people, -length, length).astype(np.int32)

    return pay


def _dividing(length: int) -> Act:
    def divide(states: Ints) -> None:
        quotient, rest = np.divmod(states[_PURSE], length)
        states[_PURSE] += np.where(quotient % 2, -rest, rest)

    return divide
