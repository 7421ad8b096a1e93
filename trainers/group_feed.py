"""`GroupFeed`: groups of episodes that are played ahead of training, between the player's thread and the trainer's.

A group is admitted by AReaL's rule: one may start only while fewer than (version + max_staleness + 1) * batch
groups were ever admitted, where version counts the training steps so far and batch the groups of one. That
bounds the age of groups if they are trained on in order. Here a step takes those that have ended, the oldest first,
and waits only if more groups would be left than later steps can take in time. So no token is ever older than
max_staleness, and no group is dropped for its age, which would favour short episodes.
Source: AReaL, arXiv 2505.24298; the wait is ours.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from verigym.agents.plan import Plan
from verigym.agents.source import PlanSource
from verigym.episode import Episode
from verigym.trainers.staleness import admission_capacity


@dataclass(kw_only=True)
class GroupAhead:
    """A group that was admitted at `version`; `episodes` by id, as they end."""

    plans: Sequence[Plan]
    version: int
    episodes: dict[str, Episode] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Id of the group."""
        return self.plans[0].group_id

    @property
    def in_order(self) -> list[Episode]:
        """The episodes of a finished group, in the order of the plans."""
        return [self.episodes[plan.id] for plan in self.plans]


class GroupFeed(PlanSource):
    """Plans for the player, finished groups for the trainer. `batch` groups make a training step, and at most
    `max_running` are played at once."""

    def __init__(self, *, batch: int, max_staleness: int, max_running: int) -> None:
        self.batch = batch
        self.max_staleness = max_staleness
        self.max_running = max_running
        self.version = 0
        self.accepted = 0
        """Number of groups kept since the start: trained on, or to be trained on."""
        self.running: dict[str, GroupAhead] = {}
        """Groups that were admitted and have not ended, by id, the oldest first."""
        self.ready: list[GroupAhead] = []
        """Groups that ended and were kept, in the order in which they ended."""
        self._ended: deque[GroupAhead] = deque()
        self._plans: deque[Plan] = deque()
        self._changed = threading.Condition()
        self._wake: Callable[[], None] = lambda: None
        self._closed = False
        self._error: BaseException | None = None

    # The trainer's side.

    def capacity(self) -> int:
        """Return the number of groups that may be admitted now."""
        with self._changed:
            return max(
                0,
                admission_capacity(
                    version=self.version,
                    accepted=self.accepted,
                    running=len(self.running) + len(self._ended),
                    batch=self.batch,
                    eta=self.max_staleness,
                    max_concurrent=self.max_running,
                ),
            )

    def admit(self, plans: Sequence[Plan]) -> None:
        """Let the player start a group."""
        group = GroupAhead(plans=plans, version=self.version)
        with self._changed:
            self.running[group.name] = group
            self._plans.extend(plans)
        self._wake()

    def collect(self, timeout_s: float) -> list[GroupAhead]:
        """Return the groups that have ended; wait for one if there is none. The trainer then keeps each, or
        drops it whole by doing nothing. Raises the player's error."""
        with self._changed:
            if not self._ended and self._error is None:
                self._changed.wait(timeout_s)
            if self._error is not None:
                raise self._error
            found = list(self._ended)
            self._ended.clear()
            return found

    def keep(self, group: GroupAhead) -> None:
        """Keep an ended group for training."""
        self.accepted += 1
        self.ready.append(group)

    def is_complete(self) -> bool:
        """Return True if the oldest ready groups make a step after which every group can still be on time.

        A group must be trained on at version + max_staleness or before. So of those that are left, at most
        `later` * batch may be due within `later` steps, and none at once.
        """
        if len(self.ready) < self.batch:
            return False
        oldest_first = sorted(self.ready, key=lambda group: group.version)
        left = [group.version for group in [*oldest_first[self.batch :], *self.open_groups()]]
        first = self.version - self.max_staleness
        return all(
            sum(version <= first + later for version in left) <= later * self.batch
            for later in range(self.max_staleness + 1)
        )

    def open_groups(self) -> list[GroupAhead]:
        """Return the groups that were admitted and are not kept yet, the oldest first."""
        with self._changed:
            found = [*self._ended, *self.running.values()]
        return sorted(found, key=lambda group: group.version)

    def take_batch(self) -> list[GroupAhead]:
        """Return the groups of the next step, the oldest first, then as they ended."""
        self.ready.sort(key=lambda group: group.version)
        batch, self.ready = self.ready[: self.batch], self.ready[self.batch :]
        return batch

    def close(self) -> None:
        """End the player's stream."""
        with self._changed:
            self._closed = True
        self._wake()

    # The player's side.

    def take(self, room: int) -> Sequence[Plan] | None:
        """Return plans that may start; None once the feed is closed."""
        with self._changed:
            if self._closed:
                return None
            return [self._plans.popleft() for _ in range(min(room, len(self._plans)))]

    def watch(self, wake: Callable[[], None]) -> None:
        """Call `wake` when there are plans, or the feed is closed."""
        self._wake = wake

    def finish(self, episode: Episode) -> None:
        """Note an ended episode; its group has ended when all have."""
        with self._changed:
            group = self.running[episode.group_id]
            group.episodes[episode.id] = episode
            if len(group.episodes) == len(group.plans):
                self._ended.append(self.running.pop(group.name))
                self._changed.notify_all()

    def fail(self, error: BaseException | None) -> None:
        """Hand an error of the player to the trainer; None if there is none."""
        with self._changed:
            self._error = error
            self._changed.notify_all()
