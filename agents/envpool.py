"""Pool of environment instances, reused by later plans with the same arguments."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from verigym.agents.plan import Plan
from verigym.client import RemoteVerifier
from verigym.env import Env
from verigym.errors import RequestError, VerigymError
from verigym.making import make


class EnvLost(VerigymError):
    """The worker that had an environment is gone, with the episode's state; play the episode again."""


class EnvPool:
    """Hands out environments, one owner at a time; safe to use from threads. Close it, or use `with`.

    Pass one pool to several `play` calls to reuse instances between them. Instances whose plans name the
    same service by URL, and that use the same verifier and parameters, share one client, so that one request
    can judge for many; it closes with the pool.
    """

    def __init__(self) -> None:
        self._idle: defaultdict[tuple[Any, ...], list[Env[Any]]] = defaultdict(list)
        self._remote: dict[object, RemoteVerifier] = {}
        self._lock = threading.Lock()
        self._closed = False

    def acquire(self, plan: Plan) -> Env[Any]:
        """Return an idle instance that fits `plan`, or a new one. The caller must reset it.

        Raises RequestError if the id is unknown or the environment does not take the arguments.
        """
        with self._lock:
            idle = self._idle[plan.world]
            if idle:
                return idle.pop()
        env = _new(plan, plan.env_kwargs)
        found = env.verifier
        if isinstance(found, RemoteVerifier) and isinstance(plan.env_kwargs.get("verifier"), str):
            with self._lock:
                env.verifier = self._remote.setdefault(found.address, found)
        return env

    def release(self, plan: Plan, env: Env[Any]) -> None:
        """Return `env` to the pool; it must be idle and intact."""
        with self._lock:
            if not self._closed:
                self._idle[plan.world].append(env)
                return
        env.close()

    def close(self) -> None:
        """Close every idle instance; the others are closed when they are released."""
        with self._lock:
            self._closed = True
            idle = [env for envs in self._idle.values() for env in envs]
            self._idle.clear()
            remote = list(self._remote.values())
            self._remote.clear()
        for env in idle:
            env.close()
        for verifier in remote:
            verifier.close()

    def __enter__(self) -> EnvPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _new(plan: Plan, kwargs: Mapping[str, Any]) -> Env[Any]:
    try:
        return plan.env(**kwargs) if callable(plan.env) else make(plan.env, **kwargs)
    except TypeError as error:
        names = ", ".join(sorted(kwargs)) or "none"
        raise RequestError(
            f"environment {plan.env} cannot be made with the arguments given ({names}): {error}"
        ) from error
