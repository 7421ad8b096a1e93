"""`RayActors`: a number of Ray actors on a cluster, each lost one replaced.

Environments (ray_envs.py), verifiers (ray_judges.py) and engines (engines/ray_sampler.py) live in such actors. Needs the extra `ray`; tried with Ray 2.60.
Objects travel pickled: connect only to a cluster of your own.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from typing import Any

from verigym.errors import MissingError, RequestError

START_S = 120.0


class RayActor:
    """An actor of Ray; its host has a method `ping`. `is_up` once it has answered. `load` is the caller's to count."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.up = handle.ping.remote()
        self.is_up = False
        self.load = 0


class RayActors:
    """`actors` actors of class `host`, made with `arguments`, which make up to `slots` calls at once each and reserve
    `cpus` and `gpus` each.

    `address` is that of a running cluster (`auto` for the one of this machine); None starts one in this process's
    name that listens on loopback only, has `cluster_cpus` (by default what these actors reserve), and ends with
    `close`. If Ray is connected already, that is used.
    """

    def __init__(
        self,
        host: type[Any],
        *,
        actors: int,
        slots: int,
        cpus: float,
        address: str | None,
        gpus: float = 0.0,
        arguments: Sequence[Any] = (),
        cluster_cpus: float | None = None,
    ) -> None:
        for name, value in (("actors", actors), ("slots", slots)):
            if not value > 0:
                raise RequestError(f"{name} must be above 0, got {value}")
        if address is None:
            listen_on_loopback()
        try:
            import ray
        except ImportError as error:
            raise MissingError(
                f"workers on Ray need more packages ({error}): pip install 'verigym[ray]'"
            ) from error
        self.ray = ray
        self.lock = threading.RLock()
        """Held to change the actors, and whatever callers count of them."""
        self.last_error = ""
        """Why the last actor that failed did not come up."""
        self._host, self._arguments = host, tuple(arguments)
        self._slots = slots
        self._options: dict[str, Any] = {
            "num_cpus": cpus,
            "max_concurrency": slots + 2,
            "max_restarts": 0,
        }
        if gpus:
            self._options["num_gpus"] = gpus
        self._owns_ray = not ray.is_initialized()
        if self._owns_ray:
            _connect(ray, address, max(1, math.ceil(cluster_cpus or actors * cpus)))
        self._actors = [self._new() for _ in range(actors)]

    def _new(self) -> RayActor:
        made = self.ray.remote(self._host).options(scheduling_strategy="SPREAD", **self._options)
        return RayActor(made.remote(*self._arguments))

    def up(self, wait_s: float) -> list[RayActor]:
        """Return the actors that are up; wait if none is."""
        self._look(wait_s)
        with self.lock:
            return [actor for actor in self._actors if actor.is_up]

    @property
    def has_room(self) -> bool:
        """True if an actor makes fewer calls than its slots, as far as callers count them, or none is up."""
        with self.lock:
            up = [actor for actor in self._actors if actor.is_up]
            return not up or any(actor.load < self._slots for actor in up)

    def take(self, wait_s: float = START_S) -> RayActor | None:
        """Return the actor of the least load, and add one to it; wait if none is up. None if none comes up."""
        up = self.up(wait_s)
        with self.lock:
            if not up:
                return None
            actor = min(up, key=lambda one: one.load)
            actor.load += 1
            return actor

    def _look(self, wait_s: float = START_S) -> None:
        """Find out which actors are up; wait if none is."""
        with self.lock:
            waiting = {actor.up: actor for actor in self._actors if not actor.is_up}
            has_some = len(waiting) < len(self._actors)
        if not waiting:
            return
        if not has_some:
            self.ray.wait(list(waiting), num_returns=1, timeout=wait_s)
        # Only a look: the others may wait for room in the cluster.
        ready, _ = self.ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
        for ref in ready:
            try:
                self.ray.get(ref)
                waiting[ref].is_up = True
            except self.ray.exceptions.RayError as error:
                self.last_error = str(error)
                self.lose(waiting[ref])

    def wait_for_all(self, timeout_s: float = START_S) -> int:
        """Wait until all actors are up, at most `timeout_s`; return how many are."""
        with self.lock:
            waiting = [actor.up for actor in self._actors if not actor.is_up]
        if waiting:
            self.ray.wait(waiting, num_returns=len(waiting), timeout=timeout_s)
            self._look()
        with self.lock:
            return sum(actor.is_up for actor in self._actors)

    def lose(self, actor: RayActor) -> None:
        """Kill an actor that is of no use any more, and ask the cluster for another."""
        with self.lock:
            if actor in self._actors:
                self._actors.remove(actor)
                self.ray.kill(actor.handle)
                self._actors.append(self._new())

    def has(self, actor: RayActor) -> bool:
        """Return True if the actor is still in use."""
        with self.lock:
            return actor in self._actors

    def close(self) -> None:
        """End the actors, and the cluster if it was started here."""
        with self.lock:
            actors, self._actors = self._actors, []
        for actor in actors:
            self.ray.kill(actor.handle)
        if self._owns_ray:
            self._owns_ray = False
            self.ray.shutdown()


def listen_on_loopback() -> None:
    """Keep a cluster that is started here to this machine; for before Ray is imported."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    # Ray's switch for machines with a firewall in the way: its processes use 127.0.0.1.
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")


def _connect(ray: Any, address: str | None, cpus: int) -> None:
    settings: dict[str, Any] = {"address": address}
    if address is None:
        settings = {
            "address": "local",
            "num_cpus": cpus,
            "include_dashboard": False,
            "object_store_memory": 256 << 20,
            "_node_ip_address": "127.0.0.1",
        }
    try:
        ray.init(log_to_driver=False, configure_logging=False, **settings)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise RequestError(f"Ray cannot be used: {error}") from error
