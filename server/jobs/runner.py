"""Judges the items of a store: claims some, judges them in the pool, keeps the verdicts.

- A job is accepted once `Jobs.add` returns: it is on the disk, and survives any crash.
- Claims are leases of `LEASE_S`, renewed while the item is in work. Claims of a dead process are
  released when the lease ends, or within about a second if it ran on this machine.
- After a fault of the machine (`timeout`, `infra`) an item is tried `TRIES` times in all, with a pause
  before each retry; then the fault is kept as the typed verdict, never a zero. `verifier_error` is kept
  at once, since the verifier would fail again. Items that a stopping service did not judge do not count.
- An item with which `MOST_LOST` processes died or hung is not retried: verdict `infra`.
- Items are claimed a few at a time, more while they are fast, so that other processes get their share.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import msgspec

from verigym.canonical import JSON, to_json
from verigym.errors import RequestError
from verigym.server.body import VerifyBody, decode
from verigym.server.jobs.node import is_dead, own_name
from verigym.server.jobs.sql import Store
from verigym.server.jobs.store import (
    Added,
    Claim,
    JobState,
    NewJob,
    Settled,
    StoredJob,
    StoreError,
)
from verigym.server.jobs.store_thread import Grouped, StoreThread
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault
from verigym.verifiers.compose import ids_in
from verigym.verifiers.pool import PoolBusy, PoolClosed, VerifierPool

LEASE_S = 15.0
TRIES = 3
PAUSES_S = (1.0, 5.0)
"""Seconds of pause before the second and the third try."""
MOST_LOST = 20
MOST_BYTES = 4 << 30
"""Maximum total size of the bodies of unfinished jobs, in bytes."""

_TICK_S = 0.5
"""Seconds between polls for other processes' jobs; a job added here is claimed at once."""
_GROUP = 256
_CHUNK = 16
"""Number of items in one batch for the pool."""
_FAST_S, _SLOW_S = 1.0, 4.0
"""Seconds of work in hand below which more items are claimed at once, and above which fewer are."""
_LANE = " jobs"
"""Lane of jobs in the pool, in turn with the lanes of callers, whose names never begin with a space."""
_ELSEWHERE_S = 5.0
"""Seconds for which an item that this service cannot judge is left to other services."""

_log = logging.getLogger(__name__)
_decoder = msgspec.json.Decoder(VerifyBody)
_Chunk = list[tuple[Claim, VerifyBody]]


