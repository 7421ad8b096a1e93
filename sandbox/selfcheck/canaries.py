"""`Canaries`: things of the host that no job may reach or read, and a count of who did.

A TCP listener on 127.0.0.1:48123, one on the abstract Unix socket `sbx_canary`, one on the path
`/tmp/canary.sock`. Where another process has one of them already, that one serves: a program that
reaches it says so itself. The fourth canary is `TOKEN`, in the environment of whoever runs sandboxes
under the name `TOKEN_NAME`.
"""

from __future__ import annotations

import os
import secrets
import selectors
import socket
import stat
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

TCP = ("127.0.0.1", 48123)
ABSTRACT = "\0sbx_canary"
PATH = "/tmp/canary.sock"
TOKEN_NAME = "SBX_CANARY_TOKEN"


def new_token() -> str:
    """Return a value for the environment variable; no program's output holds it by chance."""
    return f"sbx-{secrets.token_hex(16)}"


class Canaries:
    """Listens while it is entered. `hits` grows by (when, which), `notes` says what is another's."""

    def __init__(self) -> None:
        self.hits: list[tuple[float, str]] = []
        self.notes: list[str] = []
        self._listeners: dict[socket.socket, str] = {}
        self._path: str | None = None
        self._stop_read, self._stop_write = socket.socketpair()
        self._thread = threading.Thread(target=self._listen, name="canaries", daemon=True)

    def __enter__(self) -> Self:
        self._open(socket.AF_INET, TCP, "TCP 127.0.0.1:48123")
        self._open(socket.AF_UNIX, ABSTRACT, "abstract socket sbx_canary")
        if _is_dead(PATH):
            os.unlink(PATH)
        if self._open(socket.AF_UNIX, PATH, PATH):
            self._path = PATH
            # Any user may connect: it is the sandbox that must be in the way.
            os.chmod(PATH, 0o777)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop_write.close()
        self._thread.join()
        self._stop_read.close()
        for listener in self._listeners:
            listener.close()
        if self._path is not None:
            os.unlink(self._path)

    def between(self, start: float, end: float) -> list[str]:
        """Return those that were reached in that span of `time.monotonic`."""
        return sorted({which for when, which in list(self.hits) if start <= when <= end})

    def _open(self, family: int, address: object, which: str) -> bool:
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            if family == socket.AF_INET:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)  # type: ignore[arg-type]
            listener.listen(64)
            listener.setblocking(False)
        except OSError as error:
            listener.close()
            self.notes.append(f"canary {which} is another's: {error.strerror}")
            return False
        self._listeners[listener] = which
        return True

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._stop_read, selectors.EVENT_READ)
            for listener in self._listeners:
                selector.register(listener, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._stop_read:
                        return
                    reached = key.fileobj
                    assert isinstance(reached, socket.socket)
                    try:
                        connection, _ = reached.accept()
                    except OSError:
                        continue  # it has gone again; that it came is lost, and it did reach us
                    connection.close()
                    self.hits.append((time.monotonic(), self._listeners[reached]))


def _is_dead(path: str) -> bool:
    """Return True if `path` is a socket without a listener, left by a run that was killed."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            return False
        # Not by connecting: another run would take that for an escape.
        return path not in Path("/proc/net/unix").read_text().split()
    except OSError:
        return False
