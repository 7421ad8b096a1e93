"""`verigym new`: a package of its own with one environment, ready to edit and publish."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verigym.cli import console


def new(
    name: Annotated[str, typer.Argument(help="Lower-case words joined by hyphens: word-ladder.")],
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to make; ./NAME if left out.")
    ] = None,
    family: Annotated[
        str, typer.Option(help="First part of the id: games, math, ...")
    ] = "community",
    author: Annotated[str, typer.Option(help="For the licence and the package.")] = "The authors",
) -> None:
    """Write a pip package with one environment: one file, entry point, tests, CI file, licence."""
    import datetime
    import shlex

    from verigym.envs.new.write import write_package

    folder = into or Path(name)
    year = datetime.datetime.now(tz=datetime.UTC).year
    for path in write_package(folder, name, family=family, author=author, year=year):
        console.out().print(f"[green]wrote[/green] {path}", soft_wrap=True)
    console.note(f"next: pip install -e {shlex.quote(str(folder))} && verigym check {name}")
