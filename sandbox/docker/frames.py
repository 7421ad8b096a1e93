"""The two framings on a container's connection: the engine's around the keeper's. Both ways, no I/O.

What comes from a container is untrusted: a frame that cannot be right raises `FrameError`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from functools import cache
from typing import Any

from verigym.sandbox.local.seccomp import job_filter
from verigym.sandbox.step import ProgramRun

CHUNK = 1 << 16
"""The most payload of one frame, as the keeper has it."""

# https://docs.docker.com/reference/api/engine/ "Stream format": stream (1 stdout, 2 stderr), three
# zeros, big-endian length.
_ENGINE = struct.Struct(">BxxxL")
_KEEPER = struct.Struct(">cL")


class FrameError(Exception):
    """A container sent data that is not a frame."""


class Frames:
    """Takes bytes as they come from the engine and gives the keeper's frames."""

    def __init__(self) -> None:
        self._header = b""
        self._left = 0
        self._stream = 0
        self._inner = bytearray()
        self.complaints = b""
        """The last of the keeper's own standard error: a traceback, or Python that will not start."""

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Return the frames (kind, payload) that `data` completes."""
        view = memoryview(data)
        while view:
            if not self._left:
                missing = _ENGINE.size - len(self._header)
                self._header += view[:missing]
                view = view[missing:]
                if len(self._header) < _ENGINE.size:
                    break
                self._stream, self._left = _ENGINE.unpack(self._header)
                if self._stream not in (1, 2):
                    raise FrameError(f"the engine sent stream {self._stream}, wanted 1 or 2")
                self._header = b""
            payload = view[: self._left]
            view = view[self._left :]
            self._left -= len(payload)
            if self._stream == 1:
                self._inner += payload
            else:
                self.complaints = (self.complaints + payload)[-2000:]
        return self._whole()

    def _whole(self) -> Iterator[tuple[bytes, bytes]]:
        while len(self._inner) >= _KEEPER.size:
            kind, size = _KEEPER.unpack(self._inner[: _KEEPER.size])
            if size > CHUNK:
                raise FrameError(f"the container sent a frame of {size} bytes")
            end = _KEEPER.size + size
            if len(self._inner) < end:
                return
            payload = bytes(self._inner[_KEEPER.size : end])
            del self._inner[:end]
            yield kind, payload


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    """Return one frame for the keeper."""
    return _KEEPER.pack(kind, len(payload)) + payload


def frames_of(kind: bytes, data: bytes) -> Iterator[bytes]:
    """Yield `data` in as many frames as it takes; none for no data."""
    for start in range(0, len(data), CHUNK):
        yield frame(kind, data[start : start + CHUNK])


def job_frames(step: ProgramRun, machine: str, *, stream: bool) -> Iterator[bytes]:
    """Yield all that a keeper on `machine` needs to start `step`."""
    job = {
        "filter": _filter(machine).hex(),
        "argv": step.argv,
        "env": dict(step.env),
        "stream": stream,
        "address_space_mib": step.address_space_mib,
        "fetch": step.fetch,
        "limits": vars(step.limits),
    }
    # Arguments and variables may make this longer than a frame of the other direction may be.
    yield frame(b"J", json.dumps(job).encode())
    for name, data in step.files.items():
        order = {"name": name, "executable": name in step.executable}
        yield frame(b"F", json.dumps(order).encode())
        yield from frames_of(b"D", data)
    yield frame(b"G")


@cache
def _filter(machine: str) -> bytes:
    """The system call filter that jobs of the local backend have too; empty if there is none."""
    try:
        return job_filter(machine=machine)
    except OSError:
        return b""


def read_json(payload: bytes) -> dict[str, Any]:
    """Return an object that the keeper sent."""
    try:
        value = json.loads(payload)
    except ValueError as error:
        raise FrameError(f"the container sent invalid JSON: {payload[:100]!r}") from error
    if not isinstance(value, dict):
        raise FrameError(f"the container sent {payload[:100]!r}, wanted an object")
    return value
