"""`AnswerReader`: reads the answers of an HTTP/1.1 server from the bytes that arrive.

Understands lengths, chunks, bodies that end with the connection, and interim answers. Whatever else comes
is `BadAnswer`: an answer without a plain end must never be taken for the beginning of the next one.
Source: RFC 9112.
"""

from __future__ import annotations

from typing import NamedTuple

from verigym.errors import VerigymError

MAX_HEAD_BYTES = 64 << 10
MAX_BODY_BYTES = 64 << 20
_LINE = b"\r\n"


class BadAnswer(VerigymError):
    """The bytes are no answer of an HTTP/1.1 server, or more than is read."""


class HttpAnswer(NamedTuple):
    """An answer. Names of `headers` are in lower case; `keeps` is True if the connection may be used again."""

    status: int
    headers: dict[str, str]
    body: bytes
    keeps: bool


class AnswerReader:
    """Reads one answer. Feed it until it returns an `HttpAnswer`."""

    def __init__(self, *, is_connect: bool = False) -> None:
        self.began = False
        """True once a byte has arrived."""
        self._is_connect = is_connect
        self._data = bytearray()
        self._status = 0
        self._headers: dict[str, str] | None = None
        self._keeps = False
        self._length: int | None = None
        self._chunks: list[bytes] | None = None
        self._n_bytes = 0

    def feed(self, data: bytes) -> HttpAnswer | None:
        """Take `data`; return the answer if it is complete. Raises BadAnswer."""
        self.began = True
        self._data += data
        while self._headers is None:
            end = self._data.find(_LINE + _LINE)
            if max(end, len(self._data) if end < 0 else 0) > MAX_HEAD_BYTES:
                raise BadAnswer(f"headers of more than {MAX_HEAD_BYTES} bytes")
            if end < 0:
                return None
            self._read_head(bytes(self._data[:end]))
            del self._data[: end + 4]
        if self._chunks is not None:
            return self._read_chunks()
        if len(self._data) > (MAX_BODY_BYTES if self._length is None else self._length):
            raise BadAnswer("more bytes than the answer has")
        return self._answer(bytes(self._data)) if len(self._data) == self._length else None

    def end(self) -> HttpAnswer:
        """Return the answer that ends with the connection. Raises BadAnswer if it is incomplete."""
        if self._headers is None or self._length is not None or self._chunks is not None:
            raise BadAnswer("the server closed the connection in the middle of its answer")
        return self._answer(bytes(self._data))

    def _read_head(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        version, _, rest = first.partition(" ")
        code = rest[:3]
        if version not in ("HTTP/1.1", "HTTP/1.0") or not _is_number(code) or rest[3:4].strip():
            raise BadAnswer(f"not HTTP/1.1: {first[:80]!r}")
        if 100 <= int(code) < 200:
            if int(code) == 101:
                raise BadAnswer("the server changed the protocol without being asked")
            return
        headers: dict[str, str] = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip():
                raise BadAnswer(f"not a header: {line[:80]!r}")
            name, value = name.lower(), value.strip()
            if name in headers and name in ("content-length", "transfer-encoding"):
                raise BadAnswer(f"header {name} is given twice")
            headers[name] = value
        self._status, self._headers = int(code), headers
        words = {word.strip() for word in headers.get("connection", "").lower().split(",")}
        self._keeps = "close" not in words and (version == "HTTP/1.1" or "keep-alive" in words)
        coding, length = headers.get("transfer-encoding"), headers.get("content-length")
        if self._status in (204, 304) or (self._is_connect and 200 <= self._status < 300):
            self._length = 0
        elif coding is not None:
            if coding.lower() != "chunked":
                raise BadAnswer(f"transfer-encoding {coding[:80]!r} is not read")
            self._chunks = []
            # Two ends are one too many to trust the bytes that follow.
            self._keeps = self._keeps and length is None
        elif length is not None:
            if not _is_number(length) or int(length) > MAX_BODY_BYTES:
                raise BadAnswer(
                    f"content-length must be 0 to {MAX_BODY_BYTES}, got {length[:80]!r}"
                )
            self._length = int(length)
        else:
            self._keeps = False

    def _read_chunks(self) -> HttpAnswer | None:
        chunks = self._chunks if self._chunks is not None else []
        place, data = 0, self._data
        try:
            while True:
                line_end = data.find(_LINE, place)
                if line_end < 0:
                    if len(data) - place > MAX_HEAD_BYTES:
                        raise BadAnswer("a chunk without a size")
                    return None
                digits = bytes(data[place:line_end]).partition(b";")[0].strip()
                if not digits or digits.strip(b"0123456789abcdefABCDEF"):
                    raise BadAnswer(f"not the size of a chunk: {digits[:80]!r}")
                size, start = int(digits, 16), line_end + 2
                if self._n_bytes + size > MAX_BODY_BYTES:
                    raise BadAnswer(f"a body of more than {MAX_BODY_BYTES} bytes")
                if size == 0:
                    # Trailers, if any, end with an empty line as headers do.
                    end = data.find(_LINE + _LINE, line_end)
                    if end < 0:
                        if len(data) - place > MAX_HEAD_BYTES:
                            raise BadAnswer("trailers without an end")
                        return None
                    if end + 4 < len(data):
                        raise BadAnswer("more bytes than the answer has")
                    return self._answer(b"".join(chunks))
                if len(data) < start + size + 2:
                    return None
                if data[start + size : start + size + 2] != _LINE:
                    raise BadAnswer("a chunk that is longer than its size")
                chunks.append(bytes(data[start : start + size]))
                self._n_bytes += size
                place = start + size + 2
        finally:
            del data[:place]

    def _answer(self, body: bytes) -> HttpAnswer:
        return HttpAnswer(self._status, self._headers or {}, body, self._keeps)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
