"""The warm start of a run: imitation of the oracle, of recorded episodes or of a teacher, or preferences among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from verigym.agents.chat import Encoding
from verigym.agents.loop import play
from verigym.agents.make_policy import make_policy
from verigym.agents.plan import Plan, Settings
from verigym.agents.policies.hf import HFPolicy
from verigym.agents.record import append_episodes, read_episodes
from verigym.episode import Episode
from verigym.errors import RequestError
from verigym.trainers.batch import make_rows
from verigym.trainers.engine import Engine
from verigym.trainers.learner import Preference
from verigym.trainers.pairs import Pair, make_pairs
from verigym.trainers.recorded import choose, explain_nothing, play_again, read_recorded
from verigym.trainers.sections import WarmUpSection
from verigym.trainers.warmup import Demonstrator, demonstrate, learning_rate, warm_up

TEACHER_FILE = "teacher.jsonl"
"""File in a run's folder that records the teacher's episodes."""


@dataclass(frozen=True, kw_only=True)
class WarmStart:
    """Everything that a warm start needs of its run. `say` hears sentences, `on_batch` batch, batches and loss."""

    section: WarmUpSection
    policy: HFPolicy
    engine: Engine
    encoding: Encoding
    settings: Settings
    seed: int
    folder: Path
    say: Callable[[str], None]
    on_batch: Callable[[int, int, float], None]
    on_wait: Callable[[str], None]

    def run(self, plans: Sequence[Plan]) -> None:
        """Train on the play that the section names; `plans` are the tasks of the oracle or the teacher.

        Raises RequestError if there is nothing to learn from.
        """
        section = self.section
        if section.source == "oracle":
            demonstrator = Demonstrator(self.policy, section.noise)
            rows = demonstrate(plans, demonstrator, self.encoding, self.settings)
            warm_up(self.engine, rows, section, self.seed, self.on_batch)
            return
        if section.source == "teacher":
            recorded = self._ask_teacher(plans)
        else:
            recorded = read_recorded(section.paths)
        episodes = self._chosen(recorded)
        if section.loss == "imitation":
            warm_up(self.engine, make_rows(episodes), section, self.seed, self.on_batch)
            return
        pairs = make_pairs(episodes)
        if not pairs:
            raise RequestError(
                "no two recorded episodes differ in reward at the same task and state, so DPO has no pair to "
                "learn from; record several answers to each task (warmup.samples, or verigym eval -k)"
            )
        self.say(f"{len(pairs)} pairs of {len(episodes)} episodes")
        prefer(self.engine, pairs, section, self.seed, self.on_batch)

    def _chosen(self, recorded: Sequence[Episode]) -> list[Episode]:
        """Return the episodes to learn from, in the policy's tokens."""
        section = self.section
        least = section.min_reward if section.loss == "imitation" else float("-inf")
        most = section.episodes if section.source == "episodes" else 0
        kept, left_out = choose(recorded, least, most)
        episodes: list[Episode] = []
        if kept:
            episodes, changed = play_again(kept, self.policy, self.encoding, self.settings)
            if changed:
                left_out["that come out otherwise now, or are too long for the model"] = changed
        if not episodes:
            raise explain_nothing(left_out)
        others = "".join(f"; left out: {n} {reason}" for reason, n in left_out.items())
        self.say(f"learning from {len(episodes)} of {len(recorded)} recorded episodes{others}")
        return episodes

    def _ask_teacher(self, plans: Sequence[Plan]) -> list[Episode]:
        """Return the teacher's episodes; those that the folder already has are not played again."""
        path = self.folder / TEACHER_FILE
        found = read_episodes(path) if path.exists() else []
        done = {episode.id for episode in found if episode.status != "fault"}
        left = [plan for plan in plans if plan.id not in done]
        if left:
            teacher = make_policy(self.section.teacher or "", **self.section.teacher_options)
            self.say(f"{len(left)} episodes of the teacher {teacher.name}, into {path}")
            play(
                left,
                teacher,
                self.encoding,
                replace(self.settings, batching="ready"),
                on_episode=lambda episode: append_episodes(path, [episode]),
                on_wait=self.on_wait,
            )
        order = {plan.id: place for place, plan in enumerate(plans)}
        taught = [one for one in read_episodes(path) if one.id in order and one.status != "fault"]
        return sorted(taught, key=lambda episode: order[episode.id])


def prefer(
    engine: Engine,
    pairs: Sequence[Pair],
    section: WarmUpSection,
    seed: int,
    on_batch: Callable[[int, int, float], None],
) -> None:
    """Learn the preferences in `pairs` for `section.epochs`; the reference is the model as it is now."""
    rows = [row for pair in pairs for row in pair]
    reference = [sum(line) for line in engine.logprobs(rows)]
    size = max(1, section.batch_rows // 2)
    rng = np.random.default_rng((seed, 2))
    total, done = -(-len(pairs) // size) * section.epochs, 0
    for _ in range(section.epochs):
        order = rng.permutation(len(pairs)).tolist()
        for start in range(0, len(pairs), size):
            done += 1
            engine.set_lr(learning_rate(section.lr, done, total))
            chosen = [2 * i + side for i in order[start : start + size] for side in (0, 1)]
            preference = Preference(reference=[reference[i] for i in chosen], beta=section.beta)
            on_batch(done, total, engine.train_step([rows[i] for i in chosen], preference).loss)
