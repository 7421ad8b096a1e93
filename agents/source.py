"""`PlanSource`: plans for an episode loop that runs until its source closes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from verigym.agents.plan import Plan


class PlanSource(Protocol):
    """Interface of a source of plans; the thread of the loop calls it."""

    def take(self, room: int) -> Sequence[Plan] | None:
        """Return at most `room` plans that may start now, perhaps none; None once the source is closed."""

    def watch(self, wake: Callable[[], None]) -> None:
        """Call `wake`, from any thread, when plans become available or the source closes."""
