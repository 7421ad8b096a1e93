"""One WebSocket as the service wants it: uvicorn's own, quick with short texts, reading a little ahead.

An endpoint that answers without waiting can be called as soon as a text arrives, and write as soon as it has
an answer: `direct_of(scope)` is the connection then. By ASGI alone, each text wakes a task twice, which takes
longer than a cheap step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from starlette.types import Scope
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request
from websockets.protocol import State

try:
    from websockets.speedups import apply_mask
except ImportError:  # built without a C compiler
    from websockets.utils import apply_mask

AHEAD: Final = 16
"""Messages that may wait for the application; beyond it the client is not read from."""
SHORT_BYTES: Final = 64 << 10
"""A longer message is handed over before the next is read."""

_EXTENSION = "verigym.direct"
_TEXT = 0x81
"""First byte of a frame that is a whole text message."""
_MASKED = 0x80
_MASK_BYTES = 4


def direct_of(scope: Scope) -> WebSocketConnection | None:
    """Return the connection of a WebSocket's scope; None under another server."""
    found: WebSocketConnection | None = scope.get("extensions", {}).get(_EXTENSION)
    return found


class WebSocketConnection(WebSocketsSansIOProtocol):
    """Reads on while a few short messages wait; whole texts below 64 KiB go past the general parser.

    The parser and the writer of frames in the library take longer than a cheap step. Everything but
    whole short texts is left to them: fragments, control frames, long or invalid messages.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.on_text: Callable[[str], bool] | None = None
        """Function that gets each short text, unless earlier messages wait for `receive`. It returns False
        to have `receive` return the text."""

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == 101:
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[_EXTENSION] = self

    def write_text(self, data: bytes) -> bool:
        """Send a text now; return False if it cannot be sent without waiting, or not any more."""
        is_open = self.handshake_complete and self.conn.state is State.OPEN
        if not is_open or not self.writable.is_set() or self.disconnected:
            return False
        size = len(data)
        if size < 126:
            head = bytes((_TEXT, size))
        elif size < 1 << 16:
            head = b"\x81\x7e" + size.to_bytes(2, "big")
        else:
            head = b"\x81\x7f" + size.to_bytes(8, "big")
        self.transport.write(head + data)
        return True

    def data_received(self, data: bytes) -> None:
        conn = self.conn
        between = not conn.reader.buffer and conn.current_size is None
        if between and self.handshake_complete and conn.state is State.OPEN:
            data = data[self._read_texts(data) :]
        if data:
            super().data_received(data)

    def send_receive_event_to_app(self) -> None:
        long = sum(map(len, self.frames)) > SHORT_BYTES
        if self.read_paused or long or self.queue.qsize() >= AHEAD:
            super().send_receive_event_to_app()
            return
        # uvicorn stops reading at each message and starts again when it was taken, which costs the
        # server a fifth of its time for a cheap step. What is stopped already, it does not stop.
        self.read_paused = True
        super().send_receive_event_to_app()
        self.read_paused = False

    async def send(self, message: ASGISendEvent) -> None:
        text = message.get("text") if message["type"] == "websocket.send" else None
        if not isinstance(text, str) or not self.write_text(text.encode()):
            await super().send(message)

    def _read_texts(self, data: bytes) -> int:
        """Hand over the whole short texts at the start of `data`; return their length in bytes."""
        limit = self.config.ws_max_size
        at = 0
        while len(data) - at >= 8 and data[at] == _TEXT and data[at + 1] & _MASKED:
            size, begin = data[at + 1] & 0x7F, at + 2
            if size == 126:
                size, begin = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
            end = begin + _MASK_BYTES + size
            if size == 127 or size > limit or end > len(data) or self.close_sent:
                break
            mask = data[begin : begin + _MASK_BYTES]
            text = apply_mask(data[begin + _MASK_BYTES : end], mask)
            at = end
            if not self._hear(text):
                self.curr_msg_data_type = "text"
                self.frames = [text]
                self.send_receive_event_to_app()
        return at

    def _hear(self, data: bytes) -> bool:
        """Give a text to `on_text`; return False if it must wait for `receive`."""
        if self.on_text is None or not self.queue.empty():
            return False
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return False  # which closes the connection
        return self.on_text(text)
