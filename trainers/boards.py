"""Dashboards of a run: TensorBoard always, Weights & Biases on request.

Both get the numbers of `metrics.jsonl` and `eval.jsonl`, which stay the record; a dashboard may be deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from verigym.canonical import digest
from verigym.errors import MissingError
from verigym.missing import explain
from verigym.trainers.config import LogSection


class Boards:
    """Dashboards in the folder `path` of a run. After a resume, `kept_step` is the last step that stays."""

    def __init__(self, path: Path, kept_step: int | None, log: LogSection) -> None:
        purge = None if kept_step is None else kept_step + 1
        self._tensorboard = SummaryWriter(str(path / "tensorboard"), purge_step=purge)
        self._wandb = None if log.wandb == "off" else _wandb_run(path, log)

    def scalars(self, prefix: str, line: Mapping[str, Any]) -> None:
        """Add the numbers of a line of metrics, those of tables in it too."""
        found = {f"{prefix}/{name}": value for name, value in _numbers(line) if name != "step"}
        for name, value in found.items():
            self._tensorboard.add_scalar(name, value, line["step"])
        self._tensorboard.flush()
        if self._wandb is not None:
            self._wandb.log(found | {"step": line["step"]})

    def close(self) -> None:
        """Flush and close."""
        self._tensorboard.close()
        if self._wandb is not None:
            self._wandb.finish()


def _numbers(line: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, int | float]]:
    for name, value in line.items():
        if isinstance(value, Mapping) and name in ("time", "canaries"):
            yield from _numbers(value, f"{name}/")
        elif isinstance(value, int | float):
            yield under + name, value


def _wandb_run(path: Path, log: LogSection) -> Any:
    """Begin a run of Weights & Biases, or go on with the one of this folder."""
    try:
        import wandb
    except ImportError as error:
        raise explain(error, "log.wandb") or MissingError(str(error)) from error
    run = wandb.init(
        project=log.project,
        name=path.name,
        id=digest(str(path.resolve()))[:16],
        dir=str(path),
        mode="online" if log.wandb == "online" else "offline",
        resume="allow",
        # Nothing of the machine, the source or the screen leaves the run.
        settings=wandb.Settings(
            silent=True,
            console="off",
            x_disable_stats=True,
            x_disable_meta=True,
            disable_git=True,
            disable_code=True,
        ),
    )
    run.define_metric("*", step_metric="step")
    return run
