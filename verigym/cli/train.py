"""`verigym train`: command-line front end of `verigym.trainers.run.train_from_config`."""

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
    from verigym.trainers.config import Config
    from verigym.trainers.run import Progress


def _list(asked: bool) -> None:
    """Print every estimator and loss with its options, and exit."""
    if not asked:
        return
    from rich.table import Table

    from verigym.trainers.credit.table import ESTIMATORS
    from verigym.trainers.losses import LOSSES

    estimators = Table("algorithm.name", "advantage per", "loss", "algorithm.options", "what it is")
    for name, entry in ESTIMATORS.items():
        needs = f"; has a critic: {', '.join(entry.heads)}" if entry.heads else ""
        what = f"{entry.summary} ({entry.source}){needs}"
        estimators.add_row(name, entry.level, entry.loss, _names(entry.options), what)
    losses = Table("algorithm.loss", "algorithm.loss_options", "what it is")
    for name, loss in LOSSES.items():
        needs = "; needs algorithm.demonstrations" if loss.imitates else ""
        losses.add_row(name, _names(loss.options), f"{loss.summary} ({loss.source}){needs}")
    console.out().print(estimators, losses)
    raise typer.Exit


def _names(options: Any) -> str:
    return "\n".join(f"{name} = {field.default}" for name, field in options.model_fields.items())


def train(
    config: Annotated[Path, typer.Argument(help="TOML configuration; see docs/train.md.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume from the last checkpoint in the run folder.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Run folder. Default: the one in the configuration."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Override one key, with dots for tables; repeatable."
        ),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Print the memory and time that the run needs here, from a short probe, and exit.",
        ),
    ] = False,
    listed: Annotated[
        bool,
        typer.Option(
            "--list",
            is_eager=True,
            callback=_list,
            help="Print the estimators and losses with their options, and exit.",
        ),
    ] = False,
) -> None:
    """Train a policy from a TOML configuration; `verigym report` draws the run folder."""
    if not config.is_file():
        raise RequestError(f"{config} is not a file; the first argument is a TOML configuration")
    overrides = _overrides(settings or [])
    if plan:
        _plan(config, overrides)
        return
    from verigym.trainers.run import leads, train_from_config

    if not leads():
        # Another process of torchrun shows the run.
        train_from_config(config, overrides, resume, out)
        return
    with Screen() as screen:
        folder = train_from_config(config, overrides, resume, out, listen=screen.hear)
    console.note(f"run folder: {folder}; draw it with: verigym report {shlex.quote(str(folder))}")


def _plan(path: Path, overrides: dict[str, Any]) -> None:
    """Print what the configuration needs; exit with 1 if the memory is not there."""
    from verigym.trainers.config import read_config
    from verigym.trainers.forecast import forecast

    config = read_config(path, overrides)
    with console.err().status("probing two training steps"):
        found = forecast(config)
    where = "GPU memory" if config.policy.device.startswith("cuda") else "memory"
    fits = "fits" if found.fits else "does not fit"
    console.out().print(
        f"{where:<12}{_gib(found.memory)} at the peak, {_gib(found.available)} are free: {fits}",
        f"{'warm-up':<12}{_duration(found.warmup_s)}",
        f"{'training':<12}{_duration(found.steps * found.step_s)}: {found.steps} steps of "
        f"{_duration(found.step_s)}",
        f"{'evaluation':<12}{_duration(found.evaluations * found.evaluation_s)}: "
        f"{found.evaluations} times {_duration(found.evaluation_s)}",
        f"{'in all':<12}about {_duration(found.total_s)}{_sooner(config)}",
        sep="\n",
        highlight=False,
    )
    if not found.fits:
        raise typer.Exit(1)


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _sooner(config: Config) -> str:
    ends = {
        "eval.stop_at": config.eval.stop_at,
        "train.time_limit_s": config.train.time_limit_s,
        "train.max_env_steps": config.train.max_env_steps,
    }
    named = [f"{key} = {value:g}" for key, value in ends.items() if value is not None]
    return f"; it may end sooner by {' or '.join(named)}" if named else ""


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
        """Show one progress event; evaluations and waits also leave a line."""
        self._bar.update(
            self._stage,
            description=progress.stage,
            completed=progress.done,
            total=progress.total,
            text=progress.text,
        )
        evaluated = progress.stage == "evaluation" and progress.line is not None
        # Without a terminal there is no bar, so every step is a line.
        if (
            evaluated
            or progress.stage in ("waiting", "warning", "alarm", "warm start")
            or self._says_each(progress)
        ):
            said = f"{progress.stage:<14} step {progress.done}/{progress.total}  {progress.text}"
            self._console.print(said, markup=False, highlight=False, soft_wrap=True)

    def _says_each(self, progress: Progress) -> bool:
        return progress.line is not None and not self._console.is_terminal


def _overrides(settings: list[str]) -> dict[str, Any]:
    """Turn `["a.b=1", "c=x"]` into `{"a.b": 1, "c": "x"}`. Raises RequestError if `=` is missing."""
    overrides: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise RequestError(f"--set takes KEY=VALUE, got {setting!r}")
        overrides[key.strip()] = _value(value.strip())
    return overrides


def _value(text: str) -> Any:
    """Read `text` as a TOML value, else as a string, so that quotes are optional."""
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return found["value"] if len(found) == 1 else text
