"""Plain frames of `/v1/ws`: the next step of one session, read and answered without detours."""

from __future__ import annotations

import msgspec

from verigym.server.envs.messages import LONGEST_LENT_ID, PlainStep


class _Frame(msgspec.Struct, forbid_unknown_fields=True, tag_field="op", tag="step"):
    session: str
    seq: int
    action: str
    id: msgspec.Raw = msgspec.Raw(b"null")


_frames = msgspec.json.Decoder(_Frame)
_encode = msgspec.json.Encoder().encode


class PlainFrames:
    """Reads and answers the steps of one session, the last of which had the number `seq`."""

    def __init__(self, session: str, seq: int) -> None:
        self._session = session
        self._seq = seq
        self._id = b""

    def read(self, data: bytes) -> PlainStep | None:
        """Return the step of a frame; None for anything but the next step of the session."""
        try:
            frame = _frames.decode(data)
        except ValueError:  # also if it is not valid UTF-8
            return None
        id = bytes(frame.id)
        if frame.session != self._session or frame.seq != self._seq + 1:
            return None
        # A key that stands twice has a colon more, however the keys are written. A long id is not kept.
        if data.count(b":") != _encode(frame).count(b":") or rb"\u003" in data:
            return None
        if len(id) > LONGEST_LENT_ID:
            return None
        self._id = id
        return PlainStep(frame.action, id)

    def answer(self, body: bytes) -> bytes:
        """Return the frame that answers the step that was read last."""
        self._seq += 1
        return b'{"id":%s,"ok":{"session":"%s","seq":%d,%s}' % (
            self._id,
            self._session.encode(),
            self._seq,
            body[1:],
        )
