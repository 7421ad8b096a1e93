"""Names what hangs: a thread that hears of all progress, and says when there is none."""

from __future__ import annotations

import faulthandler
import threading
import time
from collections.abc import Callable
from pathlib import Path


class Watchdog:
    """Says once, through `say`, that nothing has moved for `patience_s`, and what was being done.

    The stacks of all threads then stand in the file `path`. It stops nothing: environments, verifiers and
    model servers have deadlines of their own. `say` is called from the watchdog's thread. Use it with `with`.
    """

    def __init__(self, path: Path, patience_s: float, say: Callable[[str], None]) -> None:
        self.path = path
        self.patience_s = patience_s
        self._say = say
        self._task = "starting"
        self._moved_at = time.monotonic()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="verigym-watchdog", daemon=True)

    def moved(self, task: str) -> None:
        """Note progress, and what is done now."""
        self._moved_at = time.monotonic()
        self._task = task

    def waiting(self, task: str) -> None:
        """Note what is waited for; that is no progress."""
        self._task = task

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._closed.set()
        self._thread.join()

    def _watch(self) -> None:
        said_of = None
        while not self._closed.wait(self._left_s()):
            if self._left_s() > 0:
                continue
            if said_of != self._moved_at:
                said_of = self._moved_at
                self._report()
            self._closed.wait(self.patience_s)

    def _left_s(self) -> float:
        return max(0.0, self._moved_at + self.patience_s - time.monotonic())

    def _report(self) -> None:
        where = f"the stacks of all threads are in {self.path}"
        try:
            with self.path.open("w") as file:
                faulthandler.dump_traceback(file, all_threads=True)
        except OSError as error:
            where = f"the stacks of all threads could not be written: {error}"
        self._say(f"nothing has moved for {self.patience_s:g} s while {self._task}; {where}")
