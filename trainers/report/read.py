"""Reads run folders leniently: what is missing or torn becomes a note, never a traceback.

A run folder holds run.json, metrics.jsonl, eval.jsonl and episodes/step-*.jsonl, as docs/report.md
describes them. A training run may still be writing while its report is built.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from verigym.episode import Episode
from verigym.errors import RequestError

Row = TypeVar("Row")

# Far above any figure of a run, far below where floats overflow.
_TOO_MUCH = 1e30
_SPELLING = {"gigpo": "GiGPO", "grpo": "GRPO", "rloo": "RLOO", "ppo": "PPO", "dr_grpo": "Dr. GRPO"}


@dataclass(frozen=True, kw_only=True)
class StageSuccess:
    """Last evaluation of a stage; the one at step 0 is the policy before training."""

    name: str
    step: int = 0
    success_rate: float | None = None
    interval: tuple[float, float] | None = None
    episodes: int = 0


@dataclass(frozen=True, kw_only=True)
class Header:
    """run.json: what was run."""

    name: str = ""
    algorithm: str = ""
    env_id: str = ""
    started: str = ""
    seed: int | None = None
    config: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    stages: list[StageSuccess] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class LevelSuccess:
    """Success at one difficulty; `success_rate` None if every episode faulted."""

    n: int = 0
    success_rate: float | None = None


@dataclass(frozen=True, kw_only=True)
class Seconds:
    """Wall time of a step by activity, in seconds."""

    generation_s: float = 0.0
    environment_s: float = 0.0
    verifier_s: float = 0.0
    update_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """A line of metrics.jsonl. `hack_rate` is None if no loophole is planted. `episodes` counts all, `success_rate` is over those without a fault
    and None if there is none."""

    step: int
    env_steps: int = 0
    wall_s: float = 0.0
    success_rate: float | None = None
    return_mean: float | None = None
    hack_rate: float | None = None
    episodes: int = 0
    groups: int = 0
    groups_without_signal: int = 0
    step_group_sizes: dict[int, int] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    time: Seconds = field(default_factory=Seconds)
    loss: float | None = None
    kl: float | None = None
    clip_share: float | None = None
    entropy: float | None = None
    grad_norm: float | None = None
    logp_gap_mean: float | None = None
    logp_gap_max: float | None = None
    n_tokens: int = 0
    turns_mean: float | None = None
    by_difficulty: dict[str, LevelSuccess] = field(default_factory=dict)

    @property
    def scored(self) -> int:
        """Episodes without a fault."""
        return max(0, self.episodes - sum(self.faults.values()))


@dataclass(frozen=True, kw_only=True)
class EvaluationRow:
    """A line of eval.jsonl, counted like `StepRow`; `interval` is Wilson's at 95 %."""

    step: int
    env_steps: int = 0
    split: str = "test"
    episodes: int = 0
    success_rate: float | None = None
    interval: tuple[float, float] | None = None
    faults: dict[str, int] = field(default_factory=dict)
    by_difficulty: dict[str, LevelSuccess] = field(default_factory=dict)

    @property
    def scored(self) -> int:
        """Episodes without a fault."""
        return max(0, self.episodes - sum(self.faults.values()))


@dataclass(frozen=True, kw_only=True)
class TurnCreditRow:
    """Credit of one turn."""

    episode_advantage: float | None = None
    step_advantage: float | None = None
    advantage: float | None = None
    step_group_size: int | None = None


@dataclass(frozen=True, kw_only=True)
class EpisodeRow:
    """A line of an episodes file. Lists are per turn; they may be shorter than the episode.
    `train_logprobs` is not looked at where the mask is 0."""

    step: int
    episode: Episode
    credit: list[TurnCreditRow] = field(default_factory=list)
    train_logprobs: list[list[float | None]] = field(default_factory=list)
    tokens: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class RunRecords:
    """One run folder as far as it could be read. `notes` say what could not."""

    path: Path
    header: Header
    steps: list[StepRow]
    evals: list[EvaluationRow]
    episode_files: list[Path]
    notes: list[str]

    @property
    def beginnings(self) -> list[tuple[StageSuccess, float]]:
        """The stages before the first step, with their success rates."""
        return [
            (stage, stage.success_rate)
            for stage in self.header.stages
            if stage.step == 0 and stage.success_rate is not None
        ]

    @property
    def label(self) -> str:
        """The algorithm as its authors write it, or the run's name if none is given."""
        name = self.header.algorithm
        return _SPELLING.get(name.lower(), name) or self.header.name or self.path.name


