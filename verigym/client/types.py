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
    params: Any = None
    about: str = ""
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
class Session:
    """A session that was just made, or reset: `observation` and `info` are what `reset` gives."""

    session: str
    seq: int
    observation: str = ""
    info: dict[str, Any] = field(default_factory=dict)
    lease_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class FaultInfo:
    """A fault without a score: `status` as in `Verdict.status`."""

    status: str
    reason: str = ""
    digest: str = ""


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
    """Where a session stands; `lease_left_s` is how long it lives without being used."""

    session: str
    env: str = ""
    seq: int = 0
    state_key: str = ""
    turn: int = 0
    terminated: bool = False
    truncated: bool = False
    lease_left_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Numbered:
    """A verdict of a batch and the place of its submission."""

    index: int
    verdict: Verdict
