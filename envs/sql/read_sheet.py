"""Answer a question about the tables of a prompt as a reader does, and count the steps.

A step is a cell compared, a row found by its name, a number added or a row counted.
"""

from __future__ import annotations

import csv
import operator
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from verigym.question import FORM

Row = dict[str, Any]
Answer = int | Fraction | str | list[str]


def read_tables(prompt: str) -> tuple[list[Row], list[Row], str]:
    """Return the rows of the first table and of the second, if there is one, and the question."""
    *tables, question = prompt.removesuffix("\n" + FORM).split("\n\n")
    first, *second = map(_rows, tables)
    return first, second[0] if second else [], question


def _rows(text: str) -> list[Row]:
    lines = text.splitlines()[1:]
    if lines[0].startswith("|"):
        del lines[1]
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    else:
        cells = [*csv.reader(lines)]
    header, *rows = cells
    return [
        {
            name: int(cell) if cell.isdigit() else cell
            for name, cell in zip(header, row, strict=True)
        }
        for row in rows
    ]


class SheetReader:
    """Answers questions about two tables and counts the steps in `operations`."""

    def __init__(self, prompt: str) -> None:
        self.things, self.owners, self.question = read_tables(prompt)
        self.operations = 0

    def answer(self) -> Answer:
        """Return the answer to the question. Raises LookupError if it is of an unknown kind."""
        first, *statements = self.question.splitlines()
        if statements:
            said = (line.partition(". ") for line in statements)
            return [number for number, _, text in said if self._found(text)]
        found: Answer = self._found(first)
        return found

    def _found(self, sentence: str) -> Any:
        sentence = sentence.replace("`", "")
        for pattern, answer in _SENTENCES:
            if match := re.fullmatch(pattern, sentence):
                return answer(
                    self, *(int(g) if _INTEGER.fullmatch(g) else g for g in match.groups())
                )
        raise LookupError(f"no reading of {sentence!r}")

    # Steps.

    def keep(
        self, rows: Iterable[Row], column: str, test: Callable[[Any, Any], bool], value: Any
    ) -> list[Row]:
        """Return the rows whose cell passes the test against `value`."""
        kept = []
        for row in rows:
            self.operations += 1
            if test(row[column], value):
                kept.append(row)
        return kept

    def find(self, rows: Iterable[Row], name: str) -> Row:
        """Return the row of that name, going through the rows from the top."""
        for row in rows:
            self.operations += 1
            if row["name"] == name:
                return row
        raise LookupError(f"no row {name!r}")

    def joined(self, rows: Iterable[Row], key: str) -> list[Row]:
        """Return the rows joined with the columns of their owner, which is looked up by name."""
        owners = {owner["name"]: owner for owner in self.owners}
        wide = []
        for row in rows:
            self.operations += 1
            wide.append({**owners[row[key]], **row})
        return wide

    def add(self, rows: Iterable[Row], column: str) -> int:
        """Return the sum of a column."""
        total = 0
        for row in rows:
            self.operations += 1
            total += row[column]
        return total

    def count(self, rows: Iterable[Row]) -> int:
        """Return the number of rows."""
        n = 0
        for _ in rows:
            self.operations += 1
            n += 1
        return n

    def best(self, rows: list[Row], column: str, sign: int = 1) -> Row:
        """Return the first row with the greatest value, or the least if `sign` is -1."""
        found = rows[0]
        for row in rows:
            self.operations += 1
            if sign * row[column] > sign * found[column]:
                found = row
        return found

    def groups(self, rows: Iterable[Row], column: str) -> dict[Any, list[Row]]:
        """Return the rows by their cell in a column."""
        found: dict[Any, list[Row]] = {}
        for row in rows:
            self.operations += 1
            found.setdefault(row[column], []).append(row)
        return found

    def totals(self, groups: dict[Any, list[Row]], column: str) -> list[Row]:
        """Return the sum of each group as a row with its name."""
        return [{"name": name, "total": self.add(rows, column)} for name, rows in groups.items()]

    # Answers, by kind of sentence.

    def _cell(self, column: str, name: str) -> Any:
        return self.find(self.things, name)[column]

    def _at_least(self, column: str, bound: int) -> int:
        return self.count(self.keep(self.things, column, operator.ge, bound))

    def _winner(self, word: str, column: str) -> Any:
        return self.best(self.things, column, 1 if word == "highest" else -1)["name"]

    def _at_least_two(self, kind: str, value: str, column: str, bound: int) -> int:
        return self.count(self.keep(self._of(kind, value), column, operator.ge, bound))

    def _of(self, column: str, value: str) -> list[Row]:
        return self.keep(self.things, column, operator.eq, value)

    def _total(self, column: str, kind: str, value: str) -> int:
        return self.add(self._of(kind, value), column)

    def _mean(self, column: str, kind: str, value: str) -> Fraction:
        rows = self._of(kind, value)
        return Fraction(self.add(rows, column), self.count(rows))

    def _difference(self, column: str, kind: str, one: str, _: str, two: str) -> int:
        return self._total(column, kind, one) - self._total(column, kind, two)

    def _below(self, kind: str, value: str, column: str, bound: int) -> list[str]:
        return [row["name"] for row in self.keep(self._of(kind, value), column, operator.lt, bound)]

    def _total_of(self, column: str, owner: str, region: str, value: str) -> int:
        wide = self.joined(self.things, owner)
        return self.add(self.keep(wide, region, operator.eq, value), column)

    def _best_owner(self, region: str, value: str, column: str) -> Any:
        there = {row["name"] for row in self.keep(self.owners, region, operator.eq, value)}
        owner = [*self.things[0]][1]
        own = self.keep(self.things, owner, lambda cell, names: cell in names, there)
        return self.best(self.totals(self.groups(own, owner), column), "total")["name"]

    def _second(self, owner: str, year: int, column: str) -> Any:
        rows = self.keep(self.joined(self.things, owner), "founded", operator.ge, year)
        first = self.best(rows, column)
        return self.best([row for row in rows if row is not first], column)["name"]

    def _before(self, kind: str, value: str, _: str, year: int) -> list[str]:
        wide = self.joined(self._of(kind, value), [*self.things[0]][1])
        return [row["name"] for row in self.keep(wide, "founded", operator.lt, year)]

    def _above_average(self, column: str, _: str, owner: str, region: str) -> int:
        above = 0
        for rows in self.groups(self.joined(self.things, owner), region).values():
            mean = Fraction(self.add(rows, column), len(rows))
            above += self.count(self.keep(rows, column, operator.gt, mean))
        return above

    def _spread(self, kind: str, value: str, region: str, column: str, owner: str) -> int:
        wide = self.joined(self.keep(self.things, kind, operator.ne, value), owner)
        totals = self.totals(self.groups(wide, region), column)
        highest, lowest = (self.best(totals, "total", sign)["total"] for sign in (1, -1))
        return int(highest - lowest)

    def _leaders(self, owner: str, column: str, other: str) -> int:
        groups = self.groups(self.things, owner).values()
        return self.add([self.best(rows, column) for rows in groups], other)

    def _exactly(self, n: int, kind: str, value: str) -> bool:
        return self.count(self._of(kind, value)) == n

    def _above(self, owner: str, region: str, value: str, column: str, bound: int) -> bool:
        return self._total_of(column, owner, region, value) > bound

    def _higher(self, column: str, one: str, two: str) -> bool:
        return bool(self._cell(column, one) > self._cell(column, two))

    def _older(self, owner: str, one: str, _: str, two: str) -> bool:
        founded = [
            self.find(self.owners, self._cell(owner, name))["founded"] for name in (one, two)
        ]
        return bool(founded[0] < founded[1])


