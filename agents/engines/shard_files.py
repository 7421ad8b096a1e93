"""Updates through a folder: each process of the learner writes its rows to a file of its own, whole or as deltas.

With deltas, both ends keep a copy of the last weights: a process of its own rows, the reader of all. Tensors that did
not change are left out, and a process whose delta is not smaller than its rows writes them whole.

The reader checks all files before it changes anything: that each process's is there, whole and of this version, that
together they have every row of every tensor, and each tensor's rows by checksums of before and after. Then it gives
out one tensor after the other, and holds no more than one besides its copy. What the engine computes with is proved by
its log-probabilities (trainers/delivery.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from verigym.agents.engines import deltas
from verigym.agents.engines.shards import Shard, rows_of

OTHER_BASE = "send all weights"
"""In the message of a ShardError that a delta begins at other weights than the reader has."""


class ShardError(Exception):
    """A process's file is missing, damaged or of another update; nothing was changed."""


def file_of(folder: Path, rank: int, n: int) -> Path:
    """Return the path of the file of process `rank` of `n`."""
    return folder / f"rank-{rank}-of-{n}.safetensors"


class ShardWriter:
    """Writes the rows of process `rank` of `n`; a `ShardSender`. With `keeps`, it writes deltas to what it wrote last."""

    def __init__(self, rank: int, n: int, keeps: bool) -> None:
        self._rank, self._n, self._keeps = rank, n, keeps
        self._base: dict[str, Tensor] = {}
        self._sums: dict[str, str] = {}

    def send(self, version: int, shards: Mapping[str, Shard], folder: Path) -> int:
        """Write the file of `version` into `folder`. Raises OSError if it cannot be written."""
        shards = {name: one for name, one in shards.items() if one.rows.numel()}
        new = {name: one.rows.detach().cpu().contiguous() for name, one in shards.items()}
        parts, changed = self._changes(new)
        after = {name: deltas.checksum(new[name]) for name in changed}
        kind, before = "delta", self._sums
        if not self._base or _size(parts) >= _size(new):
            kind, before, parts = "whole", {}, dict(new)
        sums = {**self._sums, **after}
        said = {
            name: {"shape": one.shape, "before": before.get(name), "after": sums[name]}
            for name, one in shards.items()
            if kind == "whole" or name in after
        }
        head = {"version": version, "rank": self._rank, "n": self._n, "kind": kind, "tensors": said}
        folder.mkdir(parents=True, exist_ok=True)
        _write(_apart(parts), file_of(folder, self._rank, self._n), head)
        if self._keeps:
            self._base |= {name: new[name].clone() for name in changed}
            self._sums = sums
        return _size(parts)

    def _changes(self, new: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], list[str]]:
        """Return the parts that make `new` from the last rows, and the tensors that changed."""
        parts: dict[str, Tensor] = {}
        changed = []
        for name, tensor in new.items():
            old = self._base.get(name)
            if old is None or bool(deltas.differing(tensor, old).any()):
                changed.append(name)
                parts |= deltas.encode(name, tensor, old)
        return parts, changed


