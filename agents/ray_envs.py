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

from typing import Any, cast

from typing_extensions import override

from verigym.agents.envpool import EnvLost
from verigym.agents.plan import Plan
from verigym.agents.ray_actors import START_S, RayActor
from verigym.agents.ray_host import Made, RayHost, Shown
from verigym.agents.ray_pool import RayPool
from verigym.env import Env, Snapshot, Transition
from verigym.errors import RequestError
from verigym.judge import Judge
from verigym.task import Task


class RayEnvPool(RayPool):
    """Environments in actors; the arguments are `RayPool`'s."""

    host = RayHost

    @override
    def acquire(self, plan: Plan) -> Env[Any]:
        """Return an environment of `plan` on the actor that plays the fewest.

        Raises EnvLost if no actor comes up in time.
        """
        actor = self.actors.take()
        if actor is None:
            raise EnvLost(f"no actor of Ray came up in {START_S:g} s")
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
            with self.actors.lock:
                actor.load -= 1
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
        with self.actors.lock:
            if env.is_playing:
                env.is_playing = False
                env.actor.load -= 1

    def wait_for_actors(self, timeout_s: float = START_S) -> int:
        """Wait until all actors are up, at most `timeout_s`; return how many are."""
        return self.actors.wait_for_all(timeout_s)

    def call(self, actor: RayActor, method: str, *arguments: Any) -> Any:
        """Call a method of the actor's host. Raises its error, EnvLost if the actor is gone, or TimeoutError."""
        errors = self.actors.ray.exceptions
        try:
            ref = getattr(actor.handle, method).remote(*arguments)
            return self.actors.ray.get(ref, timeout=self.timeout_s)
        except errors.RayTaskError as error:
            if isinstance(error.cause, Exception):
                raise error.cause from None
            raise
        except errors.GetTimeoutError as error:
            self.actors.lose(actor)
            raise TimeoutError(
                f"an environment on an actor of Ray took more than {self.timeout_s:g} s, and the actor "
                "was killed"
            ) from error
        except errors.RayError as error:
            self.actors.lose(actor)
            raise EnvLost(f"an actor of Ray is gone: {type(error).__name__}") from error

    def has(self, actor: RayActor) -> bool:
        """Return True if the actor is still in use."""
        return self.actors.has(actor)

    def forget(self, actor: RayActor, number: int) -> None:
        """Close an environment, without waiting for it."""
        with self.actors.lock:
            if self.actors.has(actor):
                actor.handle.close.remote(number)


class RayEnv(Env[Any]):
    """An environment on an actor. It is stepped and not proposed: its verifier is asked where it is."""

    def __init__(self, pool: RayEnvPool, actor: RayActor, made: Made) -> None:
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
