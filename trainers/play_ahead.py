"""`train.mode = "async"`: episodes are played without a pause, and a step takes the groups that have ended.

One thread plays the stream of groups that `GroupFeed` admits, on the players' own weights, which the trainer
replaces after each update; an episode may thus have turns of several versions, and each turn says its own. A
group with a faulted member is dropped whole and another admitted, as is a group without signal under dynamic
sampling. A checkpoint keeps the groups that have ended with their episodes, and the tasks of those that have
not: on resume they are played again from their start.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from verigym.agents.groups import reward_groups
from verigym.agents.loop import play_stream
from verigym.agents.plan import FaultLimit
from verigym.episode import Episode
from verigym.trainers.credit.dapo import has_signal
from verigym.trainers.group_feed import GroupAhead, GroupFeed
from verigym.trainers.rollouts import check_verifiers, play_demonstrations
from verigym.trainers.run_parts import Run
from verigym.trainers.source import FILE, Rollouts, RolloutSource
from verigym.trainers.staleness import staleness, tokens_by_version

_LOOK_S = 0.25


class PlayAhead(RolloutSource):
    """Plays ahead of training, as far as `train.max_staleness` allows."""

    def __init__(self, run: Run) -> None:
        train, play = run.config.train, run.config.play
        self.run = run
        self.feed = GroupFeed(
            batch=train.groups,
            max_staleness=train.max_staleness,
            max_running=max(1, play.max_live // train.group_size),
        )
        self._drawn = 0
        """Number of groups drawn so far."""
        self._computed = 0
        self._taken: list[GroupAhead] = []
        """Groups of the step under way, which a checkpoint before its update has to keep."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="verigym-play")
        self._player: Future[None] | None = None

    def next(self, number: int) -> Rollouts:
        """Return the groups of training step `number`; wait until there are enough that may be trained on."""
        began, run, feed = time.perf_counter(), self.run, self.feed
        if self._player is None:
            self._start()
        dropped: list[tuple[GroupAhead, str]] = []
        examined: list[Episode] = []
        while not feed.is_complete():
            run.stop.check()
            run.watchdog.waiting(f"waiting for the groups of step {number}")
            for group in feed.collect(_LOOK_S):
                examined += group.in_order
                reason = self._judge(group, sum(why == "no_signal" for _, why in dropped))
                if reason is None:
                    feed.keep(group)
                else:
                    dropped.append((group, reason))
            self._check_faults(examined)
            self._admit()
        batch = self._taken = feed.take_batch()
        trained = [episode for group in batch for episode in group.in_order]
        left = [episode for group, _ in dropped for episode in group.in_order]
        plans = [plan for group in batch for plan in group.plans]
        computed, self._computed = self._computed, run.players.computed_tokens
        return Rollouts(
            number=number,
            plans=plans,
            episodes=trained,
            all_plans=[*plans, *(plan for group, _ in dropped for plan in group.plans)],
            all_episodes=[*trained, *left],
            demonstrations=play_demonstrations(run, plans),
            continued={},
            extra_steps=0,
            computed_tokens=self._computed - computed,
            chances=run.tasks.probabilities(number),
            figures={
                "staleness": self._ages(trained),
                "groups_ahead": len(feed.ready) + len(feed.open_groups()),
                "groups_replaced": dict(Counter(reason for _, reason in dropped)),
                **check_verifiers(run, number),
            },
            play_s=time.perf_counter() - began,
        )

    def advance(self) -> None:
        """Deliver the new weights, and then admit groups for them."""
        self._taken = []
        self.run.players.deliver()
        self.feed.version = self.run.step
        self._admit()

    def settle(self) -> None:
        """Do nothing: the players have the newest weights."""

    def files(self) -> Mapping[str, bytes]:
        """Return the groups that are not trained on yet."""
        feed, plain = self.feed, self.run.tasks.to_plain
        open_groups = feed.open_groups()
        saved = _Saved(
            drawn=self._drawn,
            ended=[
                _SavedGroup(
                    plans=[plain(plan) for plan in group.plans],
                    version=group.version,
                    episodes=group.in_order,
                )
                for group in [*self._taken, *feed.ready]
            ],
            running=[[plain(plan) for plan in group.plans] for group in open_groups],
        )
        return {FILE: msgspec.json.encode(saved)}

    def restore(self, saved: Path) -> None:
        """Continue with the groups of a checkpoint: trained on are those that had ended, played those that had not."""
        feed, plan = self.feed, self.run.tasks.from_plain
        feed.version = self.run.step
        feed.accepted = self.run.step * feed.batch
        if not (saved / FILE).exists():
            return
        found = msgspec.json.decode((saved / FILE).read_bytes(), type=_Saved)
        self._drawn = found.drawn
        for group in found.ended:
            plans = [plan(plain) for plain in group.plans]
            episodes = {episode.id: episode for episode in group.episodes}
            feed.keep(GroupAhead(plans=plans, version=group.version, episodes=episodes))
        for plain_plans in found.running:
            feed.admit([plan(plain) for plain in plain_plans])

    def close(self) -> None:
        """Stop the player; episodes under way are left."""
        self.feed.close()
        self._thread.shutdown()

    def _start(self) -> None:
        self.run.players.deliver()
        self._computed = self.run.players.computed_tokens
        self._admit()
        run = self.run
        self._player = self._thread.submit(
            play_stream,
            self.feed,
            run.players.trained,
            run.encoding,
            run.settings,
            envs=run.envs,
            on_episode=self.feed.finish,
            on_turn=run.note_turn,
            on_wait=run.wait,
        )
        self._player.add_done_callback(lambda player: self.feed.fail(player.exception()))

    def _admit(self) -> None:
        run = self.run
        for _ in range(self.feed.capacity()):
            plans = run.tasks.training_group(self._drawn, run.config.train.group_size, run.step + 1)
            self._drawn += 1
            self.feed.admit(plans)

    def _judge(self, group: GroupAhead, without_signal: int) -> str | None:
        """Reward an ended group; return why it is dropped, None to keep it."""
        config, episodes = self.run.config, group.in_order
        if self.run.group is not None:
            reward_groups(episodes, self.run.group)
        if any(episode.status == "fault" for episode in episodes):
            return "fault"
        most = (config.sampling.dynamic_batches - 1) * config.train.groups
        names = [episode.group_id for episode in episodes]
        if without_signal < most and not has_signal([e.return_ for e in episodes], names).any():
            return "no_signal"
        return None

    def _check_faults(self, examined: list[Episode]) -> None:
        """Raise FaultLimit if too many episodes of a step's worth of groups have faulted."""
        train, limit = self.run.config.train, self.run.config.limits.fault_share
        faulted = sum(episode.status == "fault" for episode in examined)
        enough = len(examined) >= train.groups * train.group_size
        if enough and faulted > limit * len(examined):
            raise FaultLimit(examined, limit)

    def _ages(self, episodes: list[Episode]) -> dict[str, float]:
        """Return the mean and the largest staleness of the tokens of `episodes`."""
        found = tokens_by_version(episodes)
        version = self.run.policy.version
        total = sum(n * staleness(version, old) for old, n in found.items())
        return {
            "mean": total / max(1, sum(found.values())),
            "max": staleness(version, min(found, default=version)),
        }


class _SavedGroup(msgspec.Struct, kw_only=True):
    plans: list[dict[str, Any]]
    version: int
    episodes: list[Episode]


class _Saved(msgspec.Struct, kw_only=True):
    drawn: int
    ended: list[_SavedGroup]
    running: list[list[dict[str, Any]]]
