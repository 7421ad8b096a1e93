"""Frames of a WebSocket that hold a whole short text (RFC 6455, section 5.2), read and written without a parser.

Everything else is left to the parser of the library: fragments, control frames, long or invalid messages.
"""

from __future__ import annotations

from typing import Final

try:
    from websockets.speedups import apply_mask
except ImportError:  # built without a C compiler
    from websockets.utils import apply_mask

_TEXT: Final = 0x81
"""First byte of a frame that is a whole text message."""
_MASKED: Final = 0x80
_MASK_BYTES: Final = 4


def read_text(data: bytes, at: int, limit: int) -> tuple[bytes, int] | None:
    """Return the text of the client's frame that begins at `at`, and where the frame ends.

    None unless it is a whole text below 64 KiB and of at most `limit` bytes.
    """
    if len(data) - at < 2 + _MASK_BYTES or data[at] != _TEXT or not data[at + 1] & _MASKED:
        return None
    size, begin = data[at + 1] & 0x7F, at + 2
    if size == 126:
        size, begin = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
    end = begin + _MASK_BYTES + size
    if size == 127 or size > limit or end > len(data):
        return None
    mask = data[begin : begin + _MASK_BYTES]
    return apply_mask(data[begin + _MASK_BYTES : end], mask), end


def text_frame(data: bytes) -> bytes:
    """Return the server's frame with the text `data`."""
    size = len(data)
    if size < 126:
        return bytes((_TEXT, size)) + data
    if size < 1 << 16:
        return b"\x81\x7e" + size.to_bytes(2, "big") + data
    return b"\x81\x7f" + size.to_bytes(8, "big") + data
