"""A WebSocket client of a few lines, for benchmarks that must not measure their client."""

from __future__ import annotations

import asyncio
from typing import cast

_TEXT, _PING, _PONG = 1, 9, 10
"""Kinds of frames."""


class Socket(asyncio.Protocol):
    """One WebSocket, by hand: no extension, a mask of zeros, answers in one frame each."""

    def __init__(self, port: int, path: str) -> None:
        self.port = port
        self.path = path
        self.buffer = b""
        self.upgraded = False

    def begin(self) -> None:
        """Send the first message."""
        raise NotImplementedError

    def hear(self, body: bytes) -> None:
        """Handle a text."""
        raise NotImplementedError

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(
            f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.upgraded:
            head, found, rest = self.buffer.partition(b"\r\n\r\n")
            if not found:
                return
            assert b" 101 " in head, head
            self.upgraded = True
            self.buffer = rest
            self.begin()
        while (frame := self._frame()) is not None:
            kind, body = frame
            if kind == _TEXT:
                self.hear(body)
            elif kind == _PING:
                self.transport.write(bytes([0x80 | _PONG, 0x80 | len(body)]) + bytes(4) + body)

    def _frame(self) -> tuple[int, bytes] | None:
        buffer = self.buffer
        if len(buffer) < 2:
            return None
        size, at = buffer[1] & 127, 2
        if size == 126:
            size, at = int.from_bytes(buffer[2:4], "big"), 4
        elif size == 127:
            size, at = int.from_bytes(buffer[2:10], "big"), 10
        if len(buffer) < at + size:
            return None
        self.buffer = buffer[at + size :]
        return buffer[0] & 15, buffer[at : at + size]

    def say(self, body: bytes) -> None:
        """Send a text."""
        size = len(body)
        head = bytes([129, 128 + size]) if size < 126 else b"\x81\xfe" + size.to_bytes(2, "big")
        self.transport.write(head + b"\0\0\0\0" + body)
