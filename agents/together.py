"""`Together`: a verifier of a service, asked in one request by all the steps that wait for it at once.

The episode loop steps each environment in a thread of its own, and a step that has something to judge
waits there for its verdict. Those that wait for the same verifier of the same service go into one request:
as soon as no step that could still join is under way, or after `LINGER_S`, so that one slow step holds
nobody up. How many are asked for at once is as without it, a thread each. Verdicts are handed on as they
come, so that nobody waits for another's slow one. What the service refuses in company is asked for again
alone: one submission never decides the fate of another.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from verigym.canonical import JSON
from verigym.client import RemoteVerifier
from verigym.judge import Judge
from verigym.task import Task
from verigym.verdict import Verdict

LINGER_S = 0.005
"""Longest wait for company: the time of a request or two."""


@dataclass(eq=False, slots=True)
class _Asked:
    task: Task
    submission: JSON
    verdict: Verdict | None = None
    settled: threading.Event = field(default_factory=threading.Event)


class Together(Judge):
    """Asks `remote` for many threads, in as few requests as their steps allow."""

    id: str

    def __init__(self, remote: RemoteVerifier) -> None:
        self.id = remote.id
        self.remote = remote
        self._changed = threading.Condition()
        self._unsent: list[_Asked] = []
        self._steps = 0
        """Number of announced steps that have not ended."""
        self._most = 1
        """Maximum number of steps that run at once."""

    def announce(self, most: int) -> None:
        """A step has been queued that may ask for a verdict; at most `most` run at once."""
        with self._changed:
            self._steps += 1
            self._most = most

    def end(self) -> None:
        """A step that was announced has ended, or will not be made."""
        with self._changed:
            self._steps -= 1
            if self._unsent and self._all_here():
                self._changed.notify()

    @property
    def version(self) -> int:
        """The service's version of the verifier."""
        return self.remote.version

    @property
    def params(self) -> dict[str, JSON]:
        """All parameters, the service's defaults included."""
        return self.remote.params

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """Return the service's verdicts in order; these are a batch of their own."""
        return self.remote.verify_batch(items)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self.remote.close()

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """As `RemoteVerifier.verify`, in one request with those that ask at the same time."""
        mine = _Asked(task, submission)
        batch: list[_Asked] = []
        with self._changed:
            self._unsent.append(mine)
            if len(self._unsent) == 1:
                self._changed.wait_for(self._all_here, LINGER_S)
                batch, self._unsent = self._unsent, []
            elif self._all_here():
                self._changed.notify()  # the first, who waits above
        if len(batch) > 1:
            # Not in this thread: its step may have its verdict, or be given up, before the others.
            sender = threading.Thread(target=self._ask, args=(batch,), name="verigym-together")
            sender.daemon = True
            try:
                sender.start()
            except RuntimeError:  # no thread to be had
                _settle(batch)
        if len(batch) != 1:
            mine.settled.wait()  # the request has a deadline, and all are settled at its end
        return self.remote.verify(task, submission) if mine.verdict is None else mine.verdict

    def _all_here(self) -> bool:
        return len(self._unsent) >= min(self._steps, self._most)

    def _ask(self, batch: Sequence[_Asked]) -> None:
        """Settle all of `batch`; one without a verdict after that has to ask alone."""
        items = [(one.task, one.submission) for one in batch]
        try:
            for count, (index, verdict) in enumerate(self.remote.verify_each(items), 1):
                one = batch[index]
                one.verdict = verdict
                if count < len(batch):  # the last one only when the answer has been read to its end
                    one.settled.set()
        except Exception:  # noqa: BLE001 - each asks alone, and raises there what it meets
            pass
        finally:
            _settle(batch)


def _settle(batch: Sequence[_Asked]) -> None:
    for one in batch:
        one.settled.set()
