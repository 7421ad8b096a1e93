"""`Sender`: blocking requests to a service, with retries."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from verigym.client.address import Address, check_size, deadline_header
from verigym.client.calls import Answer, HttpCall
from verigym.client.connections import Connections
from verigym.client.streams import ACCEPT
from verigym.service import Failed
from verigym.verdict import VerifierFault

if TYPE_CHECKING:
    import httpx2


class Sender(Address):
    """Sends blocking requests from any number of threads; usable after a fork in both processes."""

    def __init__(self, url: str, *, key: str | None = None, timeout_s: float = 30.0) -> None:
        super().__init__(url, key=key, timeout_s=timeout_s)
        self._connections = Connections()

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def call(self, call: HttpCall[Answer], timeout_s: float | None = None) -> Answer:
        """Send `call` and return its answer. Raises RequestError, or VerifierFault if the service is
        unavailable."""
        try:
            return call.read(
                self._send(
                    *(call.method, call.path, call.body),
                    timeout_s=timeout_s,
                    headers=call.headers,
                    repeat=call.repeat,
                )
            )
        except Failed as failed:
            raise VerifierFault(failed.verdict) from failed

    def _send(
        self,
        method: str,
        path: str,
        body: bytes,
        *,
        timeout_s: float | None = None,
        headers: Mapping[str, str] | None = None,
        repeat: bool = True,
    ) -> bytes:
        deadline = time.monotonic() + (timeout_s or self.timeout_s)
        attempt = 1
        while True:
            try:
                return self._attempt(method, path, body, deadline, headers)
            except Failed as failed:
                pause_s = failed.pause(attempt, deadline - time.monotonic(), repeat=repeat)
                if pause_s is None:
                    raise
            time.sleep(pause_s)
            attempt += 1

    def _attempt(
        self,
        method: str,
        path: str,
        body: bytes,
        deadline: float,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        http = self._open()
        import httpx2

        left_s = max(0.001, deadline - time.monotonic())
        received = bytearray()
        try:
            with http.stream(
                *(method, self.url + path),
                content=body,
                headers={**(headers or {}), **deadline_header(left_s)},
                timeout=left_s,
            ) as answer:
                # The library's timeout is for each read; one that trickles is cut off here.
                for chunk in answer.iter_raw():
                    received += chunk
                    if time.monotonic() > deadline:
                        raise TimeoutError
                    check_size(received)
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            self._fail(error)
        return self._read(answer.status_code, answer.headers, bytes(received))

    def _chunks(self, body: bytes, deadline: float) -> Iterator[bytes]:
        http = self._open()
        import httpx2

        left_s = max(0.001, deadline - time.monotonic())
        try:
            with http.stream(
                *("POST", self.url + "/v1/verify/batch"),
                content=body,
                headers={**ACCEPT, **deadline_header(left_s)},
                timeout=left_s,
            ) as answer:
                if answer.status_code != 200:
                    self._read(answer.status_code, answer.headers, answer.read())
                for chunk in answer.iter_raw():
                    yield chunk
                    if time.monotonic() > deadline:
                        raise TimeoutError
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            self._fail(error)

    def _open(self) -> httpx2.Client:
        if self._connections.pid != os.getpid():
            # What came through a fork, locks and sockets, is the other process's.
            self._connections = Connections(inherited=self._connections)
        return self._connections.get(self._options)
