"""Work that ends when the client leaves."""

import asyncio

import pytest
from starlette.requests import Request

from verigym.server.presence import while_there
from verigym.server.refusals import Refusal


def request(left: asyncio.Event) -> Request:
    async def receive():
        await left.wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http", "headers": []}, receive)


class Work:
    """Runs until it is cancelled, or `end` is set."""

    def __init__(self):
        self.began = asyncio.Event()
        self.end = asyncio.Event()
        self.cancelled = False

    async def run(self):
        self.began.set()
        try:
            await self.end.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return 7


def test_work_gives_what_it_gives():
    async def run():
        work = Work()
        work.end.set()
        return await while_there(request(asyncio.Event()), work.run())

    assert asyncio.run(run()) == 7


def test_work_raises_what_it_raises():
    async def fails():
        raise ValueError("mine")

    async def run():
        await while_there(request(asyncio.Event()), fails())

    with pytest.raises(ValueError, match="mine"):
        asyncio.run(run())


def test_work_is_cancelled_when_the_client_leaves():
    async def run():
        work, left = Work(), asyncio.Event()
        left.set()
        with pytest.raises(Refusal) as refused:
            await while_there(request(left), work.run())
        here = asyncio.current_task()
        return work.cancelled, refused.value.code, here.cancelling()

    assert asyncio.run(run()) == (True, "disconnected", 0)


def test_who_cancels_from_outside_is_told_so():
    async def run():
        work = Work()
        task = asyncio.ensure_future(while_there(request(asyncio.Event()), work.run()))
        await work.began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return work.cancelled, len(asyncio.all_tasks())

    assert asyncio.run(run()) == (True, 1)
