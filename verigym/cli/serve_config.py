"""`verigym serve --config FILE`: the options of the command from a TOML file."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import typer

from verigym.errors import ConfigError, suggestion

_NOT_IN_FILES = ("config", "until_stdin_closes")


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the options in `path` the defaults of the command, so that options given on the command line win.

    Raises ConfigError if the file cannot be read, an option is unknown, or a value has the wrong type.
    """
    if path is None:
        return None
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"--config {path}: {error}") from error
    assert context.command.callback is not None
    kinds = get_type_hints(inspect.unwrap(context.command.callback))
    known = {
        # An option is named as its flag: `json` is the parameter `as_json`.
        option.opts[0].removeprefix("--").replace("-", "_"): option.name
        for option in context.command.params
        if option.name in kinds and option.name not in _NOT_IN_FILES
    }
    defaults: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            raise ConfigError(f"--config {path}: no option {key!r}; {suggestion(key, known)}")
        name = known[key]
        assert name is not None
        if kinds[name] == list[str] | None and isinstance(value, str):
            value = [value]
        try:
            defaults[name] = msgspec.convert(value, kinds[name])
        except msgspec.ValidationError as error:
            raise ConfigError(f"--config {path}: {key}: {error}") from error
    context.default_map = {**(context.default_map or {}), **defaults}
    return path
