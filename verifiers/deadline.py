"""Deadline of the current verdict, as known to the worker that judges.

A pool kills a worker that passes its deadline, and the verdict is a fault without a score. A
verifier that runs the policy's programs must end before that, because a policy could otherwise
avoid every zero by being slow.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ends: ContextVar[float] = ContextVar("ends", default=math.inf)


@contextmanager
def deadline_in(seconds: float) -> Iterator[None]:
    """Limit the verdict to this many seconds within the block; 0 for no deadline."""
    token = _ends.set(time.monotonic() + seconds if seconds else math.inf)
    try:
        yield
    finally:
        _ends.reset(token)


def deadline() -> float:
    """Return the deadline of the verdict in `time.monotonic` seconds; infinity if none is set."""
    return _ends.get()
