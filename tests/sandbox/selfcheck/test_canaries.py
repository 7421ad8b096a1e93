"""The canaries know who reached them."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from verigym.sandbox.selfcheck import canaries
from verigym.sandbox.selfcheck.canaries import Canaries


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this test its own places, because others may run a self-check at the same time."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setattr(canaries, "TCP", free.getsockname())
    monkeypatch.setattr(canaries, "ABSTRACT", f"\0verigym-test-{os.getpid()}")
    monkeypatch.setattr(canaries, "PATH", str(tmp_path / "canary.sock"))


def test_each_canary_tells_when_it_was_reached() -> None:
    start = time.monotonic()
    with Canaries() as found:
        assert found.notes == []
        for family, address in (
            (socket.AF_INET, canaries.TCP),
            (socket.AF_UNIX, canaries.ABSTRACT),
            (socket.AF_UNIX, canaries.PATH),
        ):
            with socket.socket(family) as caller:
                caller.connect(address)
                assert caller.recv(1) == b""  # it was accepted, and so counted
    assert len(found.between(start, time.monotonic())) == 3
    assert found.between(start - 2, start - 1) == []
    assert not os.path.exists(canaries.PATH)


def test_what_another_has_is_left_to_it() -> None:
    with Canaries() as first, Canaries() as second:
        assert len(second.notes) == 3
        assert first.hits == []
        assert os.path.exists(canaries.PATH)


def test_a_socket_of_a_dead_run_is_replaced() -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(canaries.PATH)
    with Canaries() as found:
        assert found.notes == []
