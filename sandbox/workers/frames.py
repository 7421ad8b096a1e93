"""Frames between a process and its workers: a length of four bytes, big-endian, then the body."""

from __future__ import annotations

import socket
import struct
from collections import deque

MAX_FRAME_BYTES = 256 << 20

_LENGTH = struct.Struct(">I")
_CHUNK = 1 << 16


def frame(body: bytes) -> bytes:
    """Return `body` as it is sent. Raises OSError if it is too large."""
    if len(body) > MAX_FRAME_BYTES:
        raise OSError(f"a frame of {len(body)} bytes is above the limit of {MAX_FRAME_BYTES}")
    return _LENGTH.pack(len(body)) + body


class FrameReader:
    """Assembles frames from received chunks."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the bodies that `chunk` completes. Raises OSError for a frame that declares too
        large a size."""
        buffer = self._buffer
        buffer += chunk
        bodies = []
        at = 0
        while len(buffer) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(buffer, at)
            if length > MAX_FRAME_BYTES:
                raise OSError(f"a frame of {length} bytes is above the limit of {MAX_FRAME_BYTES}")
            end = at + _LENGTH.size + length
            if len(buffer) < end:
                break
            bodies.append(bytes(memoryview(buffer)[at + _LENGTH.size : end]))
            at = end
        del buffer[:at]
        return bodies


class FrameChannel:
    """Worker's end of its connection; blocks."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._reader = FrameReader()
        self._bodies: deque[bytes] = deque()

    def send(self, body: bytes) -> None:
        """Send a frame. Raises OSError if the other end is gone, or the frame is too large."""
        self._sock.sendall(frame(body))

    @property
    def has_frame(self) -> bool:
        """True if `receive` would not have to wait."""
        return bool(self._bodies)

    def receive(self) -> bytes | None:
        """Wait for a frame and return its body; None if the other end is gone."""
        while not self._bodies:
            chunk = self._sock.recv(_CHUNK)
            if not chunk:
                return None
            self._bodies.extend(self._reader.feed(chunk))
        return self._bodies.popleft()
