"""Play a store's book through from the prompt alone, and count the steps.

A step is a cell read or compared, a row looked up, two movements put in order, a number compared, added or
multiplied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cmp_to_key

from verigym.envs.sql.ledger import MEASURES, WAYS
from verigym.envs.sql.ledger_book import (
    AVERAGED,
    EARLY,
    KEPT,
    MONTHS,
    SAME_DAY,
    SAME_DAY_KITS,
    TIES,
)

_TABLE = re.compile(r"Table `(\w+)`:\n(.+)((?:\n\S.*)*)")
_HOLDS = re.compile(r"holds at most (\d+) units")
_ENOUGH = re.compile(r"at least (\d+) units of it")
_OVER = re.compile(r"the total of the (.+?) over all items of the group (\w+)\?")
_BEST = re.compile(r"compare its items by their (.+?), and take .* the total of the (.+?) over the")
_RANKED = re.compile(r"rank the items by their (.+?), the highest.* its rank by the (.+?)\. What")


@dataclass(frozen=True)
class _Row:
    """A movement that counts, cleaned."""

    no: int
    day: tuple[int, int]
    item: str
    way: str
    quantity: int
    value: int
    back: int


class LedgerReader:
    """Answers the question about a book and counts the steps in `operations`."""

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt
        self.operations = 0
        self.tables: dict[str, list[dict[str, str]]] = {}
        for name, header, body in _TABLE.findall(prompt):
            names = header.split(",")
            rows = (line.split(",") for line in body.split("\n")[1:])
            self.tables[name] = [dict(zip(names, row, strict=True)) for row in rows]

    def answer(self) -> int:
        """Return the answer. Raises LookupError if the question is of an unknown kind."""
        groups = self._groups()
        found = self._played(self._sorted(self._counting()), [*groups])
        if match := _OVER.search(self.prompt):
            what = found[_measure(match[1])]
            return self._sum(what[item] for item, group in groups.items() if group == match[2])
        if match := _RANKED.search(self.prompt):
            by, what = (found[_measure(words)] for words in match.groups())
            return self._sum(self._rank(item, by, groups) * what[item] for item in groups)
        if match := _BEST.search(self.prompt):
            by, what = (found[_measure(words)] for words in match.groups())
            return self._sum(what[item] for item in self._best(by, groups))
        raise LookupError("no reading of the question")

    def _groups(self) -> dict[str, str]:
        groups = {}
        for row in self.tables["items"]:
            self.operations += 1
            groups[row["item"]] = row["group"]
        return groups

    # Cleaning.

    def _counting(self) -> list[_Row]:
        """Return the rows that count, with their right quantities."""
        last = KEPT["last"] in self.prompt
        rows: dict[str, dict[str, str]] = {}
        for row in self.tables["movements"]:
            self.operations += 1
            if row["type"] == "void":
                continue
            self.operations += 1
            if last or row["no"] not in rows:
                rows[row["no"]] = row
        said = self._corrected()
        return [self._cleaned(row, said) for row in rows.values()]

    def _corrected(self) -> dict[str, str]:
        said = {}
        for row in self.tables.get("corrections", []):
            self.operations += 1
            said[row["no"]] = row["quantity"]
        return said

    def _cleaned(self, row: Mapping[str, str], said: Mapping[str, str]) -> _Row:
        self.operations += 3  # the day, the code and the number in the table of corrections
        item = row["item"].upper().replace("-", "")
        quantity = said.get(row["no"], row["quantity"])
        value = int(quantity[:-1]) if quantity.endswith("w") else 0
        back = int(quantity[1:]) if quantity.startswith("r") else 0
        units = 0 if value or back else self._units(quantity, item)
        return _Row(int(row["no"]), _day(row["day"]), item, row["type"], units, value, back)

    def _units(self, quantity: str, item: str) -> int:
        if not quantity.endswith("c"):
            return int(quantity)
        for row in self.tables["items"]:
            self.operations += 1
            if row["item"] == item:
                return int(quantity[:-1]) * int(row["crate"])
        raise LookupError(f"no item {item!r}")

    def _sorted(self, rows: list[_Row]) -> list[_Row]:
        said = [*SAME_DAY.items(), *SAME_DAY_KITS.items()]
        first = next(name for name, words in said if words in self.prompt)
        ways = ("in", "make", "out") if first == "in" else ("out", "make", "in")

        def key(row: _Row) -> tuple[tuple[int, int], int, int]:
            return row.day, ways.index(row.way) if first in WAYS else 0, row.no

        def compared(one: _Row, two: _Row) -> int:
            self.operations += 1
            return -1 if key(one) < key(two) else 1

        return sorted(rows, key=cmp_to_key(compared))

    # Playing.

    def _played(self, rows: Iterable[_Row], items: list[str]) -> dict[str, dict[str, int]]:
        """Return each figure of each item after all movements."""
        found = {name: dict.fromkeys(items, 0) for name in MEASURES}
        capacity = self._number(_HOLDS)
        priced = MEASURES["worth"] in self.prompt
        is_averaged = AVERAGED.partition("{")[0] in self.prompt
        run, average = dict.fromkeys(items, 0), dict.fromkeys(items, 0)
        stock, held = found["left"], 0
        handed: dict[int, tuple[int, int]] = {}
        for row in rows:
            self.operations += 3  # compared with the limit, added to the stock and to the total
            item, wanted = row.item, row.quantity
            if row.way == "make":
                held += self._put_together(row, stock, average, found["missing"])
                self._noted(item, stock[item], run, found)
                continue
            if row.back:
                self.operations += 1  # looked up
                wanted, cost = handed.get(row.back, (0, 0))
            if row.value:
                self.operations += 1  # divided
                wanted = row.value // average[item] if average[item] else 0
            if row.way == "in":
                done = min(wanted, capacity - held)
                if is_averaged and done:
                    price = cost if row.back else self._price(item, row.day)
                    average[item] = self._average(stock[item], average[item], done, price)
                stock[item] += done
                held += done
                found["turned"][item] += wanted - done
            else:
                done = min(wanted, stock[item])
                stock[item] -= done
                held -= done
                found["missing"][item] += wanted - done
                found["handed"][item] += done
                if priced:
                    self.operations += 2  # multiplied and added
                    cost = average[item] if is_averaged else self._price(item, row.day)
                    found["worth"][item] += done * cost
                    handed[row.no] = done, cost
            self._noted(item, stock[item], run, found)
        return found

    def _put_together(
        self, row: _Row, stock: dict[str, int], average: dict[str, int], missing: dict[str, int]
    ) -> int:
        """Put units of a kit together, and return how many units the store holds more, below 0."""
        kit, possible, cost, parts = row.item, row.quantity, 0, []
        for line in self.tables["recipes"]:
            self.operations += 1
            if line["kit"] == kit:
                part, number = line["part"], int(line["units"])
                self.operations += 3  # divided, and added to the cost
                possible = min(possible, stock[part] // number)
                cost += number * average[part]
                parts.append((part, number))
        change = possible
        for part, number in parts:
            self.operations += 1
            stock[part] -= number * possible
            change -= number * possible
        if possible:
            average[kit] = self._average(stock[kit], average[kit], possible, cost)
        stock[kit] += possible
        missing[kit] += row.quantity - possible
        return change

    def _average(self, stock: int, average: int, taken: int, price: int) -> int:
        """Return the average cost of a unit after some more came in."""
        self.operations += 1
        value = stock * average
        self.operations += 1
        value += taken * price
        self.operations += 1
        whole, rest = divmod(value, stock + taken)
        return whole + (2 * rest >= stock + taken)

    def _noted(
        self, item: str, stock: int, run: dict[str, int], found: dict[str, dict[str, int]]
    ) -> None:
        """Bring the run of an item and its highest stock up to date, if the question asks for them."""
        if MEASURES["run"] in self.prompt:
            self.operations += 2
            run[item] = run[item] + 1 if stock >= self._number(_ENOUGH) else 0
            found["run"][item] = max(found["run"][item], run[item])
        if MEASURES["peak"] in self.prompt:
            self.operations += 1
            found["peak"][item] = max(found["peak"][item], stock)

    def _price(self, item: str, day: tuple[int, int]) -> int:
        """Return the price on a day, going through the prices of the item from the first."""
        price = None
        for row in self.tables["prices"]:
            if row["item"] != item:
                continue
            self.operations += 1
            if _day(row["from"]) > day:
                break
            price = int(row["price"])
        self.operations += 1
        if price is not None:
            return price
        prices = [row for row in self.tables["prices"] if row["item"] == item]
        return int(prices[0]["price"]) if EARLY["first"] in self.prompt else 0

    # Putting together.

    def _best(self, by: Mapping[str, int], groups: Mapping[str, str]) -> list[str]:
        best: dict[str, str] = {}
        for item, group in groups.items():
            self.operations += 1
            if group not in best or by[item] > by[best[group]]:
                best[group] = item
        return [*best.values()]

    def _rank(self, item: str, by: Mapping[str, int], groups: Mapping[str, str]) -> int:
        higher = []
        for other, group in groups.items():
            self.operations += 1
            if group == groups[item] and by[other] > by[item]:
                higher.append(by[other])
        return 1 + len(set(higher) if TIES["dense"] in self.prompt else higher)

    def _sum(self, values: Iterable[int]) -> int:
        total = 0
        for value in values:
            self.operations += 1
            total += value
        return total

    def _number(self, pattern: re.Pattern[str]) -> int:
        match = pattern.search(self.prompt)
        if match is None:
            raise LookupError(f"no {pattern.pattern!r} in the prompt")
        return int(match[1])


def _day(text: str) -> tuple[int, int]:
    """Return month and day of `14 Mar` or `03-14`."""
    if "-" in text:
        month, day = text.split("-")
        return int(month), int(day)
    day, name = text.split(" ")
    return MONTHS.index(name) + 1, int(day)


def _measure(words: str) -> str:
    return next(name for name, said in MEASURES.items() if said == words)
