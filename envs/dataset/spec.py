"""The description of a dataset: one typed tree, read from TOML. docs/datasets.md shows one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from verigym.errors import ConfigError, suggestion
from verigym.question import FORM
from verigym.task import SPLITS

_ID = re.compile(r"verigym/[\w-]+/[\w-]+-v\d+", re.ASCII)

FORMATS = (".jsonl", ".json", ".csv", ".parquet")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RowSource(_Section):
    """Source of the rows: a file, or a dataset of the Hugging Face hub by name."""

    path: str | None = None
    """Path beside the TOML file; JSON lines, CSV or Parquet, by its ending; `*` for several files."""
    hub: str | None = None
    """`owner/name`, or a folder of that form; needs the extra `hub`."""
    config: str | None = None
    revision: str | None = None
    """A commit: without one the hub may give other rows tomorrow."""
    splits: dict[str, str] = Field(default_factory=dict)
    """Source's own split or file for each split name (train, validation, test). If left out, all
    rows are divided by their content."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.path is None) == (self.hub is None) and not (self.splits and self.hub is None):
            raise ValueError("give either path or hub")
        for name in self.splits:
            if name not in SPLITS:
                raise ValueError(f"no split {name!r}; {suggestion(name, SPLITS)}")
        if self.hub is None and self.path is not None and self.splits:
            raise ValueError("with splits each names its own file: leave path out")
        if self.hub is None and (self.config or self.revision):
            raise ValueError("config and revision are for hub")
        return self


class Fields(_Section):
    """Mapping from a row to a task. Texts hold `{column}`; a text that is one column keeps its
    type."""

    prompt: str
    reference: Any
    difficulty: str | None = None
    """The column that holds it."""
    tags: list[str] = Field(default_factory=list)
    """Columns that become tags."""


class Clean(_Section):
    """Filters applied before anything is played."""

    near: float = Field(default=0.8, gt=0, le=1)
    """Prompts whose sets of words in fives have this Jaccard similarity are the same; 1: equal ones."""
    against: list[str] = Field(default_factory=list)
    """Files with texts that must not be trained on, beside the TOML file."""
    ngram: int = Field(default=13, ge=3)
    """Number of consecutive words that, if shared with one of them, drop a row."""


class Spec(_Section):
    """Complete description of a dataset."""

    id: str
    """Id of the environment: `verigym/<family>/<name>-v<N>`."""
    about: str = ""
    verifier: str
    params: dict[str, Any] = Field(default_factory=dict)
    """Parameters of the verifier."""
    form: str = FORM
    """Instructions for the form of the answer; they follow each prompt."""
    oracle: str = "<answer>{answer}</answer>"
    """A right reply, with the reference's fields; empty if there is none."""
    difficulties: list[str] = Field(default_factory=list)
    """Difficulties from easy to hard, as the column `difficulty` names them."""
    chance: float = Field(default=0.05, ge=0, le=1)
    """Maximum mean reward of random replies."""
    costly: bool = False
    """True if each verdict runs programs."""
    source: RowSource
    fields: Fields
    clean: Clean = Clean()

    @field_validator("id")
    @classmethod
    def _has_the_form(cls, value: str) -> str:
        if not _ID.fullmatch(value):
            raise ValueError(
                f"must be verigym/<family>/<name>-v<N> of letters, digits, _ and -, such as "
                f"verigym/data/rivers-v0, got {value!r}"
            )
        return value

    @model_validator(mode="after")
    def _difficulties_have_a_column(self) -> Self:
        if bool(self.difficulties) != (self.fields.difficulty is not None):
            raise ValueError("difficulties and fields.difficulty go together")
        return self


def read_spec(path: Path) -> Spec:
    """Return the description in `path`. Raises ConfigError that says where it is wrong."""
    try:
        with path.open("rb") as file:
            return Spec(**tomllib.load(file))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    except ValidationError as error:
        raise ConfigError(f"{path}: {_first(error)}") from error
    except TypeError as error:
        raise ConfigError(f"{path}: {error}") from error


def _first(error: ValidationError) -> str:
    # A misspelt key is told first: what it was to be is missing, too.
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        *parents, last = first["loc"]
        known: Any = Spec
        for name in parents:
            known = known.model_fields[str(name)].annotation
        return f"no key {place!r}; {suggestion(str(last), known.model_fields)}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
