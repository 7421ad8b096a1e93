"""`Together`: a verifier of a service that merges the requests of concurrent steps into one.

The episode loop steps each environment in its own thread, and a step with a submission waits there for
its verdict. Submissions to the same verifier of the same service are sent in one request: as soon as no
running step could still join, or after `LINGER_S`, so that one slow step does not delay the others. The
number of concurrent submissions is unchanged, one per thread. Verdicts are passed on as they arrive, so
no step waits for another's slow verdict. If the service refuses a batch, each submission is sent again
alone: one submission never affects the verdict on another.
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
"""Maximum seconds to wait for further submissions: about the time of one or two requests."""


@dataclass(eq=False, slots=True)
class _Asked:
    task: Task
    submission: JSON
    verdict: Verdict | None = None
    settled: threading.Event = field(default_factory=threading.Event)


class Together(Judge):
    """Asks `remote` on behalf of many threads, in as few requests as their steps allow."""

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
        """Announce a queued step that may ask for a verdict; at most `most` steps run at once."""
        with self._changed:
            self._steps += 1
            self._most = most

    def end(self) -> None:
        """Note that an announced step has ended or was dropped."""
        with self._changed:
            self._steps -= 1
            if self._unsent and self._all_here():
                self._changed.notify()

    @property
    def version(self) -> int:
        """Version of the verifier at the service."""
        return self.remote.version

    @property
    def params(self) -> dict[str, JSON]:
        """All parameters, including the service's defaults."""
        return self.remote.params

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """Return the service's verdicts in order, from a separate request."""
        return self.remote.verify_batch(items)

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self.remote.close()

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """Return the service's verdict, from one request shared with concurrent calls."""
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
        """Send `batch` and settle its members; a member without a verdict then has to ask alone."""
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
