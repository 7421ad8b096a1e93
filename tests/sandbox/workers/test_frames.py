"""Frames of workers: assembled from any chunks, bounded, and one at a time at the worker's end."""

import socket

import pytest

from verigym.sandbox.workers.frames import MAX_FRAME_BYTES, FrameChannel, FrameReader, frame


@pytest.mark.parametrize("size", [1, 3, 4, 5, 7, 1000])
def test_frames_are_assembled_from_chunks_of_any_size(size):
    bodies = [b"", b"a", b"bc" * 300, b"", b"d"]
    data = b"".join(map(frame, bodies))
    reader = FrameReader()
    found = []
    for at in range(0, len(data), size):
        found += reader.feed(data[at : at + size])
    assert found == bodies


def test_a_frame_that_declares_too_large_a_size_is_refused():
    with pytest.raises(OSError, match="above the limit"):
        FrameReader().feed((MAX_FRAME_BYTES + 1).to_bytes(4, "big"))


def test_a_channel_gives_one_frame_at_a_time_and_none_at_the_end():
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            ours.sendall(frame(b"one") + frame(b"two"))
            channel = FrameChannel(theirs)
            channel.send(b"reply")
            assert ours.recv(100) == frame(b"reply")
        assert [channel.receive() for _ in range(3)] == [b"one", b"two", None]
