"""How soon the event loop gives way to the pool's threads, which hand workers their tasks.

By default a busy loop gives way after 5 ms, which is best for how late single requests come. But a
loop that is kept busy refusing then leaves workers idle: at five times what it could do, a service did
15 % of it, and 65 to 80 % with 0.1 ms, on two cores (benchmarks/server_overload.py).
"""

from __future__ import annotations

import asyncio
import sys
from typing import Final

_SOON_S: Final = 0.0001
_CALM_S: Final = 1.0


class Turns:
    """Makes turns short while requests are refused, and for a second after. On the event loop."""

    def __init__(self) -> None:
        self._usual_s = sys.getswitchinterval()
        self._refused_at = 0.0
        self._short = False

    def refused(self) -> None:
        """To be told of each request that found no room."""
        loop = asyncio.get_running_loop()
        self._refused_at = loop.time()
        if not self._short:
            self._short = True
            sys.setswitchinterval(_SOON_S)
            loop.call_later(_CALM_S, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        left_s = self._refused_at + _CALM_S - loop.time()
        if left_s > 0:
            loop.call_later(left_s, self._look, loop)
        else:
            self.close()

    def close(self) -> None:
        """Leave turns as they were."""
        if self._short:
            self._short = False
            sys.setswitchinterval(self._usual_s)
