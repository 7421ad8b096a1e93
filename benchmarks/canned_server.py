"""A WebSocket server that answers each text with the same bytes, for benchmarks: the floor of what a server costs.

python benchmarks/canned_server.py PORT
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import sys
from typing import cast

import uvloop

_ANSWER = (
    b'{"type":"observation","data":{"observation":{"echoed_message":"canned"},'
    b'"reward":0.5,"done":false}}'
)
_FRAME = bytes((0x81, len(_ANSWER))) + _ANSWER
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3
_CLOSE = 0x88


class Canned(asyncio.Protocol):
    """One connection, whose frames come whole and below 64 KiB."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.head = b""
        self.upgraded = False

    def data_received(self, data: bytes) -> None:
        if self.upgraded:
            self.transport.write(_FRAME * n_texts(data))
            return
        self.head += data
        if b"\r\n\r\n" in self.head:
            self.upgraded = True
            self.transport.write(accept(self.head))


def accept(head: bytes) -> bytes:
    """Return the answer to the request for a WebSocket."""
    lines = (line.partition(b":") for line in head.split(b"\r\n"))
    key = next(value.strip() for name, _, value in lines if name.lower() == b"sec-websocket-key")
    digest = base64.b64encode(hashlib.sha1(key + _GUID).digest())
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + digest + b"\r\n\r\n"
    )


def n_texts(data: bytes) -> int:
    """Return the number of masked frames in `data`, up to one that closes."""
    at = n = 0
    while at < len(data) and data[at] != _CLOSE:
        size = data[at + 1] & 127
        at += 6 + size if size < 126 else 8 + int.from_bytes(data[at + 2 : at + 4], "big")
        n += 1
    return n


async def main(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Canned, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
