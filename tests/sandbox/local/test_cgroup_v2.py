"""The tests of control groups again on a kernel with version 2: user-mode Linux, where it is installed.

Debian's package `user-mode-linux` is a kernel that runs as a process. It boots here with this machine's
files, read-only, and runs pytest as its root; so machines that mount version 1 test version 2 as well.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("linux.uml") is None, reason="user-mode-linux is not installed"
    ),
]

# /tmp is private to the guest. Its `poweroff` is a key of the kernel's: there is no init to ask.
INIT = """#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1 HOME=/run TMPDIR=/run
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
mount -t cgroup2 none /sys/fs/cgroup
cd {root}
export HYPOTHESIS_STORAGE_DIRECTORY=/run NO_COLOR=1
PYTHONPATH={pythonpath} {python} -m pytest -p no:cacheprovider -p no:xdist -q -rs --timeout=100 \\
    tests/sandbox/local/test_cgroup.py
echo "pytest ended with $?"
ls -d /sys/fs/cgroup/*/ | grep verigym- && echo "a group was left"
echo o > /proc/sysrq-trigger
sleep 60
"""


def test_version_2(tmp_path):
    root = Path(__file__).resolve().parents[3]
    init = tmp_path / "init"
    python, pythonpath = sys.executable, os.environ.get("PYTHONPATH", "")
    names = {"root": str(root), "python": python, "pythonpath": pythonpath}
    init.write_text(INIT.format(**{name: shlex.quote(text) for name, text in names.items()}))
    init.chmod(0o755)
    command = ["linux.uml", "mem=768M", "rootfstype=hostfs", "rootflags=/", "ro", f"init={init}"]
    done = subprocess.run(
        [*command, "con=null", "con0=fd:0,fd:1", "ssl=null", "quiet", f"uml_dir={tmp_path}/"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=240,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )
    output = done.stdout.decode("utf-8", "replace")
    if "userspace - ptrace set fp regs failed" in output:
        pytest.skip(
            "user-mode Linux runs no program on this processor: it has more registers than it was built for"
        )
    assert "pytest ended with 0" in output, output
    assert "a group was left" not in output, output
    assert "skipped" not in output, output
