"""The conditions of a query, each with the query without it: what a witness must tell apart."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from verigym.verifiers.sql.scopes import conjuncts

MAX_CONDITIONS = 24


def conditions_of(tree: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    """Yield the names of conditions, as `WHERE 2: a > 3`, with the query where each is true."""
    places = list(_places(tree))[:MAX_CONDITIONS]
    for number, name in places:
        copy = tree.copy()
        node = next(node for at, node in enumerate(copy.dfs()) if at == number)
        node.replace(exp.EQ(this=exp.Literal.number(1), expression=exp.Literal.number(1)))
        yield name, copy


def _places(tree: exp.Expr) -> Iterator[tuple[int, str]]:
    """Numbers of nodes, in the order in which a walk meets them, with names."""
    numbers = {id(node): at for at, node in enumerate(tree.dfs())}
    for clause, kind, argument in (
        ("WHERE", exp.Where, "this"),
        ("HAVING", exp.Having, "this"),
        ("ON", exp.Join, "on"),
    ):
        count = 0
        for owner in tree.find_all(kind):
            if _stops_recursion(owner):
                continue
            condition = owner.args.get(argument)
            for part in conjuncts(condition) if condition is not None else ():
                count += 1
                yield numbers[id(part)], f"{clause} {count}: {part.sql()}"


def _stops_recursion(owner: exp.Expr) -> bool:
    """Return True within a recursive WITH: the query does not end without it, which is witness enough."""
    step = owner.find_ancestor(exp.With)
    return step is not None and bool(step.args.get("recursive"))
