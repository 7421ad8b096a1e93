"""The servers and slots of one sandbox: which are free, and what happens when some die."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from verigym.errors import SandboxError
from verigym.sandbox.local.group import ControlGroup
from verigym.sandbox.local.server import Slot, WarmServer

Key = tuple[str, bool]
"""Which kind of slot: the name of its image, whether it has the host's network."""

_MAX_WAIT_S = 1.0
_AT_LEAST = 2
"""Slots of a kind, once one is used: while one runs a job the other is made ready for the next."""


class SlotPool:
    """Servers by kind, started at first need, and their slots. Thread-safe."""

    def __init__(
        self,
        settings: Callable[[Key], dict[str, Any]],
        make_group: Callable[[], ControlGroup | None],
        max_slots: int,
    ) -> None:
        self._settings = settings
        self._make_group = make_group
        self._max_slots = max_slots
        self._lock = threading.Lock()
        self._starting: dict[Key, threading.Lock] = {}
        self._servers: dict[Key, WarmServer] = {}
        self._free: dict[Key, deque[Slot]] = {}
        self._counts: dict[Key, int] = {}
        self._failures = 0
        self._closed = False
        self.owner = os.getpid()

    def server(self, key: Key) -> WarmServer:
        """Return the server of this kind, started if there is none. Raises SandboxError."""
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            starting = self._starting.setdefault(key, threading.Lock())
        with starting:
            server = self._servers.get(key)
            if server is not None and server.alive():
                return server
            if server is not None:
                self._drop(key, server)
            if self._failures:
                time.sleep(min(_MAX_WAIT_S, 0.05 * 2**self._failures))
            try:
                server = WarmServer(self._settings(key), self._make_group)
            except (OSError, SandboxError) as error:
                self._failures += 1
                raise SandboxError(f"{error} ({self._failures} times in a row)") from error
            self._failures = 0
            with self._lock:
                if not self._closed:
                    self._servers[key] = server
                    self._free[key] = deque()
                    self._counts[key] = 0
                    return server
            server.close()
            raise SandboxError("the sandbox is closed")

    def take(self, key: Key) -> tuple[WarmServer, Slot]:
        """Return the free slot that has waited longest. Raises SandboxError if there can be none."""
        server = self.server(key)
        dead = []
        with self._lock:
            free = self._free.get(key, deque())
            least = min(_AT_LEAST, self._max_slots)
            slot = None
            while slot is None and free and (len(free) > 1 or self._counts[key] >= least):
                slot = free.popleft()
                slot.busy = True
                if not slot.is_idle():
                    dead.append(slot)
                    slot = None
            if slot is None and key in self._counts:
                self._counts[key] += 1
        for other in dead:
            self.discard(key, server, other)
        if slot is not None:
            return server, slot
        try:
            slot = server.start_slot()
        except (OSError, SandboxError):
            with self._lock:
                if self._servers.get(key) is server:
                    self._counts[key] -= 1
            if not server.alive():
                self._drop(key, server)
            raise
        return server, slot

    def give_back(self, key: Key, server: WarmServer, slot: Slot, *, is_new: bool = False) -> None:
        """Take `slot` back for another job. `is_new`: it was not taken from here."""
        with self._lock:
            if is_new and key in self._counts:
                self._counts[key] += 1
            if self._servers.get(key) is server and not self._closed:
                slot.busy = False
                self._free[key].append(slot)
                return
        server.end_slot(slot)

    def discard(self, key: Key, server: WarmServer, slot: Slot) -> None:
        """End `slot`, which is not to be trusted with another job."""
        with self._lock:
            if self._servers.get(key) is server:
                self._counts[key] -= 1
        server.end_slot(slot)

    def _drop(self, key: Key, server: WarmServer) -> None:
        with self._lock:
            if self._servers.get(key) is server:
                del self._servers[key]
                del self._free[key]
                del self._counts[key]
        server.close()

    def servers(self) -> Mapping[Key, WarmServer]:
        """Return the running servers."""
        with self._lock:
            return dict(self._servers)

    def close(self) -> None:
        """End all servers. May be repeated."""
        with self._lock:
            self._closed = True
            servers, self._servers = list(self._servers.values()), {}
        for server in servers:
            server.close()

    def forget(self) -> None:
        """Leave all servers to the process that has them, and begin anew; to be called in a fork."""
        self.owner = os.getpid()
        self._lock = threading.Lock()
        for server in self._servers.values():
            server.forget()
        self._servers, self._free, self._counts, self._starting = {}, {}, {}, {}
