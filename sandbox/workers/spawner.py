"""Starts and kills workers in a thread, since both may wait for the fork server."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

from verigym.sandbox.workers.forkserver import ForkServer

Started: TypeAlias = tuple[ForkServer, int, socket.socket]
"""Fork server, pid and socket of a worker."""


class Spawner:
    """Source of workers with the module `body`; its parameters are those of `ForkServer`.

    The fork server is started when first needed, and again if it dies. Thread-safe.
    """

    def __init__(
        self,
        body: str,
        preload: Sequence[str],
        grants: Mapping[str, Any] | None = None,
        keep_env: Collection[str] = (),
    ) -> None:
        self._body = body
        self._preload = preload
        self._grants = grants
        self._keep_env = keep_env
        self._lock = threading.Lock()
        # One is enough: the fork server serves one at a time.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="worker-starter")
        self.server: ForkServer | None = None
        self.closed = False

    def start(self) -> Future[Started]:
        """Start a worker. The future raises OSError; TimeoutError if none starts in time."""
        try:
            return self._thread.submit(self._fork)
        except RuntimeError:  # the thread has ended
            future: Future[Started] = Future()
            future.set_exception(OSError("closed"))
            return future

    def kill(self, server: ForkServer, pid: int) -> None:
        """Send SIGKILL to a worker of `server`, soon."""
        with contextlib.suppress(RuntimeError):  # closed, which kills all
            self._thread.submit(server.kill, pid)

    def close(self) -> None:
        """End all workers; wakes a thread that waits for one. None is left when this returns."""
        with self._lock:
            self.closed = True
            server, self.server = self.server, None
        if server is not None:
            server.close()
        self._thread.shutdown()

    def _fork(self) -> Started:
        with self._lock:
            if self.closed:
                raise OSError("closed")
            if self.server is None:
                self.server = ForkServer(
                    self._body, self._preload, grants=self._grants, keep=self._keep_env
                )
            server = self.server
        try:
            return (server, *server.fork())
        except OSError:
            with self._lock:
                if self.server is server:
                    self.server = None
                    # Perhaps an import ended or hung it: the next one lets the workers import.
                    self._preload = ()
            server.close()
            raise
