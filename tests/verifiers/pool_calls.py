"""Calls of a pool of unruly verifiers, and watching its processes."""

import contextlib
import os
import select
import threading

from verigym import Task

OBEYS = "unruly/obeys"
LONG_S = 60.0
"""Longer than anything here takes; only a hang waits for it."""

TASK = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference=["secret", 7])


def ask(pool, submission, **options):
    return pool.verify(OBEYS, TASK, submission, **options)


def read_pid(fifo):
    return int(fifo.read_text())


@contextlib.contextmanager
def watched(pid):
    """A descriptor that becomes readable when `pid` ends."""
    fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        os.close(fd)


def assert_ends(fd):
    assert select.select([fd], [], [], LONG_S)[0], "the process still runs"


def in_background(call):
    """Run `call` in a thread; gives a function that waits for its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()

    def result():
        thread.join(LONG_S)
        return results[0]

    return result
