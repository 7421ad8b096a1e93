"""`verigym list`: list the registered environments and adapters without importing them."""

from __future__ import annotations

from typing import Annotated

import typer

from verigym.cli import console


def list_(
    family: Annotated[
        str | None, typer.Argument(help="List only this family: games, math, code, ...")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List the installed environments, plug-ins included."""
    from verigym.doors import DOORS
    from verigym.errors import RequestError, suggestion
    from verigym.registry import list_doors, list_envs

    entries = [*list_envs().values(), *list_doors().values()]
    closed = [door for door in DOORS if not door.installed]
    if family is not None and family in {door.name for door in closed}:
        (door,) = (door for door in closed if door.name == family)
        raise RequestError(
            f"{family} is not installed; pip install 'verigym[{door.extra}]' brings "
            f"{len(door.games)} environments"
        )
    if family is not None:
        families = {entry.family for entry in entries}
        if family not in families:
            raise RequestError(f"unknown family {family!r}; {suggestion(family, families)}")
        entries = [entry for entry in entries if entry.family == family]
    if as_json:
        console.write_json(
            [
                {
                    "id": entry.id,
                    "family": entry.family,
                    "version": entry.version,
                    "target": entry.target,
                }
                for entry in entries
            ]
        )
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("id", "family", "version", "from"):
        table.add_column(title, no_wrap=True)
    for entry in entries:
        table.add_row(
            f"[cyan]{entry.id}[/cyan]",
            entry.family,
            str(entry.version),
            f"[dim]{entry.target}[/dim]",
        )
    console.out().print(table)
    if family is None:
        for door in closed:
            more = f"{len(door.games)} more of {door.name}: pip install 'verigym[{door.extra}]'"
            console.out().print(more, style="dim", markup=False, soft_wrap=True)
