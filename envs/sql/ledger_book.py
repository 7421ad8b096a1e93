"""The book of a store as a prompt: its tables, written carelessly, the rules for reading them, and the question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from verigym.canonical import JSON
from verigym.envs.sql.ledger import (
    MEASURES,
    SIZES,
    WAYS,
    LedgerSize,
    Movement,
    StoreBook,
    best_of_groups,
    draw_ledger,
    play,
    ranked_sum,
)
from verigym.envs.sql.statements import StatementAnswer

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

STORES = (
    ("warehouse", "boxes"),
    ("cellar", "bottles"),
    ("fuel depot", "litres"),
    ("seed store", "kilograms"),
    ("paint shop", "tins"),
    ("book store", "copies"),
)
"""Places, and the units of what they hold."""

KEPT = {
    "last": "If several of the other rows have the same `no`, only the last of them in the table counts.",
    "first": "If several of the other rows have the same `no`, only the first of them in the table counts.",
}
SAME_DAY = {
    "in": "Movements take effect in the order of their days; on the same day, all of type in come first, then "
    "all of type out; apart from that, in ascending order of `no`.",
    "out": "Movements take effect in the order of their days; on the same day, all of type out come first, then "
    "all of type in; apart from that, in ascending order of `no`.",
    "no": "Movements take effect in the order of their days, and on the same day in ascending order of `no`.",
}
SAME_DAY_KITS = {
    "in": "Movements take effect in the order of their days; on the same day, all of type in come first, then "
    "all of type make, then all of type out; apart from that, in ascending order of `no`.",
    "out": "Movements take effect in the order of their days; on the same day, all of type out come first, then "
    "all of type make, then all of type in; apart from that, in ascending order of `no`.",
    "no": SAME_DAY["no"],
}
"""The same where items are put together."""
KITS = (
    "Some items are kits, which are put together from others: the table of recipes says how many units of each part one unit of "
    "the kit takes. Of a movement of type make, as many units of the kit are put together as the parts in stock allow, at most its "
    "quantity; the rest is missing. The parts leave the stock, but are not handed out. The units of the kit come into stock, "
    "each at the sum of the average costs that its parts have at that moment (a part of which it takes two counts twice, and so on), "
    "and its average cost changes as if they were taken in at this price of the day."
)
RETURNED = (
    "A quantity such as r214 in a movement of type in means a return: the units of the item that movement 214 handed out come back, "
    "none if it handed out none or has not yet taken effect. They are taken in as others are, but what counts in place of the price of "
    "the day is the average cost that the item had when movement 214 took effect."
)
EARLY = {
    "first": "Before its first price, an item is worth its first price.",
    "nothing": "Before its first price, an item is worth nothing.",
}
TIES = {
    "dense": "Items with equal figures share a rank, and the next lower figure gets the next whole number "
    "(1, 2, 2, 3).",
    "gaps": "Items with equal figures share a rank, and as many ranks are skipped as items share it (1, 2, 2, 4).",
}
FIGURE = {
    "run": "The longest run of an item is the largest number of movements of this item, one after another in the "
    "order in which they take effect, after each of which at least {} units of it are in stock.",
    "peak": "The highest stock of an item is the largest number of units of it in stock after any movement.",
    "worth": "The worth of units handed out is their number times the price of the item on the day on which they "
    "are handed out.",
}
AVERAGED = (
    "The worth of units handed out is their number times the average cost of the item at that moment. Whenever units of "
    "an item are taken in, its average cost becomes (units in stock before x average cost before + units taken x price of "
    "the day) / units in stock after, rounded to a whole number, halves up. Prices are in {money}, and so are "
    "average costs and worths. Nothing else changes an average cost, and it starts at 0."
)
BY_VALUE = (
    "A quantity such as 2450000w is an order by value: it is for as many whole units as this amount pays for at the average "
    "cost that the item has at that moment, and for none while that is 0. Such amounts are in hundredths of a cent."
)
"""Sentences that the reader of a prompt tells apart, by the choice that they stand for."""


@dataclass(frozen=True)
class _Line:
    """A row of the book as it will be written; `shown` is what its quantity cell says."""

    movement: Movement
    way: str
    shown: str


def ledger_question(
    rng: np.random.Generator, level: int
) -> tuple[str, StatementAnswer, list[list[JSON]]]:
    """Return the tables and rules of a book, its question, and the movements as plain data."""
    size = SIZES[level]
    kept, same_day, early = (_one(rng, [*one]) for one in (KEPT, SAME_DAY, EARLY))
    while True:
        ledger = draw_ledger(rng, size, same_day)
        asked = _asked(rng, size, ledger, play(ledger, early))
        if asked is not None:
            break
    lines, corrections = _careless(rng, ledger, size, kept)
    tables = _tables(rng, ledger, size, lines, corrections)
    if size.kits:
        tables = f"{tables}\n\n{_recipes(ledger)}"
    rules = _rules(rng, ledger, size, (kept, same_day, early))
    steps = 8 * len(lines)
    moved: list[list[JSON]] = [
        [one.day, one.item, one.way, one.quantity, one.value, one.back] for one in ledger.moved
    ]
    return f"{tables}\n\n{rules}", StatementAnswer(asked[0], asked[1], steps), moved


def _asked(
    rng: np.random.Generator, size: LedgerSize, ledger: StoreBook, found: dict[str, list[int]]
) -> tuple[str, int] | None:
    """Return the question and its answer; None if the figures do not tell items apart."""
    if not size.priced:
        what = _one(rng, ["left", "missing", "turned", "handed", "peak"])
        group = _one(rng, sorted(set(ledger.groups)))
        rows = zip(found[what], ledger.groups, strict=True)
        answer = sum(value for value, its in rows if its == group)
        words = f"What is the total of the {MEASURES[what]} over all items of the group {group}?"
        return (_explained(ledger, words, what), answer) if answer > 20 else None
    if not size.ranked:
        by = _one(rng, ["peak", "missing", "turned", "left"])
        words = (
            f"For each group, compare its items by their {MEASURES[by]}, and take the one with the largest figure; if "
            f"several share it, take the one that comes first in the table of items. What is the total of the "
            f"{MEASURES['worth']} over the items taken?"
        )
        answer = best_of_groups(ledger, found[by], found["worth"])
        return _explained(ledger, words, by, "worth"), answer
    by, ties = _one(rng, ["run", "peak", "missing"]), _one(rng, [*TIES])
    words = (
        f"Within each group, rank the items by their {MEASURES[by]}, the highest first, from rank 1 on. {TIES[ties]} "
        f"For each item, multiply its rank by the {MEASURES['worth']}. What is the sum of these products over all items?"
    )
    answer = ranked_sum(ledger, found[by], found["worth"], ties)
    return (_explained(ledger, words, by, "worth"), answer) if len(set(found[by])) > 3 else None


def _explained(ledger: StoreBook, words: str, *measures: str) -> str:
    """Return a question after the meaning of its figures."""
    money = "hundredths of a cent" if any(one.value for one in ledger.moved) else "cents"
    figures = FIGURE | ({"worth": AVERAGED.format(money=money)} if ledger.averaged else {})
    said = [figures[one].replace("{}", str(ledger.enough)) for one in measures if one in figures]
    return " ".join((*said, words))


def _careless(
    rng: np.random.Generator, ledger: StoreBook, size: LedgerSize, kept: str
) -> tuple[list[_Line], list[tuple[int, str]]]:
    """Write the movements down in the order of their numbers: some void, some twice, some with a wrong quantity
    that the second table corrects."""
    lines: list[_Line] = []
    corrections: list[tuple[int, str]] = []
    for one in sorted(ledger.moved, key=lambda movement: movement.no):
        chance = rng.random(3).tolist()
        right = _right(rng, ledger, size, one)
        line = _Line(one, one.way, right)
        if size.priced and chance[0] < 0.12:
            line = replace(line, shown=_wrong(rng, size))
            if chance[1] < 0.3:
                corrections.append((one.no, _wrong(rng, size)))
            corrections.append((one.no, right))
        if chance[2] >= 0.15:
            lines.append(line)
            continue
        other = _other(rng, line, size)
        if chance[2] < 0.07:
            pair = [replace(other, way="void"), line]
            lines += pair if rng.integers(2) else pair[::-1]
        else:
            lines += [other, line] if kept == "last" else [line, other]
    # Corrections of one movement stay in their order, which decides which of them counts.
    order = dict(zip(dict(corrections), rng.random(len(corrections)).tolist(), strict=False))
    return lines, sorted(corrections, key=lambda pair: order[pair[0]])


def _right(rng: np.random.Generator, ledger: StoreBook, size: LedgerSize, one: Movement) -> str:
    """Return the quantity of a movement as it should be written."""
    if one.back:
        return f"r{one.back}"
    return f"{one.value}w" if one.value else _quantity(rng, ledger, size, one.item, one.quantity)


def _other(rng: np.random.Generator, line: _Line, size: LedgerSize) -> _Line:
    """Return a row of the same number that says something else."""
    item = int(rng.integers(size.items))
    movement = replace(line.movement, item=item)
    return _Line(movement, WAYS[int(rng.integers(2))], _wrong(rng, size))


def _wrong(rng: np.random.Generator, size: LedgerSize) -> str:
    return str(int(rng.integers(5 * size.scale, 60 * size.scale)))


def _quantity(
    rng: np.random.Generator, ledger: StoreBook, size: LedgerSize, item: int, quantity: int
) -> str:
    """Return a quantity in units, or, if it can be, in crates."""
    number, rest = divmod(quantity, ledger.crates[item])
    return f"{number}c" if size.priced and not rest and rng.integers(4) else str(quantity)


def _tables(
    rng: np.random.Generator,
    ledger: StoreBook,
    size: LedgerSize,
    lines: list[_Line],
    corrections: list[tuple[int, str]],
) -> str:
    rows = (
        f"{line.movement.no},{_day(rng, line.movement.day, size)},"
        f"{_code(rng, ledger.items[line.movement.item])},{line.way},{line.shown}"
        for line in lines
    )
    parts = [_table("movements", "no,day,item,type,quantity", rows)]
    items = zip(ledger.items, ledger.groups, ledger.crates, strict=True)
    if not size.priced:
        parts.append(_table("items", "item,group", (f"{item},{group}" for item, group, _ in items)))
        return "\n\n".join(parts)
    prices = sorted(
        (start, item, price)
        for item, held in zip(ledger.items, ledger.prices, strict=True)
        for start, price in held
    )
    parts += [
        _table("corrections", "no,quantity", (f"{no},{said}" for no, said in corrections)),
        _table("items", "item,group,crate", (",".join(map(str, one)) for one in items)),
        _table(
            "prices",
            "item,from,price",
            (f"{item},{_day(rng, start, size)},{price}" for start, item, price in prices),
        ),
    ]
    return "\n\n".join(parts)


def _recipes(ledger: StoreBook) -> str:
    return _table(
        "recipes",
        "kit,part,units",
        (
            f"{ledger.items[kit]},{ledger.items[part]},{number}"
            for kit, parts in ledger.recipes.items()
            for part, number in parts
        ),
    )


def _table(name: str, header: str, rows: Iterable[str]) -> str:
    return "\n".join((f"Table `{name}`:", header, *rows))


def _day(rng: np.random.Generator, day: int, size: LedgerSize) -> str:
    """Return a day as `14 Mar` or, at the highest level, sometimes as `03-14`."""
    month = 0
    while day >= MONTH_DAYS[month]:
        day -= MONTH_DAYS[month]
        month += 1
    if size.ranked and rng.integers(2):
        return f"{month + 1:02}-{day + 1:02}"
    return f"{day + 1} {MONTHS[month]}"


def _code(rng: np.random.Generator, code: str) -> str:
    """Return an item's code in one of its four spellings."""
    letter = code[0].lower() if rng.integers(3) == 0 else code[0]
    return f"{letter}{'-' if rng.integers(4) == 0 else ''}{code[1]}"


