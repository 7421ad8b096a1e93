"""The requests of a verifier service: what is sent, how its answer reads, whether it may be repeated.

Nothing here sends: `Client` and `AsyncClient` do, so that they cannot differ.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from verigym import service
from verigym.canonical import JSON, to_json
from verigym.client.types import EnvInfo, Job, Session, SessionState, Step, TaskInfo
from verigym.errors import RequestError
from verigym.service import VerifierInfo
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault

WAIT_S = 30.0
"""How long one request waits for a job."""

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
    frame: Mapping[str, Any] = field(default_factory=dict)
    """The same for a WebSocket, where it is a call of a session."""


class _Envs(msgspec.Struct):
    envs: list[EnvInfo]


class _Tasks(msgspec.Struct):
    tasks: list[TaskInfo]


class _Opened(msgspec.Struct):
    sessions: list[Session]


class _Jobs(msgspec.Struct):
    jobs: list[Job]


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


def submit(
    verifier: str,
    items: Iterable[tuple[Task, JSON]],
    *,
    params: Mapping[str, JSON] | None,
    timeout_s: float | None,
    idempotency_key: str | None,
) -> Call[Job]:
    """A job. Its key, made here where none is given, lets it be sent again and begun once.

    Raises RequestError for what JSON cannot hold.
    """
    asks: list[dict[str, Any]] = []
    for task, submission in items:
        ask: dict[str, Any] = {"verifier": verifier, "task": task, "submission": submission}
        if params:
            ask["params"] = params
        if timeout_s is not None:
            ask["timeout_s"] = timeout_s
        asks.append(ask)
    key = secrets.token_hex(16) if idempotency_key is None else idempotency_key
    if not (key.isascii() and key.isprintable() and 0 < len(key) <= 255):
        raise RequestError(
            f"an idempotency key is 1 to 255 printable ASCII characters, got {key!r}"
        )
    return Call(
        method="POST",
        path="/v1/jobs",
        read=lambda answer: read_as(answer, Job),
        body=encoded({"items": msgspec.to_builtins(asks)}),
        headers={"Idempotency-Key": key},
    )


def job(id: str, wait_s: float) -> Call[Job]:
    """A job; the service answers when it is finished, at the latest in `wait_s`."""
    path = f"/v1/jobs/{quote(id)}?wait_s={wait_s:.3f}"
    return Call(method="GET", path=path, read=lambda answer: read_as(answer, Job))


def jobs(status: str | None, limit: int, after: str) -> Call[list[Job]]:
    """The caller's jobs, the newest first."""
    asked = {"limit": str(limit), "status": status, "after": after or None}
    query = urlencode({key: value for key, value in asked.items() if value is not None})
    path = f"/v1/jobs?{query}"
    return Call(method="GET", path=path, read=lambda answer: read_as(answer, _Jobs).jobs)


def drop_job(id: str) -> Call[None]:
    """Cancel a job, or forget a finished one. Not repeated: the second answer would be 404."""
    path = f"/v1/jobs/{quote(id)}"
    return Call(method="DELETE", path=path, read=lambda _: None, repeat=False)


def unfinished(job: Job) -> Verdict:
    """Says that nobody wants to wait longer for `job`."""
    evidence = f"job {job.job} is {job.status}: {job.unjudged} of {job.items} have no verdict yet"
    return fault(Status.TIMEOUT, "unfinished", evidence)


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

    return Call(
        method="POST",
        path="/v1/sessions",
        read=read,
        body=encoded(body),
        repeat=False,
        frame={"op": "create", **body},
    )


def step(session: str, seq: int, action: str) -> Call[Step]:
    """Step number `seq`; sent again, it gives the stored answer."""
    return _of_session("step", session, Step, {"seq": seq, "action": action})


def reset(
    session: str, seq: int, *, seed: int | None, options: Mapping[str, Any] | None
) -> Call[Session]:
    """Start a task in a session; counts as its step number `seq`."""
    return _of_session("reset", session, Session, {"seq": seq, **reset_body(seed, options)})


def renew(session: str) -> Call[SessionState]:
    """Let a session live for another lease."""
    return _of_session("renew", session, SessionState, {})


def state(session: str) -> Call[SessionState]:
    """Where a session stands."""
    return Call(
        method="GET",
        path=f"/v1/sessions/{quote(session)}",
        read=lambda answer: read_as(answer, SessionState),
        frame={"op": "state", "session": session},
    )


def close(session: str) -> Call[None]:
    """End a session. Not repeated: the second answer would be that it is unknown."""
    return Call(
        method="DELETE",
        path=f"/v1/sessions/{quote(session)}",
        read=lambda _: None,
        repeat=False,
        frame={"op": "close", "session": session},
    )


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
    """JSON, with half pairs of surrogates in it: an environment calls such an action invalid.

    Raises RequestError for what JSON cannot hold.
    """
    try:
        return to_json(body)
    except RequestError:
        try:
            return json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError):
            pass
        raise


def _of_session(op: str, session: str, kind: type[Kind], body: Mapping[str, Any]) -> Call[Kind]:
    return Call(
        method="POST",
        path=f"/v1/sessions/{quote(session)}/{op}",
        read=lambda answer: read_as(answer, kind),
        body=encoded(body) if body else b"{}",
        frame={"op": op, "session": session, **body},
    )
