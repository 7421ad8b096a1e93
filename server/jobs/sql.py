"""The tables of a store and their SQL, shared by both kinds of store."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from verigym.server.jobs.store import Added, Claim, JobState, NewJob, Settled, StoredJob, StoreError
from verigym.server.shares import fits

VERSION = 1
"""Version of the tables; a store of another version is refused."""

_PRUNED_AT_ONCE = 500
_OWNERS_AT_ONCE = 16
"""Maximum number of owners that one claim serves, and of jobs per owner."""

TABLES = """
CREATE TABLE IF NOT EXISTS verigym_jobs (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    idempotency TEXT,
    digest {blob} NOT NULL,
    status TEXT NOT NULL,
    items INTEGER NOT NULL,
    unjudged INTEGER NOT NULL,
    size INTEGER NOT NULL,
    created_s {real} NOT NULL,
    started_s {real},
    finished_s {real},
    UNIQUE (owner, idempotency)
);
CREATE INDEX IF NOT EXISTS verigym_jobs_own ON verigym_jobs (owner, id);
CREATE INDEX IF NOT EXISTS verigym_jobs_open
    ON verigym_jobs (status, size) WHERE finished_s IS NULL;
CREATE INDEX IF NOT EXISTS verigym_jobs_over
    ON verigym_jobs (finished_s) WHERE finished_s IS NOT NULL;
CREATE INDEX IF NOT EXISTS verigym_jobs_shares
    ON verigym_jobs (owner, id, size) WHERE finished_s IS NULL;
CREATE TABLE IF NOT EXISTS verigym_items (
    seq {seq},
    job TEXT NOT NULL,
    place INTEGER NOT NULL,
    verifier TEXT NOT NULL,
    ask {blob},
    verdict {blob},
    state INTEGER NOT NULL,
    ready_s {real} NOT NULL,
    fence INTEGER NOT NULL,
    faults INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    node TEXT,
    lease_s {real},
    UNIQUE (job, place)
);
CREATE INDEX IF NOT EXISTS verigym_items_waiting
    ON verigym_items (ready_s, seq, verifier) WHERE state = 0;
CREATE INDEX IF NOT EXISTS verigym_items_claimed
    ON verigym_items (node, lease_s) WHERE state = 1;
