"""`AsyncSender`: requests to a service from an event loop, with retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from verigym.client.address import Address, check_size, deadline_header
from verigym.client.calls import Answer, HttpCall
from verigym.client.streams import ACCEPT
from verigym.service import Failed
from verigym.verdict import VerifierFault

if TYPE_CHECKING:
    import httpx2


class AsyncSender(Address):
    """Sends requests from one event loop at a time."""

    def __init__(self, url: str, *, key: str | None = None, timeout_s: float = 30.0) -> None:
        super().__init__(url, key=key, timeout_s=timeout_s)
        self._http: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def call(self, call: HttpCall[Answer], timeout_s: float | None = None) -> Answer:
        """Send `call` and return its answer. Raises RequestError, or VerifierFault if the service is
        unavailable."""
        try:
            return call.read(
                await self._send(
                    *(call.method, call.path, call.body),
                    timeout_s=timeout_s,
                    headers=call.headers,
                    repeat=call.repeat,
                )
            )
        except Failed as failed:
            raise VerifierFault(failed.verdict) from failed

    async def _send(
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
                return await self._attempt(method, path, body, deadline, headers)
            except Failed as failed:
                pause_s = failed.pause(attempt, deadline - time.monotonic(), repeat=repeat)
                if pause_s is None:
                    raise
            await asyncio.sleep(pause_s)
            attempt += 1

    async def _attempt(
        self,
        method: str,
        path: str,
        body: bytes,
        deadline: float,
        headers: Mapping[str, str] | None,
    ) -> bytes:
        import httpx2

        http = self._open()
        left_s = max(0.001, deadline - time.monotonic())
        received = bytearray()
        try:
            async with (
                asyncio.timeout(left_s),
                http.stream(
                    *(method, self.url + path),
                    content=body,
                    headers={**(headers or {}), **deadline_header(left_s)},
                    timeout=left_s,
                ) as answer,
            ):
                async for chunk in answer.aiter_raw():
                    received += chunk
                    check_size(received)
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            self._fail(error)
        return self._read(answer.status_code, answer.headers, bytes(received))

    async def _chunks(self, body: bytes, deadline: float) -> AsyncGenerator[bytes, None]:
        http = self._open()
        import httpx2

        left_s = max(0.001, deadline - time.monotonic())
        try:
            async with http.stream(
                *("POST", self.url + "/v1/verify/batch"),
                content=body,
                headers={**ACCEPT, **deadline_header(left_s)},
                timeout=left_s,
            ) as answer:
                if answer.status_code != 200:
                    self._read(answer.status_code, answer.headers, await answer.aread())
                async for chunk in answer.aiter_raw():
                    yield chunk
                    if time.monotonic() > deadline:
                        raise TimeoutError
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            self._fail(error)

    def _open(self) -> httpx2.AsyncClient:
        import httpx2

        loop = asyncio.get_running_loop()
        if self._http is None or self._loop is not loop:
            self._http, self._loop = httpx2.AsyncClient(**self._options()), loop
        return self._http
