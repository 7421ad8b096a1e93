"""`python -m verigym.server ...`: the same as `verigym serve ...`."""

from __future__ import annotations

import sys

import typer

from verigym.cli.group import Group
from verigym.cli.serve import serve

app = typer.Typer(cls=Group, pretty_exceptions_enable=False)
app.command("serve")(serve)


@app.callback()  # makes a group of the one command; the group turns errors into exit codes
def _group() -> None:
    pass


if __name__ == "__main__":
    app(["serve", *sys.argv[1:]], prog_name="python -m verigym.server")
