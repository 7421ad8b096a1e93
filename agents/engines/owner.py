"""The end of an engine's processes with the process that started it, however that ended.

A process that is killed cannot stop its children, and vLLM's would keep their GPU. So each worker waits for the end of the
owner, whose number it finds in its environment, and then ends itself and whatever is between the two.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile

import psutil

_NAME = "VERIGYM_ENGINE_OWNER"


@contextmanager
def owning() -> Iterator[None]:
    """Let the processes that are started meanwhile know their owner, this process."""
    os.environ[_NAME] = str(os.getpid())
    try:
        yield
    finally:
        os.environ.pop(_NAME, None)


def end_with_owner() -> None:
    """Have this process end when its owner does, and the processes between them; nothing without an owner."""
    number = int(os.environ.get(_NAME, "0"))
    if number in (0, os.getpid()):
        return
    above = takewhile(lambda one: one.pid != number, psutil.Process().parents())
    threading.Thread(
        target=_wait_and_end, args=(number, list(above)), name="verigym-owner", daemon=True
    ).start()


def _wait_and_end(number: int, above: list[psutil.Process]) -> None:
    with suppress(ProcessLookupError):  # it has ended already
        select.select([os.pidfd_open(number)], [], [])
    for one in above:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    os.kill(os.getpid(), signal.SIGKILL)
