"""A small almanac of invented towns, firms and carriers, questions that need it, and a search over it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache

from verigym.canonical import JSON
from verigym.envs.search.index import Index
from verigym.envs.tools.draws import Draws

Page = tuple[str, str]
"""Title and text."""

_HEADS = ("Ar", "Bel", "Cas", "Dor", "Esk", "Fal", "Gor", "Hav", "Ist", "Jor", "Kal", "Lem", "Mor")
_TAILS = ("beck", "dale", "ford", "gate", "ham", "mere", "stead", "thorp", "ton", "wick")
_FIRMS = ("Brothers", "and Sons", "Trading", "Stores", "Supplies")
_GOODS = ("candles", "hinges", "lanterns", "nails", "ropes", "tiles")


@dataclass(frozen=True)
class Firm:
    """Sells crates of one good; weight in kilograms, price in euros."""

    name: str
    good: str
    weight: int
    price: int


@dataclass(frozen=True)
class Town:
    """Its inhabitants by the counts of 2026 and 2011, and the length of its bridge in metres."""

    name: str
    now: int
    then: int
    bridge: int


@dataclass(frozen=True)
class Carrier:
    """Euros for each crate, and so many percent off from so many crates on."""

    name: str
    price: int
    percent: int
    crates: int


class Almanac:
    """`n` of everything, with pages on all of it; `outdated` adds the counts of 2011."""

    def __init__(self, draws: Draws, n: int, outdated: bool) -> None:
        self.draws = draws
        names = list(dict.fromkeys(_names(draws, 3 * n)))
        third = len(names) // 3
        self.towns = [
            Town(
                name,
                # The last digit keeps any two towns apart.
                *(draws.between(900, 5999) * 10 + i, draws.between(9_000, 60_000)),
                draws.between(90, 900),
            )
            for i, name in enumerate(names[:third])
        ]
        self.firms = [
            Firm(
                f"{name} {draws.pick(_FIRMS)}",
                *(draws.pick(_GOODS), draws.between(11, 89), draws.between(12, 95)),
            )
            for name in names[third : 2 * third]
        ]
        self.carriers = [
            Carrier(
                f"{name} Freight",
                5 * draws.between(1, 9),
                20 * draws.between(1, 3),
                draws.between(8, 20),
            )
            for name in names[2 * third :]
        ]
        self.facts: JSON = [
            [astuple(town) for town in self.towns],
            [astuple(firm) for firm in self.firms],
            [astuple(carrier) for carrier in self.carriers],
        ]
        """All figures, without the words of the pages."""
        pages: list[Page] = []
        for town in self.towns:
            pages.append(
                (town.name, f"{town.name} has {town.now} inhabitants by the count of 2026.")
            )
            pages.append(
                (f"{town.name} bridge", f"The bridge at {town.name} is {town.bridge} metres long.")
            )
            if outdated:
                text = f"By the count of 2011, {town.name} had {town.then} inhabitants."
                pages.append((f"History of {town.name}", text))
        pages += [
            (
                f.name,
                f"A crate of {f.good} from {f.name} weighs {f.weight} kilograms and costs {f.price} euros.",
            )
            for f in self.firms
        ]
        pages += [
            (
                c.name,
                f"{c.name} takes {c.price} euros for each crate. From {c.crates} crates on, it takes "
                f"{c.percent} percent off the whole.",
            )
            for c in self.carriers
        ]
        self.pages = draws.shuffled(pages)


@dataclass(frozen=True)
class AlmanacQuestion:
    """A question, its answer, and about how many operations it takes."""

    words: str
    answer: int
    work: int


def load(a: Almanac) -> AlmanacQuestion:
    """Ask for the weight of a number of crates."""
    firm, n = a.draws.pick(a.firms), a.draws.between(12, 95)
    words = f"How many kilograms do {n} crates of {firm.good} from {firm.name} weigh?"
    return AlmanacQuestion(words, n * firm.weight, 3)


def difference(a: Almanac) -> AlmanacQuestion:
    """Ask for the difference of two numbers of inhabitants."""
    one, two = sorted(a.draws.some(a.towns, 2), key=lambda town: -town.now)
    words = f"By the count of 2026, how many more inhabitants does {one.name} have than {two.name}?"
    return AlmanacQuestion(words, one.now - two.now, 4)


def shipment(a: Almanac) -> AlmanacQuestion:
    """Return the crates and the carriage, with a discount on one of them."""
    firm, carrier, n = a.draws.pick(a.firms), a.draws.pick(a.carriers), a.draws.between(4, 30)
    carriage = carriage_of(carrier, n)
    words = (
        f"{carrier.name} carries {n} crates of {firm.good} from {firm.name}. What do the crates and their "
        "carriage cost together, in euros? A carrier's discount applies to its carriage only."
    )
    return AlmanacQuestion(words, n * firm.price + carriage, 8)


def lorry(a: Almanac) -> AlmanacQuestion:
    """Ask for the number of crates that a lorry can carry."""
    firm, most = a.draws.pick(a.firms), a.draws.between(700, 4000)
    words = (
        f"A lorry can carry {most} kilograms. It is loaded with as many whole crates of {firm.good} from "
        f"{firm.name} as it can carry. What do these crates cost, in euros?"
    )
    return AlmanacQuestion(words, most // firm.weight * firm.price, 6)


def primes(a: Almanac) -> AlmanacQuestion:
    """Count the primes between two numbers of inhabitants."""
    few, many = sorted(town.now for town in a.draws.some(a.towns, 2))
    one, two = (next(t.name for t in a.towns if t.now == n) for n in (few, many))
    words = (
        f"Let m and n be the numbers of inhabitants of {one} and {two} by the count of 2026; m is less than n. "
        "How many prime numbers are greater than m and less than n?"
    )
    return AlmanacQuestion(words, primes_below(many) - primes_below(few + 1), 14)


def digits(a: Almanac) -> AlmanacQuestion:
    """Return the sum of the digits of a power."""
    town, power = a.draws.pick(a.towns), a.draws.between(12, 40)
    words = (
        f"Let n be the number of inhabitants of {town.name} by the count of 2026. What is the sum of the decimal "
        f"digits of n ** {power} (n to the power of {power})?"
    )
    return AlmanacQuestion(words, sum(map(int, str(town.now**power))), 12)


def multiples(a: Almanac) -> AlmanacQuestion:
    """Count the multiples by inclusion and exclusion."""
    town, other = a.draws.some(a.towns, 2)
    firm = a.draws.pick(a.firms)
    n, p, q = town.now, firm.weight, other.bridge
    both = n // math.lcm(p, q)
    words = (
        f"Let n be the number of inhabitants of {town.name} by the count of 2026, p the weight in kilograms of a "
        f"crate of {firm.good} from {firm.name}, and q the length in metres of the bridge at {other.name}. How many "
        "whole numbers from 1 to n are multiples of p or of q, but not of both?"
    )
    return AlmanacQuestion(words, n // p + n // q - 2 * both, 14)


def carriage_of(carrier: Carrier, crates: int) -> int:
    """Return what a carrier takes for some crates, its discount included."""
    full = crates * carrier.price
    return full * (100 - carrier.percent) // 100 if crates >= carrier.crates else full


def find(pages: Sequence[Page], query: str, n: int = 3) -> list[Page]:
    """Return the `n` pages that fit best by BM25, without those that have no word in common with the query; the page
    whose title the query is, if there is one, is always among them."""
    found = [pages[number] for number in _index(tuple(pages)).search(query, n)]
    wanted = query.strip().lower()
    missed = [page for page in pages if page[0].lower() == wanted and page not in found]
    return [*missed, *found][:n]


def _names(draws: Draws, n: int) -> list[str]:
    """Names of places, some of them twice if they are few; different ones if heads do not suffice."""
    if n > 3 * len(_HEADS):
        return draws.some([head + tail for head in _HEADS for tail in _TAILS], n)
    heads, tails = draws.some(_HEADS * 3, n), draws.some(_TAILS * 9, n)
    return [head + tail for head, tail in zip(heads, tails, strict=True)]


@lru_cache(maxsize=16)
def _index(pages: tuple[Page, ...]) -> Index:
    return Index(f"{title} {text}" for title, text in pages)


def primes_below(n: int) -> int:
    """Return the number of primes less than `n`."""
    sieve = bytearray([1]) * n
    sieve[:2] = b"\0\0"
    for i in range(2, math.isqrt(n) + 1):
        if sieve[i]:
            sieve[i * i :: i] = bytes(len(range(i * i, n, i)))
    return sum(sieve)
