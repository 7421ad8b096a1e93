"""`RayPool`: what the pools of environments and of verifiers on Ray have in common."""

from __future__ import annotations

from typing import Any, ClassVar

from typing_extensions import override

from verigym.agents.envpool import EnvPool
from verigym.agents.ray_actors import RayActors
from verigym.errors import RequestError


class RayPool(EnvPool):
    """A pool with `actors` actors of class `host`, which make up to `slots` calls at once each and reserve `cpus` each.

    `address` is that of a running cluster (`auto` for the one of this machine); None starts one in this process's
    name that listens on loopback only, has `cluster_cpus`, and ends with the pool. If Ray is connected already, that is used.
    """

    host: ClassVar[type[Any]]

    def __init__(
        self,
        *,
        actors: int = 2,
        slots: int = 8,
        cpus: float = 1.0,
        address: str | None = None,
        timeout_s: float = 120.0,
        cluster_cpus: float | None = None,
    ) -> None:
        super().__init__()
        if not timeout_s > 0:
            raise RequestError(f"timeout_s must be above 0, got {timeout_s}")
        self.timeout_s = timeout_s
        self.actors = RayActors(
            self.host,
            actors=actors,
            slots=slots,
            cpus=cpus,
            address=address,
            cluster_cpus=cluster_cpus,
        )

    @override
    def close(self) -> None:
        """Close the environments, end the actors, and the cluster if it was started here."""
        super().close()
        self.actors.close()
