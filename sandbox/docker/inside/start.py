"""Starts the program of a job, confined."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import signal
from typing import Any, NoReturn

from verigym.sandbox.docker.inside.confine import (
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    install_filter,
    keep_writes_in,
    prctl,
    set_limit,
)
from verigym.sandbox.docker.inside.processes import measure
from verigym.sandbox.docker.inside.wire import fail, send


def _be_program(job: dict[str, Any], streams: tuple[int, int, int], said: int) -> NoReturn:
    """In the child: confine this process and become the program."""
    try:
        os.setsid()
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        prctl(PR_SET_DUMPABLE, 1)  # else the next file belongs to root
        # Some sandboxed kernels have no such file.
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")  # before its keeper
        limits = job["limits"]
        set_limit(resource.RLIMIT_CORE, 0)
        set_limit(resource.RLIMIT_FSIZE, limits["disk_mib"] << 20)
        set_limit(resource.RLIMIT_CPU, int(limits["cpu_s"]) + 2)
        if job["address_space_mib"] is not None:
            set_limit(resource.RLIMIT_AS, job["address_space_mib"] << 20)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        keep_writes_in()
        set_limit(
            resource.RLIMIT_NOFILE, limits["open_files"]
        )  # last: it may be less than is open now
        os.write(said, b"f" if install_filter(bytes.fromhex(job["filter"])) else b"-")
        os.execvpe(job["argv"][0], job["argv"], job["env"])
    except OSError as error:
        os.write(said, b"!" + str(error.errno).encode())
    finally:
        os._exit(127)


def start_program(job: dict[str, Any]) -> tuple[int, int, int, int]:
    """Start the program; its pid, and our ends of its three streams."""
    pairs = os.pipe(), os.pipe(), os.pipe()
    said_r, said_w = os.pipe()
    pid = os.fork()
    if pid == 0:
        _be_program(job, (pairs[0][0], pairs[1][1], pairs[2][1]), said_w)
    for fd in (pairs[0][0], pairs[1][1], pairs[2][1], said_w):
        os.close(fd)
    said = b""
    while part := os.read(said_r, 64):
        said += part
    os.close(said_r)
    filtered, _, failure = said.partition(b"!")
    if not filtered:
        fail(f"the program's process could not be set up: {failure.decode() or 'it was killed'}")
    if failure:
        # As a shell has it: the program is wrong, not the machine.
        number = int(failure)
        text = f"{job['argv'][0]}: {os.strerror(number)}\n".encode("utf-8", "replace")
        send(b"S", {"filtered": True})
        send(b"E", text)
        code = 127 if number == errno.ENOENT else 126
        report = {**measure(0), "wall_s": 0.0, "reason": "exit", "status": code << 8, "cut": []}
        send(b"X", report)
        os._exit(0)
    send(b"S", {"filtered": filtered == b"f"})
    return pid, pairs[0][1], pairs[1][0], pairs[2][0]
