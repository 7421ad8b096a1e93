"""`sampler`: looks at the host again and again while an attack runs."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator

from verigym.sandbox.selfcheck import host
from verigym.sandbox.selfcheck.attack import LIMITS, Attack

_SAMPLE_S = 0.15
# What may be there beside the job's own tasks: its init, its starter, the neighbour's.
_SPARE_TASKS = 10
_PORT = re.compile(r"""(?:127\.0\.0\.1|0\.0\.0\.0|::1?|localhost|['"]{2})['"]?\s*,\s*(\d{4,5})""")
_CANARY_PORTS = (48123, 48125)


def tasks(processes: dict[int, host.Process]) -> list[int]:
    """Return the tasks that are alive; a dead one that waits to be reaped is none."""
    return [p.pid for p in processes.values() if p.state not in "ZX" for _ in range(p.tasks)]


@contextlib.contextmanager
def sampler(attack: Attack, tasks_before: int) -> Iterator[set[str]]:
    """Look at the host again and again while an attack runs; a set of what was wrong."""
    wrong: set[str] = set()
    ports = {int(port) for port in _PORT.findall(attack.source)} - set(_CANARY_PORTS)
    taken = {port for port in ports if _answers(port)}
    done = threading.Event()

    def sample() -> None:
        while not done.wait(_SAMPLE_S):
            count = len(tasks(host.descendants())) - tasks_before
            if count > LIMITS.processes + _SPARE_TASKS:
                wrong.add(f"more than {LIMITS.processes + _SPARE_TASKS} tasks at once")
            wrong.update(
                f"a server of the job answers on the host's port {port}"
                for port in ports - taken
                if _answers(port)
            )

    thread = threading.Thread(target=sample, name="sampler", daemon=True)
    thread.start()
    try:
        yield wrong
    finally:
        done.set()
        thread.join()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 0.2):
            return True
    except (OSError, OverflowError):
        return False