def find_runs(places: Sequence[Path]) -> list[Path]:
    """Return the run folders among `places`, which may be run folders or hold run folders.

    Raises RequestError if there are none.
    """
    found: list[Path] = []
    for place in places:
        if not place.is_dir():
            raise RequestError(f"{place} is not a folder; a run folder holds run.json")
        if (place / "run.json").is_file():
            found.append(place)
            continue
        inside = sorted(p.parent for p in place.glob("*/run.json"))
        if not inside:
            raise RequestError(
                f"{place} is not a run folder: it holds no run.json, nor does a folder in it"
            )
        found.extend(inside)
    return list(dict.fromkeys(found))


def read_run(path: Path) -> RunRecords:
    """Read one run folder. Raises RequestError only where run.json cannot be read at all."""
    notes: list[str] = []
    header = _read_header(path / "run.json", notes)
    steps = _by_step(_read_rows(path / "metrics.jsonl", StepRow, notes), "metrics.jsonl", notes)
    evals = _by_step(_read_rows(path / "eval.jsonl", EvaluationRow, notes), "eval.jsonl", notes)
    episode_files = sorted((path / "episodes").glob("step-*.jsonl"))
    if not episode_files:
        notes.append("there are no transcripts: no file episodes/step-*.jsonl")
    return RunRecords(
        path=path, header=header, steps=steps, evals=evals, episode_files=episode_files, notes=notes
    )


def read_transcripts(file: Path, notes: list[str]) -> list[EpisodeRow]:
    """Return the transcripts of one episodes file; what cannot be read is noted and left out."""
    return list(_read_rows(file, EpisodeRow, notes, f"episodes/{file.name}"))


def _read_header(file: Path, notes: list[str]) -> Header:
    try:
        plain = json.loads(file.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise RequestError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{file} is not JSON: {error}") from error
    if not isinstance(plain, dict):
        raise RequestError(f"{file} must hold an object, got {type(plain).__name__}")
    try:
        return msgspec.convert(_finite(plain), Header, strict=False)
    except msgspec.ValidationError as error:
        notes.append(f"run.json is not as expected ({error}); only its names are shown")
        return Header(
            name=str(plain.get("name") or ""),
            algorithm=str(plain.get("algorithm") or ""),
            env_id=str(plain.get("env_id") or ""),
            started=str(plain.get("started") or ""),
        )


def _read_rows(
    file: Path, kind: type[Row], notes: list[str], name: str | None = None
) -> Iterator[Row]:
    name = name or file.name
    try:
        # A byte that is no UTF-8 spoils its own line only.
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        notes.append(f"{name} cannot be read: {error.strerror}")
        return
    bad: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield msgspec.convert(_finite(json.loads(line)), kind, strict=False)
        except (ValueError, RecursionError) as error:
            why = "torn off" if number == len(lines) else str(error)
            bad.append(f"line {number}: {why}")
    if bad:
        more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
        notes.append(f"{name} has lines that cannot be read, left out ({'; '.join(bad[:3])}{more})")


def _finite(value: Any) -> Any:
    """`value` with NaN, infinities and numbers beyond drawing as None, deeply."""
    if isinstance(value, (int, float)):
        return value if abs(value) < _TOO_MUCH else None  # false for NaN too
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value


AnyStep = TypeVar("AnyStep", StepRow, EvaluationRow)


def _by_step(rows: Iterator[AnyStep], name: str, notes: list[str]) -> list[AnyStep]:
    """Rows in order of step, the later of two for the same step and split: a resumed run repeats."""
    kept: dict[tuple[int, str], AnyStep] = {}
    repeated = 0
    for row in rows:
        key = (row.step, row.split if isinstance(row, EvaluationRow) else "")
        repeated += key in kept
        kept[key] = row
    if repeated:
        notes.append(
            f"{name} holds {repeated} steps twice, as after a resume; the later line counts"
        )
    return [kept[key] for key in sorted(kept)]
