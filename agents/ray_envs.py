"""Environments on other machines: `RayEnvPool` keeps them in Ray actors, which the same `play` uses.

    with RayEnvPool(actors=8, address="auto") as envs:
        play(plans, policy, settings=Settings(env_workers=64), envs=envs)

The episode loop and the policy stay in this process; resets, steps, oracles and verifiers run in the actors. A step is one
call. An actor that is lost, with its node or alone, costs the episodes that it ran: `EnvLost` makes the loop
play them again. A call that takes longer than `timeout_s` kills the actor, and is a fault of its own episode alone. Another actor is asked for in place of
each that is lost, and takes part as soon as the cluster has room for it.

Needs the extra `ray`; tried with Ray 2.60. Objects travel pickled: connect only to a cluster of your own.
"""

from __future__ import annotations

import os
import threading
from typing import Any, cast

from typing_extensions import override

from verigym.agents.envpool import EnvLost, EnvPool
from verigym.agents.plan import Plan
from verigym.agents.ray_host import Made, RayHost, Shown
from verigym.env import Env, Snapshot, Transition
from verigym.errors import MissingError, RequestError
from verigym.judge import Judge
from verigym.task import Task

_START_S = 120.0


class _Actor:
    """An actor of Ray with a `RayHost`. `is_up` once it has answered."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.up = handle.ping.remote()
        self.is_up = False
        self.n_playing = 0


class RayEnvPool(EnvPool):
    """Environments in `actors` actors, which play up to `slots` steps at once each and reserve `cpus` each.

    `address` is that of a running cluster (`auto` for the one of this machine); None starts one in this process's
    name that listens on loopback only and ends with the pool. If Ray is connected already, that is used.
    """

    def __init__(
        self,
        *,
        actors: int = 2,
        slots: int = 8,
        cpus: float = 1.0,
        address: str | None = None,
        timeout_s: float = 120.0,
    ) -> None:
        super().__init__()
        for name, value in (("actors", actors), ("slots", slots), ("timeout_s", timeout_s)):
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
        self._ray = ray
        self._timeout_s = timeout_s
        self._options = {"num_cpus": cpus, "max_concurrency": slots + 2, "max_restarts": 0}
        self._owns_ray = not ray.is_initialized()
        if self._owns_ray:
            _connect(ray, address, max(1, round(actors * cpus)))
        self._changing = threading.RLock()
        self._actors = [self._new_actor() for _ in range(actors)]

    def _new_actor(self) -> _Actor:
        made = self._ray.remote(RayHost).options(scheduling_strategy="SPREAD", **self._options)
        return _Actor(made.remote())

    @override
    def acquire(self, plan: Plan) -> Env[Any]:
        """Return an environment of `plan` on the actor that plays the fewest.

        Raises EnvLost if no actor comes up in time.
        """
        self._look_for_actors()
        with self._changing:
            up = [actor for actor in self._actors if actor.is_up]
            if not up:
                raise EnvLost(f"no actor of Ray came up in {_START_S:g} s")
            actor = min(up, key=lambda one: one.n_playing)
            actor.n_playing += 1
        with self._lock:
            idle = self._idle[plan.world]
            idle[:] = [env for env in idle if isinstance(env, RayEnv) and not env.is_lost]
            for env in idle:
                if isinstance(env, RayEnv) and env.actor is actor:
                    idle.remove(env)
                    env.is_playing = True
                    return env
        try:
            made: Made = self.call(actor, "make", plan.env, dict(plan.env_kwargs))
        except BaseException as error:
            with self._changing:
                actor.n_playing -= 1
            if not isinstance(error, TypeError):
                raise
            names = ", ".join(sorted(plan.env_kwargs)) or "none"
            raise RequestError(
                f"environment {plan.env} cannot be made on a Ray actor with the arguments given ({names}): "
                f"{error}"
            ) from error
        return RayEnv(self, actor, made)

    @override
    def release(self, plan: Plan, env: Env[Any]) -> None:
        if isinstance(env, RayEnv):
            self.rest(env)
        super().release(plan, env)

    def rest(self, env: RayEnv) -> None:
        """Note that an environment is not played any more."""
        with self._changing:
            if env.is_playing:
                env.is_playing = False
                env.actor.n_playing -= 1

    def _look_for_actors(self) -> None:
        """Find out which actors are up; wait if none is."""
        with self._changing:
            waiting = {actor.up: actor for actor in self._actors if not actor.is_up}
            has_some = len(waiting) < len(self._actors)
        if not waiting:
            return
        if not has_some:
            self._ray.wait(list(waiting), num_returns=1, timeout=_START_S)
        # Only a look: the others may wait for room in the cluster.
        ready, _ = self._ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
        for ref in ready:
            try:
                self._ray.get(ref)
                waiting[ref].is_up = True
            except self._ray.exceptions.RayError:
                self.lose(waiting[ref])

    def wait_for_actors(self, timeout_s: float = _START_S) -> int:
        """Wait until all actors are up, at most `timeout_s`; return how many are."""
        with self._changing:
            waiting = [actor.up for actor in self._actors if not actor.is_up]
        if waiting:
            self._ray.wait(waiting, num_returns=len(waiting), timeout=timeout_s)
            self._look_for_actors()
        with self._changing:
            return sum(actor.is_up for actor in self._actors)

    def call(self, actor: _Actor, method: str, *arguments: Any) -> Any:
        """Call a method of the actor's host. Raises its error, EnvLost if the actor is gone, or TimeoutError."""
        errors = self._ray.exceptions
        try:
            ref = getattr(actor.handle, method).remote(*arguments)
            return self._ray.get(ref, timeout=self._timeout_s)
        except errors.RayTaskError as error:
            if isinstance(error.cause, Exception):
                raise error.cause from None
            raise
        except errors.GetTimeoutError as error:
            self.lose(actor)
            raise TimeoutError(
                f"an environment on an actor of Ray took more than {self._timeout_s:g} s, and the actor "
                "was killed"
            ) from error
        except errors.RayError as error:
            self.lose(actor)
            raise EnvLost(f"an actor of Ray is gone: {type(error).__name__}") from error

    def lose(self, actor: _Actor) -> None:
        """Kill an actor that is of no use any more, and ask the cluster for another."""
        with self._changing:
            if actor in self._actors:
                self._actors.remove(actor)
                self._ray.kill(actor.handle)
                self._actors.append(self._new_actor())

    def has(self, actor: _Actor) -> bool:
        """Return True if the actor is still in use."""
        with self._changing:
            return actor in self._actors

    def forget(self, actor: _Actor, number: int) -> None:
        """Close an environment, without waiting for it."""
        with self._changing:
            if actor in self._actors:
                actor.handle.close.remote(number)

    @override
    def close(self) -> None:
        """Close the environments, end the actors, and the cluster if it was started here."""
        super().close()
        with self._changing:
            actors, self._actors = self._actors, []
        for actor in actors:
            self._ray.kill(actor.handle)
        if self._owns_ray:
            self._owns_ray = False
            self._ray.shutdown()


