"""First process of a job's container: runs one program, keeps its limits, sends back what it left.

`DockerSandbox` gives the text of this folder to the image's Python (keeper_program.py) as process 1 of a
container that runs one job. No other module imports it, and it imports nothing of Verigym outside the folder.
It speaks frames: one byte for the kind, four for the length, a payload of at most `CHUNK` bytes. On standard input:

    J JSON   argv, env, filter, stream, address_space_mib, fetch and the limits, once
    F JSON   a file of the job begins: name, executable;   D  its data
    G        start;   I  standard input of the program;   C  its end

On standard output:

    H JSON   ready, on which machine;   S JSON  the program runs, and whether its filter does
    O, E     its standard output, its standard error
    K        an interrupt was passed on
    N JSON   a file comes back: name, size;   D  its data;   R JSON  one does not: name, why
    X JSON   how it ended, last of all;   Q  text: the machine failed before the program ran

Two signals reach it from the engine: SIGINT goes on to the program, SIGTERM ends the job.

Covers: as process 1 it cannot be signalled by the program beyond these two; it is not dumpable, so the
program, the same user, cannot trace it, read its memory or open its descriptors; the filter, made by
the owner, keeps the program from setting other processes' limits (`prlimit`), by which it could be
killed, and from all else that no program needs. The program never holds the engine's pipes, so it cannot
speak in the keeper's name. Files are read when every other process is dead. If standard input ends, the owner is gone, and so is everything here. Does not cover:
a machine for which the owner has no filter; there, what kills this process counts as the program's.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from types import FrameType
from typing import Any

from verigym.sandbox.docker.inside.confine import FOLDER, PR_SET_DUMPABLE, prctl
from verigym.sandbox.docker.inside.job_files import send_files, take_job
from verigym.sandbox.docker.inside.processes import kill_all, measure, proportional_bytes, watch
from verigym.sandbox.docker.inside.start import start_program
from verigym.sandbox.docker.inside.streams import Streams
from verigym.sandbox.docker.inside.wire import fail, frame, send

_WATCH_S = 0.05
_signalled: set[int] = set()


def _run(job: dict[str, Any]) -> dict[str, Any]:
    """Run the program to its end or its limits; then nothing of it runs any more. The report."""
    page, tick = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    wake_r, wake_w = os.pipe()
    for fd in (wake_r, wake_w):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, _note)
    signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
    started = time.monotonic()
    pid, stdin, stdout, stderr = start_program(job)
    run = Streams(job, stdin, stdout, stderr)
    limits = job["limits"]
    peak = over = 0
    looked = started
    reason, status = "", 0
    while not reason:
        run.turn(wake_r, min(_WATCH_S, max(0.0, started + limits["wall_s"] - time.monotonic())))
        done = 1
        while done > 0:  # orphans come to process 1 and are reaped on the way
            try:
                done, ended = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if done == pid:
                reason, status = "exit", ended
        now = time.monotonic()
        if run.cut:
            reason = "output"
        elif not reason and now - started >= limits["wall_s"]:
            reason = "wall"
        elif not reason and signal.SIGTERM in _signalled:
            reason = "term"
        elif not reason and signal.SIGINT in _signalled:
            _signalled.discard(signal.SIGINT)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGINT)
            run.outbox += frame(b"K")
        if not reason and now - looked >= _WATCH_S:
            looked = now
            cpu_s, each = watch(page, tick)
            if cpu_s > limits["cpu_s"]:
                reason = "cpu"
            held = sum(each.values())
            if held > limits["memory_mib"] << 20:
                held = proportional_bytes(each)
            # Twice, because processes that end while the others are read make shares look larger.
            over = over + 1 if held > limits["memory_mib"] << 20 else 0
            if over > 1:
                reason = "memory"
            peak = max(peak, held)
    wall_s = time.monotonic() - started
    kill_all()
    for fd in list(run.outputs):
        while run.pass_output(fd):
            pass
    with contextlib.suppress(OSError):
        os.chmod(FOLDER, 0o700)  # it may have shut itself in
    figures = measure(peak)
    if reason == "exit" and run.cut:
        reason = "output"
    if reason == "exit" and figures["cpu_s"] > limits["cpu_s"]:
        reason = "cpu"
    os.set_blocking(1, True)
    while run.outbox:
        del run.outbox[: os.write(1, run.outbox)]
    cut = sorted(kind.decode() for kind in run.cut)
    return {**figures, "wall_s": wall_s, "reason": reason, "status": status, "cut": cut}


def _note(number: int, _frame: FrameType | None) -> None:
    _signalled.add(number)


def main() -> None:
    """Run the first process of the container."""
    if os.getpid() != 1:
        fail(f"the keeper must be process 1 of its container, it is {os.getpid()}")
    signal.signal(signal.SIGINT, _note)
    signal.signal(signal.SIGTERM, _note)
    prctl(PR_SET_DUMPABLE, 0)
    send(b"H", {"machine": os.uname().machine})
    try:
        job = take_job()
    except OSError as error:
        fail(f"the job's files cannot be written: {error}")
    except (ValueError, KeyError) as error:
        fail(f"the job cannot be read: {error!r}")
    path = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    own = {"PATH": path, "HOME": FOLDER, "TMPDIR": FOLDER, "LANG": "C.UTF-8"}
    job["env"] = {**own, **job["env"]}
    os.environ["PATH"] = path
    report = _run(job)
    send_files(job["fetch"], job["limits"])
    send(b"X", report)