def _rules(
    rng: np.random.Generator, ledger: StoreBook, size: LedgerSize, picked: tuple[str, str, str]
) -> str:
    place, units = STORES[int(rng.integers(len(STORES)))]
    kept, same_day, early = picked
    rules = [
        "The code of an item may be written with a small letter or with a hyphen: B7, b7, B-7 and b-7 are the "
        "same item.",
        "Rows of type void do not count, whatever else they say; they void no other row.",
        KEPT[kept],
        (SAME_DAY_KITS if size.kits else SAME_DAY)[same_day],
        f"At first the {place} is empty. It holds at most {ledger.capacity} units of all items together. Of a "
        "movement of type in, as many units are taken as still fit; the rest is turned away. Of a movement of type "
        "out, as many units are handed out as are in stock of that item; the rest is missing.",
    ]
    if size.priced:
        rules[3:3] = [
            "If the `no` of a row that counts is in the table of corrections, its quantity is the one given there "
            "last.",
            "A quantity such as 4c is in crates; the table of items says how many units a crate of the item holds.",
        ]
        rules.append(
            "The price of an item on a day is the one with the latest day in `from` that is not after this day. "
            + EARLY[early]
        )
    if size.by_value:
        rules.insert(5, BY_VALUE)
    if size.kits:
        rules[6:6] = [RETURNED]
        rules.append(KITS)
    if size.ranked:
        rules.insert(
            0,
            "All days are of one year without a 29th of February: 14 Mar and 03-14 are the same day.",
        )
    head = (
        f"This is the book of a {place}; quantities are in units ({units}). Rules for reading it:"
    )
    return "\n".join((head, *(f"{n}. {rule}" for n, rule in enumerate(rules, 1))))


def _one(rng: np.random.Generator, values: list[str]) -> str:
    return values[int(rng.integers(len(values)))]
