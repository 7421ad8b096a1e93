"""`/v1/jobs`: verdicts requested now and fetched later."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import math
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response

from verigym.server.body import BatchBody, VerifyBody, decode, receive
from verigym.server.jobs import document, wire
from verigym.server.jobs.document import LONGEST_WAIT_S, MOST_KEY, MOST_LISTED
from verigym.server.jobs.runner import Jobs
from verigym.server.jobs.store import JobState, StoreError
from verigym.server.limits import RequestGate, deadline_of
from verigym.server.presence import while_there
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings

_MARGIN_S = 0.1
"""Seconds before the caller's deadline at which the answer is sent, so that it arrives."""
_LOOK_S = 1.0
"""Seconds between checks for a stop of the service."""
_LARGE_BYTES = 1 << 20
_log = logging.getLogger(__name__)
_verify_decoder = msgspec.json.Decoder(VerifyBody)
_batch_decoder = msgspec.json.Decoder(BatchBody)
_any_decoder = msgspec.json.Decoder(Any)


class _Shape(msgspec.Struct):
    items: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


_shape_decoder = msgspec.json.Decoder(_Shape)


def install(
    app: FastAPI, settings: ServerSettings, check: Callable[[VerifyBody, str], None]
) -> None:
    """Add the routes; the application's state has `jobs` while it runs. `check` raises Refusal."""

    def jobs() -> Jobs:
        found: Jobs = app.state.jobs
        return found

    @app.post("/v1/jobs", summary="Ask for verdicts to fetch later", openapi_extra=document.ADD)
    async def add(request: Request) -> Response:
        key = _idempotency_key(request)
        data = await receive(request, settings)
        if len(data) > _LARGE_BYTES:
            asks, raws = await asyncio.to_thread(_read, data, settings.max_depth)
        else:
            asks, raws = _read(data, settings.max_depth)
        if not 0 < len(asks) <= settings.max_batch:
            message = f"a job holds 1 to {settings.max_batch} items, got {len(asks)}"
            code = "batch_too_large" if asks else "invalid_request"
            raise Refusal(413 if asks else 422, code, message, "$.items")
        for i, ask in enumerate(asks):
            check(ask, f"$.items[{i}]" if raws is not None else "$")
        pairs = list(zip([ask.verifier for ask in asks], raws or [data], strict=True))
        async with _storing():
            added = await jobs().add(_owner(request), key, hashlib.sha256(data).digest(), pairs)
        if added.outcome == "full":
            message = f"as many jobs wait as may, {settings.max_jobs} or this key's share; try again later"
            raise Refusal(429, "busy", message, headers={"Retry-After": "1"})
        if added.job is None:
            message = "a job with another body has this key; use a new key for another job"
            raise Refusal(409, "idempotency_conflict", message, "Idempotency-Key")
        return Response(
            msgspec.json.encode(wire.card(added.job)),
            202 if added.outcome == "new" else 200,
            headers={"Location": f"/v1/jobs/{added.job.id}"},
            media_type="application/json",
        )

    @app.get("/v1/jobs", summary="Your jobs, the newest first", openapi_extra=document.LIST)
    async def listing(request: Request) -> Response:
        query = request.query_params
        status, limit = query.get("status"), query.get("limit", "100")
        if status is not None and status not in set(JobState):
            message = f"status is one of {', '.join(JobState)}"
            raise Refusal(422, "invalid_request", message, "status")
        if not (limit.isascii() and limit.isdecimal() and 0 < int(limit[:9]) <= MOST_LISTED):
            message = f"limit is a whole number from 1 to {MOST_LISTED}"
            raise Refusal(422, "invalid_request", message, "limit")
        after = query.get("after", "")
        if not (after.isascii() and after.isprintable()):  # ids are; a database may refuse others
            raise Refusal(422, "invalid_request", "after is the id of a job", "after")
        async with _storing():
            found = await jobs().own(
                *(_owner(request), JobState(status) if status else None, int(limit), after)
            )
        return _json(msgspec.json.encode(wire.JobList([wire.card(job) for job in found])))

    @app.get(
        "/v1/jobs/{id}",
        summary="A job, with its verdicts when it is done",
        openapi_extra=document.GET,
    )
    async def get(request: Request, id: str) -> Response:
        until = min(time.monotonic() + _wait_s(request), deadline_of(request) - _MARGIN_S)
        gate: RequestGate = app.state.gate

        def over() -> bool:
            return time.monotonic() >= until or gate.draining

        async with jobs().watching(id) as news:
            while True:
                news.clear()
                found = None
                if _may_be_id(id):
                    async with _storing():
                        found = await jobs().get(_owner(request), id)
                if found is None:
                    raise _unknown()
                job, verdicts = found
                if job.finished_s is not None or over():
                    return _json(wire.answer(job, verdicts))
                while not (news.is_set() or over()):
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(min(until - time.monotonic(), _LOOK_S)):
                            await while_there(request, news.wait())

    @app.delete(
        "/v1/jobs/{id}",
        summary="Cancel a job that is not finished, else forget it",
        openapi_extra=document.DROP,
        status_code=204,
    )
    async def drop(request: Request, id: str) -> Response:
        job = None
        if _may_be_id(id):
            async with _storing():
                job = await jobs().drop(_owner(request), id)
        if job is None:
            raise _unknown()
        return Response(status_code=204)


