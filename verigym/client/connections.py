"""The HTTP connections of one process; a forked process opens its own."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2


class Connections:
    """The HTTP library's client of one process, created on first use."""

    def __init__(self, inherited: Connections | None = None) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._http: httpx2.Client | None = None
        # Kept: collecting it here would close connections that the other process uses.
        self._inherited = inherited

    def get(self, options: Callable[[], dict[str, Any]]) -> httpx2.Client:
        """Return the library's client, created with `options` if there is none."""
        with self._lock:
            if self._http is None:
                import httpx2

                self._http = httpx2.Client(**options())
                # An environment that is dropped without close() leaves no open socket.
                weakref.finalize(self, _close, self._http, self.pid)
            return self._http

    def close(self) -> None:
        """Close the connections of this process; `get` opens new ones."""
        with self._lock:
            http, self._http = self._http, None
        if http is not None:
            _close(http, self.pid)


def _close(http: httpx2.Client, pid: int) -> None:
    if pid == os.getpid():
        http.close()