CREATE TABLE IF NOT EXISTS verigym_store (version INTEGER NOT NULL);
"""
"""Item states: 0 waiting, 1 claimed, 2 judged. Times are seconds since 1970."""

_JOB = "id, status, items, unjudged, created_s, started_s, finished_s"
_HELD = "seq = ? AND job = ? AND fence = ? AND state = 1"
_LOST = "state = 0, ready_s = ?, lost = lost + 1, node = NULL, lease_s = NULL"


class Store(ABC):
    """One connection, for one thread. Any method may raise StoreError, after which it is unusable.

    The shared SQL uses `?` for a parameter. Rows are locked in one order, jobs before items and
    each by key, so that transactions wait for each other without deadlocks.
    """

    _served_last = ""
    """Owner that the last claim served."""
    skip_locked = ""
    """Suffix of a SELECT that skips rows locked by other transactions."""

    # What a kind of store provides.

    @abstractmethod
    def transaction(self, *, accept: bool = False) -> AbstractContextManager[None]:
        """Open an atomic transaction. `accept`: exclusive over all processes, and durable at its end."""

    @abstractmethod
    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows."""

    @abstractmethod
    def each(self, sql: str, rows: Iterable[Sequence[Any]]) -> list[int]:
        """Run the statement for each of `rows`; return the number of rows that each run changed."""

    @abstractmethod
    def lock_jobs(self, ids: Sequence[str]) -> None:
        """Keep others from changing these jobs until the transaction ends."""

    @abstractmethod
    def close(self) -> None:
        """Close the store. Never raises."""

    def now(self) -> float:
        """Return the seconds since 1970 by a clock that all processes of this store share."""
        return time.time()

    # Jobs.

    def add(
        self, jobs: Sequence[NewJob], most_jobs: int, most_bytes: int, n_callers: int = 1
    ) -> list[Added]:
        """Store `jobs`; they are on the disk when this returns.

        `most_*` bound all unfinished jobs; with several `n_callers`, owners share the bounds (shares.py).
        """
        outcomes: list[Added] = []
        fresh: list[NewJob] = []
        by_key: dict[tuple[str, str], tuple[StoredJob, bytes]] = {}
        with self.transaction(accept=True):
            now = self.now()
            counts: Counter[str] = Counter()
            sizes: Counter[str] = Counter()
            for owner, count, size in self.run(
                "SELECT owner, count(*), sum(size) FROM verigym_jobs WHERE finished_s IS NULL "
                "GROUP BY owner"
            ):
                counts[owner], sizes[owner] = int(count), int(size)
            for new in jobs:
                key = (new.owner, new.idempotency or "")
                known = by_key.get(key) if new.idempotency else None
                if new.idempotency and known is None:
                    sql = f"SELECT {_JOB}, digest FROM verigym_jobs WHERE owner = ? AND idempotency = ?"
                    known = next(((_job(row), row[-1]) for row in self.run(sql, key)), None)
                if known is not None:
                    same = known[1] == new.digest
                    outcomes.append(Added("same", known[0]) if same else Added("other"))
                    continue
                if not all(
                    fits(had[new.owner], had.total(), most, more, n_callers)
                    for had, most, more in ((counts, most_jobs, 1), (sizes, most_bytes, new.size))
                ):
                    outcomes.append(Added("full"))
                    continue
                counts[new.owner] += 1
                sizes[new.owner] += new.size
                n = len(new.asks)
                job = StoredJob(
                    id=new.id,
                    status=JobState.QUEUED,
                    items=n,
                    unjudged=n,
                    created_s=now,
                    started_s=None,
                    finished_s=None,
                )
                fresh.append(new)
                outcomes.append(Added("new", job))
                if new.idempotency:
                    by_key[key] = (job, new.digest)
            self.each(
                "INSERT INTO verigym_jobs (id, owner, idempotency, digest, status, items, unjudged, "
                "size, created_s) VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?)",
                [
                    (j.id, j.owner, j.idempotency, j.digest, len(j.asks), len(j.asks), j.size, now)
                    for j in fresh
                ],
            )
            self.each(
                "INSERT INTO verigym_items (job, place, verifier, ask, state, ready_s, fence, faults, "
                "lost) VALUES (?, ?, ?, ?, 0, ?, 0, 0, 0)",
                [
                    (job.id, place, verifier, body, now)
                    for job in fresh
                    for place, (verifier, body) in enumerate(job.asks)
                ],
            )
        return outcomes

    def get(self, owner: str, id: str) -> StoredJob | None:
        """Return the job; None if `owner` has no job of this id."""
        sql = f"SELECT {_JOB} FROM verigym_jobs WHERE id = ? AND owner = ?"
        return next(map(_job, self.run(sql, (id, owner))), None)

    def verdicts(self, id: str) -> list[bytes]:
        """Return the verdicts of a finished job as JSON, in the order of its items."""
        sql = "SELECT verdict FROM verigym_items WHERE job = ? AND state = 2 ORDER BY place"
        return [verdict for (verdict,) in self.run(sql, (id,))]

    def own(self, owner: str, status: JobState | None, limit: int, after: str) -> list[StoredJob]:
        """Return the owner's newest jobs older than the id `after`; "" begins with the newest."""
        sql = f"SELECT {_JOB} FROM verigym_jobs WHERE owner = ?"
        values: list[Any] = [owner]
        if after:
            sql += " AND id < ?"
            values.append(after)
        if status is not None:
            sql += " AND status = ?"
            values.append(status.value)
        return [_job(row) for row in self.run(f"{sql} ORDER BY id DESC LIMIT ?", (*values, limit))]

    def drop(self, owner: str, id: str) -> StoredJob | None:
        """Cancel an unfinished job or delete a finished one; return its former state, None if unknown."""
        with self.transaction():
            self.lock_jobs([id])
            job = self.get(owner, id)
            if job is None:
                return None
            if job.finished_s is None:
                sql = "UPDATE verigym_jobs SET status = 'cancelled', finished_s = ? WHERE id = ?"
                self.each(sql, [(self.now(), id)])
            self.each("DELETE FROM verigym_items WHERE job = ?", [(id,)])
            if job.finished_s is not None:
                self.each("DELETE FROM verigym_jobs WHERE id = ?", [(id,)])
        return job

    def unfinished(self, ids: Collection[str]) -> set[str]:
        """Return those of `ids` whose jobs are neither finished nor deleted."""
        marks = ", ".join("?" * len(ids))
        sql = f"SELECT id FROM verigym_jobs WHERE finished_s IS NULL AND id IN ({marks})"
        return {id for (id,) in self.run(sql, list(ids))} if ids else set()

    def counts(self) -> dict[JobState, int]:
        """Return the number of queued and of running jobs."""
        sql = "SELECT status, count(*) FROM verigym_jobs WHERE finished_s IS NULL GROUP BY status"
        found = {JobState.QUEUED: 0, JobState.RUNNING: 0}
        return found | {JobState(status): count for status, count in self.run(sql)}

    # Items.

    def claim(self, node: str, verifiers: Sequence[str], n: int, lease_s: float) -> list[Claim]:
        """Claim at most `n` items for `verifiers` exclusively.

        Owners get equal numbers, from their oldest jobs first; the rest goes to the oldest items.
        """
        if not verifiers:
            return []
        now = self.now()
        rows: list[tuple[Any, ...]] = []
        with self.transaction():
            owners = self._next_owners()
            for jobs in (self._waiting_jobs(owner, now) for owner in owners):
                share = min(-(-n // len(owners)), n - len(rows))
                # The plus signs keep the database from a walk over all items that wait.
                own = f"+state = 0 AND job IN ({_marks(jobs)})"
                if jobs and share:
                    rows += self._pick(node, own, jobs, verifiers, share, now, lease_s)
            if len(rows) < n:
                rest = n - len(rows)
                rows += self._pick(node, "state = 0", (), verifiers, rest, now, lease_s)
        claims = [
            Claim(seq=seq, job=job, fence=fence, faults=faults, lost=lost, ask=ask)
            for seq, job, fence, faults, lost, ask in sorted(rows)
        ]
        # On its own: a claim must not hold items while it waits for a job.
        with self.transaction():
            sql = "UPDATE verigym_jobs SET status = 'running', started_s = ? WHERE id = ? AND status = 'queued'"
            self.each(sql, [(now, id) for id in sorted({claim.job for claim in claims})])
        return claims

    def _pick(
        self,
        node: str,
        which: str,
        values: Sequence[str],
        verifiers: Sequence[str],
        n: int,
        now: float,
        lease_s: float,
    ) -> list[tuple[Any, ...]]:
        """Claim at most `n` items that `which` selects, oldest first."""
        return self.run(
            f"WITH picked AS MATERIALIZED (SELECT seq FROM verigym_items WHERE {which} "
            f"AND ready_s <= ? AND verifier IN ({_marks(verifiers)}) ORDER BY ready_s, seq LIMIT ? "
            f"{self.skip_locked}) "
            "UPDATE verigym_items SET state = 1, node = ?, lease_s = ?, fence = fence + 1 "
            "WHERE seq IN (SELECT seq FROM picked) RETURNING seq, job, fence, faults, lost, ask",
            (*values, now, *verifiers, n, node, now + lease_s),
        )

    def _next_owners(self) -> list[str]:
        """Return a few owners of unfinished jobs, others each time; empty if there is only one."""
        sql = "SELECT DISTINCT owner FROM verigym_jobs WHERE finished_s IS NULL"
        owners = sorted(owner for (owner,) in self.run(sql))
        if len(owners) < 2:
            return []
        behind = [owner for owner in owners if owner > self._served_last]
        chosen = [*behind, *owners][: min(len(owners), _OWNERS_AT_ONCE)]
        self._served_last = chosen[-1] if len(owners) > _OWNERS_AT_ONCE else ""
        return chosen

    def _waiting_jobs(self, owner: str, now: float) -> list[str]:
        """Return the ids of the owner's oldest jobs with a waiting item."""
        sql = (
            "SELECT id FROM verigym_jobs WHERE owner = ? AND finished_s IS NULL AND EXISTS ("
            "SELECT 1 FROM verigym_items WHERE job = verigym_jobs.id AND +state = 0 AND ready_s <= ?"
            ") ORDER BY id LIMIT ?"
        )
        return [id for (id,) in self.run(sql, (owner, now, _OWNERS_AT_ONCE))]

    def settle(self, settled: Sequence[Settled]) -> list[str]:
        """Store each verdict whose claim still holds; return the jobs that are then done."""
        now = self.now()
        judged = sorted((s for s in settled if s.verdict is not None), key=lambda s: s.claim.seq)
        again = sorted((s for s in settled if s.verdict is None), key=lambda s: s.claim.seq)
        with self.transaction():
            self.lock_jobs(sorted({s.claim.job for s in settled}))
            kept = self.each(
                "UPDATE verigym_items SET state = 2, verdict = ?, ask = NULL, node = NULL, "
                f"lease_s = NULL WHERE {_HELD}",
                [(s.verdict, *_held(s.claim)) for s in judged],
            )
            self.each(
                "UPDATE verigym_items SET state = 0, ready_s = ?, faults = faults + 1, node = NULL, "
                f"lease_s = NULL WHERE {_HELD}",
                [(now + s.pause_s, *_held(s.claim)) for s in again],
            )
            counts = Counter(s.claim.job for s, n in zip(judged, kept, strict=True) if n)
            ids = sorted(counts)
            self.each(
                "UPDATE verigym_jobs SET unjudged = unjudged - ? WHERE id = ?",
                [(counts[id], id) for id in ids],
            )
            finished = self.each(
                "UPDATE verigym_jobs SET status = 'done', finished_s = ? "
                "WHERE id = ? AND unjudged = 0 AND finished_s IS NULL",
                [(now, id) for id in ids],
            )
        return [id for id, n in zip(ids, finished, strict=True) if n]

    def release(self, claims: Sequence[Claim], pause_s: float = 0.0) -> None:
        """Release items that were not judged; nothing counts against them."""
        ready_s = self.now() + pause_s
        with self.transaction():
            self.each(
                "UPDATE verigym_items SET state = 0, ready_s = ?, node = NULL, lease_s = NULL "
                f"WHERE {_HELD}",
                [(ready_s, *_held(claim)) for claim in sorted(claims, key=lambda c: c.seq)],
            )

    def renew(self, claims: Sequence[Claim], lease_s: float) -> list[Claim]:
        """Extend the leases; return the claims that no longer hold."""
        until = self.now() + lease_s
        claims = sorted(claims, key=lambda c: c.seq)
        with self.transaction():
            held = self.each(
                f"UPDATE verigym_items SET lease_s = ? WHERE {_HELD}",
                [(until, *_held(claim)) for claim in claims],
            )
        return [claim for claim, n in zip(claims, held, strict=True) if not n]

    def reclaim(self, is_dead: Callable[[str], bool]) -> int:
        """Release claims whose lease has ended or whose process is dead; return their number."""
        now = self.now()
        update = (
            f"UPDATE verigym_items SET {_LOST} "
            "WHERE seq IN (SELECT seq FROM verigym_items WHERE state = 1 AND"
        )
        nodes = [
            node
            for (node,) in self.run("SELECT DISTINCT node FROM verigym_items WHERE state = 1")
            if is_dead(node)
        ]
        with self.transaction():
            over = self.each(f"{update} lease_s < ? {self.skip_locked})", [(now, now)])
            dead = self.each(
                f"{update} node = ? {self.skip_locked})", [(now, node) for node in nodes]
            )
        return sum(over) + sum(dead)

    def prune(self, retention_s: float) -> int:
        """Delete jobs finished longer ago, some hundreds at a time; return their number."""
        sql = "SELECT id FROM verigym_jobs WHERE finished_s < ? ORDER BY finished_s LIMIT ?"
        rows = sorted(self.run(sql, (self.now() - retention_s, _PRUNED_AT_ONCE)))
        if rows:
            with self.transaction():
                self.each("DELETE FROM verigym_items WHERE job = ?", rows)
                self.each("DELETE FROM verigym_jobs WHERE id = ?", rows)
        return len(rows)

    # Within.

    def _check_version(self) -> None:
        """Check the version of the tables; call it in the transaction that makes them."""
        rows = self.run("SELECT version FROM verigym_store")
        if not rows:
            self.each("INSERT INTO verigym_store VALUES (?)", [(VERSION,)])
        elif rows != [(VERSION,)]:
            raise StoreError(
                f"the store has tables of version {rows[0][0]}, this program uses {VERSION}; "
                "use the program that made it, or another store"
            )


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _job(row: tuple[Any, ...]) -> StoredJob:
    id, status, items, unjudged, created_s, started_s, finished_s = row[:7]
    return StoredJob(
        id=id,
        status=JobState(status),
        items=items,
        unjudged=unjudged,
        created_s=created_s,
        started_s=started_s,
        finished_s=finished_s,
    )


def _held(claim: Claim) -> tuple[int, str, int]:
    return claim.seq, claim.job, claim.fence
