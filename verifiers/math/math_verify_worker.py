"""Calls math-verify in a process that can be killed: the body of a fork server's workers.

Each request is a line of JSON with a reference and a reply, each response one with what came of it.
math-verify's own time limits stay off: they need signals and the main thread. Memory and CPU time are
limited by the kernel, which kills the process; so a busy machine takes nothing from a reply.
"""

from __future__ import annotations

import json
import logging
import math
import resource
import socket
from collections.abc import Mapping, Sequence
from typing import Any

_MEMORY = 2 << 30
"""Address space in bytes that one worker may take."""


def load(preload: Sequence[str], grants: Mapping[str, Any] | None) -> None:
    """Import math-verify, with sympy underneath, before workers are forked."""
    logging.disable(logging.CRITICAL)
    # The grammar is built, and much of sympy imported, by the first calls; workers inherit both.
    _compared("$x^2+2x+1$", "$(x+1)^2$", True)


def work(sock: socket.socket) -> None:
    """Answer requests on `sock` until it closes."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with sock.makefile("rwb") as channel:
        for line in channel:
            asked = json.loads(line)
            used = resource.getrusage(resource.RUSAGE_SELF)
            limit = math.ceil(used.ru_utime + used.ru_stime + asked["cpu_s"])
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            found = _compared(asked["gold"], asked["reply"], asked["strict"])
            channel.write(json.dumps(found).encode() + b"\n")
            channel.flush()


def _compared(gold: str, reply: str, strict: bool) -> dict[str, Any]:
    from math_verify import parse, verify

    wanted = parse(gold, parsing_timeout=None)
    if not wanted:
        return {"outcome": "no_reference"}
    try:
        found = parse(reply, parsing_timeout=None)
        if not found:
            return {"outcome": "no_answer"}
        same = verify(wanted, found, strict=strict, timeout_seconds=None)
    except (RecursionError, MemoryError, ArithmeticError, ValueError, TypeError) as error:
        return {"outcome": "failed", "error": type(error).__name__}
    return {"outcome": "correct" if same else "wrong_answer"}
