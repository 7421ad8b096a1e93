"""Frames of texts, beside the parser of the library."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import CLIENT, Protocol, State

from verigym.server.text_frames import read_text, text_frame

LIMIT = 1 << 20


@given(st.text(max_size=400) | st.integers(60_000, 70_000).map("x".__mul__))
def test_the_library_reads_what_is_written(text):
    client = Protocol(CLIENT, state=State.OPEN)
    client.receive_data(text_frame(text.encode()))
    (frame,) = client.events_received()
    assert (frame.opcode, bytes(frame.data).decode(), frame.fin) == (Opcode.TEXT, text, True)


@given(st.lists(st.text(max_size=300), min_size=1, max_size=4), st.data())
def test_whole_texts_are_read_one_after_the_other(texts, data):
    client = Protocol(CLIENT, state=State.OPEN)
    for text in texts:
        client.send_text(text.encode())
    stream = b"".join(client.data_to_send())
    at, found, ends = 0, [], []
    while (one := read_text(stream, at, LIMIT)) is not None:
        found.append(bytes(one[0]).decode())
        at = one[1]
        ends.append(at)
    assert (found, at) == (texts, len(stream))
    cut = data.draw(st.integers(0, len(stream) - 1))
    whole = [end for end in ends if end <= cut]
    assert read_text(stream[:cut], whole[-1] if whole else 0, LIMIT) is None


@pytest.mark.parametrize(
    "stream",
    [
        Frame(Opcode.BINARY, b"abc").serialize(mask=True),
        Frame(Opcode.PING, b"abc").serialize(mask=True),
        Frame(Opcode.CLOSE, b"").serialize(mask=True),
        Frame(Opcode.TEXT, b"abc", fin=False).serialize(mask=True),
        b"\xc1" + Frame(Opcode.TEXT, b"abc").serialize(mask=True)[1:],  # compressed, it says
        Frame(Opcode.TEXT, b"abc").serialize(mask=False),
        Frame(Opcode.TEXT, b"x" * 70_000).serialize(mask=True),
        b"",
        b"\x81",
    ],
    ids=["binary", "ping", "close", "begun", "compressed", "unmasked", "long", "nothing", "half"],
)
def test_the_rest_is_for_the_library(stream):
    assert read_text(stream, 0, LIMIT) is None


def test_a_text_beyond_the_limit_is_for_the_library():
    stream = Frame(Opcode.TEXT, b"x" * 200).serialize(mask=True)
    assert read_text(stream, 0, 199) is None
    assert read_text(stream, 0, 200) == (b"x" * 200, len(stream))
