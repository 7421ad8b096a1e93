"""Tables and columns of a query that comes without a schema, as far as it names them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

_ALONE = "id"
"""The column of a table of which none is named."""


def guessed_tables(tree: exp.Expr) -> dict[str, dict[str, str]]:
    """Return the columns by table, in lower case, each with the empty type; empty without tables.

    A column without a table's name belongs to a table of its SELECT, or of one around it unless it is
    shown: the one that has it elsewhere, or whose name it holds, or else the first.
    """
    views = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    tables: dict[str, dict[str, str]] = {}
    for table in tree.find_all(exp.Table):
        if table.name and table.name.lower() not in views:
            tables.setdefault(table.name.lower(), {})
    loose: list[exp.Column] = []
    for column in tree.find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            continue
        owner = _owner(column, tables) if column.table else None
        if owner:
            tables[owner][column.name.lower()] = ""
        elif not column.table:
            loose.append(column)
    for column in loose:
        owner = _likely(column, tables)
        if owner:
            tables[owner][column.name.lower()] = ""
    for join in tree.find_all(exp.Join):
        for name in join.args.get("using") or ():
            for owner in _sources(join.find_ancestor(exp.Select), tables).values():
                tables[owner][name.name.lower()] = ""
    for columns in tables.values():
        columns.setdefault(_ALONE, "") if not columns else None
    return tables


def _sources(select: exp.Expr | None, tables: Mapping[str, object]) -> dict[str, str]:
    """The base tables of one SELECT by alias."""
    if not isinstance(select, exp.Select):
        return {}
    start = select.args.get("from_")
    parts = [start.this] if isinstance(start, exp.From) else []
    parts += [join.this for join in select.args.get("joins") or ()]
    parts += [j.this for part in parts for j in part.args.get("joins") or ()]
    return {
        part.alias_or_name.lower(): part.name.lower()
        for part in parts
        if isinstance(part, exp.Table) and part.name.lower() in tables
    }


def _owner(column: exp.Column, tables: Mapping[str, object]) -> str | None:
    """The table that a qualified column means."""
    name, select = column.table.lower(), column.find_ancestor(exp.Select)
    while select is not None:
        sources = _sources(select, tables)
        if name in sources:
            return sources[name]
        select = select.find_ancestor(exp.Select)
    return name if name in tables else None


def _likely(column: exp.Column, tables: Mapping[str, Mapping[str, str]]) -> str | None:
    """The table that a column without one most likely means; None for an alias or a subquery's."""
    name, select = column.name.lower(), column.find_ancestor(exp.Select)
    if select is None:
        union = column.find_ancestor(exp.SetOperation)
        select = union.find(exp.Select) if union is not None else None
    shown = {item.alias.lower() for item in select.selects if item.alias} if select else set[str]()
    in_clause = column.find_ancestor(exp.Order, exp.Having, exp.Group) is not None
    if name in shown and in_clause:
        return None
    if not isinstance(select, exp.Select) or _is_shown_below(select, name):
        return None
    own = list(dict.fromkeys(_sources(select, tables).values()))
    # What `IN (SELECT pet_id FROM visits)` shows is a column of `visits`, though `pets` has one of that name.
    shown_here = any(
        column is part for item in select.selects for part in item.find_all(exp.Column)
    )
    around: exp.Expr | None = select
    while isinstance(around, exp.Select):
        for owner in _sources(around, tables).values():
            if name in tables[owner]:
                return owner
        around = None if shown_here and own else around.find_ancestor(exp.Select)
    for owner in own:
        stem = owner.rstrip("s")
        if len(stem) > 2 and (name.startswith(stem) or stem.startswith(name.partition("_")[0])):
            return owner
    return next(iter(own), None)


def _is_shown_below(select: exp.Select, name: str) -> bool:
    """Return True if a subquery or a view among the sources gives a column of this name."""
    start = select.args.get("from_")
    parts = [start.this] if isinstance(start, exp.From) else []
    parts += [join.this for join in select.args.get("joins") or ()]
    root = select.root()
    for part in parts:
        body: exp.Expr | None = None
        if isinstance(part, exp.Subquery):
            body = part.this
        elif isinstance(part, exp.Table):
            views = [c for c in root.find_all(exp.CTE) if c.alias.lower() == part.name.lower()]
            if views:
                named = views[0].args["alias"].columns
                if any(column.name.lower() == name for column in named):
                    return True
                body = views[0].this
        if isinstance(body, exp.Query) and any(
            item.alias_or_name.lower() == name for item in body.selects
        ):
            return True
    return False
