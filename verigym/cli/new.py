"""`verigym new`: create a package with one environment, ready to edit and publish."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verigym.cli import console


def new(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of the environment: lower-case words joined by hyphens, as in word-ladder."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "--into", metavar="DIR", help="Folder to create. Default: ./NAME."),
    ] = None,
    family: Annotated[
        str, typer.Option(help="First part of the id, as in games or math.")
    ] = "community",
    author: Annotated[
        str, typer.Option(help="Author named in the licence and the package.")
    ] = "The authors",
) -> None:
    """Create a pip package with one environment, its entry point, tests, CI file and licence."""
    import datetime
    import shlex

    from verigym.envs.new.write import write_package

    folder = out or Path(name)
    year = datetime.datetime.now(tz=datetime.UTC).year
    for path in write_package(folder, name, family=family, author=author, year=year):
        console.out().print(f"[green]wrote[/green] {path}", soft_wrap=True)
    console.note(f"next: pip install -e {shlex.quote(str(folder))} && verigym check {name}")