def _read(data: bytes, max_depth: int) -> tuple[list[VerifyBody], list[bytes] | None]:
    """Return the requests and each item's raw bytes; None for the latter if the body is one request."""
    raws: list[bytes] | None
    try:
        items = _shape_decoder.decode(data).items
        raws = None if items is msgspec.UNSET else [bytes(item) for item in items]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raws = _lax_items(data, max_depth)
    if raws is None:
        return [decode(data, _verify_decoder, max_depth)], None
    return decode(data, _batch_decoder, max_depth).items, raws


def _lax_items(data: bytes, max_depth: int) -> list[bytes] | None:
    """Return each item's raw bytes for a body with lone surrogates, escaped in ASCII; see body.py."""
    try:
        plain = json.loads(data)
        if isinstance(plain, dict) and "items" in plain:
            items = plain["items"]
            return [json.dumps(item).encode() for item in items] if isinstance(items, list) else []
    except (ValueError, RecursionError):
        decode(data, _any_decoder, max_depth)  # says what is wrong with it
    return None


def _owner(request: Request) -> str:
    name: str = request.state.caller.name
    return name


def _idempotency_key(request: Request) -> str | None:
    keys = request.headers.getlist("Idempotency-Key")
    if not keys:
        return None
    if len(keys) > 1 or not (
        keys[0].isascii() and keys[0].isprintable() and 0 < len(keys[0]) <= MOST_KEY
    ):
        message = f"a key is 1 to {MOST_KEY} printable ASCII characters, once"
        raise Refusal(422, "invalid_request", message, "Idempotency-Key")
    return keys[0]


def _wait_s(request: Request) -> float:
    try:
        wait_s = float(request.query_params.get("wait_s", "0"))
    except ValueError:
        wait_s = math.nan
    if not 0 <= wait_s <= LONGEST_WAIT_S:  # nor NaN
        message = f"wait_s is a number of seconds from 0 to {LONGEST_WAIT_S:g}"
        raise Refusal(422, "invalid_request", message, "wait_s")
    return wait_s


def _may_be_id(id: str) -> bool:
    return id.isascii() and id.isalnum() and len(id) == 32


def _unknown() -> Refusal:
    message = "no job of yours has this id; finished jobs are kept for a time only"
    return Refusal(404, "unknown_job", message)


@contextlib.asynccontextmanager
async def _storing() -> AsyncIterator[None]:
    try:
        yield
    except StoreError as error:
        _log.error("%s", error)
        message = (
            "the job store cannot be used; its log says why, and --store chooses another. Repeat what "
            "you sent with the same Idempotency-Key: it may have been kept"
        )
        raise Refusal(503, "no_store", message, headers={"Retry-After": "1"}) from error


def _json(data: bytes) -> Response:
    return Response(data, media_type="application/json")
