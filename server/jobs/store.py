"""Data and guarantees of a store of jobs; sql.py has the methods.

A job has items; an item is judged on its own. Item states and who moves them:

    waiting --claim--> claimed --settle--> judged        the verdict is kept, once
       ^                  |
       +--again, release, reclaim--+                     a fault is tried again; the service stopped
                                                         or died

Each claim raises the item's `fence`, and whoever settles must name the fence that it was given. So of
several processes that judge the same item, because one was thought dead, exactly one verdict is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from verigym.errors import VerigymError


class StoreError(VerigymError):
    """The store cannot be reached or written; what was asked may or may not have been done."""


class JobState(StrEnum):
    """State of a job. `done` and `cancelled` are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job without its items; times are in seconds since 1970."""

    id: str
    status: JobState
    items: int
    unjudged: int
    created_s: float
    started_s: float | None
    finished_s: float | None


@dataclass(frozen=True, kw_only=True)
class NewJob:
    """A job to add. `digest` tells bodies under one idempotency key apart."""

    id: str
    owner: str
    idempotency: str | None
    digest: bytes
    asks: Sequence[tuple[str, bytes]]
    """For each item its verifier and the body that asks for it, as JSON."""

    @property
    def size(self) -> int:
        """Bytes of the bodies."""
        return sum(len(body) for _, body in self.asks)


@dataclass(frozen=True)
class Added:
    """`job` is None where there is none of the caller's: the key is taken, or the store full."""

    outcome: Literal["new", "same", "other", "full"]
    job: Job | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """An item that this process may judge until its lease ends."""

    seq: int
    job: str
    fence: int
    faults: int
    """Faults so far that were tried again."""
    lost: int
    """Number of times that a process died or hung while it held the item."""
    ask: bytes


@dataclass(frozen=True)
class Settled:
    """A claim and its verdict as JSON; or None, and the item is to be tried again after `pause_s`."""

    claim: Claim
    verdict: bytes | None
    pause_s: float = 0.0
