"""`verigym report`: one HTML file about one run or several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verigym.cli import console
from verigym.errors import RequestError


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN_DIR...",
            help="Run folders, or folders of them; runs of one algorithm are averaged.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="HTML file to write. Default for a single RUN_DIR: RUN_DIR/report.html.",
        ),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
) -> None:
    """Write the report of a training run: one HTML file that needs no network."""
    if out is None and len(runs) > 1:
        raise RequestError("several run folders need an output file; add --out FILE.html")
    from verigym.trainers.report import build

    path = build(runs if len(runs) > 1 else runs[0], out)
    console.out().print(str(path), soft_wrap=True, markup=False)
    if open_:
        typer.launch(path.resolve().as_uri())
