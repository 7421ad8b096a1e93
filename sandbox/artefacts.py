"""`ArtefactCache`: what compilers made, by content, in memory and bounded; each made once."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from verigym.sandbox.job import JobStatus, Result

_POLL_S = 0.05


@dataclass(frozen=True, kw_only=True)
class Build:
    """Result of a compilation: the artefacts or a `failure`; `keep` is True if it is reproducible."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    failure: Result | None = None
    keep: bool = True

    @property
    def faulty(self) -> bool:
        """True if the machine failed, which says nothing about the program."""
        return self.failure is not None and self.failure.status is JobStatus.SANDBOX_ERROR

    @property
    def size_bytes(self) -> int:
        """Memory that the result takes in the cache, in bytes."""
        size = sum(len(data) for data in self.files.values())
        if self.failure is not None:
            size += len(self.failure.stdout) + len(self.failure.stderr) + len(self.failure.detail)
        return size + 1024


class _Running:
    """A compilation that some thread is at; `build` is set before `done`."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.build: Build | None = None


class ArtefactCache:
    """Builds by key, the least recently used leaving first, `max_bytes` in all. Thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._builds: OrderedDict[str, Build] = OrderedDict()
        self._size_bytes = 0
        self._running: dict[str, _Running] = {}

    def get(
        self,
        key: str,
        make: Callable[[], Build],
        *,
        wait_s: float,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Build:
        """Return the build of `key`, by `make` if it is not held.

        While one thread makes it, others that ask for it wait, at most `wait_s`, and share what it
        gives; where the machine failed it, one of them makes it anew. A build that is not to be
        kept goes to those that wait and to nobody later.
        """
        deadline = time.monotonic() + wait_s
        while True:
            with self._lock:
                if (held := self._builds.get(key)) is not None:
                    self._builds.move_to_end(key)
                    return held
                running = self._running.get(key)
                if running is None:
                    running = self._running[key] = _Running()
                    break
            while not running.done.wait(_POLL_S):
                if cancelled():
                    return _fault("cancelled by the caller")
                if time.monotonic() > deadline:
                    return _fault(f"another job's compilation of this program took over {wait_s} s")
            if running.build is not None and not running.build.faulty:
                return running.build
        try:
            running.build = make()
            return running.build
        finally:
            with self._lock:
                del self._running[key]
                if running.build is not None and running.build.keep and not running.build.faulty:
                    self._hold(key, running.build)
            running.done.set()

    def _hold(self, key: str, build: Build) -> None:
        if build.size_bytes > self.max_bytes:
            return
        self._builds[key] = build
        self._size_bytes += build.size_bytes
        while self._size_bytes > self.max_bytes:
            _, oldest = self._builds.popitem(last=False)
            self._size_bytes -= oldest.size_bytes


def _fault(detail: str) -> Build:
    return Build(failure=Result(status=JobStatus.SANDBOX_ERROR, detail=detail), keep=False)


def cut(failure: Result, output_bytes: int) -> Result:
    """Return `failure` with no more output than a job allows."""
    return replace(
        failure,
        stdout=failure.stdout[:output_bytes],
        stderr=failure.stderr[:output_bytes],
        stdout_truncated=failure.stdout_truncated or len(failure.stdout) > output_bytes,
        stderr_truncated=failure.stderr_truncated or len(failure.stderr) > output_bytes,
    )
