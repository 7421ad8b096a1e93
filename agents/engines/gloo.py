"""A channel for tensors between two or more processes, by gloo over TCP; rank 0 sends."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed

# Its annotations lack what is used here.
dist: Any = torch.distributed


def open_store(host: str, world: int, timeout_s: float) -> Any:
    """Open the meeting point of a channel on a free port; the caller is rank 0."""
    return dist.TCPStore(
        host, 0, world, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=timeout_s)
    )


def find_store(host: str, port: int, world: int, timeout_s: float) -> Any:
    """Connect to the meeting point that rank 0 opened."""
    return dist.TCPStore(host, port, world, is_master=False, timeout=timedelta(seconds=timeout_s))


def join(store: Any, host: str, rank: int, world: int, timeout_s: float) -> Any:
    """Join the channel; returns when all `world` processes have. Independent of the default process group."""
    options = dist.ProcessGroupGloo._Options()
    options._timeout = timedelta(seconds=timeout_s)
    options._devices = [dist.ProcessGroupGloo.create_device(hostname=host)]
    return dist.ProcessGroupGloo(dist.PrefixStore("weights", store), rank, world, options)


def send(group: Any, tensors: Iterable[torch.Tensor]) -> None:
    """Send tensors, in order, to all others. Raises RuntimeError if one of them is gone or late."""
    for tensor in tensors:
        group.broadcast(tensor.detach().cpu().contiguous(), 0).wait()


def receive(group: Any, shape: list[int], dtype: str) -> torch.Tensor:
    """Receive the next tensor."""
    tensor = torch.empty(shape, dtype=getattr(torch, dtype))
    group.broadcast(tensor, 0).wait()
    return tensor
