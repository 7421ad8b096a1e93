"""`HostConnections`: many small POST requests to one server, on connections that stay open.

Made for model servers, where a general HTTP library takes more processor time than the rest of an episode
(benchmarks/model_clients.py). HTTP/1.1 with and without TLS, and through the proxy that the environment
names. No redirects, cookies or compression. For one event loop.
"""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from verigym.agents.http_answer import AnswerReader, BadAnswer, HttpAnswer

_PORTS = {"http": 80, "https": 443}
_OWN_HOSTS = ("localhost", "127.0.0.1", "::1")


class HostConnections:
    """Connections to the host of `url`, at most `limit` at once. `headers` go with every request."""

    def __init__(self, url: str, *, headers: Mapping[str, str], limit: int) -> None:
        self._url = urlsplit(url)
        proxy = _proxy_for(self._url)
        self._proxy = proxy
        whole = f"{self._url.scheme}://{self._url.netloc}"
        # A proxy of plain HTTP reads the whole address; one of TLS only passes bytes on.
        target = whole if proxy is not None and self._url.scheme == "http" else ""
        fields = {"Host": self._url.netloc.rpartition("@")[2], **headers}
        if proxy is not None and target:
            fields.update(_authorisation(proxy))
        if any("\r" in text or "\n" in text for pair in fields.items() for text in pair):
            raise ValueError("a header holds a line break")
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self._before = f"POST {target}".encode("ascii")
        self._after = f" HTTP/1.1\r\n{lines}Content-Length: ".encode("latin-1")
        self._tls: ssl.SSLContext | None = None
        self._idle: list[_Connection] = []
        self._open: set[_Connection] = set()
        self._slots = asyncio.Semaphore(limit)

    async def post(self, path: str, body: bytes, timeout_s: float) -> HttpAnswer:
        """Send `body` to `path` and return the answer, within `timeout_s` of its turn.

        Raises TimeoutError, OSError (no connection, or one that broke) or BadAnswer. If the server closed an
        idle connection just as it was used, the request is sent again on a new one.
        """
        request = b"%b%b%b%d\r\n\r\n%b" % (
            *(self._before, path.encode("ascii"), self._after),
            *(len(body), body),
        )
        async with self._slots, asyncio.timeout(timeout_s):
            while self._idle:
                kept = self._idle.pop()
                if kept.is_usable:
                    try:
                        return await self._exchange(kept, request)
                    except _Closed:
                        break
            return await self._exchange(await self._connect(), request)

    def close(self) -> None:
        """Close all connections; requests under way fail."""
        for connection in list(self._open):
            connection.abort()
        self._idle.clear()

    async def _exchange(self, connection: _Connection, request: bytes) -> HttpAnswer:
        answer = None
        try:
            answer = await connection.exchange(request)
        finally:
            if answer is not None and answer.keeps and connection.is_usable:
                self._idle.append(connection)
            else:
                connection.abort()
        return answer

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        host, port = self._url.hostname or "", _port(self._url)
        secure = self._url.scheme == "https"
        if secure and self._tls is None:
            import httpx2

            # The certificates that the client of the verifier service trusts, too.
            self._tls = httpx2.create_ssl_context()
        proxy = self._proxy
        if proxy is None:
            _, connection = await loop.create_connection(
                lambda: _Connection(self._open), host, port, ssl=self._tls if secure else None
            )
            return connection
        _, connection = await loop.create_connection(
            lambda: _Connection(self._open), proxy.hostname or "", _port(proxy)
        )
        try:
            if secure and self._tls is not None:
                await connection.open_tunnel(host, port, _authorisation(proxy), self._tls)
        except BaseException:
            connection.abort()
            raise
        return connection


class _Closed(ConnectionError):
    """The server closed a connection before it answered anything."""


class _Connection(asyncio.Protocol):
    """One connection, which carries one request at a time. It is in `registry` as long as it is open."""

    def __init__(self, registry: set[_Connection]) -> None:
        self._registry = registry
        self._transport: asyncio.Transport | None = None
        self._reader: AnswerReader | None = None
        self._answer: asyncio.Future[HttpAnswer] | None = None

    @property
    def is_usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(self, request: bytes, *, is_connect: bool = False) -> HttpAnswer:
        if self._transport is None or self._transport.is_closing():
            raise _Closed("the server closed the connection")
        self._reader = AnswerReader(is_connect=is_connect)
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._answer
        finally:
            self._answer = self._reader = None

    async def open_tunnel(
        self, host: str, port: int, headers: Mapping[str, str], tls: ssl.SSLContext
    ) -> None:
        """Ask a proxy for a connection to `host`, and begin TLS with it."""
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        request = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{lines}\r\n".encode("latin-1")
        answer = await self.exchange(request, is_connect=True)
        if answer.status != 200 or self._transport is None:
            raise ConnectionError(f"the proxy answered {answer.status} to CONNECT {place}")
        self._transport = await asyncio.get_running_loop().start_tls(
            self._transport, self, tls, server_hostname=host
        )

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._registry.add(self)

    def data_received(self, data: bytes) -> None:
        if self._reader is None or self._answer is None or self._answer.done():
            # Nothing was asked: what comes now must not be the answer to the next request.
            self.abort()
            return
        try:
            answer = self._reader.feed(data)
        except BadAnswer as error:
            self._fail(error)
            self.abort()
            return
        if answer is not None:
            self._answer.set_result(answer)

    def eof_received(self) -> bool:
        self._end(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._registry.discard(self)
        self._end(exc)

    def _end(self, exc: Exception | None) -> None:
        if self._reader is None or self._answer is None or self._answer.done():
            return
        if not self._reader.began:
            self._fail(_Closed("the server closed the connection without an answer"))
        elif exc is not None:
            self._fail(exc)
        else:
            try:
                self._answer.set_result(self._reader.end())
            except BadAnswer as error:
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)


def _proxy_for(url: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment names; None for this machine's own addresses."""
    host = url.hostname or ""
    if host in _OWN_HOSTS or proxy_bypass(host):
        return None
    found = getproxies()
    address = found.get(url.scheme) or found.get("all")
    if not address:
        return None
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise ValueError(f"the proxy must be like http://host:port, got {address!r}")
    return proxy


def _port(url: SplitResult) -> int:
    return url.port or _PORTS[url.scheme]


def _authorisation(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    words = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(words.encode()).decode()}"}
