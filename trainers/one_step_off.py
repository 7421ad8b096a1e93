"""`train.mode = "one-step-off"`: the next step is played during the update, with the weights of before it.

Every token is one version old when it is trained on, those of the first step excepted. With the torch engine and
episodes in lockstep the order of everything is fixed, so a run repeats bit for bit; a checkpoint waits for the
episodes that are being played and keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from verigym.episode import Episode
from verigym.trainers.rollouts import draw_step, play_step
from verigym.trainers.run_parts import Run
from verigym.trainers.source import FILE, Rollouts, RolloutSource
from verigym.trainers.tasks import Tasks


class OneStepOff(RolloutSource):
    """Plays one step ahead, in a thread of its own."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="verigym-play")
        self._ahead: Future[Rollouts] | None = None
        self._taken: Future[Rollouts] | None = None
        """Episodes of the step under way, which a checkpoint before its update has to keep."""

    def next(self, number: int) -> Rollouts:
        """Return the episodes of training step `number`, and begin to play those of the next."""
        run = self.run
        taken, self._ahead = self._ahead, None
        if taken is None:
            run.players.deliver()
            taken = Future()
            taken.set_result(play_step(run, draw_step(run, number)))
        played = taken.result()
        self._taken = taken
        if number < run.config.train.steps:
            run.players.deliver()
            run.players.hold()
            self._ahead = self._thread.submit(play_step, run, draw_step(run, number + 1))
        return played

    def advance(self) -> None:
        """Let the episodes of the step go; new weights are delivered before the next step but one is played."""
        self._taken = None

    def settle(self) -> None:
        """Wait for the episodes of the next step where evaluation needs the engine that plays them."""
        if self.run.players.delivery is not None:
            if self._ahead is not None:
                self._ahead.exception()
            self.run.players.deliver()

    def files(self) -> Mapping[str, bytes]:
        """Return the episodes of the next step, once they are played; nothing if that failed."""
        following = self._taken or self._ahead
        if following is None or following.cancelled() or following.exception() is not None:
            return {}
        return {FILE: dump_rollouts(following.result(), self.run.tasks)}

    def restore(self, saved: Path) -> None:
        """Take the episodes of the next step from a checkpoint; without them they are played again."""
        if (saved / FILE).exists():
            self._ahead = Future()
            self._ahead.set_result(load_rollouts((saved / FILE).read_bytes(), self.run.tasks))

    def close(self) -> None:
        """Wait for the episodes under way; a request to stop ends them at their next turn."""
        self._thread.shutdown(cancel_futures=True)


class _Saved(msgspec.Struct, kw_only=True):
    number: int
    plans: list[dict[str, Any]]
    episodes: list[Episode]
    trained: list[str]
    demonstrations: list[Episode]
    computed_tokens: int
    chances: dict[str, float]
    figures: dict[str, Any]
    play_s: float


def dump_rollouts(played: Rollouts, tasks: Tasks) -> bytes:
    """Return the episodes of a step as JSON; log-probabilities keep every bit."""
    return msgspec.json.encode(
        _Saved(
            number=played.number,
            plans=[tasks.to_plain(plan) for plan in played.all_plans],
            episodes=list(played.all_episodes),
            trained=[plan.id for plan in played.plans],
            demonstrations=list(played.demonstrations),
            computed_tokens=played.computed_tokens,
            chances=dict(played.chances),
            figures=dict(played.figures),
            play_s=played.play_s,
        )
    )


def load_rollouts(data: bytes, tasks: Tasks) -> Rollouts:
    """Read what `dump_rollouts` returned."""
    found = msgspec.json.decode(data, type=_Saved)
    plans = {plain["id"]: tasks.from_plain(plain) for plain in found.plans}
    episodes = {episode.id: episode for episode in found.episodes}
    return Rollouts(
        number=found.number,
        plans=[plans[name] for name in found.trained],
        episodes=[episodes[name] for name in found.trained],
        all_plans=list(plans.values()),
        all_episodes=found.episodes,
        demonstrations=found.demonstrations,
        continued={},
        extra_steps=0,
        computed_tokens=found.computed_tokens,
        chances=found.chances,
        figures=found.figures,
        play_s=found.play_s,
    )
