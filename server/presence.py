"""Work that is only done while the client is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import Request

from verigym.server.refusals import Refusal

Done = TypeVar("Done")


async def while_there(request: Request, work: Coroutine[Any, Any, Done]) -> Done:
    """What `work` gives; it is cancelled when the client, whose body was read, hangs up.

    Raises Refusal then, which nobody hears, and what `work` raises.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_until_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise Refusal(400, "disconnected", "the client left")
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


@asynccontextmanager
async def watched(request: Request) -> AsyncIterator[asyncio.Future[None]]:
    """A future that is done when the client, whose body was read, has hung up."""
    gone = asyncio.ensure_future(_until_gone(request))
    try:
        yield gone
    finally:
        gone.cancel()
        await asyncio.wait({gone})


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
