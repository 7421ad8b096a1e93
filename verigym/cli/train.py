"""`verigym train`: a thin door to `verigym.trainers.run.train_from_config`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from verigym.cli import console
from verigym.errors import RequestError


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
    """Train a policy as a TOML file says, and write a run folder with a report."""
    if not config.is_file():
        raise RequestError(f"{config} is not a file; the first argument is a TOML configuration")
    overrides = _overrides(settings or [])
    from verigym.trainers.run import train_from_config

    train_from_config(config, overrides, resume, out)
    if out is not None:
        console.note(f"run folder: {out}")


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
