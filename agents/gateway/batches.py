"""Batches of the calls of all sessions, for a sampler that blocks."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from verigym.agents.engines.sampler import Sample, Sampler, SamplingParams, is_watchable
from verigym.agents.policy import PolicyRefusal
from verigym.errors import PolicyError

_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 5.0


@dataclass(eq=False, kw_only=True)
class _Waiting:
    prompt: Sequence[int]
    max_tokens: int
    key: tuple[int, ...]
    found: asyncio.Future[Sample]
    watch: Callable[[Sequence[int]], None] | None


class Batches:
    """Forms batches of at most `max_batch` calls, `concurrency` at once. For one event loop.

    Calls that wait while a batch is under way form the next one. `ready` is called before each batch. A batch
    that fails is repeated for `patience_s`; a call without an answer after `deadline_s` raises PolicyError.
    """

    def __init__(
        self,
        sampler: Sampler,
        params: SamplingParams,
        *,
        max_batch: int,
        concurrency: int,
        deadline_s: float,
        patience_s: float,
        ready: Callable[[], None],
    ) -> None:
        self.sampler = sampler
        self.params = params
        self._max_batch = max_batch
        self._concurrency = concurrency
        self._deadline_s = deadline_s
        self._patience_s = patience_s
        self._ready = ready
        self._waiting: deque[_Waiting] = deque()
        self._running = 0
        self._closed = False
        self._threads = ThreadPoolExecutor(concurrency, "verigym-gateway")

    async def sample(
        self,
        prompt: Sequence[int],
        max_tokens: int,
        key: tuple[int, ...],
        watch: Callable[[Sequence[int]], None] | None = None,
    ) -> Sample:
        """Return a sample. Raises PolicyError. A call that is cancelled before its batch begins costs nothing.

        `watch` gets tokens while they are sampled, on the loop, if the sampler shows them.
        """
        loop = asyncio.get_running_loop()
        one = _Waiting(
            prompt=prompt, max_tokens=max_tokens, key=key, found=loop.create_future(), watch=watch
        )
        self._waiting.append(one)
        self._start(loop)
        try:
            async with asyncio.timeout(self._deadline_s):
                return await one.found
        except TimeoutError as error:
            raise PolicyError(
                f"{self.sampler.name} gave no answer within {self._deadline_s:g} s"
            ) from error

    @property
    def is_idle(self) -> bool:
        """True if no batch is under way."""
        return self._running == 0

    def close(self) -> None:
        """Start no further batch; one that is under way ends in its thread."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._running < self._concurrency and (batch := self._next()):
            self._running += 1
            # Not `run_in_executor`: its future would wake the loop once more.
            self._threads.submit(self._run, batch, loop)

    def _next(self) -> list[_Waiting]:
        """Take calls with one limit of tokens, the longest waiting first."""
        batch: list[_Waiting] = []
        left: deque[_Waiting] = deque()
        while self._waiting and len(batch) < self._max_batch and not self._closed:
            one = self._waiting.popleft()
            if one.found.done():
                continue
            fits = not batch or one.max_tokens == batch[0].max_tokens
            (batch if fits else left).append(one)
        self._waiting.extendleft(reversed(left))
        return batch

    def _run(self, batch: list[_Waiting], loop: asyncio.AbstractEventLoop) -> None:
        """Sample in a thread, and report to the loop."""
        found: Sequence[Sample | Exception]
        try:
            found = self._sample(batch, loop)
        except Exception as error:  # noqa: BLE001 - the calls' own tasks raise it
            found = [error] * len(batch)
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._finish, batch, found, loop)

    def _sample(self, batch: list[_Waiting], loop: asyncio.AbstractEventLoop) -> list[Sample]:
        params = replace(self.params, max_tokens=batch[0].max_tokens)
        asked = ([one.prompt for one in batch], params, [one.key for one in batch])
        began, pause_s = time.monotonic(), _PAUSE_S
        is_shown = False

        def watch(rows: Sequence[int], ids: Sequence[int]) -> None:
            nonlocal is_shown
            watched = [(batch[row], id) for row, id in zip(rows, ids, strict=True)]
            watched = [(one, id) for one, id in watched if one.watch is not None]
            if watched and not loop.is_closed():
                is_shown = True
                loop.call_soon_threadsafe(_show, watched)

        while True:
            try:
                self._ready()
                if is_watchable(self.sampler) and any(one.watch is not None for one in batch):
                    return self.sampler.sample_watched(*asked, watch)
                return self.sampler.sample(*asked)
            except PolicyRefusal:
                raise
            except PolicyError:
                # What a client has been sent cannot be sampled once more.
                if is_shown or self._closed:
                    raise
                if time.monotonic() - began + pause_s > self._patience_s:
                    raise
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _finish(
        self,
        batch: list[_Waiting],
        found: Sequence[Sample | Exception],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._running -= 1
        for one, result in zip(batch, found, strict=True):
            if one.found.done():
                continue
            if isinstance(result, Exception):
                one.found.set_exception(result)
            else:
                one.found.set_result(result)
        self._start(loop)


def _show(watched: Sequence[tuple[_Waiting, int]]) -> None:
    for one, id in watched:
        if one.watch is not None and not one.found.done():
            one.watch([id])
