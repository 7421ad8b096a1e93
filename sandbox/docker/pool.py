"""Containers that wait for jobs, and the removal of those that had theirs.

A container runs one job and is thrown away. To wipe it and use it again would be cheaper, but what a
job can leave in it (processes that fork faster than they are killed, shared memory, keyrings, limits and
priorities of the keeper, pages of memory) cannot all be listed, let alone checked; starting the next one
while a job runs costs the caller nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from verigym.errors import SandboxError
from verigym.sandbox.docker.container import Container
from verigym.sandbox.docker.engine import Shape, errors, remove

_STARTERS = 4
_SHAPES = 8


class ContainerPool:
    """Up to `size` ready containers, of the shapes that were wanted last. Thread-safe."""

    def __init__(self, api: Any, size: int, make: Callable[[Shape], Container]) -> None:
        self._api = api
        self.size = size
        self._make = make
        self._lock = threading.Lock()
        self._ready: OrderedDict[Shape, deque[Container]] = OrderedDict()
        self._coming: dict[Shape, int] = {}
        self._all: dict[str, Container] = {}
        self._remaining: set[str] = set()  # could not be removed yet
        self._closed = False
        self._threads = ThreadPoolExecutor(_STARTERS, "verigym-docker-pool")

    def take(self, shape: Shape) -> Container:
        """Return a container for one job, ready or made now. Raises SandboxError."""
        container = None
        with self._lock:
            self._check_open()
            if ready := self._ready.get(shape):
                container = ready.popleft()
        self.prepare(shape)
        return container or self._new(shape)

    def prepare(self, shape: Shape) -> None:
        """Prepare a container of `shape` in the background, if there is room."""
        with self._lock:
            if self._closed:
                return
            self._ready.setdefault(shape, deque())
            self._ready.move_to_end(shape)
            while len(self._ready) > _SHAPES:
                for container in self._ready.popitem(last=False)[1]:
                    self._threads.submit(self._throw_away, container)
            have = len(self._ready[shape]) + self._coming.get(shape, 0)
            if have >= self.size:
                return
            self._coming[shape] = self._coming.get(shape, 0) + 1
            self._threads.submit(self._fill, shape)

    def discard(self, container: Container, *, ended: bool) -> None:
        """Remove a container: in the background if the job `ended` in it, so that nothing runs
        there any more; else it is gone when this returns."""
        container.disconnect()
        if ended:
            with self._lock:
                if not self._closed:
                    self._threads.submit(self._remove, container.id)
                    return
        self._remove(container.id)

    def counts(self) -> dict[str, int]:
        """Return the number of waiting containers and of all containers."""
        with self._lock:
            return {
                "ready": sum(map(len, self._ready.values())),
                "all": len(self._all) + len(self._remaining),
            }

    def close(self) -> None:
        """Remove every container, those with jobs too. Repeatable."""
        with self._lock:
            self._closed = True
            self._ready.clear()
        self._threads.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            left = [*self._all, *self._remaining]
            waiting = list(self._all.values())
        for identity in left:
            self._remove(identity)
        # A job's own thread sees its connection end, and closes it.
        for container in waiting:
            if container.idle:
                container.disconnect()

    def _fill(self, shape: Shape) -> None:
        try:
            container = self._new(shape)
        except SandboxError:
            return  # who takes next makes it in the foreground, and is told why it fails
        finally:
            with self._lock:
                self._coming[shape] -= 1
                if not self._coming[shape]:
                    del self._coming[shape]
        extra: list[Container] = []
        with self._lock:
            if self._closed or shape not in self._ready:
                extra.append(container)
            else:
                self._ready[shape].append(container)
            while sum(map(len, self._ready.values())) > self.size:
                oldest = next(shape for shape, ready in self._ready.items() if ready)
                extra.append(self._ready[oldest].popleft())
        for one in extra:
            self._throw_away(one)

    def _throw_away(self, container: Container) -> None:
        container.disconnect()
        self._remove(container.id)

    def _new(self, shape: Shape) -> Container:
        container = self._make(shape)
        with self._lock:
            self._all[container.id] = container
            closed = self._closed
        if closed:
            self._throw_away(container)
            self._check_open()
        return container

    def _check_open(self) -> None:
        if self._closed:
            raise SandboxError("the sandbox is closed; make a new one")

    def _remove(self, identity: str) -> None:
        with self._lock:
            self._all.pop(identity, None)
            again = {identity, *self._remaining}
            self._remaining |= again
        for one in again:
            try:
                remove(self._api, one)
            except errors():
                continue  # the engine is busy or gone: tried again with the next
            with self._lock:
                self._remaining.discard(one)
