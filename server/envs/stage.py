"""Execution of single messages in a host process: creates, plays and describes environments by session.

No answer holds a hidden reference: bodies hold observations, `info` and the public part of tasks, and
an environment's exceptions go to the log.
"""

from __future__ import annotations

import inspect
import json
import math
from functools import cache
from typing import Any, assert_never

import msgspec

from verigym.env import Env
from verigym.errors import RequestError, TaskError, suggestion
from verigym.making import arguments_of, make
from verigym.registry import list_envs
from verigym.server.envs.messages import (
    Answer,
    DescribeEnv,
    Done,
    History,
    Invalid,
    ListTasks,
    MakeSessions,
    Request,
    RequestFailed,
    ResetSession,
    SessionLost,
    StepSession,
)
from verigym.task import SPLITS
from verigym.verdict import VerifierFault

_NOT_FOR_CALLERS = frozenset({"verifier", "render_mode"})
"""Constructor arguments that a caller may not give: a verifier may be any URL."""

_encode = msgspec.json.Encoder().encode


class _InvalidRequest(Exception):
    """The request is invalid; `where` is a path into it."""

    def __init__(self, message: str, where: str) -> None:
        super().__init__(message)
        self.where = where


class _Broken(Exception):
    """A session could not be made again."""


class HostedSessions:
    """The sessions of one host. Different sessions may be used by several threads at once."""

    def __init__(self) -> None:
        self._envs: dict[int, Env[Any]] = {}
        self._classes: dict[str, type[Env[Any]]] = {}

    def drop(self, sessions: list[int]) -> None:
        """Drop `sessions`; unknown ones are ignored."""
        for session in sessions:
            env = self._envs.pop(session, None)
            if env is not None:
                env.close()

    def answer(self, request: Request) -> Answer:
        """Execute `request` and return its answer. Never raises because of an environment."""
        try:
            return self._answer(request)
        except _InvalidRequest as refused:
            return Invalid(request.request, str(refused), refused.where)
        except _Broken as broken:
            return SessionLost(request.request, str(broken))
        except VerifierFault as fault:
            found = fault.verdict
            return RequestFailed(
                request.request, found.status.value, found.reason, found.digest, found.evidence
            )
        except RequestError as error:
            return Invalid(request.request, str(error))
        except TaskError as error:
            return RequestFailed(
                request.request, "verifier_error", "bad_task", detail=str(error), spoiled=True
            )
        except Exception as error:  # noqa: BLE001
            # A bug of the environment's author. It must not end the host, nor become a reward.
            detail = f"{type(error).__name__}: {error}"
            return RequestFailed(
                request.request, "verifier_error", "crashed", detail=detail, spoiled=True
            )

    def _answer(self, request: Request) -> Answer:
        match request:
            case StepSession():
                env = self._env(request.session, request.history)
                return self._step(env, request)
            case ResetSession():
                env = self._env(request.session, request.history)
                return self._reset(env, request)
            case MakeSessions():
                return self._make(request)
            case DescribeEnv():
                return Done(request.request, _encode(self._describe(request.env)))
            case ListTasks():
                return Done(request.request, _encode({"tasks": self._tasks(request)}))
            case _:
                assert_never(request)

    def _step(self, env: Env[Any], request: StepSession) -> Done:
        observation, reward, terminated, truncated, info = env.step(_text(request.action))
        if not math.isfinite(reward):
            raise TaskError(f"{env.id} gave the reward {reward}")
        body = {
            "observation": observation,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "info": info,
        }
        return Done(request.request, _encode(body), over=terminated or truncated)

    def _reset(self, env: Env[Any], request: ResetSession) -> Done:
        observation, info = _begin(env, request.seed, request.options)
        return _begun(request.request, env, request.seed, observation, info)

    def _make(self, request: MakeSessions) -> Done:
        first = self._new(request.history)
        observation, info = _begin(first, request.history.seed, request.history.options)
        snapshot = first.snapshot()
        made = {request.sessions[0]: first}
        for session in request.sessions[1:]:
            other = self._new(request.history)
            other.restore(snapshot)
            made[session] = other
        done = _begun(request.request, first, request.history.seed, observation, info)
        self._envs.update(made)
        return done

    def _env(self, session: int, history: History | None) -> Env[Any]:
        if history is None:
            return self._envs[session]
        env = self._new(history)
        env.reset(seed=history.seed, options=history.options)
        if history.rng:
            env.np_random.bit_generator.state = json.loads(history.rng)
        for action in history.actions:
            env.step(_text(action))
        if history.key and env.state_key() != history.key:
            raise _Broken(
                f"{history.env}: seed {history.seed} and {len(history.actions)} actions led to another state"
            )
        self._envs[session] = env
        return env

    def _new(self, history: History) -> Env[Any]:
        kind = self._class(history.env)
        known = _parameters(kind)
        for name in history.params:
            if name not in known:
                message = f"{history.env} takes no such parameter here; {suggestion(name, known)}"
                raise _InvalidRequest(message, "$.params")
        try:
            return kind(**history.params)
        except (RequestError, TypeError) as error:
            raise _InvalidRequest(str(error), "$.params") from error

    def _class(self, id: str) -> type[Env[Any]]:
        if id not in self._classes:
            # `make` checks what was registered; the class is then used without Gymnasium around it.
            self._classes[id] = type(make(id))
        return self._classes[id]

    def _describe(self, id: str) -> dict[str, Any]:
        kind = self._class(id)
        env = kind()
        entry = list_envs()[id]
        turns = [env.turns_allowed(env.sample_task(0, level)) for level in env.difficulties]
        return {
            "id": id,
            "version": entry.version,
            "family": entry.family,
            "max_turns": max(turns),
            "difficulties": list(env.difficulties),
            "levels": dict(env.scale().levels),
            "splits": list(SPLITS),
            "verifier": env.verifier_id,
            "about": (inspect.getdoc(kind) or "").partition("\n")[0],
            "max_action_chars": env.max_action_chars,
            "max_observation_chars": env.max_observation_chars,
            "params": _parameters(kind),
        }

    def _tasks(self, request: ListTasks) -> list[dict[str, Any]]:
        env = self._class(request.env)()
        return [
            env.sample_task(seed, request.difficulty, request.split).public()
            for seed in request.seeds
        ]


def _begin(env: Env[Any], seed: int | None, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    for name in options:
        if name == "task":
            # It would bring its own reference, and limits of programs with it.
            raise _InvalidRequest("tasks are drawn by the service; give a seed", "$.options.task")
    try:
        return env.reset(seed=seed, options=options)
    except RequestError as error:
        raise _InvalidRequest(str(error), "$.options") from error


def _begun(
    number: int, env: Env[Any], seed: int | None, observation: str, info: dict[str, Any]
) -> Done:
    body = {"observation": observation, "info": info}
    rng = json.dumps(env.np_random.bit_generator.state) if seed is None else ""
    return Done(number, _encode(body), seed=env.task.seed, rng=rng, most=env.max_action_chars)


def _text(action: str | bytes) -> str:
    return action if isinstance(action, str) else action.decode("utf-8", "surrogatepass")


@cache
def _parameters(kind: type[Env[Any]]) -> dict[str, Any]:
    """Constructor arguments that a caller may give, with their defaults."""
    return {name: v for name, v in arguments_of(kind).items() if name not in _NOT_FOR_CALLERS}
