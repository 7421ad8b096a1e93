"""Access to a store from the event loop: one thread owns the connection and groups the writes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from verigym.server.jobs.sql import Store
from verigym.server.jobs.store import StoreError

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class StoreThread:
    """Calls a store's methods one after the other; the next call replaces a failed connection."""

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open = open_store
        self._store: Store | None = None
        self._thread = ThreadPoolExecutor(1, "verigym-store")

    async def call(self, do: Callable[[Store], Answer]) -> Answer:
        """Run `do` in the store's thread and return its result. Raises StoreError."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._call, do)

    async def close(self) -> None:
        """Wait for the running calls and close the connection."""
        with contextlib.suppress(StoreError):
            await asyncio.get_running_loop().run_in_executor(self._thread, self._hang_up)
        await asyncio.to_thread(self._thread.shutdown)

    def _call(self, do: Callable[[Store], Answer]) -> Answer:
        if self._store is None:
            self._store = self._open()
        try:
            return do(self._store)
        except StoreError:
            self._hang_up()
            raise

    def _hang_up(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()


class Grouped(Generic[Item, Answer]):
    """Batches calls for single items: items that arrive during a call form the next batch, which waits
    for the disk or the network once."""

    def __init__(
        self,
        thread: StoreThread,
        do: Callable[[Store, Sequence[Item]], Sequence[Answer]],
        most: int,
    ) -> None:
        self._thread = thread
        self._do = do
        self._most = most
        self._waiting: list[tuple[Item, asyncio.Future[Answer]]] = []
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, item: Item) -> Answer:
        """Return the answer for `item`. Raises StoreError. The call may proceed after a cancellation."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                items = [item for item, _ in group]
                try:
                    answers = await self._thread.call(self._of(items))
                except BaseException as error:
                    for _, future in group:
                        if not future.done():
                            future.set_exception(error)
                    if isinstance(error, StoreError):
                        continue
                    raise
                for (_, future), answer in zip(group, answers, strict=True):
                    if not future.done():
                        future.set_result(answer)
        finally:
            self._running = None

    def _of(self, items: Sequence[Item]) -> Callable[[Store], Sequence[Answer]]:
        return lambda store: self._do(store, items)
