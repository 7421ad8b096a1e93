"""Witnesses on columns of which no condition asks anything: shown, grouped by or measured.

In some they have no value; in others two results, or two groups, look alike and differ only in a key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from verigym.verifiers.sql.cells import Cell, numbered
from verigym.verifiers.sql.classes import Classes
from verigym.verifiers.sql.copies import Copy
from verigym.verifiers.sql.schema import Column
from verigym.verifiers.sql.scopes import Cell as Place

_MAX_NULL_GROUPS = 3
_OTHER = 70
"""Above what the rows of a table are numbered by."""


class Unasked:
    """Draws these witnesses of one query; `sizes` are those of groups that it asks for."""

    def __init__(self, classes: Classes, bound: Collection[Place], sizes: Sequence[int]) -> None:
        self.classes, self.bound, self.sizes = classes, bound, sizes

    def nulls(self, plain: Copy) -> tuple[list[Copy], list[Copy]]:
        """Each column without a value, and those among them that groups are made by or measured in."""
        shaping = set(self._shaping())
        found = {
            root: replace(plain, values={**plain.values, root: None})
            for root, column in self._free(plain)
            if column.nullable
        }
        return list(found.values()), [found[root] for root in found if root in shaping]

    def null_groups(self, plain: Copy) -> Iterator[list[Copy]]:
        """Groups that are large enough and have no key, or nothing to measure."""
        for root in self._shaping()[:_MAX_NULL_GROUPS] if self.sizes else ():
            bare = replace(plain, values={**plain.values, root: None}, together=True)
            yield [replace(bare, number=at) for at in range(max(self.sizes) + 1)]

    def twins(self, plain: Copy) -> Iterator[list[Copy]]:
        """Two results, or groups that are large enough, alike but for the keys that tell groups apart."""
        same: dict[Place, Cell] = {
            root: numbered(1, self.classes.kind(root))
            for root, column in self._free(plain)
            if root not in self.classes.keys and not column.values
        }
        roots = {self.classes.root(cell) for cell in self.classes.scene.grouped}
        grouped = sorted(roots.difference(self.bound))
        keys = [root for root in grouped if self.classes.is_key(root)]
        rows = max(self.sizes, default=0) + 1
        for apart in dict.fromkeys((tuple(keys), tuple(grouped))):
            other = {root: numbered(_OTHER + root[0], self.classes.kind(root)) for root in apart}
            one = replace(plain, values={**plain.values, **same}, together=True)
            two = replace(one, values={**one.values, **other})
            yield [
                replace(copy, number=at + rows * turn)
                for turn, copy in enumerate((one, two))
                for at in range(rows)
            ]

    def _free(self, plain: Copy) -> Iterator[tuple[Place, Column]]:
        """The columns of the query's rows that no condition and no join reads."""
        for at, occurrence in enumerate(self.classes.scene.occurrences):
            for column in self.classes.schema.tables[occurrence.table]:
                root = self.classes.root((at, column.name))
                joined = len(self.classes.members.get(root, ())) > 1
                if at not in plain.missing and not joined and root not in self.bound:
                    yield root, column

    def _shaping(self) -> list[Place]:
        """The classes that groups are made by, then those that are measured in them; what may be null only."""
        scene = self.classes.scene
        cells = [*sorted(scene.grouped), *scene.measured]
        return [
            root
            for root in dict.fromkeys(self.classes.root(cell) for cell in cells)
            if all(
                (column := self.classes.schema.column(*self.classes.place(cell))) is not None
                and column.nullable
                for cell in self.classes.members.get(root, (root,))
            )
        ]
