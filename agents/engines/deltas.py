"""Updates of whole weights as deltas: the elements that changed since the last update, in a folder.

In bfloat16, most weights stay as they are, bit for bit, through an update of usual size. Of each tensor the shortest of
three forms is written: positions and values, a bit for each element and values, or all of it. Tensors that did not
change are left out. If all that is not shorter than the weights, the weights are written.

Checksums prove each tensor before and after its change (BLAKE2b, 128 bits), so a delta for other weights than
the reader has is refused before anything is changed. They do not prove what the engine computes with: its
log-probabilities do (trainers/delivery.py).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

_FILE = "update.safetensors"
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_INDEX_BYTES = 4
_SEPARATOR = "|"


class DeltaMismatch(Exception):
    """A delta does not begin at the weights that the reader has, or did not arrive whole."""


class DeltaWriter:
    """Writes updates of one reader. Keeps a copy of the weights that it wrote last, on the CPU."""

    def __init__(self) -> None:
        self._base: dict[str, Tensor] = {}
        self._sums: dict[str, str] = {}

    def write(self, tensors: Mapping[str, Tensor], folder: Path) -> int:
        """Write an update to `tensors` into `folder`; return its size in bytes."""
        folder.mkdir(parents=True, exist_ok=True)
        new = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        parts, changed = self._changes(new)
        after = {name: checksum(new[name]) if name in changed else self._sums[name] for name in new}
        kind = "delta"
        sums = {name: [self._sums.get(name), after[name]] for name in changed}
        if not self._base or _size(parts) >= _size(new):
            kind = "whole"
            sums = {name: [None, after[name]] for name in new}
            parts = {name: tensor.clone() for name, tensor in new.items()}  # some share memory
        save_file(parts, folder / _FILE, metadata={"kind": kind, "sums": json.dumps(sums)})
        self._base |= {name: new[name].clone() for name in changed}
        self._sums = after
        return _size(parts)

    def _changes(self, new: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], list[str]]:
        """Return the parts that make `new` from the last weights, and the tensors that changed."""
        parts: dict[str, Tensor] = {}
        changed = []
        for name, tensor in new.items():
            old = self._base.get(name)
            if old is not None and torch.equal(_bits(old), _bits(tensor)):
                continue
            changed.append(name)
            parts |= _parts(name, tensor, old)
        return parts, changed


def read(folder: Path, base: dict[str, Tensor]) -> None:
    """Bring `base` to the weights that the update in `folder` leads to. Raises DeltaMismatch, with `base` as it was."""
    with safe_open(folder / _FILE, framework="pt") as file:
        meta = file.metadata()
        sums: dict[str, list[str | None]] = json.loads(meta["sums"])
        parts = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    found = parts if meta["kind"] == "whole" else _changed(parts, sums, base)
    for name, (_, after) in sums.items():
        if name not in found or checksum(found[name]) != after:
            raise DeltaMismatch(f"{name} did not arrive as it was written")
    if meta["kind"] == "whole":
        base.clear()
    base.update(found)


def checksum(tensor: Tensor) -> str:
    """Return a digest of type, shape and bits."""
    head = f"{tensor.dtype} {tuple(tensor.shape)}".encode()
    data = _bits(tensor.contiguous()).numpy()
    return hashlib.blake2b(data.data, digest_size=16, key=head[:64]).hexdigest()


def _changed(
    parts: Mapping[str, Tensor], sums: Mapping[str, list[str | None]], base: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    out = {}
    for name, (before, _) in sums.items():
        if name not in base or checksum(base[name]) != before:
            raise DeltaMismatch(
                f"the delta begins at other weights of {name} than are here; send all weights"
            )
        if name in parts:
            out[name] = parts[name]
            continue
        out[name] = base[name].clone()
        flat = _bits(out[name]).view(-1)
        values = parts[f"{name}{_SEPARATOR}values"]
        index = parts.get(f"{name}{_SEPARATOR}index")
        if index is None:
            packed = parts[f"{name}{_SEPARATOR}mask"].numpy()
            mask = np.unpackbits(packed, count=flat.numel()).astype(bool)
            flat[torch.from_numpy(mask)] = values
        else:
            flat[index.long()] = values
    return out


def _parts(name: str, new: Tensor, old: Tensor | None) -> dict[str, Tensor]:
    """Return the shortest form of a change."""
    if old is None:
        return {name: new}
    bits = _bits(new).view(-1)
    differs = bits != _bits(old).view(-1)
    n, k, width = bits.numel(), int(differs.sum()), new.element_size()
    by_index, by_mask = k * (_INDEX_BYTES + width), (n + 7) // 8 + k * width
    if min(by_index, by_mask) >= n * width:
        return {name: new}
    values = {f"{name}{_SEPARATOR}values": bits[differs]}
    if by_index <= by_mask and n < 2**31:
        return values | {f"{name}{_SEPARATOR}index": differs.nonzero()[:, 0].int()}
    packed = torch.from_numpy(np.packbits(differs.numpy()))
    return values | {f"{name}{_SEPARATOR}mask": packed}


def _bits(tensor: Tensor) -> Tensor:
    """Return the elements as whole numbers: equal ones have equal bits."""
    return tensor.view(_BITS[tensor.element_size()])


def _size(tensors: Mapping[str, Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
