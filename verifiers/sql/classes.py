"""Classes of cells that a query compares for equality: all cells of a class hold one value."""

from __future__ import annotations

from collections import defaultdict

from verigym.verifiers.sql.hints import Hints
from verigym.verifiers.sql.schema import Schema
from verigym.verifiers.sql.scopes import Cell as Place
from verigym.verifiers.sql.scopes import Scene


class Classes:
    """The cells of a scene by class; a class goes by its first cell, its root."""

    def __init__(self, scene: Scene, schema: Schema, hints: Hints) -> None:
        self.scene, self.schema, self.hints = scene, schema, hints
        self.roots: dict[Place, Place] = {}
        for one, other in scene.equal:
            low, high = sorted((self.root(one), self.root(other)))
            self.roots[high] = low
        self.members: dict[Place, list[Place]] = defaultdict(list)
        cells = {cell for atom in scene.atoms for cell in atom.cells}
        cells |= {cell for pair in scene.equal for cell in pair} | scene.grouped | scene.ordered
        for cell in sorted(cells):
            self.members[self.root(cell)].append(cell)
        self.columns = {
            cell: column
            for cells in self.members.values()
            for cell in cells
            if (column := schema.column(scene.occurrences[cell[0]].table, cell[1]))
        }
        self.keys = {
            (at, name)
            for at, occurrence in enumerate(scene.occurrences)
            for key in schema.keys.get(occurrence.table, ())
            for name in key
        }

    def root(self, cell: Place) -> Place:
        """Return the first cell of the class of `cell`."""
        while self.roots.get(cell, cell) != cell:
            cell = self.roots[cell]
        return cell

    def place(self, cell: Place) -> tuple[str, str]:
        """Return the table and column of a cell."""
        return self.scene.occurrences[cell[0]].table, cell[1]

    def kind(self, cell: Place) -> str:
        """Return the kind of a cell's column."""
        return self.hints.kinds.get(self.place(cell), "int")

    def may_be_null(self, root: Place) -> bool:
        """Return True if all cells of a class may be null."""
        return all(
            (column := self.columns.get(cell)) is not None and column.nullable
            for cell in self.members[root]
        )

    def is_key(self, root: Place) -> bool:
        """Return True if a class holds keys or references to them."""
        return any(is_key(self.schema, *self.place(cell)) for cell in self.members[root])


def is_key(schema: Schema, table: str, name: str) -> bool:
    """Return True if a column is part of a key, or refers to one."""
    return any(name in key for key in schema.keys.get(table, ())) or any(
        name in key.columns for key in schema.foreign if key.table == table
    )
