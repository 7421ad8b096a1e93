"""Ctrl-C that waits for a safe point: the first asks, the second does not."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class StopRequest:
    """While entered, SIGINT and SIGTERM only set `asked`; `check` raises at a point that is safe.

    A second signal interrupts at once. Outside the main thread signals are left alone.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            for name in (signal.SIGINT, signal.SIGTERM):
                self._before[name] = signal.signal(name, self._ask)
        return self

    def __exit__(self, *exception: object) -> None:
        for name, handler in self._before.items():
            signal.signal(name, handler)  # type: ignore[arg-type]

    def check(self) -> None:
        """Raise KeyboardInterrupt if a stop was asked for."""
        if self.asked:
            raise KeyboardInterrupt

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
