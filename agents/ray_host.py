"""`RayHost`: the environments of one Ray actor, with their verifiers. Plain Python: the driver makes it an actor.

Everything that crosses is plain data of Verigym, pickled by Ray between processes of one installation.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from verigym.agents.native_tools import ToolSchemas
from verigym.agents.plan import EnvFactory
from verigym.env import Env, Snapshot
from verigym.making import make
from verigym.task import Task

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class Made:
    """An environment that was made: its `number` at the host, and what its class says."""

    number: int
    id: str
    verifier: str
    max_turns: int | None
    judges_reply: bool
    max_action_chars: int


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An environment after `reset` or `restore`."""

    observation: str
    info: dict[str, Any]
    view: str
    task: Task
    turns_allowed: int
    tools: ToolSchemas | None


class RayHost:
    """Makes environments and plays them; each is used by one caller at a time."""

    def __init__(self) -> None:
        self._envs: dict[int, Env[Any]] = {}
        self._numbers = itertools.count()

    def ping(self) -> None:
        """Return at once."""

    def make(self, env: str | EnvFactory, kwargs: Mapping[str, Any]) -> Made:
        """Make an environment and keep it."""

        def run() -> Made:
            made = env(**kwargs) if callable(env) else make(env, **kwargs)
            number = next(self._numbers)
            self._envs[number] = made
            return Made(
                number=number,
                id=made.id,
                verifier=made.verifier.name,
                max_turns=made.max_turns,
                judges_reply=made.judges_reply,
                max_action_chars=made.max_action_chars,
            )

        return _portable(run)

    def reset(self, number: int, seed: int | None, options: dict[str, Any] | None) -> Shown:
        """Start a task."""
        env = self._envs[number]
        return _portable(lambda: _shown(env, *env.reset(seed=seed, options=options)))

    def restore(self, number: int, snapshot: Snapshot[Any]) -> Shown:
        """Continue from a point of play."""
        env = self._envs[number]

        def run() -> Shown:
            env.restore(snapshot)
            return _shown(env, env.view(), {"state_key": env.state_key()})

        return _portable(run)

    def step(self, number: int, action: str) -> tuple[Any, float]:
        """Return the five values of a step, and the seconds that the verifier took."""
        env = self._envs[number]
        return _portable(lambda: (env.step(action), env.verify_s))

    def ask(self, number: int, what: str) -> Any:
        """Return the result of a method without arguments, such as `oracle` or `snapshot`."""
        env = self._envs[number]
        return _portable(lambda: getattr(env, what)())

    def close(self, number: int) -> None:
        """Close an environment."""
        env = self._envs.pop(number, None)
        if env is not None:
            env.close()


def _shown(env: Env[Any], observation: str, info: dict[str, Any]) -> Shown:
    tools = getattr(env, "tools", None)
    return Shown(
        observation=observation,
        info=info,
        view=env.view(),
        task=env.task,
        turns_allowed=env.turns_allowed(env.task),
        tools=(tools() or None) if callable(tools) else None,
    )


def _portable(work: Callable[[], _T]) -> _T:
    """Return the result of `work`; an error that cannot be pickled is raised as its text."""
    try:
        return work()
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - our own error, to see if it survives
        except Exception:  # noqa: BLE001 - whatever pickling calls may raise anything
            raise RuntimeError(f"{type(error).__name__}: {error}") from None
        raise
