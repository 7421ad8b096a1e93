"""A batch whose verdicts arrive one by one; after a broken answer, only the missing ones are requested."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from verigym import service
from verigym.client.address import MAX_ANSWER_BYTES
from verigym.client.types import Numbered
from verigym.service import Failed, ServiceRefusal, VerdictBatch
from verigym.verdict import Verdict

ACCEPT = {"Accept": "application/x-ndjson"}


class _Error(msgspec.Struct):
    message: str
    code: str = ""


class _Line(msgspec.Struct):
    index: int
    verdict: Verdict | None = None
    error: _Error | None = None


class VerdictStream:
    """The verdicts of a batch in order of arrival, each exactly once."""

    def __init__(self, batch: VerdictBatch) -> None:
        self._batch = batch
        unknown = (i for i, verdict in enumerate(batch.verdicts) if verdict is None)
        self.left = dict(zip(unknown, batch.bodies, strict=True))
        """Submissions without a verdict, by place in the batch."""
        self._asked: list[int] = []
        self._rest = b""

    def here(self) -> Iterator[Numbered]:
        """Yield the verdicts that needed no request to the service."""
        for i, verdict in enumerate(self._batch.verdicts):
            if verdict is not None:
                yield Numbered(index=i, verdict=verdict)

    def body(self) -> bytes:
        """Return the body for POST /v1/verify/batch with the submissions that are left."""
        self._asked, self._rest = list(self.left), b""
        return msgspec.json.encode({"items": list(self.left.values())})

    def feed(self, chunk: bytes) -> Iterator[Numbered]:
        """Yield the verdicts that `chunk` completes. Raises Failed for a malformed line, RequestError for
        a refusal."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > MAX_ANSWER_BYTES:
            raise service.bad_answer(f"a line of more than {MAX_ANSWER_BYTES} bytes")
        for line in lines:
            if line:
                yield self._read(line)

    def end(self) -> None:
        """Finish the answer. Raises Failed if a verdict is missing."""
        if self.left:
            raise service.broken(f"{len(self.left)} verdicts did not arrive")

    def fail(self, failed: Failed) -> Iterator[Numbered]:
        """Yield a fault for each submission that is left."""
        for index in list(self.left):
            del self.left[index]
            yield Numbered(index=index, verdict=failed.verdict)

    def _read(self, line: bytes) -> Numbered:
        try:
            read = msgspec.json.decode(line, type=_Line)
            place = self._asked[read.index] if read.index >= 0 else -1
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, IndexError) as error:
            raise service.bad_answer(str(error)) from error
        if read.error is not None:
            message = f"the verifier service refused a submission: {read.error.message}"
            raise ServiceRefusal(message, read.error.code)
        if read.verdict is None or place not in self.left:
            raise service.bad_answer(f"a line for submission {read.index}, which has none to come")
        del self.left[place]
        return Numbered(index=place, verdict=service.checked(read.verdict, self._batch.verifier))
