"""Atomic checkpoints: written to a temporary folder, synced, then renamed.

A checkpoint is a folder `step-000012` with `policy/` (a transformers folder, or an adapter's), `extra.pt`
(reference and critic), `optimizer.pt` and `state.json`; `ahead.json` holds what a run that plays ahead has
not trained on yet. Nothing else determines how a run continues: every
random draw is a function of its seed and the step.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError

from verigym.errors import RequestError, VerigymError

_FOLDER = re.compile(r"step-(\d{6,})")


class CheckpointError(VerigymError):
    """A checkpoint could not be written; earlier checkpoints are untouched."""


@dataclass(frozen=True, kw_only=True)
class TrainState:
    """State of a run after `step` training steps. `config_digest` guards against a mix-up."""

    step: int
    env_steps: int
    optimizer_steps: int
    wall_s: float
    policy_version: int
    config_digest: str
    versions: dict[str, str] = field(default_factory=dict)
    curriculum: dict[str, Any] = field(default_factory=dict)
    branching: dict[str, Any] = field(default_factory=dict)
    best: float | None = None
    """Highest success rate on validation so far."""
    weights: str = ""
    """Checksum of the policy's weights; `save` fills it in."""


def save(
    folder: Path,
    state: TrainState,
    write_policy: Callable[[Path], None],
    extra: dict[str, Any],
    optimizer: dict[str, Any],
    files: Mapping[str, bytes] | None = None,
) -> Path:
    """Write a checkpoint below `folder`; `write_policy` writes the policy into the folder it is given. `files` are
    further files by name.

    Raises CheckpointError if writing fails, as on a full disk.
    """
    final = folder / f"step-{state.step:06d}"
    aside = folder / f".writing-{final.name}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        write_policy(aside / "policy")
        torch.save(extra, aside / "extra.pt")
        torch.save(optimizer, aside / "optimizer.pt")
        for name, content in (files or {}).items():
            (aside / name).write_bytes(content)
        whole = replace(state, weights=checksum(aside / "policy"))
        (aside / "state.json").write_bytes(msgspec.json.encode(asdict(whole)))
        for path in [*aside.rglob("*"), aside]:
            _sync(path)
        if final.exists():
            shutil.rmtree(final)
        aside.rename(final)
        _sync(folder)
    except (OSError, RuntimeError, SafetensorError) as error:
        # torch.save reports a full disk as RuntimeError from its C++ writer.
        shutil.rmtree(aside, ignore_errors=True)
        raise CheckpointError(
            f"checkpoint {final} could not be written: {error}; "
            f"{_last(folder)}; free some space and resume"
        ) from error
    return final


def checksum(policy: Path) -> str:
    """Return the SHA-256 of the weights in a transformers folder, in hexadecimal."""
    found = hashlib.sha256()
    for path in sorted(policy.glob("*.safetensors")):
        found.update(path.name.encode())
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def prune(folder: Path, keep: int) -> None:
    """Remove all but the newest `keep` checkpoints, and remains of interrupted saves."""
    for path in find(folder)[:-keep]:
        shutil.rmtree(path)
    for path in folder.glob(".writing-step-*"):
        shutil.rmtree(path, ignore_errors=True)


def find(folder: Path) -> list[Path]:
    """Return the complete checkpoints below `folder`, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if _FOLDER.fullmatch(p.name))


def load(path: Path) -> tuple[TrainState, dict[str, Any], dict[str, Any]]:
    """Load all but the policy: state, extra and optimiser. Raises RequestError if they cannot be read."""
    try:
        state = msgspec.json.decode((path / "state.json").read_bytes(), type=TrainState)
        extra = torch.load(path / "extra.pt", weights_only=True)
        optimizer = torch.load(path / "optimizer.pt", weights_only=True)
    except (OSError, msgspec.DecodeError, RuntimeError, EOFError) as error:
        raise RequestError(f"checkpoint {path} cannot be read: {error}") from error
    return state, extra, optimizer


def _last(folder: Path) -> str:
    found = find(folder)
    return f"the last whole one is {found[-1]}" if found else "there is none before it"


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
