"""The requests of a verifier service: what is sent, how its answer reads, whether it may be repeated.

Nothing here sends: `Client` and `AsyncClient` do, so that they cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from verigym import service
from verigym.canonical import JSON, to_json
from verigym.client.types import EnvInfo, Session, SessionState, Step, TaskInfo
from verigym.errors import RequestError
from verigym.service import VerifierInfo

Answer = TypeVar("Answer")
Kind = TypeVar("Kind")


@dataclass(frozen=True, kw_only=True)
class Call(Generic[Answer]):
    """One request. `repeat`: whether it may be sent again where the service may have acted on it."""

    method: str
    path: str
    read: Callable[[bytes], Answer]
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    repeat: bool = True


class _Envs(msgspec.Struct):
    envs: list[EnvInfo]


class _Tasks(msgspec.Struct):
    tasks: list[TaskInfo]


class _Opened(msgspec.Struct):
    sessions: list[Session]


class _Sessions(msgspec.Struct):
    sessions: list[SessionState]


def read_as(answer: bytes, kind: type[Kind]) -> Kind:
    """`answer` as a `kind`. Raises Failed where it is none."""
    try:
        return msgspec.json.decode(answer, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise service.bad_answer(str(error)) from error


def health() -> Call[dict[str, Any]]:
    """What the service says of itself."""
    return Call(method="GET", path="/healthz", read=service.read_health)


def verifiers() -> Call[list[VerifierInfo]]:
    """What the service judges."""
    return Call(method="GET", path="/v1/verifiers", read=service.read_infos)


def card(verifier: str) -> Call[dict[str, Any]]:
    """How often a verifier was wrong, and on what."""
    path = f"/v1/verifiers/{quote(verifier)}/card"
    return Call(method="GET", path=path, read=lambda answer: read_as(answer, dict[str, Any]))


def envs() -> Call[list[EnvInfo]]:
    """The environments that the service plays."""
    return Call(method="GET", path="/v1/envs", read=lambda answer: read_as(answer, _Envs).envs)


def env(name: str) -> Call[EnvInfo]:
    """One environment with its parameters."""
    path = f"/v1/envs/{quote(name)}"
    return Call(method="GET", path=path, read=lambda answer: read_as(answer, EnvInfo))


def tasks(
    name: str, seeds: Sequence[int], difficulty: str | None, split: str | None
) -> Call[list[TaskInfo]]:
    """The public part of the tasks that these seeds play."""
    asked = {"seeds": ",".join(map(str, seeds)), "difficulty": difficulty, "split": split}
    query = urlencode({key: value for key, value in asked.items() if value is not None})
    path = f"/v1/envs/{quote(name)}/tasks?{query}"
    return Call(method="GET", path=path, read=lambda answer: read_as(answer, _Tasks).tasks)


def create(
    name: str,
    *,
    seed: int | None,
    options: Mapping[str, Any] | None,
    params: Mapping[str, JSON] | None,
    count: int,
) -> Call[list[Session]]:
    """`count` sessions in the identical start state. Never repeated: each would hold a place."""
    body = {"env": name, "count": count, **reset_body(seed, options)}
    if params:
        body["params"] = dict(params)

    def read(answer: bytes) -> list[Session]:
        opened = read_as(answer, _Opened).sessions
        if len(opened) != count:
            raise service.bad_answer(f"{len(opened)} sessions where {count} were asked for")
        return opened

    return Call(method="POST", path="/v1/sessions", read=read, body=encoded(body), repeat=False)


def step(session: str, seq: int, action: str) -> Call[Step]:
    """Step number `seq`; sent again, it gives the stored answer."""
    body = encoded({"seq": seq, "action": action})
    path = f"/v1/sessions/{quote(session)}/step"
    return Call(method="POST", path=path, read=lambda answer: read_as(answer, Step), body=body)


def reset(
    session: str, seq: int, *, seed: int | None, options: Mapping[str, Any] | None
) -> Call[Session]:
    """Start a task in a session; counts as its step number `seq`."""
    body = encoded({"seq": seq, **reset_body(seed, options)})
    path = f"/v1/sessions/{quote(session)}/reset"
    return Call(method="POST", path=path, read=lambda answer: read_as(answer, Session), body=body)


def state(session: str) -> Call[SessionState]:
    """Where a session stands."""
    path = f"/v1/sessions/{quote(session)}"
    return Call(method="GET", path=path, read=lambda answer: read_as(answer, SessionState))


def renew(session: str) -> Call[SessionState]:
    """Let a session live for another lease."""
    path = f"/v1/sessions/{quote(session)}/renew"
    return Call(method="POST", path=path, read=lambda answer: read_as(answer, SessionState))


def close(session: str) -> Call[None]:
    """End a session. Not repeated: the second answer would be that it is unknown."""
    path = f"/v1/sessions/{quote(session)}"
    return Call(method="DELETE", path=path, read=lambda _: None, repeat=False)


def sessions() -> Call[list[SessionState]]:
    """The caller's own sessions."""
    return Call(
        method="GET", path="/v1/sessions", read=lambda answer: read_as(answer, _Sessions).sessions
    )


def reset_body(seed: int | None, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The part of a body that says what to play."""
    body: dict[str, Any] = {}
    if seed is not None:
        body["seed"] = seed
    if options:
        body["options"] = dict(options)
    return body


def encoded(body: Mapping[str, Any]) -> bytes:
    """Raises RequestError for what JSON cannot hold."""
    return to_json(body)


def no_session(what: str) -> RequestError:
    """For a call that comes before the one it needs."""
    return RequestError(f"{what}: call reset() first")
