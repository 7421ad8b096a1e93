"""A channel for tensors by gloo over TCP: the processes of a learner send their rows, the others receive all."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import torch
import torch.distributed

from verigym.agents.engines.shards import Shard, rows_of

# Its annotations lack what is used here.
dist: Any = torch.distributed


def open_store(host: str, world: int, timeout_s: float) -> Any:
    """Open the meeting point of a channel of `world` processes on a free port."""
    return dist.TCPStore(
        host, 0, world, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=timeout_s)
    )


def join(host: str, port: int, rank: int, world: int, timeout_s: float) -> Any:
    """Join the channel whose meeting point is at `port`; returns when all `world` processes have. Independent of the
    default process group."""
    patience = timedelta(seconds=timeout_s)
    store = dist.TCPStore(host, port, world, is_master=False, timeout=patience)
    options = dist.ProcessGroupGloo._Options()
    options._timeout = patience
    options._devices = [dist.ProcessGroupGloo.create_device(hostname=host)]
    return dist.ProcessGroupGloo(dist.PrefixStore("weights", store), rank, world, options)


class GlooSender:
    """Sends the rows of process `rank` of `n` to each of `receivers`, the ranks from `n` on; a `ShardSender`."""

    def __init__(
        self, rank: int, n: int, host: str, port: int, receivers: int, timeout_s: float
    ) -> None:
        self._group = join(host, port, rank, n + receivers, timeout_s)
        self._receivers = range(n, n + receivers)

    def send(self, version: int, shards: Mapping[str, Shard]) -> int:
        """Send all rows, tensor by tensor. Raises RuntimeError if a receiver is gone or late."""
        try:
            return sum(self._send(shard) for shard in shards.values())
        except BaseException:
            # Closed, so that the receivers do not wait for the rest.
            self._group = None
            raise

    def _send(self, shard: Shard) -> int:
        if not shard.rows.numel():
            return 0
        found = shard.rows.detach().cpu().contiguous()
        for work in [self._group.send([found], to, 0) for to in self._receivers]:
            work.wait()
        return found.numel() * found.element_size()


def receive(group: Any, shape: list[int], dtype: str, n: int) -> torch.Tensor:
    """Receive the next tensor from the `n` processes that have its rows. Raises RuntimeError, which names the rank."""
    tensor = torch.empty(shape, dtype=getattr(torch, dtype))
    for rank in range(n):
        part = rows_of(tensor, n, rank)
        if part.numel():
            try:
                group.recv([part], rank, 0).wait()
            except RuntimeError as error:
                raise RuntimeError(f"the rows of rank {rank} did not arrive: {error}") from error
    return tensor
