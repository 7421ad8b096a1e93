"""OpenAPI documentation of the routes of jobs."""

from __future__ import annotations

from typing import Any

from verigym.server.body import BatchBody, VerifyBody
from verigym.server.jobs.store import JobState
from verigym.server.jobs.wire import JobAnswer, JobCard, JobList
from verigym.server.openapi import ON_BODIES, add_types, always_complete, operation

LONGEST_WAIT_S = 60
MOST_LISTED = 1000
MOST_KEY = 255


def _parameter(name: str, place: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "required": False, "schema": schema}


def _either(*bodies: type) -> dict[str, Any]:
    schemas = [{"$ref": f"#/components/schemas/{body.__name__}"} for body in bodies]
    return {"required": True, "content": {"application/json": {"schema": {"anyOf": schemas}}}}


add_types(JobCard, JobAnswer, JobList)
always_complete(JobAnswer)

ADD = operation(JobCard, None, *ON_BODIES, 409, status=202)
ADD["requestBody"] = _either(VerifyBody, BatchBody)
ADD["responses"]["202"]["description"] = "Accepted for good"
ADD["responses"]["200"] = {
    **ADD["responses"]["202"],
    "description": "The job that this Idempotency-Key began",
}
ADD["responses"]["409"]["description"] = "Another body began a job with this Idempotency-Key"
ADD["parameters"] = [
    _parameter("Idempotency-Key", "header", type="string", minLength=1, maxLength=MOST_KEY)
]
GET = operation(JobAnswer, None, 404)
GET["parameters"] = [
    _parameter("wait_s", "query", type="number", minimum=0, maximum=LONGEST_WAIT_S)
]
LIST = operation(JobList)
LIST["parameters"] = [
    _parameter("status", "query", type="string", enum=[status.value for status in JobState]),
    _parameter("limit", "query", type="integer", minimum=1, maximum=MOST_LISTED),
    _parameter("after", "query", type="string"),
]
DROP = operation(None, None, 404, status=204)
DROP["responses"]["204"]["description"] = "Cancelled, or forgotten if it was finished"
