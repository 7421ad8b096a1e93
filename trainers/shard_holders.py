"""`RankHolders`: the processes of a learner as those who hold its weights, and send each its own rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verigym.agents.engines.sampler import EngineFault
from verigym.agents.engines.shards import ShardSender
from verigym.trainers.ranks import Outcomes


class RankHolders:
    """`n` ranks that hold a learner's weights; `open_all` and `send_all` have each of them do so. Its methods are called
    on rank 0, from any thread."""

    def __init__(
        self,
        n: int,
        open_all: Callable[[Callable[..., ShardSender], tuple[Any, ...]], Outcomes],
        send_all: Callable[[int, tuple[Any, ...]], Outcomes],
    ) -> None:
        self.n = n
        self._open_all, self._send_all = open_all, send_all

    def open(self, make: Callable[..., ShardSender], *arguments: Any) -> None:
        """Make a sender on each rank. Raises EngineFault, which names the rank that failed."""
        _results(self._open_all(make, arguments))

    def send(self, version: int, *arguments: Any) -> list[int]:
        """Have all ranks send; return the bytes by rank. Raises EngineFault, which names the rank that failed."""
        return _results(self._send_all(version, arguments))


def _results(outcomes: Outcomes) -> list[Any]:
    failed = [f"rank {rank}: {why}" for rank, (_, why) in enumerate(outcomes) if why is not None]
    if failed:
        raise EngineFault(f"the learner could not send its weights: {'; '.join(failed)}")
    return [found for found, _ in outcomes]
