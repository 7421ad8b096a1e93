"""Lets two running programs talk: what one prints is what the other reads.

The bytes go through this process, so the programs share nothing else: each has its own folder, limits and namespaces.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import replace

from verigym.errors import SandboxError
from verigym.sandbox.job import JobStatus, Limits, Result
from verigym.sandbox.step import Channel

_SLICE_S = 0.05
_GRACE_S = 2.0
"""Seconds in which a program may end after its partner has ended."""


class _Side:
    """One of the two programs: its channel, what it printed, and when it has to be done."""

    def __init__(self, channel: Channel, limits: Limits) -> None:
        self.channel = channel
        self.limits = limits
        self.until = time.monotonic() + limits.wall_s
        self.stdout, self.stderr = bytearray(), bytearray()
        self.ended = False
        self.over = False
        self.done = False
        """True once nothing more is passed on, since it ended or passed a limit."""
        self.was_left = False
        """True if the partner ended while it went on."""

    def result(self) -> Result:
        """End the program and return its result: `ok` if its partner ended first, however it ended then."""
        result = self.channel.close()
        most = self.limits.output_bytes
        result = replace(result, stdout=bytes(self.stdout[:most]), stderr=bytes(self.stderr[:most]))
        if result.status is JobStatus.SANDBOX_ERROR or (self.ended and not self.was_left):
            return result
        status = JobStatus.OK
        if not self.was_left:
            status = JobStatus.OUTPUT_LIMIT if self.over else JobStatus.TIME_LIMIT
        return replace(result, status=status, exit_code=None, signal=None)


def converse(
    program: Channel,
    partner: Channel,
    limits: Limits,
    partner_limits: Limits,
    stop: threading.Event,
) -> tuple[Result, Result]:
    """Connect two programs until both have ended or passed their limits; end both and return their results.

    When one ends, the input of the other ends too, and it has a little time to finish; a program that does not is
    ended, which is no failure of its own. Each may print `output_bytes` of its limits.
    """
    one, other = _Side(program, limits), _Side(partner, partner_limits)
    back = threading.Thread(target=_pass, args=(other, one, stop, _GRACE_S), daemon=True)
    back.start()
    try:
        # The partner may think about the last words as long as about all others.
        _pass(one, other, stop, partner_limits.wall_s)
    finally:
        back.join()
        results = one.result(), other.result()
    return results


def _pass(source: _Side, sink: _Side, stop: threading.Event, grace_s: float) -> None:
    """Pass what `source` prints to `sink` until it ends; then `sink` has `grace_s` left at most."""
    is_heard = True
    while not stop.is_set() and (now := time.monotonic()) < source.until:
        got = source.channel.receive(min(_SLICE_S, source.until - now))
        if got is None:
            source.ended = True
            sink.was_left = not sink.done
            break
        out, err = got
        source.stdout += out
        source.stderr += err
        if max(len(source.stdout), len(source.stderr)) > source.limits.output_bytes:
            source.over = True
            break
        if out and is_heard:
            try:
                sink.channel.send(out, max(_SLICE_S, source.until - time.monotonic()))
            except (SandboxError, TimeoutError):
                is_heard = False  # it has ended, or reads no more
    source.done = True
    with contextlib.suppress(SandboxError):
        sink.channel.end_input()
    left = time.monotonic() + grace_s
    sink.until = left if source.ended and grace_s > _GRACE_S else min(sink.until, left)
