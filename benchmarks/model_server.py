"""A model server that costs next to nothing: one answer to every chat request, over raw sockets.

    python benchmarks/model_server.py            # prints its URL, serves until its input ends

Needs nothing but Python, so that any peer's environment may ask it.
"""

from __future__ import annotations

import asyncio
import json
import sys

ANSWER = "<action>up</action>"
BODY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": ANSWER},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105},
    }
).encode()
_REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY)
) + BODY


class _Answering(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.data = b""

    def data_received(self, data: bytes) -> None:
        self.data += data
        while (end := self.data.find(b"\r\n\r\n")) >= 0:
            after = self.data[:end].lower().partition(b"content-length:")[2]
            size = end + 4 + int(after.partition(b"\r\n")[0] or 0)
            if len(self.data) < size:
                return
            self.data = self.data[size:]
            self.transport.write(_REPLY)


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Answering, "127.0.0.1", 0, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
