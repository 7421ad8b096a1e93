"""Facts about the host."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from verigym.sandbox.selfcheck import host


def test_descendants_are_found_and_told_apart() -> None:
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        found = host.descendants()
        below = host.descendants(child.pid)
        assert child.pid in found
        assert len(below) == 1
        assert set(below) < set(found)
        assert host.resident_mib(found) > host.resident_mib(below) > 0
        assert host.traits(child.pid)["oom_score_adj"]
        child.communicate(b"\n")
    assert child.pid not in host.descendants()


def test_names_do_not_confuse() -> None:
    program = "import ctypes; ctypes.CDLL(None).prctl(15, b') R 1 (x\\n', 0, 0, 0); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        process = host.descendants()[child.pid]
        assert process.parent == os.getpid()
        assert process.name == ") R 1 (x\n"
        child.send_signal(signal.SIGKILL)


def test_the_rest_can_be_read() -> None:
    assert "/" in host.mounts()
    assert set(host.descriptors()) >= {0, 1, 2}
    assert host.settings()["/proc/sys/kernel/hostname"]
    assert isinstance(host.objects({65534}), frozenset)
    assert host.groups_of([2**22 + 1]) == frozenset()
    assert host.groups_of([os.getpid()]) <= host.groups()
