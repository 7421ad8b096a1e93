"""Wire format of jobs."""

from __future__ import annotations

from typing import Any

import msgspec

from verigym.server.jobs.store import JobState, StoredJob
from verigym.verdict import Verdict


class JobCard(msgspec.Struct, kw_only=True):
    """State of a job; `unjudged` of its `items` have no verdict yet. Times are in seconds since 1970."""

    job: str
    status: JobState
    items: int
    unjudged: int
    created_s: float
    started_s: float | None
    finished_s: float | None


class JobAnswer(JobCard, kw_only=True):
    """A job with `verdicts` in the order of its items, once the status is `done`."""

    verdicts: list[Verdict] | None = None


class JobList(msgspec.Struct):
    """Jobs, newest first. To get older ones, pass the last id as `after`."""

    jobs: list[JobCard]


class _Sent(JobCard, kw_only=True):
    """`JobAnswer` with verdicts already encoded as JSON."""

    verdicts: list[msgspec.Raw] | None = None


def card(job: StoredJob) -> JobCard:
    return JobCard(**_fields(job))


def answer(job: StoredJob, verdicts: list[bytes]) -> bytes:
    """Encode a `JobAnswer` as JSON."""
    raw = [msgspec.Raw(verdict) for verdict in verdicts]
    sent = _Sent(**_fields(job), verdicts=raw if job.status is JobState.DONE else None)
    return msgspec.json.encode(sent)


def _fields(job: StoredJob) -> dict[str, Any]:
    return {"job": job.id, **{name: value for name, value in vars(job).items() if name != "id"}}
