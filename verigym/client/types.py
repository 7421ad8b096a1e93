"""What a service says about its environments, sessions and jobs; plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from verigym.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class EnvInfo:
    """An environment as the service lists it; `params` with `GET /v1/envs/{id}` only."""

    id: str
    version: int = 0
    family: str = ""
    max_turns: int | None = None
    difficulties: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    params: dict[str, Any] = field(default_factory=dict)
    """Constructor arguments that a session may be made with, and their defaults."""
    about: str = ""
    verifier: str = ""
    max_observation_chars: int = 8192
    max_action_chars: int = 4096


@dataclass(frozen=True, kw_only=True)
class TaskInfo:
    """The public part of a task; the service keeps the reference."""

    id: str
    prompt: str
    seed: int
    difficulty: str
    split: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FaultInfo:
    """A fault without a score: `status` as in `Verdict.status`."""

    status: str
    reason: str = ""
    digest: str = ""


@dataclass(frozen=True, kw_only=True)
class Session:
    """A session that was just made, or reset: `observation` and `info` are what `reset` gives."""

    session: str
    seq: int
    observation: str = ""
    info: dict[str, Any] = field(default_factory=dict)
    lease_s: float = 0.0
    fault: FaultInfo | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """What a step gave; where `fault` is set nothing happened, and the same `seq` may be sent again."""

    session: str
    seq: int
    observation: str = ""
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: dict[str, Any] = field(default_factory=dict)
    fault: FaultInfo | None = None


@dataclass(frozen=True, kw_only=True)
class SessionState:
    """How far a session is; it ends when it is not used for `lease_s` seconds from now."""

    session: str
    env: str
    seq: int
    state_key: str = ""
    task_id: str = ""
    turn: int = 0
    terminated: bool = False
    truncated: bool = False
    busy: bool = False
    """Whether a step or reset is under way."""
    lease_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Job:
    """Submissions that the service judges in its own time; `status` is queued, running, done or
    cancelled. Times are in seconds since 1970."""

    job: str
    status: str
    items: int
    unjudged: int
    created_s: float
    started_s: float | None = None
    finished_s: float | None = None
    verdicts: tuple[Verdict, ...] | None = None
    """In the order of the submissions; None until it is done, and in lists."""


@dataclass(frozen=True, kw_only=True)
class Numbered:
    """A verdict of a batch, and the place of its submission."""

    index: int
    verdict: Verdict
