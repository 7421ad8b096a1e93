"""Text of models and programs on a terminal: shown, never obeyed."""

from __future__ import annotations

import json
import logging
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.printable import escape_controls, printable

ATTACK = "a\x1b]0;owned\x07b\x1b[2Jc\x9b31md\x08\r\x07e\x1b]8;;http://x\x1b\\f\x1bcg\x90q\x9ch\x7f\x85\n\ti"
SHOWN = "abcdefgh\n\ti"


def is_control(letter: str) -> bool:
    return (ord(letter) < 32 or 127 <= ord(letter) < 160) and letter not in "\n\t"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (ATTACK, SHOWN),
        ("plain ☃ é\n\t", "plain ☃ é\n\t"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]52;c;ZXZpbA==\x07", ""),
        ("cut \x1b]0;never ended", "cut ]0;never ended"),
        ("cut \x1b", "cut "),
        ("cut \x1b]0;by another\x1b[2Jone", "cut one"),
        ("nested \x1b\x1b[31m[31mx", "nested [31mx"),
        ("\x1bP+q544e\x1b\\x", "x"),
        ("\x1b(0x", "x"),
        ("one\r\ntwo", "one\ntwo"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.sampled_from("\x1b\x9b\x9d\x9c\x07\x90[]\\P;0mKa\n\t\r\x00")))
def test_nothing_is_left_that_a_terminal_obeys(text: str) -> None:
    assert not any(map(is_control, printable(text)))
    assert printable(printable(text)) == printable(text)


@given(st.text())
def test_json_says_the_same(text: str) -> None:
    escaped = escape_controls(json.dumps(text, ensure_ascii=False))
    assert not any(map(is_control, escaped))
    assert json.loads(escaped) == text


@pytest.mark.parametrize("start", ["\x1b]", "\x9d", "\x1b[", "\x9b", "\x1bP", "\x1b[0;", "\x1b ("])
def test_long_texts_take_no_longer_than_their_length(start: str) -> None:
    begun = time.process_time()
    printable(start * 200_000)
    assert time.process_time() - begun < 2.0


def on_a_terminal(*args: str) -> tuple[str, str]:
    """Return the terminal output of `verigym`, and its standard output through a pipe."""
    command = [sys.executable, "-P", "-m", "verigym", *args]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL
    ) as process:
        os.close(theirs)
        shown = bytearray()
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # EIO: the other end is closed
                break
            if not part:
                break
            shown += part
        process.wait()
    os.close(ours)
    piped = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return shown.decode(), piped.stdout.decode()


@pytest.mark.slow
def test_sandbox_run() -> None:
    shown, piped = on_a_terminal("sandbox", "run", "-c", f"print({ATTACK!r}, end='')")
    assert shown.replace("\r\n", "\n") == SHOWN
    assert piped == ATTACK  # whoever wants the bytes gets them


@pytest.mark.slow  # the one before prints the same
def test_sandbox_run_as_json() -> None:
    shown, piped = on_a_terminal("sandbox", "run", "--json", "-c", f"print({ATTACK!r}, end='')")
    for text in (shown.replace("\r\n", "\n"), piped):
        assert not any(map(is_control, text))
        assert json.loads(text)["stdout"] == ATTACK


@pytest.mark.slow
def test_run_shows_the_turns_of_a_policy(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["take \x1b]0;owned\x07\x1b[2J\x9b31mkey"] * 100), "utf-8")
    policy = f"scripted:{script}"
    args = ("run", "keydoor", "--policy", policy, "-n", "1", "--max-turns", "2", "--show")
    shown, piped = on_a_terminal(*args)
    for text in (shown, piped):
        assert "take" in text
        assert "\x1b]" not in text
        assert "\x1b[2J" not in text
        assert "\x9b" not in text
    assert not any(map(is_control, piped))


def test_play_shows_what_was_typed() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "verigym", "play", "keydoor", "--seed", "3"],
        input=b"/\x1b]0;owned\x07nonsense\n\x1b[2Jtake\n",
        capture_output=True,
        check=False,
    )
    assert b"nonsense" in done.stdout
    assert not any(map(is_control, done.stdout.decode()))


@pytest.mark.parametrize("kind", ["TextFormatter", "JsonFormatter"])
def test_logs(kind: str) -> None:
    from verigym.server import logs

    formatter = getattr(logs, kind)()
    record = logging.LogRecord("x", logging.INFO, "f", 1, "said %s", (ATTACK,), None)
    record.verigym_fields = {"reason": f"{ATTACK}\n12:00:00.000 info    forged"}
    line = formatter.format(record)
    assert not any(map(is_control, line))
    assert "\n" not in line
