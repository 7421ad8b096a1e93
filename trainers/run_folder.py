"""The folder of a run: facts about it, metrics, transcripts, dashboards.

RUN/run.json        configuration, versions, and the outcome of each stage
RUN/metrics.jsonl   one line per training step
RUN/certificate.jsonl  what each step sampled and trained, for `verigym verify-run`
RUN/eval.jsonl      one line per evaluation
RUN/episodes/       a few episodes per step, with their credit
RUN/checkpoints/    see checkpoint.py
RUN/best/           the policy with the highest success on validation, as a transformers folder
RUN/last/           the policy at the end, likewise
RUN/tensorboard/    the same metrics; RUN/wandb/ too if asked for
RUN/stuck.txt       stacks of all threads, if nothing has moved for long
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from verigym.agents.policies.hf import HFPolicy
from verigym.episode import Episode
from verigym.errors import VerigymError
from verigym.trainers.batch import TurnCredit
from verigym.trainers.boards import Boards
from verigym.trainers.config import LogSection
from verigym.trainers.lora import write_merged


class RecordError(VerigymError):
    """The run folder cannot be written, a full disk say; checkpoints so far are untouched."""


class RunFolder:
    """The writing side. Open it after a resume with the step that the checkpoint holds."""

    def __init__(self, path: Path, resumed_step: int | None, log: LogSection | None = None) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        path.mkdir(parents=True, exist_ok=True)
        if resumed_step is not None:
            self._forget_after(resumed_step)
        self._boards = Boards(path, resumed_step, log or LogSection())

    def write_run(self, facts: dict[str, Any]) -> None:
        """Replace run.json, whole or not at all."""
        aside = self.path / "run.json.part"
        self._guard(lambda: aside.write_bytes(msgspec.json.format(msgspec.json.encode(facts))))
        aside.replace(self.path / "run.json")

    def read_run(self) -> dict[str, Any]:
        """Return the facts that `write_run` wrote; empty if there are none."""
        try:
            facts: dict[str, Any] = msgspec.json.decode((self.path / "run.json").read_bytes())
        except FileNotFoundError:
            return {}
        return facts

    def read_lines(self, name: str) -> list[dict[str, Any]]:
        """Return the lines of metrics.jsonl or eval.jsonl so far."""
        path = self.path / name
        lines = path.read_bytes().splitlines() if path.exists() else []
        return [msgspec.json.decode(line) for line in lines]

    def metrics(self, line: dict[str, Any]) -> None:
        """Add a training step."""
        self._append("metrics.jsonl", line)
        self._boards.scalars("train", line)

    def certificate(self, line: dict[str, Any]) -> None:
        """Add a training step's bookkeeping."""
        self._append("certificate.jsonl", line)

    def evaluation(self, line: dict[str, Any]) -> None:
        """Add an evaluation."""
        self._append("eval.jsonl", line)
        self._boards.scalars(f"eval_{line['split']}", line)

    def transcripts(
        self,
        step: int,
        episodes: Sequence[Episode],
        credit: Sequence[Sequence[TurnCredit]],
        train_logprobs: Sequence[Sequence[Sequence[float]]],
        policy: HFPolicy,
    ) -> None:
        """Write the episodes of a step: per turn its credit, per token its recomputed
        log-probability and its text."""
        lines = []
        for episode, earned, logprobs in zip(episodes, credit, train_logprobs, strict=True):
            tokens = [
                [policy.tokenizer.decode([i]) for i in turn.response_ids] for turn in episode.turns
            ]
            lines.append(
                {
                    "step": step,
                    "episode": episode,
                    "credit": [msgspec.structs.replace(turn, targets=None) for turn in earned],
                    "train_logprobs": logprobs,
                    "tokens": tokens,
                }
            )
        path = self.path / "episodes" / f"step-{step:06d}.jsonl"
        path.parent.mkdir(exist_ok=True)
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        self._guard(lambda: path.write_bytes(data))

    def publish(self, name: str, write: Callable[[Path], None], *, merge: bool) -> None:
        """Replace the folder RUN/`name` by a model that `write` writes; with `merge`, an adapter is added to
        its base model's weights. The folder before stays until the new one is whole."""
        target = self.path / name
        aside, old = self.path / f".{name}.part", self.path / f".{name}.old"
        shutil.rmtree(aside, ignore_errors=True)
        if old.exists() and not target.exists():
            old.rename(target)  # a kill came between the two renames below
        shutil.rmtree(old, ignore_errors=True)
        self._guard(lambda: write(aside))
        if merge:
            adapter = self.path / f".{name}.adapter"
            shutil.rmtree(adapter, ignore_errors=True)
            aside.rename(adapter)
            self._guard(lambda: write_merged(adapter, aside))
            for path in adapter.iterdir():
                if not path.name.startswith("adapter_"):
                    self._guard(partial(shutil.copy2, path, aside))
            shutil.rmtree(adapter)
        if target.exists():
            target.rename(old)
        aside.rename(target)
        shutil.rmtree(old, ignore_errors=True)

    def close(self) -> None:
        """Flush and close."""
        self._boards.close()

    def _append(self, name: str, line: dict[str, Any]) -> None:
        def write() -> None:
            with (self.path / name).open("ab") as file:
                file.write(msgspec.json.encode(line) + b"\n")
                file.flush()
                os.fsync(file.fileno())

        self._guard(write)

    def _guard(self, write: Any) -> None:
        try:
            write()
        except OSError as error:
            raise RecordError(
                f"{self.path} cannot be written: {error}; free some space and resume"
            ) from error

    def _forget_after(self, step: int) -> None:
        """Drop lines of steps that the checkpoint does not hold, and torn ones: they are done again."""
        for name in ("metrics.jsonl", "eval.jsonl", "certificate.jsonl"):
            path = self.path / name
            if not path.exists():
                continue
            kept = []
            for raw in path.read_bytes().splitlines(keepends=True):
                try:
                    line = msgspec.json.decode(raw)
                except msgspec.DecodeError:
                    continue
                if raw.endswith(b"\n") and line["step"] <= step:
                    kept.append(raw)
            aside = path.with_suffix(".part")
            aside.write_bytes(b"".join(kept))
            aside.replace(path)
        for path in (self.path / "episodes").glob("step-*.jsonl"):
            if int(path.stem.removeprefix("step-")) > step:
                path.unlink()
