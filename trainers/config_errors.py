"""Messages for a wrong configuration: the key, what is wrong with it, and the nearest right one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from verigym.errors import suggestion
from verigym.trainers.credit.estimator import Options
from verigym.trainers.credit.table import ESTIMATORS
from verigym.trainers.losses import LOSSES


def check_options(kind: type[Options], given: Mapping[str, Any], where: str) -> Options:
    """Return the options `given` as `kind`. Raises ValueError that names the wrong ones as keys of `where`."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise ValueError(
            "; ".join(explain(problem, kind, where) for problem in error.errors())
        ) from None


def explain(problem: Any, root: type[BaseModel], under: str = "") -> str:
    """Return a sentence that names the key, what is wrong and what is allowed. `under` is the path of `root`."""
    path = [
        part for part in problem["loc"] if part not in ("str", "VerifierSection", "tuple[str, ...]")
    ]
    place = ".".join([*([under] if under else []), *(str(part) for part in path)])
    if problem["type"] == "extra_forbidden":
        section: type[BaseModel] = root
        for part in path[:-1]:
            if isinstance(part, str):
                section = _model_in(section.model_fields[part].annotation)
        key = str(path[-1])
        if "loss_options" in section.model_fields and (table := _table_of(key)):
            return f"unknown key {place}; it belongs in [algorithm.{table}]"
        return f"unknown key {place}; {suggestion(key, section.model_fields)}"
    if problem["type"] == "missing":
        return f"{place} is missing"
    if problem["type"] == "value_error":
        message = str(problem["ctx"]["error"])
        return message if not place or place in message else f"{place}: {message}"
    if problem["type"] == "literal_error":
        known = re.findall(r"'([^']*)'", problem["ctx"]["expected"])
        return f"unknown {place} {problem['input']!r}; {suggestion(str(problem['input']), known)}"
    return f"{place}: {problem['msg']}, got {problem['input']!r}"


def _model_in(annotation: Any) -> type[BaseModel]:
    """Return the section in an annotation such as `tuple[EnvSection, ...]` or `CriticSection | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(
        _model_in(inner) for inner in get_args(annotation) if inner not in (str, type(None))
    )


def _table_of(option: str) -> str | None:
    """Return the table that an option of some estimator or loss stands in; None if it is none."""
    if any(option in entry.options.model_fields for entry in ESTIMATORS.values()):
        return "options"
    return (
        "loss_options" if any(option in e.options.model_fields for e in LOSSES.values()) else None
    )