class RayEnv(Env[Any]):
    """An environment on an actor. It is stepped and not proposed: its verifier is asked where it is."""

    def __init__(self, pool: RayEnvPool, actor: _Actor, made: Made) -> None:
        # Not `Env.__init__`: levels, splits and parameters were checked where the environment is.
        self._pool, self.actor, self._number = pool, actor, made.number
        self.is_playing = True
        self._is_closed = False
        vars(self).update(
            id=made.id, judges_reply=made.judges_reply, max_action_chars=made.max_action_chars
        )
        self.max_turns = made.max_turns
        self.verifier = cast("Judge", _Elsewhere(made.verifier))
        self._shown: Shown | None = None
        self._legal: list[str] | None = None

    @property
    def is_lost(self) -> bool:
        """True if the actor is gone, and the environment with it."""
        return not self._pool.has(self.actor)

    def _call(self, method: str, *arguments: Any) -> Any:
        if self.is_lost:
            raise EnvLost("the actor of Ray that had the environment is gone")
        return self._pool.call(self.actor, method, self._number, *arguments)

    def _begin(self, shown: Shown) -> None:
        self._shown, self._task = shown, shown.task
        self._legal = shown.info.get("legal_actions")
        if shown.tools is not None:
            tools = shown.tools
            vars(self)["tools"] = lambda: tools

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        shown: Shown = self._call("reset", seed, options)
        self._begin(shown)
        return shown.observation, shown.info

    @override
    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        made: tuple[str, float, bool, bool, dict[str, Any]]
        made, self.verify_s = self._call("step", action)
        self._legal = made[4]["legal_actions"]
        return made

    @override
    def snapshot(self) -> Snapshot[Any]:
        found: Snapshot[Any] = self._call("ask", "snapshot")
        return found

    @override
    def restore(self, snapshot: Snapshot[Any]) -> None:
        self._begin(self._call("restore", snapshot))

    @override
    def view(self) -> str:
        return "" if self._shown is None else self._shown.view

    @override
    def oracle(self) -> str:
        return str(self._call("ask", "oracle"))

    @override
    def legal_actions(self, state: Any) -> list[str] | None:
        return self._legal

    @property
    @override
    def state(self) -> Any:
        return self.snapshot().state

    @override
    def turns_allowed(self, task: Task) -> int:
        assert self._shown is not None
        return self._shown.turns_allowed

    @override
    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._pool.rest(self)
            self._pool.forget(self.actor, self._number)

    # The functional core is where the environment is.

    @override
    def generate(self, rng: Any, level: int) -> Any:
        raise self._is_elsewhere()

    @override
    def initial(self, task: Task) -> Any:
        raise self._is_elsewhere()

    @override
    def observe(self, state: Any) -> str:
        raise self._is_elsewhere()

    @override
    def transition(self, state: Any, action: str) -> Transition[Any]:
        raise self._is_elsewhere()

    @override
    def solve(self, state: Any) -> str:
        raise self._is_elsewhere()

    def _is_elsewhere(self) -> RequestError:
        return RequestError(f"{self.id} is on an actor of Ray; only whole steps can be asked of it")


class _Elsewhere:
    """The verifier of an environment on an actor: its name alone."""

    prefers_batches = False

    def __init__(self, name: str) -> None:
        self.name = name


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
