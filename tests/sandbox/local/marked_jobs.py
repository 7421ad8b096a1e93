"""Jobs of the local sandbox that can be found among the processes of this machine."""

import os
import select
import time
from pathlib import Path

from verigym.sandbox.job import Job, Limits


def run(sandbox, source, stdin=b"", language="python", args=(), files=None, mark="", **limits):
    job = Job(
        source=marking(mark) + source if mark else source,
        language=language,
        stdin=stdin,
        args=args,
        files=files or {},
        limits=Limits(**{"wall_s": 60.0, "cpu_s": 30.0, **limits}),
    )
    return sandbox.run(job)


def marking(marker):
    """Python that gives its process, and all that it forks from then on, the name `marker`."""
    return f"open('/proc/self/comm', 'w').write({marker!r})\n"


def marked(marker):
    """Pids of the processes whose name is `marker`."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                comm = Path(f"/proc/{name}/comm").read_text().rstrip()
            except OSError:
                continue  # it has ended since
            if comm == marker:
                found.append(int(name))
    return found


def await_marked(marker):
    """The same, once there are any; /proc gives no event to wait for."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pids = marked(marker)
        if pids:
            return pids
        os.sched_yield()
    raise AssertionError("the program did not start within 60 s")


def parent_of(pid):
    """The pid of the parent process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def await_end(pidfd):
    """Wait until the process of `pidfd` has ended; closes it."""
    waiting = select.poll()
    waiting.register(pidfd, select.POLLIN)
    assert waiting.poll(60_000), "the process is still there"
    os.close(pidfd)
