"""The framing, in pieces of every size, and a container that lies."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.sandbox.docker.conversation import Ending
from verigym.sandbox.docker.frames import CHUNK, FrameError, Frames, frame, frames_of, job_frames
from verigym.sandbox.job import Limits
from verigym.sandbox.step import ProgramRun

KINDS = st.sampled_from([b"O", b"E", b"S", b"X", b"D"])


def wrapped(data, stream=1):
    """Return output in the frames of a container engine."""
    return struct.pack(">BxxxL", stream, len(data)) + data


@given(
    st.lists(st.tuples(KINDS, st.binary(max_size=40)), max_size=8),
    st.integers(1, 50),
    st.integers(1, 50),
)
def test_frames_survive_any_cutting(sent, engine_cut, socket_cut):
    inner = b"".join(frame(kind, payload) for kind, payload in sent)
    outer = b"".join(
        wrapped(inner[at : at + engine_cut]) + wrapped(b"noise", stream=2) + wrapped(b"")
        for at in range(0, len(inner), engine_cut)
    )
    frames = Frames()
    got = []
    for at in range(0, len(outer), socket_cut):
        got += frames.feed(outer[at : at + socket_cut])
    assert got == sent
    assert frames.complaints == (b"noise" * -(-len(inner) // engine_cut))[-2000:]


@given(st.binary(max_size=200))
def test_nonsense_is_frames_or_an_error_but_nothing_else(data):
    frames = Frames()
    try:
        for kind, payload in frames.feed(wrapped(data)):
            assert len(payload) <= CHUNK
            assert len(kind) == 1
    except FrameError:
        pass


@pytest.mark.parametrize("stream", [0, 3, 255])
def test_streams_that_are_none(stream):
    with pytest.raises(FrameError, match="stream"):
        Frames().feed(wrapped(b"x", stream))


def test_a_frame_that_claims_to_be_huge():
    with pytest.raises(FrameError, match="bytes"):
        list(Frames().feed(wrapped(struct.pack(">cL", b"O", 1 << 31))))


@given(st.integers(0, 3 * CHUNK))
def test_data_is_cut_into_frames(size):
    data = b"x" * size
    parts = list(frames_of(b"I", data))
    assert b"".join(part[5:] for part in parts) == data
    assert all(len(part) <= CHUNK + 5 for part in parts)


def test_a_job_for_a_machine_without_a_filter():
    first = next(job_frames(ProgramRun(argv=("true",)), "m68k", stream=False))
    assert json.loads(first[5:])["filter"] == ""
    first = next(job_frames(ProgramRun(argv=("true",)), "aarch64", stream=False))
    assert len(bytes.fromhex(json.loads(first[5:])["filter"])) % 8 == 0


LIES = {
    "a-file-not-asked-for": [(b"N", {"name": "other", "size": 1})],
    "a-path-out": [(b"N", {"name": "../out", "size": 1})],
    "an-absolute-path": [(b"N", {"name": "/etc/passwd", "size": 1})],
    "a-name-that-is-none": [(b"N", {"name": 7})],
    "the-same-file-twice": [(b"N", {"name": "f1"}), (b"N", {"name": "f1"})],
    "data-of-no-file": [(b"D", b"x")],
    "a-file-too-large": [(b"N", {"name": "f1"}), (b"D", b"x" * 101)],
    "too-many-files": [(b"N", {"name": f"f{number}"}) for number in range(20)],
    "too-much-output": [(b"O", b"x" * 60), (b"O", b"x" * 60)],
    "no-object": [(b"S", [1])],
    "no-json": [(b"X", b"{")],
    "a-report-without-figures": [(b"X", {"reason": "exit"})],
    "figures-that-are-none": [
        (
            b"X",
            {
                "reason": "exit",
                "status": "x",
                "wall_s": [],
                "cpu_s": {},
                "memory_mib": 0,
                "full": 0,
                "cut": [],
            },
        )
    ],
    "a-kind-that-is-none": [(b"?", b"")],
}


@pytest.mark.parametrize("lie", LIES)
def test_a_container_that_lies_is_found_out(lie):
    step = ProgramRun(argv=("true",), fetch=("f*",), limits=Limits(output_bytes=100, inodes=10))
    ending = Ending()

    def tell():
        for kind, told in LIES[lie]:
            payload = told if isinstance(told, bytes) else json.dumps(told).encode()
            ending.take(kind, payload, step)

    with pytest.raises(FrameError):
        tell()
    assert not ending.reason
