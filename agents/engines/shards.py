"""Weights as the processes of a learner hold them: rows of each tensor, which every process sends by itself.

So no process needs the whole model to send it. A learner of one process holds all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from torch import Tensor


class Shard(NamedTuple):
    """The rows that a process holds of a tensor of `shape`: those that `rows_of` says."""

    rows: Tensor
    shape: tuple[int, ...]


class ShardSender(Protocol):
    """Sends the rows of one process."""

    def send(self, version: int, shards: Mapping[str, Shard], *arguments: Any) -> int:
        """Send all rows; return their size in bytes, as they were sent."""


class Holders(Protocol):
    """The processes that hold a learner's weights. Each has a sender."""

    n: int

    def open(self, make: Callable[..., ShardSender], *arguments: Any) -> None:
        """Give each process the sender `make(rank, n, *arguments)`, in place of the one that it has.

        Raises EngineFault, which names the rank that failed.
        """

    def send(self, version: int, *arguments: Any) -> list[int]:
        """Have all processes send their rows at once; return the bytes that each sent.

        Raises EngineFault, which names the rank that failed.
        """


def rows_of(tensor: Tensor, n: int, rank: int) -> Tensor:
    """Return the rows that `rank` of `n` processes holds of a tensor, as a view.

    Equal parts rounded up, as FSDP2 cuts them: the last processes may have fewer rows, or none. A scalar is the
    first one's.
    """
    if not tensor.dim():
        return tensor if rank == 0 else tensor.new_empty(0)
    each = -(-len(tensor) // n)
    return tensor[rank * each : (rank + 1) * each]


class OneHolder:
    """A learner of one process; `tensors` returns its weights."""

    n = 1

    def __init__(self, tensors: Callable[[], Mapping[str, Tensor]]) -> None:
        self._tensors = tensors
        self._sender: ShardSender | None = None

    def open(self, make: Callable[..., ShardSender], *arguments: Any) -> None:
        """Make the sender."""
        self._sender = make(0, 1, *arguments)

    def send(self, version: int, *arguments: Any) -> list[int]:
        """Send all weights."""
        assert self._sender is not None, "no sender was opened"
        shards = {name: Shard(one, tuple(one.shape)) for name, one in self._tensors().items()}
        return [self._sender.send(version, shards, *arguments)]
