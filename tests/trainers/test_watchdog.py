"""The watchdog: what hangs is named, with the stacks of all threads."""

from __future__ import annotations

import threading
from pathlib import Path

from verigym.trainers.watchdog import Watchdog


def test_what_hangs_is_named_with_its_stack(tmp_path: Path) -> None:
    said: list[str] = []
    heard = threading.Event()

    def say(text: str) -> None:
        said.append(text)
        heard.set()

    with Watchdog(tmp_path / "stuck.txt", 0.05, say) as watchdog:
        watchdog.moved("playing games/keydoor")
        watchdog.waiting("waiting for a verifier")
        assert heard.wait(20)
    assert "while waiting for a verifier" in said[0]
    assert str(tmp_path / "stuck.txt") in said[0]
    assert "test_what_hangs_is_named_with_its_stack" in (tmp_path / "stuck.txt").read_text()


def test_the_same_pause_is_said_once_and_the_next_one_again(tmp_path: Path) -> None:
    said: list[str] = []
    first, second = threading.Event(), threading.Event()

    def say(text: str) -> None:
        said.append(text)
        (second if first.is_set() else first).set()

    with Watchdog(tmp_path / "none" / "stuck.txt", 0.05, say) as watchdog:
        assert first.wait(20)
        assert not second.wait(0.3)
        watchdog.moved("updating")
        assert second.wait(20)
    assert "could not be written" in said[0]
    assert "while updating" in said[1]


def test_progress_keeps_it_quiet(tmp_path: Path) -> None:
    said: list[str] = []
    with Watchdog(tmp_path / "stuck.txt", 60.0, said.append) as watchdog:
        watchdog.moved("playing")
    assert not said
    assert not (tmp_path / "stuck.txt").exists()
