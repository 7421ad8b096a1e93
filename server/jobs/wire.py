"""Jobs as callers see them."""

from __future__ import annotations

from typing import Any

import msgspec

from verigym.server.jobs.store import Job, JobState
from verigym.verdict import Verdict


class JobCard(msgspec.Struct, kw_only=True):
    """`unjudged` of its `items` have no verdict yet. Times are in seconds since 1970."""

    job: str
    status: JobState
    items: int
    unjudged: int
    created_s: float
    started_s: float | None
    finished_s: float | None


class JobAnswer(JobCard, kw_only=True):
    """`verdicts` are there when the status is `done`, in the order of the job's items."""

    verdicts: list[Verdict] | None = None


class JobList(msgspec.Struct):
    """The newest first. Ask for those that are older with the last one's id as `after`."""

    jobs: list[JobCard]


class _Sent(JobCard, kw_only=True):
    """`JobAnswer` with verdicts that are JSON already."""

    verdicts: list[msgspec.Raw] | None = None


def card(job: Job) -> JobCard:
    return JobCard(**_fields(job))


def answer(job: Job, verdicts: list[bytes]) -> bytes:
    """A `JobAnswer` as JSON."""
    raw = [msgspec.Raw(verdict) for verdict in verdicts]
    sent = _Sent(**_fields(job), verdicts=raw if job.status is JobState.DONE else None)
    return msgspec.json.encode(sent)


def _fields(job: Job) -> dict[str, Any]:
    return {"job": job.id, **{name: value for name, value in vars(job).items() if name != "id"}}
