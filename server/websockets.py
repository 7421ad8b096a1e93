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

from verigym.server.text_frames import read_text, text_frame

AHEAD: Final = 16
"""Messages that may wait for the application; beyond it the client is not read from."""
SHORT_BYTES: Final = 64 << 10
"""A longer message is handed over before the next is read."""

_EXTENSION = "verigym.direct"


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

        self.is_lent = False
        """True while another process reads from the socket and writes to it."""
        self._recall: Callable[[], None] = _do_nothing
        self._is_ping_due = False

    def lend(self, recall: Callable[[], None]) -> int | None:
        """Stop using the connection, and return its descriptor for another process; None if it is in use now.

        `recall` is called if the connection is needed, to send a ping. Call `take_back` once the other process has
        left it.
        """
        is_open = self.handshake_complete and self.conn.state is State.OPEN
        if not is_open or self.close_sent or self.disconnected or self.transport.is_closing():
            return None
        is_between = not self.conn.reader.buffer and self.conn.current_size is None
        is_quiet = self.queue.empty() and not self.read_paused and not self.frames
        if self.scheme == "wss" or not (is_between and is_quiet):
            return None
        if self.transport.get_write_buffer_size():
            return None
        self.transport.pause_reading()
        self.is_lent = True
        self._recall = recall
        fd: int = self.transport.get_extra_info("socket").fileno()
        return fd

    def take_back(self, unsent: bytes = b"") -> None:
        """Use the connection again; send the rest of a frame first."""
        self.is_lent = False
        if self.disconnected or self.transport.is_closing():
            return
        if unsent:
            self.transport.write(unsent)
        if self._is_ping_due:
            self._is_ping_due = False
            super().send_keepalive_ping()
        self.transport.resume_reading()

    def read_again(self, data: bytes) -> None:
        """Handle bytes that the other process read, before any that arrive later."""
        if data and not self.disconnected and not self.transport.is_closing():
            self.data_received(data)

    def break_off(self) -> None:
        """End a connection to which another process may have sent something or not."""
        self.is_lent = False
        self.transport.abort()

    def send_keepalive_ping(self) -> None:
        if self.is_lent:
            self.ping_timer = None
            self._is_ping_due = True
            self._recall()
        else:
            super().send_keepalive_ping()

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
        self.transport.write(text_frame(data))
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
        at = 0
        while not self.close_sent and (found := read_text(data, at, self.config.ws_max_size)):
            text, at = found
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


def _do_nothing() -> None:
    pass
