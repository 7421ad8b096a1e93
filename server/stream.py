"""A batch whose verdicts are sent as they come: lines of JSON, in no order, each with its place.

    {"index": 3, "verdict": {...}}
    {"index": 0, "error": {"code": "bad_params", "message": "...", "where": "$.items[0].params"}}

Refusals of the whole batch come before the first line, as without streaming. A client that leaves
takes back what has no verdict yet. A client that reads slowly holds up itself only: what waits for it
is bounded by the size of a batch, and connections.py hangs up on one that reads nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing

import msgspec
from fastapi import Request, Response
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from verigym.errors import RequestError
from verigym.server.body import VerifyBody
from verigym.server.presence import while_there
from verigym.verdict import Verdict
from verigym.verifiers.pool import PoolBusy, PoolClosed, VerifierPool

MEDIA_TYPE = "application/x-ndjson"

_encode = msgspec.json.Encoder(order="deterministic").encode
_News = asyncio.Queue[bytes | BaseException]


def wants_lines(request: Request) -> bool:
    """Return True if the client accepts a stream."""
    kinds = ",".join(request.headers.getlist("accept")).split(",")
    return any(kind.partition(";")[0].strip().lower() == MEDIA_TYPE for kind in kinds)


async def streamed(
    request: Request,
    pool: VerifierPool,
    groups: Sequence[tuple[Sequence[int], Sequence[VerifyBody], float]],
    present: Callable[[Verdict], Verdict],
    deadline: float,
    lane: str,
) -> Response:
    """Return the answer, begun with the first verdict. Raises PoolBusy or PoolClosed before that.

    Of each group the places in the batch, the asks, which are alike but for task and submission, and
    the seconds for each.
    """
    news: _News = asyncio.Queue()
    pumps = [
        asyncio.create_task(_pump(news, pool, *group, present, deadline, lane)) for group in groups
    ]
    left = sum(len(places) for places, _, _ in groups)
    try:
        # Every group asks for its room before any has a verdict, so that a refusal comes first.
        first = await while_there(request, news.get()) if left else b""
        if isinstance(first, BaseException):
            raise first
    except BaseException:
        await _stop(pumps)
        raise
    return _Streamed(_lines(news, first, left), pumps)


class _Streamed(StreamingResponse):
    """Stops the work when the answer has been sent, or cannot be."""

    def __init__(self, lines: AsyncIterator[bytes], pumps: Sequence[asyncio.Task[None]]) -> None:
        super().__init__(lines, media_type=MEDIA_TYPE)
        self._pumps = pumps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await _stop(self._pumps)


async def _lines(news: _News, first: bytes, left: int) -> AsyncIterator[bytes]:
    """Yield lines as they arrive, several together if the client is slower than the workers."""
    ready: list[bytes | BaseException] = [first]
    while left:
        while not news.empty():
            ready.append(news.get_nowait())
        lines = [line for line in ready if isinstance(line, bytes)]
        yield b"".join(lines)
        for failure in ready:
            if isinstance(failure, BaseException):
                raise failure  # the answer ends short, which every client takes for an error
        left -= len(lines)
        ready = [await news.get()] if left else []


async def _pump(
    news: _News,
    pool: VerifierPool,
    places: Sequence[int],
    asks: Sequence[VerifyBody],
    timeout_s: float,
    present: Callable[[Verdict], Verdict],
    deadline: float,
    lane: str,
) -> None:
    """Put a line into `news` for each of `asks`, or what went wrong."""
    left = set(places)
    try:
        async with aclosing(
            pool.verify_each_async(
                asks[0].verifier,
                [(ask.to_task(), ask.submission) for ask in asks],
                params=asks[0].params,
                timeout_s=timeout_s,
                deadline=deadline,
                lane=lane,
            )
        ) as each:
            async for i, verdict in each:
                left.discard(places[i])
                news.put_nowait(_line(index=places[i], verdict=present(verdict)))
    except (PoolBusy, PoolClosed) as error:
        news.put_nowait(error)
    except RequestError as error:
        for place in sorted(left):
            where = f"$.items[{place}].params"
            refused = {"code": "bad_params", "message": str(error), "where": where}
            news.put_nowait(_line(index=place, error=refused))
    except BaseException as error:
        news.put_nowait(error)  # or the client would wait for ever
        raise


def _line(**fields: object) -> bytes:
    return _encode(fields) + b"\n"


async def _stop(pumps: Sequence[asyncio.Task[None]]) -> None:
    for pump in pumps:
        pump.cancel()
    if pumps:
        await asyncio.wait(pumps)
