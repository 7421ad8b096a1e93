"""Messages to OpenEnv's clients."""

from __future__ import annotations

from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from verigym.server.openenv import rpc
from verigym.server.openenv.types import Object


def error_message(code: str, message: str, **rest: Any) -> Object:
    """Return the message that reports an error."""
    return {"type": "error", "data": {"message": message, "code": code, **rest}}


async def send(socket: WebSocket, answer: Object) -> None:
    """Send an answer. Raises WebSocketDisconnect if the client is gone."""
    try:
        await socket.send_text(rpc.dump(answer).decode())
    except RuntimeError as error:  # starlette's, for a socket that is closed
        raise WebSocketDisconnect from error
