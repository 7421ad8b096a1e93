"""`Dataset`: the rows of a dataset as an environment of one question and one reply.

    env = verigym.make("capitals.toml")
    env.reset(seed=3, options={"split": "test"})

Seeds 0 to n - 1 of a split of n rows give each of its rows once, in an order that hangs on their
content alone; larger seeds begin again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from verigym.canonical import JSON, digest
from verigym.env import Draft
from verigym.envs.dataset.clean import ForbiddenTexts, duplicates
from verigym.envs.dataset.rows import DatasetRow, filled, names_in, read_files, read_rows, shown
from verigym.envs.dataset.spec import Spec, read_spec
from verigym.errors import ConfigError, TaskError, suggestion
from verigym.making import make
from verigym.question import Ask, Question
from verigym.splits import split_by_essence
from verigym.task import SPLITS, Task

ALL = "all"
"""The difficulty of rows that say none."""

_UNPROVED = dict.fromkeys(
    ("difficulties_are_in_order", "success_falls_with_the_level"),
    "how hard a row is, its source says",
)
_WITHOUT = {"at_least_three_difficulties": "the rows do not say how hard they are"}


@dataclass(frozen=True)
class PlayedRow:
    """A row that is played."""

    place: str
    difficulty: str
    split: str
    draft: Draft
    text: str
    """Part of the prompt that comes from the row itself: text that all prompts share does not make
    two of them equal."""


@dataclass(frozen=True)
class PlayedRows:
    """Rows that are played, and counts of those that are not. `dropped` counts by reason;
    `examples` gives one place for each reason."""

    kept: Mapping[tuple[str, str], tuple[PlayedRow, ...]]
    """Rows by split and difficulty."""
    dropped: Mapping[str, int]
    examples: Mapping[str, str]


class Dataset(Question):
    """The environment that the TOML file at `path` describes.

    A package names it so: `class Capitals(Dataset, path=Path(__file__).with_name("capitals.toml"))`.
    Rows are read when the first task is drawn, once for a process.
    """

    only_named: ClassVar[bool] = True
    path: ClassVar[Path]
    described: ClassVar[Spec]

    def __init_subclass__(cls, path: Path, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.path = path.resolve()
        described = cls.described = read_spec(path)
        cls.__doc__ = described.about or f"Rows of {path.name}."
        cls.id = described.id
        cls.verifier_id = described.verifier
        cls.verifier_params = described.params
        cls.difficulties = tuple(described.difficulties) or (ALL,)
        cls.form = described.form
        cls.chance = described.chance
        cls.costly = described.costly
        if not described.oracle:
            cls.oracle_absent = "the rows hold no right replies"
        cls.waived = _UNPROVED | _WITHOUT if len(cls.difficulties) < 3 else _UNPROVED

    @classmethod
    def rows(cls) -> PlayedRows:
        """Return all rows, cleaned. Raises ConfigError or TaskError that says which row is wrong."""
        return _rows_of(cls)

    def ask(self, rng: np.random.Generator, level: int) -> Ask:
        """Return a row of the split; `sample_task` and `reset` go by the seed instead."""
        rows = self._some(self.split, self.written(level))
        draft = rows[int(rng.integers(len(rows)))].draft
        return Ask(prompt=draft.prompt, answer="", reference=draft.reference, tags=draft.tags)

    def reply(self, reference: Any) -> str:
        """Return a right reply, as `oracle` says."""
        fields = reference if isinstance(reference, dict) else {"answer": reference}
        return str(filled(self.described.oracle, fields, f"{self.path.name}: oracle"))

    def _draw(self, rng: np.random.Generator, seed: int, difficulty: str, split: str) -> Task:
        rows = self._some(split, difficulty)
        draft = rows[seed % len(rows)].draft
        return Task(
            id=f"{self.id}:{split}:{difficulty}:{seed}",
            env_id=self.id,
            seed=seed,
            prompt=draft.prompt,
            difficulty=difficulty,
            split=split,
            tags=draft.tags,
            reference=draft.reference,
        )

    def _some(self, split: str, difficulty: str) -> tuple[PlayedRow, ...]:
        rows = self.rows().kept.get((split, difficulty), ())
        if not rows:
            raise TaskError(
                f"{self.path.name}: no row of split {split!r} is {difficulty!r}; "
                "`verigym dataset` counts them"
            )
        return rows


@cache
def load(path: str) -> type[Dataset]:
    """Return the environment that a TOML file describes."""
    file = Path(path)

    class FromFile(Dataset, path=file):
        def __reduce__(self) -> tuple[Any, ...]:
            # Pickle finds no class by name that was made of a file, so the file goes along.
            made_with = dict(self.made_with or {})
            own = {name: value for name, value in vars(self).items() if name != "made_with"}
            return partial(make, path, **made_with), (), own

    FromFile.__name__ = FromFile.__qualname__ = f"Dataset({file.name})"
    return FromFile


@cache
def _rows_of(env: type[Dataset]) -> PlayedRows:
    described, folder = env.described, env.path.parent
    found = [_kept(env, row) for row in read_rows(described.source, folder)]
    if not found:
        raise ConfigError(f"{env.path}: its source has no rows")
    # What is to measure stays: a copy in training goes, not the one in the test.
    found.sort(key=lambda row: -SPLITS.index(row.split))
    dropped: Counter[str] = Counter()
    examples: dict[str, str] = {}

    def drop(row: PlayedRow, why: str, example: str) -> None:
        dropped[why] += 1
        examples.setdefault(why, f"{row.place}{example}")

    tests = _tests(described, folder)
    clean = []
    for row in found:
        if row.text in tests:
            drop(row, "held by a test set", "")
        else:
            clean.append(row)
    same = duplicates([row.text for row in clean], described.clean.near)
    kept: dict[tuple[str, str], list[PlayedRow]] = {}
    for place, row in enumerate(clean):
        if place in same:
            other = clean[same[place]]
            equal = row.draft.reference == other.draft.reference
            why = "repeats another" if equal else "repeats another, with another reference"
            drop(row, why, f" repeats {other.place}")
        else:
            kept.setdefault((row.split, row.difficulty), []).append(row)
    for rows in kept.values():
        rows.sort(key=lambda row: digest(described.id, row.draft.prompt, row.draft.reference))
    return PlayedRows({key: tuple(rows) for key, rows in kept.items()}, dropped, examples)


def _kept(env: type[Dataset], row: DatasetRow) -> PlayedRow:
    fields = env.described.fields
    prompt = str(filled(fields.prompt, row.columns, row.place))
    if not prompt.strip():
        raise TaskError(f"{row.place}: the prompt is empty")
    difficulty = ALL
    if fields.difficulty is not None:
        difficulty = str(filled(f"{{{fields.difficulty}}}", row.columns, row.place))
        if difficulty not in env.difficulties:
            raise TaskError(
                f"{row.place}: difficulty {difficulty!r}; {suggestion(difficulty, env.difficulties)}"
            )
    reference: JSON = filled(fields.reference, row.columns, row.place)
    tags = tuple(str(filled(f"{{{name}}}", row.columns, row.place)) for name in fields.tags)
    text = "\n".join(shown(row.columns[name]) for name in names_in(fields.prompt))
    draft = Draft(
        prompt=f"{prompt}\n{env.described.form}" if env.described.form else prompt,
        reference=reference,
        tags=tags,
        essence=[reference, text],
    )
    return PlayedRow(row.place, difficulty, row.split or split_by_essence(draft), draft, text)


def _tests(described: Spec, folder: Path) -> ForbiddenTexts:
    texts = []
    for pattern in described.clean.against:
        for row in read_files(pattern, folder):
            texts += [value for value in row.columns.values() if isinstance(value, str)]
    return ForbiddenTexts(texts, described.clean.ngram)
