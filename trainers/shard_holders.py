"""`RankHolders`: the processes of a learner as those who hold its weights, and send each its own rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from verigym.agents.engines.sampler import EngineFault
from verigym.agents.engines.shards import Sender
from verigym.trainers.ranks import Outcomes

if TYPE_CHECKING:
    from verigym.trainers.sharded import ShardedEngine


class RankHolders:
    """Holders of the weights of `engine`; its methods are called on rank 0, from any thread."""

    def __init__(self, engine: ShardedEngine) -> None:
        self._engine = engine
        self.n = engine.ranks.world

    def open(self, make: Callable[..., Sender], *arguments: Any) -> None:
        """Make a sender on each rank. Raises EngineFault, which names the rank that failed."""
        _results(self._engine.open_senders(make, arguments))

    def send(self, version: int, *arguments: Any) -> list[int]:
        """Have all ranks send; return the bytes by rank. Raises EngineFault, which names the rank that failed."""
        return _results(self._engine.send_shards(version, arguments))


def _results(outcomes: Outcomes) -> list[Any]:
    failed = [f"rank {rank}: {why}" for rank, (_, why) in enumerate(outcomes) if why is not None]
    if failed:
        raise EngineFault(f"the learner could not send its weights: {'; '.join(failed)}")
    return [found for found, _ in outcomes]