_INTEGER = re.compile(r"-?\d+")
_N = r"(\w+)"
_SENTENCES: tuple[tuple[str, Callable[..., Any]], ...] = (
    (rf"What is the {_N} of the \w+ {_N}\?", SheetReader._cell),
    (rf"How many of the \w+ have {_N} of at least {_N}\?", SheetReader._at_least),
    (rf"Which of the \w+ has the (highest|lowest) {_N}\?.*", SheetReader._winner),
    (
        rf"How many of the \w+ have the {_N} {_N} and {_N} of at least {_N}\?",
        SheetReader._at_least_two,
    ),
    (rf"What is the total {_N} of all \w+ with the {_N} {_N}\?", SheetReader._total),
    (rf"What is the average {_N} of the \w+ with the {_N} {_N}\?", SheetReader._mean),
    (
        rf"By how much is the total {_N} of the \w+ with the {_N} {_N} higher than that of those with the "
        rf"{_N} {_N}\?",
        SheetReader._difference,
    ),
    (rf"Which of the \w+ have the {_N} {_N} and {_N} below {_N}\?.*", SheetReader._below),
    (rf"What is the total {_N} of all \w+ whose {_N} has the {_N} {_N}\?", SheetReader._total_of),
    (
        rf"Which of the \w+ with the {_N} {_N} has the highest total {_N} over its \w+\?.*",
        SheetReader._best_owner,
    ),
    (
        rf"Among the \w+ whose {_N} was founded in {_N} or later, which has the second highest {_N}\?.*",
        SheetReader._second,
    ),
    (
        rf"Which of the \w+ with the {_N} {_N} belong to {_N} founded before {_N}\?.*",
        SheetReader._before,
    ),
    (
        rf"How many of the \w+ have a {_N} above the average {_N} of all \w+ whose {_N} has the same {_N}\?",
        SheetReader._above_average,
    ),
    (
        rf"Leave out the \w+ with the {_N} {_N}\. For each {_N}, add up the {_N} of the other \w+ whose {_N} "
        r"has that .*",
        SheetReader._spread,
    ),
    (
        rf"For each {_N} that has \w+, take the one with the highest {_N};.* What is the total {_N} of the .*",
        SheetReader._leaders,
    ),
    (rf"Exactly {_N} of the \w+ have the {_N} {_N}\.", SheetReader._exactly),
    (
        rf"The \w+ whose {_N} has the {_N} {_N} have a total {_N} above (-?\d+)\.",
        SheetReader._above,
    ),
    (rf"The {_N} of {_N} is higher than that of {_N}\.", SheetReader._higher),
    (rf"The {_N} of {_N} was founded before the {_N} of {_N} was\.", SheetReader._older),
)
