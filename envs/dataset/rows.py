"""Reads the rows of a dataset: JSON lines, CSV, Parquet, or the Hugging Face hub."""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import math
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from verigym.canonical import JSON
from verigym.envs.dataset.spec import FORMATS, RowSource
from verigym.errors import ConfigError, TaskError, suggestion

_ENCODING = "utf-8-sig"
"""UTF-8, with or without the mark that spreadsheets put before it."""


@dataclass(frozen=True)
class DatasetRow:
    """One row: plain data by column, and its position, for messages."""

    place: str
    columns: Mapping[str, JSON]
    split: str | None = None
    """Split name (train, validation or test), if the source divides its rows."""


def read_rows(source: RowSource, folder: Path) -> Iterator[DatasetRow]:
    """Return all rows of `source`; its paths are relative to `folder`. Raises ConfigError or
    TaskError."""
    if source.hub is not None:
        yield from _from_hub(source, source.hub, folder)
    elif source.splits:
        for split, path in source.splits.items():
            for row in read_files(path, folder):
                yield DatasetRow(row.place, row.columns, split)
    else:
        yield from read_files(str(source.path), folder)


def read_files(pattern: str, folder: Path) -> Iterator[DatasetRow]:
    """Return the rows of the files that match `pattern`, sorted by file name."""
    if Path(pattern).is_absolute():
        folder, pattern = Path("/"), pattern.lstrip("/")
    paths = sorted(folder.glob(pattern)) if "*" in pattern else [folder / pattern]
    if not paths:
        raise ConfigError(f"no file matches {pattern!r} in {folder}")
    for path in paths:
        if path.suffix not in FORMATS:
            raise ConfigError(f"{path}: can read {', '.join(FORMATS)}, not {path.suffix!r}")
        if not path.is_file():
            raise ConfigError(f"{path}: no such file")
        try:
            yield from _READERS[path.suffix](path)
        except UnicodeDecodeError as error:
            raise TaskError(f"{path}: must be UTF-8: {error}; convert it") from error


def _json_lines(path: Path) -> Iterator[DatasetRow]:
    with path.open(encoding=_ENCODING) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise TaskError(f"{path} line {number}: not JSON: {error}") from error
                yield _row(f"{path.name} line {number}", value)


def _json(path: Path) -> Iterator[DatasetRow]:
    try:
        values = json.loads(path.read_text(encoding=_ENCODING))
    except UnicodeDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{path}: not JSON: {error}; one object a line is .jsonl") from error
    if not isinstance(values, list):
        raise TaskError(f"{path}: must hold a list of objects")
    for number, value in enumerate(values):
        yield _row(f"{path.name} item {number}", value)


def _csv(path: Path) -> Iterator[DatasetRow]:
    with path.open(encoding=_ENCODING, newline="") as file:
        table = csv.DictReader(file)
        names = list(table.fieldnames or [])
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise TaskError(f"{path}: the first line names the column {twice[0]!r} twice")
        for number, value in enumerate(table, 2):
            if None in value or None in value.values():
                raise TaskError(f"{path} row {number}: has not as many cells as the first line")
            yield _row(f"{path.name} row {number}", value)


def _parquet(path: Path) -> Iterator[DatasetRow]:
    try:
        import duckdb
    except ImportError as error:
        raise ConfigError("Parquet needs DuckDB: pip install 'verigym[sql]'") from error
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")  # it would go to standard output
        try:
            found = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
        except duckdb.Error as error:
            raise TaskError(f"{path}: not Parquet: {str(error).splitlines()[0]}") from error
        names = [column[0] for column in found.description or ()]
        number = 0
        while some := found.fetchmany(1024):
            for values in some:
                yield _row(f"{path.name} row {number}", dict(zip(names, values, strict=True)))
                number += 1


_READERS = {".jsonl": _json_lines, ".json": _json, ".csv": _csv, ".parquet": _parquet}


def _from_hub(source: RowSource, name: str, folder: Path) -> Iterator[DatasetRow]:
    try:
        import datasets
    except ImportError as error:
        raise ConfigError("the hub needs an extra: pip install 'verigym[hub]'") from error
    place = folder / name
    try:
        loaded = datasets.load_dataset(
            str(place) if place.is_dir() else name, source.config, revision=source.revision
        )
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        raise ConfigError(f"the dataset {name!r} could not be loaded: {error}") from error
    for theirs in source.splits.values():
        if theirs not in loaded:
            raise ConfigError(f"{name} has no split {theirs!r}; {suggestion(theirs, list(loaded))}")
    ours = {theirs: split for split, theirs in source.splits.items()}
    for theirs in ours or loaded:
        for number, value in enumerate(loaded[theirs]):
            yield _row(f"{name}:{theirs} row {number}", value, ours.get(theirs))


def _row(place: str, value: Any, split: str | None = None) -> DatasetRow:
    if not isinstance(value, dict):
        raise TaskError(f"{place}: a row is an object with columns, got {type(value).__name__}")
    return DatasetRow(place, {str(name): _plain(place, one) for name, one in value.items()}, split)


def _plain(place: str, value: Any) -> JSON:
    """Return `value` as JSON holds it. Raises TaskError."""
    if isinstance(value, float) and not math.isfinite(value):
        raise TaskError(f"{place}: holds {value}, which JSON cannot")
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise TaskError(f"{place}: contains text that is not valid Unicode: {error}") from error
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [_plain(place, one) for one in value]
    if isinstance(value, dict):
        return {str(name): _plain(place, one) for name, one in value.items()}
    raise TaskError(f"{place}: holds a {type(value).__name__}, which JSON cannot")


def filled(template: Any, values: Mapping[str, JSON], place: str) -> Any:
    """Return `template` with each `{column}` in its texts filled in; a text that is one column keeps its type.

    `{{` and `}}` stand for braces. Raises TaskError for a column that is not there or null, and for a text
    whose columns are all empty.
    """
    if isinstance(template, str):
        parts = _parsed(template)
        names = names_in(template)
        for name in names:
            if name not in values:
                raise TaskError(f"{place}: no column {name!r}; {suggestion(name, list(values))}")
            if values[name] is None:
                raise TaskError(f"{place}: {name!r} is null; fill it in or leave the row out")
        if names and all(_is_blank(values[name]) for name in names):
            raise TaskError(f"{place}: {names[0]!r} is empty; fill it in or leave the row out")
        if len(parts) == 1 and not parts[0][0] and parts[0][1] is not None:
            return values[parts[0][1]]
        return "".join(text + ("" if name is None else shown(values[name])) for text, name in parts)
    if isinstance(template, dict):
        return {name: filled(one, values, place) for name, one in template.items()}
    if isinstance(template, list):
        return [filled(one, values, place) for one in template]
    return template


def _is_blank(value: JSON) -> bool:
    return isinstance(value, str) and not value.strip()


@cache
def _parsed(template: str) -> list[tuple[str, str | None]]:
    """Text, and the name that follows it, in turn."""
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ConfigError(f"{template!r}: {error}; a brace of the text is written twice") from error
    for _, name, form, conversion in parts:
        if name is not None and (not name or form or conversion):
            raise ConfigError(
                f"{template!r}: between braces stands the name of a column, nothing else"
            )
    return [(text, name) for text, name, _, _ in parts]


def names_in(template: str) -> list[str]:
    """Return the columns that `template` names, once each."""
    return list(dict.fromkeys(name for _, name in _parsed(template) if name is not None))


def shown(value: JSON) -> str:
    """Return `value` as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
