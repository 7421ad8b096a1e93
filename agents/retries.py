"""`Retries`: calls that failed and are made again, with growing pauses, until patience runs out."""

from __future__ import annotations

import heapq
import random
import time
from collections.abc import Callable

from verigym.agents.live import Trouble
from verigym.agents.plan import Settings

_REPORT_EVERY_S = 1.0


class Retries:
    """Timers of the control thread; no other thread may use them. `on_wait` gets what the game waits for."""

    def __init__(self, settings: Settings, on_wait: Callable[[str], None]) -> None:
        self._settings = settings
        self._on_wait = on_wait
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._n_timers = 0
        self._jitter = random.Random()  # decides when to try again, never what is played
        self._reported_at = float("-inf")

    @property
    def due(self) -> float | None:
        """Time on the monotonic clock of the next retry; None if there is none."""
        return self._timers[0][0] if self._timers else None

    def make(self, now: float) -> None:
        """Make the retries that are due."""
        while self._timers and self._timers[0][0] <= now:
            heapq.heappop(self._timers)[2]()

    def schedule(self, trouble: Trouble, detail: str, again: Callable[[], None]) -> bool:
        """Call `again` after a pause; return False if `patience_s` has run out."""
        settings, now = self._settings, time.monotonic()
        left_s = trouble.since + settings.patience_s - now
        if left_s <= 0:
            return False
        pause_s = min(settings.backoff_max_s, settings.backoff_s * 2**trouble.tries)
        trouble.tries += 1
        # The last try falls on the end of patience, not a whole pause before it.
        at = now + min(left_s, pause_s * self._jitter.uniform(0.5, 1.0))
        self._n_timers += 1
        heapq.heappush(self._timers, (at, self._n_timers, again))
        waited_s = now - trouble.since
        self.report(f"{detail} ({waited_s:.0f} s of {settings.patience_s:g})")
        return True

    def report(self, what: str) -> None:
        """Say what is waited for, at most once a second."""
        now = time.monotonic()
        if now - self._reported_at >= _REPORT_EVERY_S:
            self._reported_at = now
            self._on_wait(f"waiting for {what}")
