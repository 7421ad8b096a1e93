"""Enough different tasks, and splits that share none."""

from __future__ import annotations

from typing import Any

import verigym
from verigym.envs.check.subject import Broken, Subject

_SAMPLE = 60


def seeds_give_different_tasks(subject: Subject) -> dict[str, Any]:
    """Check that many seeds give many tasks at each difficulty."""
    env = subject.make()
    sample = min(_SAMPLE, 2 * subject.seeds)
    shares = {}
    for difficulty in env.difficulties:
        contents = {env.sample_task(seed, difficulty).content for seed in range(sample)}
        shares[difficulty] = round(len(contents) / sample, 2)
        if len(contents) < min(8, sample):
            raise Broken(f"{difficulty}: {sample} seeds give {len(contents)} different tasks")
    return {"distinct_share": shares}


def splits_share_no_content(subject: Subject) -> None:
    """Check that no content is in two splits, at any difficulty."""
    env = subject.make()
    seen: dict[str, str] = {}
    for difficulty in env.difficulties:
        for split in verigym.SPLITS:
            for seed in range(subject.few(_SAMPLE)):
                task = env.sample_task(seed, difficulty, split)
                if (task.split, task.difficulty) != (split, difficulty):
                    raise Broken(f"asked for {difficulty}, {split}, got {task.id}")
                if (other := seen.setdefault(task.content, split)) != split:
                    raise Broken(f"{task.id} is also in split {other!r}")
