"""`verigym sandbox selfcheck`: attack the sandbox and report what escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from verigym.cli import console

_STYLES = {"contained": "green", "escaped": "bold red", "unknown": "yellow"}


def selfcheck(
    attacks: Annotated[
        Path | None,
        typer.Option(
            "--attacks",
            metavar="DIR",
            help="Folder of attacks to run instead of the built-in ones.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Run only this attack; repeatable."),
    ] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option(
            "--backend", "-b", help="local, docker or remote. Default: every available backend."
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="Service URL; only with --backend remote."),
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            "--accept",
            metavar="LAYER",
            help="Run even if this layer is missing; see `sandbox doctor`.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, help="Sandboxes to attack in parallel, per backend and user."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Attack the sandbox as root and as an ordinary user; exit code 4 if an attack escapes."""
    from verigym.errors import RequestError
    from verigym.sandbox.selfcheck.backends import BACKENDS
    from verigym.sandbox.selfcheck.run import check_backends
    from verigym.sandbox.selfcheck.run import selfcheck as attack

    backends = backend or ["local", "docker"]
    check_backends(backends, BACKENDS)
    if ("remote" in backends) != (url is not None):
        raise RequestError("--url URL goes with --backend remote: give both or neither")
    options: dict[str, dict[str, Any]] = {
        "local": {"max_jobs": 2, **({"accept": accept} if accept else {})},
        "remote": {"url": url},
    }
    with _Bar() as bar:
        report = attack(
            backends,
            attacks_dir=attacks,
            only=only or (),
            options=options,
            workers=workers,
            progress=bar.count,
        )
    if as_json:
        console.write_json(report)
    else:
        _print(report)
    if report["escaped"] or report["left"]:
        console.complain(
            f"{report['escaped']} of {report['total']} attacks escaped"
            + (f", {len(report['left'])} things were left behind" if report["left"] else "")
        )
        raise typer.Exit(console.BELOW)
    if not report["contained"]:
        console.complain("every attack ended in a failure of the machine; nothing was checked")
        raise typer.Exit(console.MACHINE)


class _Bar:
    """A progress bar on a terminal, nothing elsewhere."""

    def __init__(self) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        screen = console.err()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=screen,
            transient=True,
            disable=not screen.is_terminal,
        )
        self._task = self._progress.add_task("starting", total=None)
        self._escaped = 0

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def count(self, done: int, total: int, report: dict[str, Any]) -> None:
        """Advance the bar after an attack has been judged."""
        self._progress.update(
            self._task, completed=done, total=total, description=f"{report['name']:<30.30}"
        )


def _print(report: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("attack", "backend", "user", "outcome", "evidence"):
        table.add_column(title, no_wrap=title != "evidence")
    worst_last = sorted(report["attacks"], key=lambda one: list(_STYLES).index(one["outcome"]))
    for one in sorted(worst_last, key=lambda one: one["outcome"] == "escaped"):
        table.add_row(
            Text(one["name"]),
            one["backend"],
            "root" if one["as_root"] else "ordinary",
            Text(one["outcome"], _STYLES[one["outcome"]]),
            Text("" if one["outcome"] == "contained" else one["evidence"]),
        )
    screen = console.out()
    screen.print(table)
    for half in report["halves"]:
        if half["unavailable"]:
            user = "root" if half["as_root"] else "an ordinary user"
            console.note(f"not attacked: {half['backend']} as {user}: {half['unavailable']}")
    for text in report["notes"]:
        console.note(text)
    for text in report["left"]:
        screen.print(Text(f"left behind: {text}", "bold red"))
    screen.print(
        Text(
            f"{report['contained']} of {report['total']} contained, {report['escaped']} escaped, "
            f"{report['unknown']} unknown, in {report['wall_s']:.0f} s",
            "bold",
        )
    )
