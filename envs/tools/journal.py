"""A journal of trades over an almanac: each entry depends on the ones before, and some figures were corrected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from verigym.envs.tools.almanac import Almanac, AlmanacQuestion, Carrier, Firm, carriage_of

_WORDS = """\
A trader starts with an empty store and {purse} euros in the purse, and keeps this journal. Do what it says, entry by \
entry. How many euros are in the purse in the end, plus three times the number of crates in store?
"""
CORRECTIONS = """\
A page "Correction: TITLE" gives another figure than the page TITLE. It holds, unless there is a page "Withdrawal: \
TITLE", which says that the page TITLE was right after all. A search for the exact title of a page always finds it; if it \
does not, there is no such page.
"""
One = TypeVar("One", Firm, Carrier)


@dataclass
class TraderStore:
    """Purse and crates of a trader; `figures` are those that hold, by title of the page and name."""

    purse: int
    figures: dict[tuple[str, str], int]
    crates: dict[str, int] = field(default_factory=dict)

    def number(self) -> int:
        """Return the number of all crates."""
        return sum(self.crates.values())

    def worth(self, each: int) -> int:
        """Return the purse and `each` euros for each crate."""
        return self.purse + each * self.number()

    def copy(self) -> TraderStore:
        """Return another store that holds the same."""
        return TraderStore(self.purse, self.figures, dict(self.crates))


def buy_for_purse(store: TraderStore, firm: str, most: int) -> None:
    """Buy what the purse pays for, up to `most` crates."""
    price = store.figures[firm, "price"]
    n = min(most, store.purse // price)
    store.purse -= n * price
    store.crates[firm] = store.crates.get(firm, 0) + n


def buy_by_weight(store: TraderStore, firm: str, most: int) -> None:
    """Buy crates of at most `most` kilograms together, all or none."""
    n = most // store.figures[firm, "weight"]
    cost = n * store.figures[firm, "price"]
    if cost <= store.purse:
        store.purse -= cost
        store.crates[firm] = store.crates.get(firm, 0) + n


def sell(store: TraderStore, firm: str, percent: int) -> None:
    """Sell half of the crates of a firm."""
    n = store.crates.get(firm, 0) // 2
    store.purse += n * store.figures[firm, "price"] * percent // 100
    store.crates[firm] = store.crates.get(firm, 0) - n


def carry(store: TraderStore, carrier: Carrier) -> None:
    """Pay for the carriage of all crates, if the purse holds as much."""
    price = store.figures[carrier.name, "carriage"]
    cost = carriage_of(Carrier("", price, carrier.percent, carrier.crates), store.number())
    if cost <= store.purse:
        store.purse -= cost


def toll(store: TraderStore, town: str) -> None:
    """Pay or receive the length of a bridge."""
    length = store.figures[f"{town} bridge", "bridge"]
    store.purse += -length if 10 * store.purse > store.figures[town, "now"] else length


def buy_for_rest(store: TraderStore, firm: str, divisor: int) -> None:
    """Buy what the remainder of the purse pays for."""
    price = store.figures[firm, "price"]
    n = store.purse % divisor // price
    store.purse -= n * price
    store.crates[firm] = store.crates.get(firm, 0) + n


def divide(store: TraderStore, town: str) -> None:
    """Receive the remainder of the purse, divided by the length of a bridge, if the quotient is even; else pay it."""
    quotient, rest = divmod(store.purse, store.figures[f"{town} bridge", "bridge"])
    store.purse += -rest if quotient % 2 else rest


def journal(a: Almanac, n: int) -> AlmanacQuestion:
    """Ask for what is left after `n` entries; adds pages to the almanac until corrections and withdrawals count."""
    pages = a.pages
    while True:
        a.pages = list(pages)
        given, corrected, held = draw_figures(a)
        purse, lines, entries = draw_entries(a, n)
        answers = [_left(purse, figures, entries) for figures in (held, given, corrected)]
        if answers[0] not in answers[1:]:
            break
    a.pages = a.draws.shuffled(a.pages)
    words = _WORDS.format(purse=purse) + CORRECTIONS + numbered(lines)
    return AlmanacQuestion(words, answers[0], 12 * n)


Figures = dict[tuple[str, str], int]
Entry = Callable[[TraderStore], None]


def _left(purse: int, figures: Figures, entries: list[Entry]) -> int:
    store = TraderStore(purse, figures)
    for entry in entries:
        entry(store)
    return store.worth(3)


def numbered(lines: Sequence[str]) -> str:
    """Return the entries with their numbers."""
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def draw_figures(a: Almanac) -> tuple[Figures, Figures, Figures]:
    """Correct some figures and withdraw some corrections: those of the pages, all corrected, and those that hold."""
    given: Figures = {}
    for firm in a.firms:
        given |= {(firm.name, "weight"): firm.weight, (firm.name, "price"): firm.price}
    given |= {(town.name, "now"): town.now for town in a.towns}
    given |= {(carrier.name, "carriage"): carrier.price for carrier in a.carriers}
    given |= {(f"{town.name} bridge", "bridge"): town.bridge for town in a.towns}
    corrected, held = dict(given), dict(given)
    for (title, name), value in given.items():
        known = any(other == f"Correction: {title}" for other, _ in a.pages)
        if known or a.draws.below(3):
            continue
        new = value + 5 * a.draws.between(1, 4) * (1 if value < 60 or a.draws.below(2) else -1)
        corrected[title, name] = held[title, name] = new
        a.pages.append((f"Correction: {title}", _correction(title, name, new)))
        if a.draws.below(3) == 0:
            held[title, name] = value
            words = f"The correction of the page {title} is withdrawn; the page is right."
            a.pages.append((f"Withdrawal: {title}", words))
    return given, corrected, held


def _correction(title: str, name: str, value: int) -> str:
    words = {
        "weight": f"A crate from {title} weighs {value} kilograms",
        "price": f"A crate from {title} costs {value} euros",
        "carriage": f"{title} takes {value} euros for each crate",
        "now": f"{title} has {value} inhabitants by the count of 2026",
        "bridge": f"The {title} is {value} metres long",
    }[name]
    return f"{words}; its page has another figure."


KINDS = ("buy", "buy", "buy", "sell", "carry", "toll")
"""Kinds of entries, each as often as it is drawn."""


MOST_CRATES, MOST_KILOGRAMS = (5, 40), (300, 1800)
"""Least and most that a purchase is limited to."""


@dataclass(frozen=True)
class EntryStyle:
    """Kinds of entries, each as often as it is drawn, and how much is bought."""

    kinds: Sequence[str]
    crates: tuple[int, int] = MOST_CRATES
    kilograms: tuple[int, int] = MOST_KILOGRAMS
    firms: int | None = None
    """Number of firms that are bought from; all if None."""


def draw_entries(
    a: Almanac, n: int, style: EntryStyle = EntryStyle(KINDS)
) -> tuple[int, list[str], list[Entry]]:
    """Draw a purse and `n` entries, in words and as what they do; some name a firm or carrier by a town."""
    draws, kinds = a.draws, style.kinds
    firms = a.firms if style.firms is None else draws.some(a.firms, style.firms)
    towns = draws.shuffled(a.towns)
    half = len(towns) // 2
    sellers = {town.name: draws.pick(firms) for town in towns[:half]}
    carriers = {town.name: draws.pick(a.carriers) for town in towns[half:]}
    for town, firm in sellers.items():
        a.pages.append((f"Market of {town}", f"The market of {town} buys from {firm.name}."))
    for town, carrier in carriers.items():
        a.pages.append((f"Freight to {town}", f"{town} is served by {carrier.name}."))
    bought: list[Firm] = []
    lines: list[str] = []
    entries: list[Entry] = []
    for _ in range(n):
        kind = draws.pick(kinds)
        if kind in ("buy", "rest") or not bought:
            name, firm = _named(a, sellers, firms, "the firm that the market of {} buys from")
            bought.append(firm)
            line, entry = (_rest if kind == "rest" else _purchase)(a, name, firm, style)
        elif kind == "sell":
            firm, percent = draws.pick(bought), draws.between(60, 140)
            line = (
                f"Sell half of the crates from {firm.name} that are in store, rounded down, for {percent} percent of "
                "their price, the sum rounded down to whole euros."
            )
            entry = _bind(sell, firm.name, percent)
        elif kind == "carry":
            name, carrier = _named(a, carriers, a.carriers, "the carrier that serves {}")
            line = (
                f"Let {name} carry all crates in store, whatever their firm: pay for them, with the discount if it "
                "applies; if the purse does not hold as much, pay nothing."
            )
            entry = _bind(carry, carrier)
        elif kind == "divide":
            town = draws.pick(towns).name
            line = (
                f"Divide the number of euros in the purse by the length in metres of the bridge at {town}, which gives a whole quotient and a "
                "remainder. If the quotient is even, receive as many euros as the remainder; if it is odd, pay as many."
            )
            entry = _bind(divide, town)
        else:
            town = draws.pick(towns).name
            line = (
                f"If the purse holds more euros than a tenth of the number of inhabitants of {town} by the count of "
                f"2026, pay as many euros as the bridge at {town} is long in metres; otherwise receive as many."
            )
            entry = _bind(toll, town)
        lines.append(line)
        entries.append(entry)
    return 500 * n + draws.between(1000, 5000), lines, entries


def _rest(a: Almanac, name: str, firm: Firm, style: EntryStyle) -> tuple[str, Entry]:
    divisor = a.draws.between(200, 900)
    line = f"Buy as many whole crates from {name} as the remainder pays for that the number of euros in the purse leaves if divided by {divisor}."
    return line, _bind(buy_for_rest, firm.name, divisor)


def _purchase(a: Almanac, name: str, firm: Firm, style: EntryStyle) -> tuple[str, Entry]:
    if a.draws.below(2):
        most = a.draws.between(*style.crates)
        line = f"Buy as many whole crates from {name} as the purse pays for, but at most {most}."
        return line, _bind(buy_for_purse, firm.name, most)
    most = a.draws.between(*style.kilograms)
    line = (
        f"Buy as many whole crates from {name} as weigh at most {most} kilograms together; if the purse does not pay "
        "for all of them, buy none."
    )
    return line, _bind(buy_by_weight, firm.name, most)


def _named(
    a: Almanac, by_town: Mapping[str, One], direct: Sequence[One], words: str
) -> tuple[str, One]:
    """Return a name, or a description by a town, and what it stands for."""
    if a.draws.below(2):
        town = a.draws.pick(sorted(by_town))
        return words.format(town), by_town[town]
    one = a.draws.pick(direct)
    return one.name, one


def _bind(act: Callable[..., None], *arguments: object) -> Entry:
    return lambda store: act(store, *arguments)
