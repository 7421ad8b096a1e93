"""Changes of tensors, bit for bit, in as few bytes as they need.

In bfloat16, most weights stay as they are, bit for bit, through an update of usual size. Of each tensor the shortest of
three forms is taken: positions and values, a bit for each element and values, or all of it.

Checksums (BLAKE2b, 128 bits) prove a tensor before and after its change (shard_files.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_INDEX_BYTES = 4
_FORMS = ("", "|values", "|index", "|mask")


def keys(name: str) -> list[str]:
    """Return the keys that the parts of a tensor may have."""
    return [name + form for form in _FORMS]


def encode(name: str, new: Tensor, old: Tensor | None) -> dict[str, Tensor]:
    """Return the shortest form of a change; without `old`, all of `new`."""
    if old is None:
        return {name: new}
    differs = differing(new, old).view(-1)
    n, k, width = new.numel(), int(differs.sum()), new.element_size()
    by_index, by_mask = k * (_INDEX_BYTES + width), (n + 7) // 8 + k * width
    if min(by_index, by_mask) >= n * width:
        return {name: new}
    values = {f"{name}|values": _bits(new).view(-1)[differs]}
    if by_index <= by_mask and n < 2**31:
        return values | {f"{name}|index": differs.nonzero()[:, 0].int()}
    packed = torch.from_numpy(np.packbits(differs.numpy()))
    return values | {f"{name}|mask": packed}


def decode(name: str, parts: Mapping[str, Tensor], old: Tensor | None) -> Tensor:
    """Return the tensor that `encode` made `parts` of. Raises KeyError if they are not whole."""
    if name in parts or old is None:
        return parts[name]
    found = old.clone()
    flat = _bits(found).view(-1)
    values = parts[f"{name}|values"]
    index = parts.get(f"{name}|index")
    if index is None:
        packed = parts[f"{name}|mask"].numpy()
        mask = np.unpackbits(packed, count=flat.numel()).astype(bool)
        flat[torch.from_numpy(mask)] = values
    else:
        flat[index.long()] = values
    return found


def differing(a: Tensor, b: Tensor) -> Tensor:
    """Return True at each element that differs in a bit."""
    return _bits(a) != _bits(b)


def checksum(tensor: Tensor) -> str:
    """Return a digest of type, shape and bits."""
    head = f"{tensor.dtype} {tuple(tensor.shape)}".encode()
    data = _bits(tensor.contiguous()).numpy()
    return hashlib.blake2b(data.data, digest_size=16, key=head[:64]).hexdigest()


def _bits(tensor: Tensor) -> Tensor:
    """Return the elements as whole numbers: equal ones have equal bits."""
    return tensor.view(_BITS[tensor.element_size()])
