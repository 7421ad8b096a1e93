"""Environment instances kept for the next plan that asks for the same world."""

from __future__ import annotations

import threading
from collections import defaultdict
from types import TracebackType
from typing import Any

from verigym.agents.plan import Plan
from verigym.env import Env
from verigym.registry import make


class EnvPool:
    """Hands out environments, one owner at a time; safe to use from threads. Close it, or use `with`.

    Give one pool to several `play` calls to keep instances, and their connections, between them.
    """

    def __init__(self) -> None:
        self._idle: defaultdict[tuple[Any, ...], list[Env[Any]]] = defaultdict(list)
        self._lock = threading.Lock()
        self._closed = False

    def acquire(self, plan: Plan) -> Env[Any]:
        """An idle instance that fits `plan`, or a new one. It must be reset."""
        with self._lock:
            idle = self._idle[plan.world]
            if idle:
                return idle.pop()
        if callable(plan.env):
            return plan.env(**plan.env_kwargs)
        return make(plan.env, **plan.env_kwargs)

    def release(self, plan: Plan, env: Env[Any]) -> None:
        """Take `env` back, at rest and unharmed."""
        with self._lock:
            if not self._closed:
                self._idle[plan.world].append(env)
                return
        env.close()

    def close(self) -> None:
        """Close every idle instance; those still out are closed when they come back."""
        with self._lock:
            self._closed = True
            idle = [env for envs in self._idle.values() for env in envs]
            self._idle.clear()
        for env in idle:
            env.close()

    def __enter__(self) -> EnvPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
