"""OpenAPI documentation of the routes of environments and sessions."""

from __future__ import annotations

from typing import Any

import msgspec

from verigym.server import openapi
from verigym.server.envs.catalogue import Card
from verigym.server.envs.wire import CreateBody, ResetBody, StepBody
from verigym.verdict import Verdict


class EnvList(msgspec.Struct):
    envs: list[Card]


class PublicTask(msgspec.Struct):
    """A task without its hidden reference."""

    id: str
    env_id: str
    seed: int
    prompt: str
    difficulty: str
    split: str
    tags: list[str]


class TaskList(msgspec.Struct):
    tasks: list[PublicTask]


class Info(msgspec.Struct):
    """`state_key` identifies the true state, without history; `legal_actions` is null if they cannot be
    listed."""

    task_id: str
    state_key: str
    valid_action: bool
    verdict: Verdict | None
    legal_actions: list[str] | None


class Begun(msgspec.Struct):
    """A session at its start; it ends if it is not used for `lease_s` seconds."""

    session: str
    seq: int
    lease_s: float
    observation: str
    info: Info


class BegunList(msgspec.Struct):
    sessions: list[Begun]


class FaultDetail(msgspec.Struct):
    """Cause of a missing reward; `digest` is that of the verdict, if there is one."""

    status: str
    reason: str
    digest: str


class Moved(msgspec.Struct, omit_defaults=True):
    """Result of an action or a reset; or `fault` alone, and then `seq` may be sent again."""

    session: str
    seq: int
    observation: str | None = None
    reward: float | None = None
    terminated: bool | None = None
    truncated: bool | None = None
    info: Info | None = None
    fault: FaultDetail | None = None


class SessionProgress(msgspec.Struct):
    """Progress of a session; `busy` while it processes a request."""

    session: str
    env: str
    seq: int
    state_key: str
    task_id: str
    turn: int
    terminated: bool
    truncated: bool
    busy: bool
    lease_s: float


class StateList(msgspec.Struct):
    sessions: list[SessionProgress]


openapi.add_types(
    *(EnvList, Card, TaskList, BegunList, Moved, SessionProgress, StateList),
    *(CreateBody, StepBody, ResetBody),
)

ENVS = openapi.operation(EnvList)
ENV = openapi.operation(Card, None, 404)
TASKS: dict[str, Any] = {
    **openapi.operation(TaskList, None, 404),
    "parameters": [
        {
            "name": name,
            "in": "query",
            "required": False,
            "description": about,
            "schema": {"type": "string"},
        }
        for name, about in (
            ("split", "train, validation or test; by default train"),
            (
                "difficulty",
                "a level, such as 7, or one of the environment's names; by default the first name",
            ),
            ("seeds", "numbers with commas between, 256 at most; by default 0"),
        )
    ],
}
CREATE = openapi.operation(BegunList, CreateBody, *openapi.ON_BODIES, status=201)
STEP = openapi.operation(Moved, StepBody, *openapi.ON_BODIES, 409)
RESET = openapi.operation(Moved, ResetBody, *openapi.ON_BODIES, 409)
SESSIONS = openapi.operation(StateList)
STATE = openapi.operation(SessionProgress, None, 404)
RENEW = STATE
CLOSE = openapi.operation(None, None, 404, status=204)
