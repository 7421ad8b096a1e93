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

from verigym.env import SPLITS, Env
from verigym.errors import RequestError, TaskError, suggestion
from verigym.registry import arguments_of, list_envs, make
from verigym.server.envs.messages import (
    Answer,
    Call,
    Describe,
    Done,
    Fault,
    Lost,
    Made,
    Make,
    Refused,
    Reset,
    Step,
    Tasks,
)
from verigym.verdict import VerifierFault

_NOT_FOR_CALLERS = frozenset({"verifier", "render_mode"})
"""Constructor arguments that a caller may not give: a verifier may be any URL."""

_encode = msgspec.json.Encoder().encode


class _Refused(Exception):
    """The request is invalid; `where` is a path into it."""

    def __init__(self, message: str, where: str) -> None:
        super().__init__(message)
        self.where = where


class _Broken(Exception):
    """A session could not be made again."""


class Stage:
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

    def answer(self, call: Call) -> Answer:
        """Execute `call` and return its answer. Never raises because of an environment."""
        try:
            return self._answer(call)
        except _Refused as refused:
            return Refused(call.call, str(refused), refused.where)
        except _Broken as broken:
            return Lost(call.call, str(broken))
        except VerifierFault as fault:
            found = fault.verdict
            return Fault(call.call, found.status.value, found.reason, found.digest, found.evidence)
        except RequestError as error:
            return Refused(call.call, str(error))
        except TaskError as error:
            return Fault(call.call, "verifier_error", "bad_task", detail=str(error), spoiled=True)
        except Exception as error:  # noqa: BLE001
            # A bug of the environment's author. It must not end the host, nor become a reward.
            detail = f"{type(error).__name__}: {error}"
            return Fault(call.call, "verifier_error", "crashed", detail=detail, spoiled=True)

    def _answer(self, call: Call) -> Answer:
        match call:
            case Step():
                env = self._env(call.session, call.made)
                return self._step(env, call)
            case Reset():
                env = self._env(call.session, call.made)
                return self._reset(env, call)
            case Make():
                return self._make(call)
            case Describe():
                return Done(call.call, _encode(self._describe(call.env)))
            case Tasks():
                return Done(call.call, _encode({"tasks": self._tasks(call)}))
            case _:
                assert_never(call)

    def _step(self, env: Env[Any], call: Step) -> Done:
        observation, reward, terminated, truncated, info = env.step(_text(call.action))
        if not math.isfinite(reward):
            raise TaskError(f"{env.id} gave the reward {reward}")
        body = {
            "observation": observation,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "info": info,
        }
        return Done(call.call, _encode(body), over=terminated or truncated)

    def _reset(self, env: Env[Any], call: Reset) -> Done:
        observation, info = _begin(env, call.seed, call.options)
        return _begun(call.call, env, call.seed, observation, info)

    def _make(self, call: Make) -> Done:
        first = self._new(call.made)
        observation, info = _begin(first, call.made.seed, call.made.options)
        snapshot = first.snapshot()
        made = {call.sessions[0]: first}
        for session in call.sessions[1:]:
            other = self._new(call.made)
            other.restore(snapshot)
            made[session] = other
        done = _begun(call.call, first, call.made.seed, observation, info)
        self._envs.update(made)
        return done

    def _env(self, session: int, made: Made | None) -> Env[Any]:
        if made is None:
            return self._envs[session]
        env = self._new(made)
        env.reset(seed=made.seed, options=made.options)
        if made.rng:
            env.np_random.bit_generator.state = json.loads(made.rng)
        for action in made.actions:
            env.step(_text(action))
        if made.key and env.state_key() != made.key:
            raise _Broken(
                f"{made.env}: seed {made.seed} and {len(made.actions)} actions led to another state"
            )
        self._envs[session] = env
        return env

    def _new(self, made: Made) -> Env[Any]:
        kind = self._class(made.env)
        known = _parameters(kind)
        for name in made.params:
            if name not in known:
                message = f"{made.env} takes no such parameter here; {suggestion(name, known)}"
                raise _Refused(message, "$.params")
        try:
            return kind(**made.params)
        except (RequestError, TypeError) as error:
            raise _Refused(str(error), "$.params") from error

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

    def _tasks(self, call: Tasks) -> list[dict[str, Any]]:
        env = self._class(call.env)()
        return [env.sample_task(seed, call.difficulty, call.split).public() for seed in call.seeds]


def _begin(env: Env[Any], seed: int | None, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    for name in options:
        if name == "task":
            # It would bring its own reference, and limits of programs with it.
            raise _Refused("tasks are drawn by the service; give a seed", "$.options.task")
    try:
        return env.reset(seed=seed, options=options)
    except RequestError as error:
        raise _Refused(str(error), "$.options") from error


def _begun(
    call: int, env: Env[Any], seed: int | None, observation: str, info: dict[str, Any]
) -> Done:
    body = {"observation": observation, "info": info}
    rng = json.dumps(env.np_random.bit_generator.state) if seed is None else ""
    return Done(call, _encode(body), seed=env.task.seed, rng=rng, most=env.max_action_chars)


def _text(action: str | bytes) -> str:
    return action if isinstance(action, str) else action.decode("utf-8", "surrogatepass")


@cache
def _parameters(kind: type[Env[Any]]) -> dict[str, Any]:
    """Constructor arguments that a caller may give, with their defaults."""
    return {name: v for name, v in arguments_of(kind).items() if name not in _NOT_FOR_CALLERS}