class ShardReader:
    """Reads what `ShardWriter`s wrote. With `keeps`, it follows deltas: `base` holds the weights as they are."""

    def __init__(self, keeps: bool) -> None:
        self._keeps = keeps
        self.base: dict[str, Tensor] = {}
        self._files: list[_File] = []
        self._shapes: dict[str, tuple[int, ...]] = {}

    def check(
        self, folder: Path, version: int, n: int, shapes: Mapping[str, Sequence[int]]
    ) -> None:
        """Look at the files of `n` processes, which must bring tensors of these `shapes` to `version`.

        Raises ShardError, which names the rank, before anything is changed.
        """
        files = [_File(folder, version, rank, n) for rank in range(n)]
        for name, shape in shapes.items():
            for file in files:
                file.check(name, shape, self.base.get(name))
        self._files = files
        self._shapes = {name: tuple(shape) for name, shape in shapes.items()}

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Yield all tensors as the checked update leaves them, and bring `base` there."""
        if not any(file.is_delta for file in self._files):
            self.base = {}
        for name in self._shapes:
            yield name, self._assemble(name)
        self._files = []

    def _assemble(self, name: str) -> Tensor:
        base = self.base.get(name)
        whole = base
        for file in self._files:
            if name not in file.tensors:
                continue
            found = file.read(name, base)
            if not self._keeps and tuple(found.shape) == self._shapes[name]:
                return found
            if whole is None:
                whole = torch.empty(self._shapes[name], dtype=found.dtype)
            file.rows(whole).copy_(found)
        if whole is None:
            raise ShardError(f"{name} has no elements, so its type is not known")
        if self._keeps:
            self.base[name] = whole
        return whole


class _File:
    """The file of one process."""

    def __init__(self, folder: Path, version: int, rank: int, n: int) -> None:
        path = file_of(folder, rank, n)
        self._rank, self._n = rank, n
        self.name = f"the shard of rank {rank} for version {version}"
        try:
            file: Any = safe_open(path, framework="pt")
            head: dict[str, Any] = json.loads(file.metadata()["update"])
        except FileNotFoundError as error:
            raise ShardError(f"{self.name} is missing: there is no {path}") from error
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise ShardError(f"{self.name} is truncated or damaged: {path}: {error}") from error
        for key, wanted in (("version", version), ("rank", rank), ("n", n)):
            if head[key] != wanted:
                raise ShardError(f"{self.name} has {key} {head[key]}, not {wanted}: {path}")
        self.is_delta = head["kind"] == "delta"
        self.tensors: dict[str, dict[str, Any]] = head["tensors"]
        self._file = file
        self._keys = set(file.keys())

    def rows(self, tensor: Tensor) -> Tensor:
        """Return this process's rows of a tensor."""
        return rows_of(tensor, self._n, self._rank)

    def check(self, name: str, shape: Sequence[int], base: Tensor | None) -> None:
        """Raise ShardError unless the rows of a tensor begin at those of `base` and are what was written."""
        one = self.tensors.get(name)
        if self.is_delta and (
            base is None or (one is not None and one["before"] != deltas.checksum(self.rows(base)))
        ):
            raise ShardError(
                f"{self.name} begins at other weights of {name} than are here; {OTHER_BASE}"
            )
        if one is None:
            # A delta leaves out what did not change; of small tensors some processes hold nothing.
            if not self.is_delta and self.rows(torch.empty(tuple(shape), device="meta")).numel():
                raise ShardError(f"{self.name} lacks its rows of {name}")
            return
        if list(one["shape"]) != list(shape):
            raise ShardError(
                f"{self.name} has rows of {name} of shape {one['shape']}, not {list(shape)}"
            )
        try:
            found = self.read(name, base)
        except (KeyError, RuntimeError, SafetensorError) as error:
            raise ShardError(f"{self.name} lacks a part of {name}: {error}") from error
        if deltas.checksum(found) != one["after"]:
            raise ShardError(f"{self.name} has a wrong checksum: {name} is not what was written")

    def read(self, name: str, base: Tensor | None) -> Tensor:
        """Return the rows of a tensor that is in the file, as the update leaves them."""
        parts = {key: self._file.get_tensor(key) for key in deltas.keys(name) if key in self._keys}
        return deltas.decode(name, parts, None if base is None else self.rows(base))


def _write(parts: Mapping[str, Tensor], path: Path, head: Mapping[str, Any]) -> None:
    try:
        save_file(dict(parts), path, metadata={"update": json.dumps(head)})
    except SafetensorError as error:  # on a full disk, for one
        raise OSError(f"{path} could not be written: {error}") from error


def _apart(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors with copies of those that share memory with others, as with two names for one tensor: a file
    takes none of them."""
    seen: set[int] = set()
    out = {}
    for name, tensor in parts.items():
        place = tensor.untyped_storage().data_ptr()
        out[name] = tensor.clone() if place in seen else tensor
        seen.add(place)
    return out


def _size(tensors: Mapping[str, Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
