"""The update of one training step: optimiser steps over shuffled mini-batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from verigym.trainers.batch import Row
from verigym.trainers.critic import CriticStats
from verigym.trainers.learner import Reinforcement, StepStats
from verigym.trainers.run_parts import Run


@dataclass(kw_only=True)
class Updated:
    """Statistics of the optimiser steps of the policy and of the critic."""

    policy: list[StepStats] = field(default_factory=list)
    critic: list[CriticStats] = field(default_factory=list)


def update(run: Run, number: int, rows: Sequence[Row]) -> Updated:
    """Take the optimiser steps of training step `number`; none if nothing was played."""
    train, done = run.config.train, Updated()
    risen = min(1.0, number / max(1, train.lr_warmup_steps))
    fallen = 1.0 - (1.0 - train.lr_final) * number / train.steps
    run.engine.set_lr(train.lr * risen * fallen)
    held = run.critic is not None and number <= run.critic.section.warmup_steps
    for epoch in range(train.epochs):
        order = np.random.default_rng((run.config.seed, number, epoch)).permutation(len(rows))
        for start in range(0, len(rows), train.minibatch_rows):
            part = [rows[i] for i in order[start : start + train.minibatch_rows]]
            run.watchdog.moved(f"updating on rows {start} to {start + len(part)} of {len(rows)}")
            if not held:
                loss = Reinforcement(seed=(run.config.seed, number, epoch, start))
                done.policy.append(run.engine.train_step(part, loss))
            if run.critic is not None:
                done.critic += run.critic.fit(part)
    return done
