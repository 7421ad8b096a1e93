"""`Alone`: plays the episodes of a game that runs one at a time, in one worker thread.

With a single running episode nothing overlaps, and handing each call to a thread and its result back would take
longer than a quick step. So one worker makes all calls, episode after episode. Each call keeps its own deadline,
which the control thread watches; a call that fails or hangs ends the worker's turn and goes to the control thread,
which decides as usual (game.py). Callbacks run in the control thread, and the worker waits for them.

The worker owns the game's state until it hands back or is abandoned.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from verigym.agents import live as under_way
from verigym.agents.calls_in_flight import CallsInFlight
from verigym.agents.generation import Generation
from verigym.agents.live import Cohort, GenerationBatch, LiveEpisode, Started, Stepped
from verigym.agents.workers import PartialResult, ThreadCall, Workers


class Hosting(Protocol):
    """The parts of a game that its worker needs."""

    alone: Alone | None
    cohorts: list[Cohort]
    done: SimpleQueue[ThreadCall | PartialResult]
    generation: Generation
    parse: Callable[[str], str] | None
    steppers: Workers

    def start_call(self, live: LiveEpisode) -> ThreadCall:
        """Return the call that starts an episode."""

    def step_call(self, live: LiveEpisode) -> ThreadCall:
        """Return the call that plays the episode's last action."""

    def finish(self, live: LiveEpisode, status: str) -> None:
        """End an episode, and give its environment back."""


class Abandoned(Exception):
    """Nobody waits any more for what this worker plays."""


class Alone:
    """One turn of the worker. `job` is its call for `Workers`, `failed` the call that the control thread gets."""

    def __init__(self, game: Hosting) -> None:
        self.game = game
        self.failed: ThreadCall | None = None
        self.job = ThreadCall(
            run=self._play, deadline_s=math.inf, tag=self._hand_back, late=self._drop
        )
        self._call: ThreadCall | None = None
        """The call under way; it stays here if the worker is abandoned in it."""
        self._is_stopped = False
        self._told: SimpleQueue[bool] = SimpleQueue()
        self._answers: SimpleQueue[ThreadCall | None] = SimpleQueue()
        self._in_flight = CallsInFlight(self._answers)

    def tell(self, callback: Callable[..., None], *about: Any) -> None:
        """Have the control thread call back, and wait until it has."""

        def act() -> None:
            callback(*about)
            self._told.put(True)

        self.game.done.put(PartialResult(act=act))
        self._told.get()
        if self._is_stopped:
            raise Abandoned

    def stop(self) -> None:
        """End the worker's turn after the call under way; a request to an asynchronous policy is broken off."""
        self._is_stopped = True
        self._told.put(False)
        self._in_flight.close()
        self._answers.put(None)

    # In the control thread.

    def _hand_back(self, job: ThreadCall) -> None:
        """End the turn: `failed` is the call that failed or hangs, None if there is none."""
        game = self.game
        game.alone = None
        if job.overdue:
            # Without what the call may return yet: it counts as lost, and the worker frees it.
            self.failed = self._call and replace(self._call, result=None, error=None, overdue=True)
        elif job.error is not None:
            raise job.error
        if self.failed is not None:
            self.failed.deliver()

    # In the worker.

    def _drop(self, job: ThreadCall) -> None:
        if self._call is not None:
            self._call.overdue = job.overdue
            self._call.drop()

    def _play(self) -> None:
        (cohort,) = self.game.cohorts
        while cohort.todo and self.failed is None:
            live = cohort.todo.popleft()
            cohort.live.add(live)
            self._start(live)
            while cohort.ready and self.failed is None:
                if under_way.joins_batches(live.resting_env):
                    return
                cohort.ready.clear()
                self._turn(live)

    def _start(self, live: LiveEpisode) -> None:
        game = self.game
        job = self._made(game.start_call(live))
        if isinstance(job.result, Started):
            job.deliver()
        else:
            self.failed = job

    def _turn(self, live: LiveEpisode) -> None:
        """Play one turn, up to the first call that fails."""
        game = self.game
        generation = game.generation
        generation.under_way = 1
        batch = GenerationBatch(members=[live])
        began = time.perf_counter()
        job = generation.call(batch)
        job = self._made(job) if generation.begin is None else self._awaited(job)
        if job.error is not None or job.overdue:
            self.failed = job
            return
        generation.note(began)
        ((prompt, answer),) = job.result
        if answer is None:
            game.finish(live, "truncated")
            return
        under_way.answered(live, prompt, answer, game.parse)
        job = self._made(game.step_call(live))
        if isinstance(job.result, Stepped):
            job.deliver()
        else:
            self.failed = job

    def _made(self, call: ThreadCall) -> ThreadCall:
        """Make a call, which may be abandoned at its deadline. Raises Abandoned if it was."""
        self._call = call
        # Unlocked: before this assignment the deadline is infinite, so the control thread cannot act on it.
        self.job.began = call.began = time.monotonic()
        self.job.ends = call.began + call.deadline_s
        try:
            call.result = call.run()
        except BaseException as error:  # noqa: BLE001
            # Whatever it is, the control thread raises or records it.
            call.error = error
        if not self.game.steppers.lift_deadline(self.job) or self._is_stopped:
            raise Abandoned
        self._call = None
        return call

    def _awaited(self, call: ThreadCall) -> ThreadCall:
        """Begin a call that an event loop makes, and wait for it; at its deadline it is cancelled."""
        self._in_flight.submit(call)
        try:
            found = self._answers.get(timeout=call.deadline_s)
        except Empty:
            # It may have been answered in this moment.
            found = call if self._in_flight.expire() else self._answers.get()
        if found is None or self._is_stopped:
            raise Abandoned
        return found
