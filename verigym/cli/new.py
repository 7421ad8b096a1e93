"""`verigym new`: create a package with one environment of your own, or one that publishes an environment on a hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from verigym.cli import console
from verigym.errors import RequestError

_NEXT: Final = {
    None: "pip install -e {folder} && verigym check {name}",
    "prime": "pip install -e {folder}, then vf-eval {name}; see its README.md",
    "openenv": "pip install -e {folder}, then python -m server.app in it; see its README.md",
    "harbor": "verigym harbor run {folder}/tasks --agent oracle",
}
"""Command to go on with, by hub."""


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
    hub: Annotated[
        Literal["prime", "openenv", "harbor"] | None,
        typer.Option(
            "--for",
            help="Publish --env on this hub, in the layout that it expects: a taskset of Prime's verifiers, an "
            "OpenEnv environment, or Harbor task folders.",
        ),
    ] = None,
    env: Annotated[
        str | None, typer.Option(help="Environment to publish, with --for, as in games/keydoor.")
    ] = None,
    tasks: Annotated[
        int, typer.Option("--tasks", "-n", min=1, help="Number of task folders, for harbor.")
    ] = 10,
) -> None:
    """Create a package: an environment of your own, or one to publish on Prime's, OpenEnv's or Harbor's hub.

    Your own gets an entry point, tests, a CI file and a licence.
    With --for, the package publishes --env in the layout that the hub expects.
    """
    import datetime
    import shlex

    from verigym.envs.new.hubs import write_hub_package
    from verigym.envs.new.write import write_package

    folder = out or Path(name)
    if (hub is None) != (env is None):
        raise RequestError("--for and --env go together, as in --for prime --env games/keydoor")
    if hub is None or env is None:
        year = datetime.datetime.now(tz=datetime.UTC).year
        written = write_package(folder, name, family=family, author=author, year=year)
    else:
        written = write_hub_package(folder, name, hub=hub, env=env, author=author, tasks=tasks)
    for path in written:
        console.out().print(f"[green]wrote[/green] {path}", soft_wrap=True)
    console.note("next: " + _NEXT[hub].format(folder=shlex.quote(str(folder)), name=name))
