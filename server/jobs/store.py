"""Data and guarantees of a store of jobs; sql.py has the methods.

A job has items; an item is judged on its own. Item states and who moves them:

    waiting --claim--> claimed --settle--> judged        the verdict is kept, once
       ^                  |
       +--again, release, reclaim--+                     a fault is tried again; the service stopped
                                                         or died

Each claim raises the item's `fence`, and settling requires the fence of the claim. So if several
processes judge the same item, because one was thought dead, exactly one verdict is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from verigym.errors import VerigymError


class StoreError(VerigymError):
    """The store cannot be reached or written; the operation may or may not have taken effect."""


class JobState(StrEnum):
    """State of a job. `done` and `cancelled` are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True, kw_only=True)
class StoredJob:
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
    """Verifier and JSON request body of each item."""

    @property
    def size(self) -> int:
        """Total size of the bodies in bytes."""
        return sum(len(body) for _, body in self.asks)


@dataclass(frozen=True)
class Added:
    """Result of adding a job; `job` is None if the key is taken or the store is full."""

    outcome: Literal["new", "same", "other", "full"]
    job: StoredJob | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """An item that this process may judge until its lease ends."""

    seq: int
    job: str
    fence: int
    faults: int
    """Number of faults after which the item was retried."""
    lost: int
    """Number of times that a process died or hung while it held the item."""
    ask: bytes


@dataclass(frozen=True)
class Settled:
    """A claim and its verdict as JSON; None to retry the item after `pause_s`."""

    claim: Claim
    verdict: bytes | None
    pause_s: float = 0.0
