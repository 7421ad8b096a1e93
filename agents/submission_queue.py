"""`SubmissionQueue`: submissions of an episode loop to one judge, collected into batches.

A batch is sent as soon as no running step could still join it, or after `LINGER_S`, so that one slow step
does not delay the others. At most `limit` submissions are with the judge at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from verigym.agents.live import LiveEpisode, Proposed
from verigym.judge import Judge

LINGER_S = 0.005
"""Maximum seconds to wait for further submissions: about the time of one or two requests."""


@dataclass(eq=False, kw_only=True)
class SubmissionQueue:
    """Submissions to `judge`; an episode is in at most one of the three collections."""

    judge: Judge
    joining: set[LiveEpisode] = field(default_factory=set)
    """Episodes whose step has been submitted and may come to need a verdict."""
    unsent: list[tuple[LiveEpisode, Proposed]] = field(default_factory=list)
    asked: set[LiveEpisode] = field(default_factory=set)
    """Episodes whose submission is with the judge."""
    due: float | None = None
    """Time on the monotonic clock at which the batch is sent, however small; None if it cannot be sent."""

    def take(self, limit: int, now: float) -> list[tuple[LiveEpisode, Proposed]]:
        """Return the batch to send now; empty if there is none, or if it waits for company until `due`."""
        size = min(len(self.unsent), limit - len(self.asked))
        if size <= 0:
            self.due = None
            return []
        company = len(self.unsent) + len(self.joining) + len(self.asked)
        if size < min(limit, company):
            if self.due is None:
                self.due = now + LINGER_S
            if now < self.due:
                return []
        self.due = None
        batch, self.unsent = self.unsent[:size], self.unsent[size:]
        self.asked.update(live for live, _ in batch)
        return batch
