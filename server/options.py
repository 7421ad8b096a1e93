"""Options of `verigym serve` and keys of its TOML file, derived from `ServerSettings`.

read_settings({"port": 0}, Path("serve.toml"))  # values given as options replace those of the file
"""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import msgspec

from verigym.errors import ConfigError, suggestion
from verigym.params import describe_bounds
from verigym.server.settings import OptionText, ServerSettings, check_value, types

_EVERYTHING = ("verifiers", "envs")
"""Settings that `verigym serve` has at `*` by default; a `ServerSettings` made in a program serves no environment."""


@dataclass(frozen=True)
class Entry:
    """One setting as users give it."""

    field: str
    name: str
    """Its key in a file; its option is the same with hyphens."""
    kind: Any
    """Type of the field, with range and description."""
    option: OptionText
    default: Any
    """None if it is computed or there is none."""

    @property
    def flag(self) -> str:
        """The option: `--session-lease-s`."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def given(self) -> type:
        """Type of the option's value on the command line: a list can be given repeatedly."""
        kind = self.kind.__origin__
        plain = next((one for one in (bool, int, float) if kind is one), str)
        return list[str] if kind in (tuple[str, ...], Mapping[str, str]) else plain

    @property
    def help(self) -> str:
        """The description with default, and the range if it has two ends."""
        default = self.option.default
        if default is None and isinstance(self.default, str | float | int):
            is_off = self.default is False
            default = "" if is_off else format(self.default, "g" if self.given is float else "")
        text = f"{self.option.help} Default: {default}." if default else self.option.help
        rule = msgspec.json.schema(self.kind)
        return f"{text} Range: {describe_bounds(rule)}." if "maximum" in rule else text

    @property
    def metavar(self) -> str | None:
        """Placeholder of the value in help texts; None for that of its type."""
        choices = msgspec.json.schema(self.kind).get("enum", ())
        return self.option.metavar or "|".join(choices) or None


@functools.cache
def entries() -> dict[str, Entry]:
    """Return all settings by their names in files."""
    found = {}
    for one in fields(ServerSettings):
        kind = types()[one.name]
        (option,) = (part for part in kind.__metadata__ if isinstance(part, OptionText))
        default = None if one.default is MISSING else one.default
        name = option.name or one.name
        found[name] = Entry(one.name, name, kind, option, default)
    return found


def read_settings(given: Mapping[str, Any], path: Path | None = None) -> ServerSettings:
    """Return the settings of the options `given`, by name, and of a file for what they leave out.

    Raises ConfigError if the file cannot be read, or a key or a value is wrong. Variables that hold keys
    and addresses are removed from the environment, so that no process started here inherits them.
    """
    values: dict[str, Any] = dict.fromkeys(_EVERYTHING, ("*",))
    known = entries()
    from_file = {} if path is None else _read_file(path)
    for key, value in {**from_file, **given}.items():
        label = known[key].flag if key in given else f"--config {path}: {key}"
        values[known[key].field] = _read_value(known[key], value, label)
    if "timeout_s" in values and "max_timeout_s" not in values:
        values["max_timeout_s"] = max(values["timeout_s"], ServerSettings.max_timeout_s)
    return ServerSettings(**values)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"--config {path}: {error}") from error
    for key in found:
        if key not in entries():
            hint = suggestion(key, entries())
            raise ConfigError(f"--config {path}: no setting is called {key!r}; {hint}")
    return found


def _read_value(entry: Entry, value: Any, label: str) -> Any:
    """Return the value of a field for one in a file or of an option."""
    if entry.field == "sql_engines":
        return _read_engines(value, label)
    if entry.given == list[str] and isinstance(value, str):
        value = [value]
    check_value(label, value, entry.kind)
    if entry.field in _EVERYTHING:
        globs = [glob.strip() for text in value for glob in text.split(",")]
        return tuple(glob for glob in globs if glob not in ("", "none"))
    if entry.field == "key":
        return _take_variable(value, label)
    if entry.field == "store":
        return _read_address(value, label)
    return tuple(value) if isinstance(value, list) else value


def _read_engines(value: Any, label: str) -> dict[str, str]:
    """Return the URLs of SQL engines by name, from a table of a file or NAME=URL texts."""
    if isinstance(value, str):
        value = [value]
    if isinstance(value, list):
        pairs = [str(one).partition("=") for one in value]
        if not all(pair[1] for pair in pairs) or len({pair[0] for pair in pairs}) < len(pairs):
            raise ConfigError(f"{label} takes NAME=URL, each name once")
        value = {name: url for name, _, url in pairs}
    check_value(label, value, dict[str, str])
    return {name: _read_address(url, label) for name, url in value.items()}


def _read_address(value: str, label: str) -> str:
    """Return `value`, or the value of the variable for env:VARIABLE."""
    variable = value.removeprefix("env:")
    return value if variable == value else _take_variable(variable, label)


def _take_variable(variable: str, label: str) -> str:
    value = os.environ.pop(variable, None)
    if value is None:
        raise ConfigError(f"the environment variable {variable} named by {label} is not set")
    return value
