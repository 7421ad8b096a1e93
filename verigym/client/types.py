"""Plain data about the environments, sessions and jobs of a service."""

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
    """Names of difficulties."""
    levels: dict[str, int] = field(default_factory=dict)
    """All difficulties, as tasks write them, with their numbers."""
    splits: tuple[str, ...] = ()
    params: dict[str, Any] = field(default_factory=dict)
    """Constructor arguments that a session may set, with their defaults."""
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
    """A session just after creation or reset; `observation` and `info` are the results of `reset`."""

    session: str
    seq: int
    observation: str = ""
    info: dict[str, Any] = field(default_factory=dict)
    lease_s: float = 0.0
    fault: FaultInfo | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """Result of a step; if `fault` is set, nothing happened and the same `seq` may be sent again."""

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
    """Progress of a session; it ends if it is not used for `lease_s` seconds."""

    session: str
    env: str
    seq: int
    state_key: str = ""
    task_id: str = ""
    turn: int = 0
    terminated: bool = False
    truncated: bool = False
    busy: bool = False
    """True while a step or reset is in progress."""
    lease_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class VerdictJob:
    """Submissions that the service judges in the background; `status` is queued, running, done or
    cancelled. Times are in seconds since 1970."""

    job: str
    status: str
    items: int
    unjudged: int
    created_s: float
    started_s: float | None = None
    finished_s: float | None = None
    verdicts: tuple[Verdict, ...] | None = None
    """Verdicts in the order of the submissions; None until the job is done, and in lists of jobs."""


@dataclass(frozen=True, kw_only=True)
class Numbered:
    """A verdict of a batch with the place of its submission."""

    index: int
    verdict: Verdict