class Jobs:
    """The jobs of one service. On the event loop; the store has threads of its own.

    `served` are the verifiers that this service has, `present` makes a verdict fit for callers.
    """

    def __init__(
        self,
        settings: ServerSettings,
        open_store: Callable[[], Store],
        pool: VerifierPool,
        served: Collection[str],
        present: Callable[[Verdict], Verdict],
        n_callers: Callable[[], int] = lambda: 1,
    ) -> None:
        self.counts = dict.fromkeys((JobState.QUEUED, JobState.RUNNING), 0)
        """Number of unfinished jobs in the store by state; about a second old."""
        self._settings = settings
        self._pool = pool
        self._served = served
        self._present = present
        self._node = own_name()
        self._writer = StoreThread(open_store)
        self._reader = StoreThread(open_store)
        self._add: Grouped[NewJob, Added] = Grouped(
            self._writer,
            lambda store, items: store.add(items, settings.max_jobs, MOST_BYTES, n_callers()),
            _GROUP,
        )
        self._hand: dict[int, Claim] = {}
        """Claimed items without a verdict in the store, by seq."""
        self._judging: dict[asyncio.Task[None], set[int]] = {}
        self._judged: asyncio.Queue[Settled] = asyncio.Queue()
        self._room = asyncio.Event()
        """Set if there may be an item to claim and room for it."""
        self._waiters: dict[str, set[asyncio.Event]] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._beginning = asyncio.Lock()

    async def begin(self) -> None:
        """Open the store and start to judge, unless already done. Raises StoreError."""
        async with self._beginning:
            if not self._loops:
                await self._writer.call(lambda store: store.reclaim(is_dead))
                loops = (self._claim(), self._settle(), self._tend())
                self._loops = [asyncio.create_task(loop) for loop in loops]
        for loop in self._loops:
            if loop.done():
                loop.result()  # a bug; better heard by every caller than jobs that never end

    async def close(self) -> None:
        """Stop judging and release the claimed items."""
        tasks = [*self._loops, *self._judging]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled() and task.exception() is not None:
                _log.error("judging jobs had failed", exc_info=task.exception())
        try:
            if settled := _drained(self._judged):
                await self._writer.call(lambda store: store.settle(settled))
            if self._hand:
                # Those that were settled do not hold any more, and stay as they are.
                claims = list(self._hand.values())
                await self._writer.call(lambda store: store.release(claims))
        except StoreError as error:
            _log.warning("claims are left to their leases: %s", error)
        await self._writer.close()
        await self._reader.close()

    # What the routes call. All raise StoreError.

    async def add(
        self, owner: str, idempotency: str | None, digest: bytes, asks: Sequence[tuple[str, bytes]]
    ) -> Added:
        """Store a job durably, or return the reason for the refusal."""
        await self.begin()
        # Sortable by time, so that the newest are listed first.
        id = f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"
        added = await self._add(
            NewJob(id=id, owner=owner, idempotency=idempotency, digest=digest, asks=asks)
        )
        self._room.set()
        return added

    async def get(self, owner: str, id: str) -> tuple[StoredJob, list[bytes]] | None:
        """Return the job and, once it is done, its verdicts as JSON; None if `owner` has no such job."""
        await self.begin()

        def read(store: Store) -> tuple[StoredJob, list[bytes]] | None:
            job = store.get(owner, id)
            if job is None:
                return None
            return job, store.verdicts(id) if job.status is JobState.DONE else []

        return await self._reader.call(read)

    async def own(
        self, owner: str, status: JobState | None, limit: int, after: str
    ) -> Sequence[StoredJob]:
        """Return the owner's jobs, newest first."""
        await self.begin()
        return await self._reader.call(lambda store: store.own(owner, status, limit, after))

    async def drop(self, owner: str, id: str) -> StoredJob | None:
        """Cancel an unfinished job or delete a finished one; return its former state, None if unknown."""
        await self.begin()
        job = await self._writer.call(lambda store: store.drop(owner, id))
        if job is not None:
            self._let_go([claim for claim in self._hand.values() if claim.job == id])
            self._wake([id])
        return job

    @asynccontextmanager
    async def watching(self, id: str) -> AsyncIterator[asyncio.Event]:
        """Yield an event that is set once the job has finished, or may have."""
        event = asyncio.Event()
        self._waiters.setdefault(id, set()).add(event)
        try:
            yield event
        finally:
            events = self._waiters.get(id, set())
            events.discard(event)
            if not events:
                self._waiters.pop(id, None)

    # From the store to the pool.

    async def _claim(self) -> None:
        least = 2 * self._pool.workers
        most = max(least, self._pool.max_queue // 2)
        target, last = least, 0.0
        while True:
            self._room.clear()
            room = target - len(self._hand)
            claims: list[Claim] = []
            if room > target // 2 or not self._hand:
                try:
                    claims = await self._writer.call(
                        lambda store, n=room: store.claim(  # type: ignore[misc]
                            self._node, sorted(self._served), n, LEASE_S
                        )
                    )
                except StoreError as error:
                    _log.error("no jobs can be taken: %s", error)
                    await asyncio.sleep(1.0)
                    continue
            if claims:
                self._take(claims)
            if len(claims) == room:  # there are more
                now = time.monotonic()
                if now - last < _FAST_S:
                    target = min(2 * target, most)
                elif now - last > _SLOW_S:
                    target = max(least, target // 2)
                last = now
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TICK_S):
                    await self._room.wait()

    def _take(self, claims: Iterable[Claim]) -> None:
        """Start to judge the claimed items; similar items share a batch."""
        alike: dict[bytes, _Chunk] = {}
        elsewhere = []
        for claim in claims:
            self._hand[claim.seq] = claim
            try:
                ask = decode(claim.ask, _decoder, self._settings.max_depth)
            except Refusal as refusal:  # written by another version, or with other settings
                verdict = fault(Status.VERIFIER_ERROR, "bad_request", refusal.message)
                self._give_up(claim, "", verdict)
                continue
            if claim.lost >= MOST_LOST:
                why = f"{claim.lost} services died or hung while they had this submission"
                verdict = fault(Status.INFRA, "service_died", why)
                self._give_up(claim, ask.verifier, verdict)
            elif not self._served_all(ask):
                elsewhere.append(claim)
            else:
                key = to_json([ask.verifier, ask.params, ask.timeout_s])
                alike.setdefault(key, []).append((claim, ask))
        if elsewhere:
            self._spawn(self._give_back(elsewhere, _ELSEWHERE_S), elsewhere)
        for group in alike.values():
            size = min(_CHUNK, self._pool.max_queue)
            for start in range(0, len(group), size):
                chunk = group[start : start + size]
                self._spawn(self._judge(chunk), [claim for claim, _ in chunk])

    def _served_all(self, ask: VerifyBody) -> bool:
        return ask.verifier in self._served and set(ids_in(ask.params)) <= set(self._served)

    def _spawn(self, work: Coroutine[None, None, None], claims: Iterable[Claim]) -> None:
        task = asyncio.create_task(work)
        self._judging[task] = {claim.seq for claim in claims}
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        seqs = self._judging.pop(task)
        if not task.cancelled() and task.exception() is not None:
            # Not renewed any more, so that they return when their leases end.
            _log.error("judging items of jobs failed", exc_info=task.exception())
            self._let_go([self._hand[seq] for seq in seqs if seq in self._hand])

    async def _judge(self, chunk: _Chunk) -> None:
        """Judge items in the pool that differ only in task and submission."""
        first = chunk[0][1]
        left = dict(enumerate(chunk))
        items: list[tuple[Task, JSON]] = [(ask.to_task(), ask.submission) for _, ask in chunk]
        pause_s = 0.02
        while True:
            try:
                async with aclosing(
                    self._pool.verify_each_async(
                        first.verifier,
                        items,
                        params=first.params,
                        timeout_s=first.timeout_s or self._settings.timeout_s,
                        lane=_LANE,
                    )
                ) as each:
                    async for place, verdict in each:
                        claim, _ = left.pop(place)
                        self._keep(claim, verdict)
                return
            except PoolBusy:  # before the first verdict; who waits for an answer goes first
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, 1.0)
            except PoolClosed:
                return  # and `close` gives them back
            except RequestError as error:
                if len(chunk) > 1:  # it may be the fault of one of them
                    for one in left.values():
                        await self._judge([one])
                else:
                    verdict = fault(Status.VERIFIER_ERROR, "bad_params", str(error))
                    self._give_up(chunk[0][0], first.verifier, verdict)
                return

    # From the pool to the store.

    def _keep(self, claim: Claim, verdict: Verdict) -> None:
        """Settle an item with the pool's verdict, unless its claim was lost meanwhile."""
        if self._hand.get(claim.seq) is not claim or verdict.status is Status.CANCELLED:
            return
        if verdict.status in (Status.TIMEOUT, Status.INFRA) and claim.faults + 1 < TRIES:
            self._judged.put_nowait(Settled(claim, None, PAUSES_S[claim.faults]))
        else:
            self._judged.put_nowait(Settled(claim, self._present(verdict).to_json()))

    def _give_up(self, claim: Claim, verifier: str, verdict: Verdict) -> None:
        """Settle an item that the pool cannot judge; the evidence is fit for callers."""
        if self._hand.get(claim.seq) is claim:
            named = replace(verdict, verifier=verifier)
            self._judged.put_nowait(Settled(claim, named.to_json()))

    async def _settle(self) -> None:
        settled: list[Settled] = []
        while True:
            if not settled:
                settled = [await self._judged.get(), *_drained(self._judged)]
            try:
                finished = await asyncio.shield(
                    self._writer.call(lambda store, all=settled: store.settle(all))  # type: ignore[misc]
                )
            except StoreError as error:
                # It may have been done; then the claims do not hold any more, and it is not done twice.
                _log.error("verdicts wait for the store: %s", error)
                await asyncio.sleep(1.0)
                continue
            self._let_go([each.claim for each in settled])
            self._wake(finished)
            settled = []

    async def _give_back(self, claims: Sequence[Claim], pause_s: float) -> None:
        with contextlib.suppress(StoreError):  # else the leases end
            await self._writer.call(lambda store: store.release(claims, pause_s))
        self._let_go(claims)

    def _let_go(self, claims: Iterable[Claim]) -> None:
        """Drop lost claims, and stop the work on them only."""
        for claim in claims:
            if self._hand.get(claim.seq) is claim:
                del self._hand[claim.seq]
        for task, seqs in self._judging.items():
            if not seqs & self._hand.keys():
                task.cancel()
        self._room.set()

    # Upkeep.

    async def _tend(self) -> None:
        renewed = time.monotonic()
        ticks = 0
        while True:
            await asyncio.sleep(_TICK_S)
            ticks += 1
            try:
                if time.monotonic() - renewed > LEASE_S / 3 and self._hand:
                    renewed = time.monotonic()
                    claims = list(self._hand.values())
                    self._let_go(
                        await self._writer.call(lambda store: store.renew(claims, LEASE_S))  # noqa: B023
                    )
                if self._waiters:
                    ids = list(self._waiters)
                    left = await self._reader.call(lambda store: store.unfinished(ids))  # noqa: B023
                    self._wake(set(ids) - left)
                if ticks % 2 == 0:
                    await self._sweep()
            except StoreError as error:
                _log.error("the job store is not tended: %s", error)

    async def _sweep(self) -> None:
        if back := await self._writer.call(lambda store: store.reclaim(is_dead)):
            _log.warning("%d items of jobs returned from services that died or hung", back)
            self._room.set()
        while await self._writer.call(lambda store: store.prune(self._settings.job_retention_s)):
            pass
        self.counts = await self._reader.call(lambda store: store.counts())

    def _wake(self, ids: Iterable[str]) -> None:
        for id in ids:
            for event in self._waiters.get(id, ()):
                event.set()


def _drained(queue: asyncio.Queue[Settled]) -> list[Settled]:
    """Take the items that are in the queue now, up to the size of one write."""
    found: list[Settled] = []
    while len(found) < 2 * _GROUP:
        try:
            found.append(queue.get_nowait())
        except asyncio.QueueEmpty:
            break
    return found
