"""Rows that a query reads: all of each table that it names, once for each time that it names it.

This measure is the same on every machine and with every version of an engine, which may do less or more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def rows_read(tree: exp.Expr, size_of: Callable[[str], int | None]) -> int:
    """Return the rows that a query reads; `size_of` gives those of a table, None for other names.

    Raises RefusedQuery if a name of a WITH clause is that of a table, or is used where the clause does not reach: an engine
    would take a table of its own there.
    """
    from sqlglot import exp

    from verigym.verifiers.sql.read import RefusedQuery

    reach: dict[str, set[int]] = {}
    for own in tree.find_all(exp.CTE):
        name = own.alias.lower()
        if size_of(name) is not None:
            raise RefusedQuery("refused_syntax", f"WITH {name}: choose a name that no table has")
        assert own.parent is not None
        reach.setdefault(name, set()).add(id(own.parent.parent))
    total = 0
    for table in tree.find_all(exp.Table):
        name = table.name.lower()
        size = size_of(name)
        if size is None and not any(id(one) in reach.get(name, ()) for one in _above(table)):
            raise RefusedQuery("unknown_table", f"there is no table {name!r}")
        total += size or 0
    return total


def _above(node: exp.Expr) -> Iterator[exp.Expr]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent
