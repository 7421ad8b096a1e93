"""One WebSocket as the service wants it: uvicorn's own, reading a little ahead."""

from __future__ import annotations

from typing import Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

AHEAD: Final = 16
"""Messages that may wait for the application; beyond it the client is not read from."""
SHORT_BYTES: Final = 64 << 10
"""A longer message is handed over before the next is read."""


class WebSocketConnection(WebSocketsSansIOProtocol):
    """Reads on while a few short messages wait."""

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
