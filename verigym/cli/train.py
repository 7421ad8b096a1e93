"""`verigym train`: a thin door to `verigym.trainers.run.train_from_config`."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

from verigym.cli import console
from verigym.errors import RequestError

if TYPE_CHECKING:
    from verigym.trainers.run import Progress


def train(
    config: Annotated[Path, typer.Argument(help="A TOML file; docs/train.md lists its keys.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint in the run folder.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run folder, in place of the config's.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change one key, dots for tables; may be repeated."
        ),
    ] = None,
) -> None:
    """Train a policy as a TOML file says, into a run folder that `verigym report` draws."""
    if not config.is_file():
        raise RequestError(f"{config} is not a file; the first argument is a TOML configuration")
    overrides = _overrides(settings or [])
    from verigym.trainers.run import train_from_config

    with Screen() as screen:
        folder = train_from_config(config, overrides, resume, out, listen=screen.hear)
    console.note(f"run folder: {folder}; draw it with: verigym report {shlex.quote(str(folder))}")


class Screen:
    """Shows a training run on stderr: a bar for the stage under way, a line for what ended."""

    def __init__(self) -> None:
        self._console = console.err()
        self._bar = RichProgress(
            TextColumn("{task.description:<14}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[text]}", markup=False),
            console=self._console,
            transient=True,
        )
        self._stage = self._bar.add_task("starting", total=None, text="")

    def __enter__(self) -> Screen:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def hear(self, progress: Progress) -> None:
        """Take one piece of news; evaluations and waiting also leave a line."""
        self._bar.update(
            self._stage,
            description=progress.stage,
            completed=progress.done,
            total=progress.total,
            text=progress.text,
        )
        evaluated = progress.stage == "evaluation" and progress.line is not None
        # Without a terminal there is no bar, so every step is a line.
        if evaluated or progress.stage == "waiting" or self._says_each(progress):
            said = f"{progress.stage:<14} step {progress.done}/{progress.total}  {progress.text}"
            self._console.print(said, markup=False, highlight=False, soft_wrap=True)

    def _says_each(self, progress: Progress) -> bool:
        return progress.line is not None and not self._console.is_terminal


def _overrides(settings: list[str]) -> dict[str, Any]:
    """`["a.b=1", "c=x"]` as `{"a.b": 1, "c": "x"}`; RequestError without `=`."""
    overrides: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise RequestError(f"--set takes KEY=VALUE, got {setting!r}")
        overrides[key.strip()] = _value(value.strip())
    return overrides


def _value(text: str) -> Any:
    """`text` read as a TOML value; what is none is taken as a string, so that quotes can be left out."""
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return found["value"] if len(found) == 1 else text
