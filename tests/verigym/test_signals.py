"""Signals that were ignored or blocked by whoever started Verigym: nothing that it starts is deaf."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from verigym.signals import restore_signals

WAIT_S = 120
PYTHON = (sys.executable, "-P", "-c")
VERIGYM = (sys.executable, "-P", "-m", "verigym")
# What a script without job control does to a command in the background, `nohup`, and a careless init.
BACKGROUND = ("INT", "QUIT")
EVERYTHING = ("INT", "QUIT", "HUP", "TERM", "USR1", "USR2", "TSTP", "TTIN", "ALRM", "CHLD", "RTMIN")

BLOCKED = """
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.execv(sys.argv[1], sys.argv[1:])
"""

PROGRAMS = """
from verigym.sandbox.job import Job
from verigym.sandbox.local import LocalSandbox

LOOK = "print(*(line for line in open('/proc/self/status') if line[:6] in ('SigIgn', 'SigBlk')))"
with LocalSandbox(max_jobs=2) as sandbox:
    print("warm", *sandbox.run(Job(source=LOOK)).stdout.decode().split())
    command = ("grep", "-E", "SigIgn|SigBlk", "/proc/self/status")
    print("executed", *sandbox.run(Job(command=command)).stdout.decode().split())
    for language, cell in (("python", "import time; time.sleep(1000)"), ("bash", "sleep 1000")):
        with sandbox.session(language) as session:
            result = session.run(cell, wall_s=0.5)
            print(language, result.status.value, session.alive)
"""


def deaf(command: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    """`command` as a shell starts it that ignores the signals `names`."""
    return ["sh", "-c", f"trap '' {' '.join(names)}; exec \"$@\"", "sh", *command]


def _without_threads(said: str) -> str:
    """Masks of signals without 32 and 33: the C library keeps them for threads, and some starter ignores them."""
    kept = ~(0b11 << 31)
    return re.sub(r"\b[0-9a-f]{16}\b", lambda match: f"{int(match[0], 16) & kept:016x}", said)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(BACKGROUND, marks=pytest.mark.slow),
        pytest.param(("HUP",), marks=pytest.mark.slow),
        EVERYTHING,
    ],
    ids=" ".join,
)
def test_programs_and_sessions_hear_signals(names: tuple[str, ...]) -> None:
    done = subprocess.run(
        deaf((*PYTHON, PROGRAMS), names),
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert _without_threads(done.stdout).splitlines() == [
        # As in every fresh Python: SIGPIPE and SIGXFSZ.
        "warm SigBlk: 0000000000000000 SigIgn: 0000000001001000",
        "executed SigBlk: 0000000000000000 SigIgn: 0000000000000000",
        "python time_limit True",
        "bash time_limit True",
    ]


def test_programs_hear_signals_that_were_blocked() -> None:
    command = [*PYTHON, BLOCKED, *PYTHON, PROGRAMS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    said = _without_threads(done.stdout)
    assert said.count("SigBlk: 0000000000000000") == 2, done.stderr
    assert "bash time_limit True" in done.stdout


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGINT]
)
def test_a_service_in_the_background_stops(number: signal.Signals) -> None:
    options = ("--verifiers", "math", "--envs", "none", "--workers", "1")
    command = (*VERIGYM, "serve", "--port", "0", "--json", *options)
    with subprocess.Popen(
        deaf(command, EVERYTHING), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        os.kill(said["pid"], number)
        assert process.wait(WAIT_S) == 0


def test_ctrl_c_ends_a_command_in_the_background() -> None:
    with subprocess.Popen(
        deaf((*VERIGYM, "play", "keydoor", "--seed", "3"), BACKGROUND),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        while "actions:" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == 130


def test_handlers_stay() -> None:
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    try:
        signal.signal(signal.SIGUSR2, handler := lambda *_: None)
        restore_signals()
        assert signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGUSR2) is handler
        assert signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN
        assert not signal.pthread_sigmask(signal.SIG_BLOCK, [])
    finally:
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, before[number])
