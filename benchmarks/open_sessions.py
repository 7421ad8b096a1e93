"""Clients that hold many sessions of one server open, for server_sessions.py."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from typing import Any

from raw_socket import Socket

OPENING = 32
"""Sessions that are opened at once; connections of the HTTP client."""


class Failed(Exception):
    """A session could not be opened, or a step was not answered."""


class Sessions(ABC):
    """Open sessions at one server."""

    @abstractmethod
    async def open(self) -> None:
        """Open one more session. Raises Failed."""

    @abstractmethod
    async def step(self, which: int) -> None:
        """Step one session. Raises Failed."""


class HttpSessions(Sessions):
    """Sessions of the service's own routes, over a few connections that stay open."""

    def __init__(self, port: int, env: str, action: str) -> None:
        self._port = port
        self._env = env
        self._action = action
        self._sessions: list[tuple[str, int]] = []
        """Id and last number of each."""
        self._free: asyncio.LifoQueue[tuple[asyncio.StreamReader, asyncio.StreamWriter] | None]
        self._free = asyncio.LifoQueue()
        for _ in range(OPENING):
            self._free.put_nowait(None)

    async def open(self) -> None:
        seed = len(self._sessions)
        ask = {"env": self._env, "seed": seed, "params": {"max_turns": 10**9}}
        answer = await self._post("/v1/sessions", ask)
        self._sessions.append((answer["sessions"][0]["session"], 0))

    async def step(self, which: int) -> None:
        id, seq = self._sessions[which]
        self._sessions[which] = (id, seq + 1)
        ask = {"seq": seq + 1, "action": self._action}
        answer = await self._post(f"/v1/sessions/{id}/step", ask)
        if "observation" not in answer:
            raise Failed(str(answer))

    async def _post(self, path: str, ask: dict[str, Any]) -> Any:
        connection = await self._free.get()
        try:
            connection = connection or await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = connection
            body = json.dumps(ask).encode()
            head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            size = int(head.partition("content-length:")[2].partition("\r\n")[0])
            said = await reader.readexactly(size)
        except (OSError, EOFError, ValueError) as error:
            connection = None
            raise Failed(repr(error)) from error
        finally:
            self._free.put_nowait(connection)
        if head.split()[1] not in ("200", "201"):
            raise Failed(said.decode())
        return json.loads(said)


class SocketSessions(Sessions):
    """Sessions that have a WebSocket each, in OpenEnv's protocol."""

    def __init__(self, port: int, path: str, step: bytes) -> None:
        self._port = port
        self._path = path
        self._step = step
        self._sockets: list[_OneSession] = []

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            _, socket = await loop.create_connection(
                lambda: _OneSession(self._port, self._path), "127.0.0.1", self._port
            )
        except OSError as error:
            raise Failed(repr(error)) from error
        _check(await socket.answer)
        self._sockets.append(socket)

    async def step(self, which: int) -> None:
        socket = self._sockets[which]
        socket.ask(self._step)
        _check(await socket.answer)


class _OneSession(Socket):
    def __init__(self, port: int, path: str) -> None:
        super().__init__(port, path)
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._is_lost = False

    def ask(self, message: bytes) -> None:
        self.answer = asyncio.get_running_loop().create_future()
        if self._is_lost:
            self.answer.set_exception(Failed("the connection was closed"))
        else:
            self.say(message)

    def begin(self) -> None:
        self.say(b'{"type":"reset","data":{}}')

    def hear(self, body: bytes) -> None:
        if not self.answer.done():
            self.answer.set_result(body)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        if not self.answer.done():
            self.answer.set_exception(Failed("the connection was closed"))


def _check(answer: bytes) -> None:
    if not answer.startswith(b'{"type":"observation"'):
        raise Failed(answer.decode())
