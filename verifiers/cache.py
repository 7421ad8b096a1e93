"""Content-addressed cache of verdicts: equal digests, equal verdicts (law 6).

    cache = VerdictCache(max_mib=64, path="verdicts.sqlite")
    with VerifierPool(2, cache=cache) as pool: ...
    verifier = Cached(make_verifier("math/answer"), cache)      # in process

Kept in memory, least recently used first out, and where `path` is given in an SQLite file that any
number of processes share. Only scored verdicts are kept (`ok`, `policy_fault`): a fault may pass, so
it is asked for again. The digest covers the verifier's version and parameters, so a new version finds
nothing of an old one. A file that cannot be read or written costs hits and a line in the log, never a
verdict.

Not defended against: whoever may write the file may write verdicts into it. It is made readable and
writable by its owner only.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from pathlib import Path

from verigym.canonical import JSON
from verigym.errors import RequestError
from verigym.judge import Judge
from verigym.task import Task
from verigym.verdict import Verdict

_log = logging.getLogger(__name__)

_BUSY_S = 0.5
_OVERHEAD_BYTES = 300
"""Approximate memory of an entry besides its text, in bytes."""
_TABLE = """
CREATE TABLE IF NOT EXISTS verdicts (digest TEXT PRIMARY KEY, verdict BLOB NOT NULL) STRICT
"""
_PRUNE_EVERY = 256


class VerdictCache:
    """Verdicts by digest; for any number of threads, and usable in both processes after a fork.

    `max_mib` bounds the memory, `max_rows` the file, whose oldest rows go first.
    """

    def __init__(
        self,
        max_mib: float = 64.0,
        path: str | Path | None = None,
        max_rows: int = 1_000_000,
    ) -> None:
        for name, value in (("max_mib", max_mib), ("max_rows", max_rows)):
            if not value > 0:
                raise RequestError(f"{name} must be above 0, got {value}")
        self.max_mib = max_mib
        self.max_rows = max_rows
        self.path = Path(path) if path is not None else None
        self.hits = 0
        self.misses = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._disk: sqlite3.Connection | None = None
        self._pid = os.getpid()
        self._puts = 0
        if self.path is not None:
            with self._lock:
                self._open()

    def get(self, digest: str) -> Verdict | None:
        """Return the verdict stored under a digest; None if there is none."""
        with self._lock:
            body = self._kept.get(digest)
            if body is not None:
                self._kept.move_to_end(digest)
            elif self.path is not None:
                body = self._read(digest)
                if body is not None:
                    self._keep(digest, body)
            verdict = _verdict(body, digest) if body is not None else None
            if verdict is None:
                self.misses += 1
            else:
                self.hits += 1
            return verdict

    def put(self, verdict: Verdict) -> None:
        """Store a verdict under its own digest; one without a score or a digest is not stored."""
        if verdict.fault or not verdict.digest:
            return
        body = verdict.to_json()
        with self._lock:
            fresh = verdict.digest not in self._kept
            self._keep(verdict.digest, body)
            if fresh and self.path is not None:
                self._write(verdict.digest, body)

    def __len__(self) -> int:
        """Return the number of verdicts in memory."""
        return len(self._kept)

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            disk, self._disk = self._disk, None
            if disk is not None and self._pid == os.getpid():
                disk.close()

    # Below, the lock is held.

    def _keep(self, digest: str, body: bytes) -> None:
        old = self._kept.pop(digest, None)
        if old is not None:
            self._bytes -= len(old) + _OVERHEAD_BYTES
        self._kept[digest] = body
        self._bytes += len(body) + _OVERHEAD_BYTES
        while self._bytes > self.max_mib * (1 << 20):
            _, gone = self._kept.popitem(last=False)
            self._bytes -= len(gone) + _OVERHEAD_BYTES

    def _open(self) -> sqlite3.Connection | None:
        if self._disk is not None and self._pid == os.getpid():
            return self._disk
        assert self.path is not None
        # After a fork the other process's connection is left alone: SQLite forbids sharing it.
        self._pid = os.getpid()
        try:
            # Made by us, so that others cannot read verdicts out of it.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            disk = sqlite3.connect(
                self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            disk.execute("PRAGMA journal_mode = WAL")
            disk.execute("PRAGMA synchronous = NORMAL")
            disk.execute(_TABLE)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)
            return None
        self._disk = disk
        return disk

    def _read(self, digest: str) -> bytes | None:
        disk = self._open()
        if disk is None:
            return None
        try:
            row = disk.execute(
                "SELECT verdict FROM verdicts WHERE digest = ?", (digest,)
            ).fetchone()
        except sqlite3.Error as error:
            self._trouble(error)
            return None
        return bytes(row[0]) if row else None

    def _write(self, digest: str, body: bytes) -> None:
        disk = self._open()
        if disk is None:
            return
        try:
            disk.execute("INSERT OR IGNORE INTO verdicts VALUES (?, ?)", (digest, body))
            self._puts += 1
            if self._puts % _PRUNE_EVERY == 0:
                disk.execute(
                    "DELETE FROM verdicts WHERE rowid <= (SELECT max(rowid) FROM verdicts) - ?",
                    (self.max_rows,),
                )
        except sqlite3.Error as error:
            self._trouble(error)

    def _trouble(self, error: sqlite3.Error) -> None:
        """Continue without the file, unless another process merely holds it for a moment."""
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            _log.debug("cache %s: %s", self.path, error)
            return
        self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        _log.warning("the cache file %s is not used any more: %s", self.path, error)
        disk, self._disk = self._disk, None
        self.path = None
        if disk is not None:
            with contextlib.suppress(sqlite3.Error):
                disk.close()


class Cached(Judge):
    """Judge that looks into a cache first; same id, digests and verdicts as `inner`."""

    id: str
    version: int
    params: Mapping[str, JSON]

    def __init__(self, inner: Judge, cache: VerdictCache) -> None:
        self.inner = inner
        self.cache = cache
        self.id = inner.id
        self.version = inner.version
        self.params = inner.params

    def digest(self, task: Task, submission: JSON) -> str:
        """Return the digest that `inner` gives."""
        return self.inner.digest(task, submission)

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """Return the cached verdicts, and those of `inner` for the rest, which are then cached."""
        pairs = list(items)
        found: list[Verdict | None] = []
        for task, submission in pairs:
            try:
                found.append(self.cache.get(self.digest(task, submission)))
            except RequestError:  # no plain data: the verifier says so itself
                found.append(None)
        missing = [i for i, verdict in enumerate(found) if verdict is None]
        fresh = self.inner.verify_batch([pairs[i] for i in missing])
        for i, verdict in zip(missing, fresh, strict=True):
            self.cache.put(verdict)
            found[i] = verdict
        return [verdict for verdict in found if verdict is not None]


def _verdict(body: bytes, digest: str) -> Verdict | None:
    """Decode the verdict in `body`; None if it is not one, or has another digest."""
    try:
        verdict = Verdict.from_json(body)
    except RequestError:
        return None
    return verdict if verdict.digest == digest and not verdict.fault else None
