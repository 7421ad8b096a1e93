"""Work that is cancelled when the client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import Request

from verigym.server.refusals import Refusal

Done = TypeVar("Done")

_UNWATCHED_S = 0.02
"""Seconds after which a task starts to watch the client; shorter work needs none."""


async def while_there(request: Request, work: Coroutine[Any, Any, Done]) -> Done:
    """Return the result of `work`, which is cancelled if the client disconnects after sending its body.

    Raises Refusal in that case, which reaches nobody, and any error of `work`.
    """
    loop = asyncio.get_running_loop()
    here = asyncio.current_task()
    assert here is not None
    left = False

    async def watch() -> None:
        nonlocal left
        await _until_gone(request)
        left = True
        here.cancel()

    watching: list[asyncio.Task[None]] = []
    begin = loop.call_later(_UNWATCHED_S, lambda: watching.append(loop.create_task(watch())))
    try:
        return await work
    except asyncio.CancelledError:
        if left and not here.uncancel():  # nobody else wants it to end
            raise Refusal(400, "disconnected", "the client left") from None
        raise
    finally:
        begin.cancel()
        for task in watching:
            task.cancel()


@asynccontextmanager
async def watched(request: Request) -> AsyncIterator[asyncio.Future[None]]:
    """Yield a future that is done once the client has disconnected; read the body first."""
    gone = asyncio.ensure_future(_until_gone(request))
    try:
        yield gone
    finally:
        gone.cancel()
        await asyncio.wait({gone})


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
