"""Scores of recorded episodes: grouped by environment, difficulty, tag and length, with intervals.

A `EpisodeScore` is the part of an episode that the figures need, small enough to keep by the hundred thousand.
A faulted episode has no score: it is counted by its cause and is in no rate.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verigym.agents.record import iterate_episodes
from verigym.agents.statistics import estimate_mean, pass_at_k, sizes_up_to
from verigym.episode import Episode
from verigym.levels import NAMES

EPISODES = "episodes.jsonl"
"""Name of the file of episodes in the folder of an evaluation."""

_LENGTHS = (16, 64, 256, 1024, 4096, 16384)
"""Upper ends of the groups of answers by length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeScore:
    """One episode as the figures see it.

    `content` is equal for tasks with equal content. `score` is that of the last verdict, 0 if nothing
    was submitted, None after a fault, which `cause` names. `characters` and the tokens are of all turns;
    None if a turn was not counted.
    """

    id: str
    env_id: str
    difficulty: str
    split: str
    seed: int
    content: str
    score: float | None
    success: bool
    cause: str
    tags: tuple[str, ...]
    policy: str
    verifier: str
    turns: int
    characters: int
    prompt_tokens: int | None
    response_tokens: int | None

    @property
    def task(self) -> tuple[str, str, str, int]:
        """Identity of the task: environment, difficulty, split and seed."""
        return (self.env_id, self.difficulty, self.split, self.seed)


def sample_of(episode: Episode) -> EpisodeScore:
    """Return the sample of an episode."""
    turns, verdict = episode.turns, episode.verdict
    score = verdict.score if verdict is not None else 0.0
    return EpisodeScore(
        id=episode.id,
        env_id=episode.env_id,
        difficulty=episode.difficulty,
        split=episode.split,
        seed=episode.seed,
        content=turns[0].state_key if turns else "",
        score=None if episode.fault is not None else score,
        success=episode.success,
        cause=episode.fault.cause if episode.fault is not None else "",
        tags=tuple(episode.tags),
        policy=episode.policy,
        verifier=episode.versions.get("verifier", ""),
        turns=len(turns),
        characters=sum(len(turn.response) for turn in turns),
        prompt_tokens=_total(turn.prompt_tokens for turn in turns),
        response_tokens=_total(turn.response_tokens for turn in turns),
    )


def read_samples(path: str | Path) -> list[EpisodeScore]:
    """Return the samples of a file of episodes, or of an evaluation's folder, in the order of recording.

    A folder may hold several records of one episode: faults, and what was played in their place.
    """
    path = Path(path)
    return [sample_of(one) for one in iterate_episodes(path / EPISODES if path.is_dir() else path)]


def latest(samples: Iterable[EpisodeScore]) -> list[EpisodeScore]:
    """Return one sample for each episode: the last that has a score, else the last fault."""
    found: dict[str, EpisodeScore] = {}
    for sample in samples:
        if sample.score is not None or sample.id not in found or found[sample.id].score is None:
            found[sample.id] = sample
    return list(found.values())


def by_task(samples: Iterable[EpisodeScore]) -> dict[tuple[str, str, str, int], list[EpisodeScore]]:
    """Return the scored samples by task."""
    groups: defaultdict[tuple[str, str, str, int], list[EpisodeScore]] = defaultdict(list)
    for sample in samples:
        if sample.score is not None:
            groups[sample.task].append(sample)
    return dict(groups)


def mean_score(answers: Sequence[EpisodeScore]) -> float:
    """Return the mean score of a task's answers, all of which must have one."""
    return sum(answer.score or 0.0 for answer in answers) / len(answers)


def success_rate(answers: Sequence[EpisodeScore]) -> float:
    """Return the share of a task's answers with full marks."""
    return sum(answer.success for answer in answers) / len(answers)


def figures(samples: Sequence[EpisodeScore], k: int) -> dict[str, Any]:
    """Return counts, pass@1, 2, 4 ... k and the mean score of one group of samples, as plain data.

    pass@k is a mean over the tasks that have at least k scored answers, and says over how many.
    """
    tasks = by_task(samples)
    answers = list(tasks.values())
    passed = {}
    for size in sizes_up_to(k):
        whole = [one for one in answers if len(one) >= size]
        passed[str(size)] = _estimate(
            whole,
            lambda one, size=size: pass_at_k(len(one), sum(s.success for s in one), size),  # type: ignore[misc]
            size,
        )
    return {
        "tasks": len({sample.task for sample in samples}),
        "samples": len(samples),
        "faults": sum(sample.score is None for sample in samples),
        "pass_at": passed,
        "score": _estimate(answers, mean_score, 1),
    }


def _estimate(
    answers: Sequence[Sequence[EpisodeScore]],
    value_of: Callable[[Sequence[EpisodeScore]], float],
    size: int,
) -> dict[str, Any] | None:
    """Return the mean of a value over tasks as plain data; None without tasks. A value takes `size` answers."""
    if not answers:
        return None
    clusters = [(one[0].env_id, one[0].content) for one in answers]
    trials = sum(len(one) // size for one in answers)
    return estimate_mean([value_of(one) for one in answers], clusters, trials).to_builtins()


def summarise_samples(samples: Sequence[EpisodeScore], k: int) -> dict[str, Any]:
    """Return the figures of an evaluation, overall and by group, as plain data for JSON.

    Lengths are in tokens if all scored answers have counts, else in characters.
    """
    scored = [sample for sample in samples if sample.score is not None]
    in_tokens = all(sample.response_tokens is not None for sample in scored) and bool(scored)
    causes = Counter(sample.cause for sample in samples if sample.score is None)
    by_tag: defaultdict[str, list[EpisodeScore]] = defaultdict(list)
    for sample in samples:
        for tag in sample.tags:
            by_tag[tag].append(sample)
    return {
        "overall": figures(samples, k),
        "by_environment": _grouped(samples, k, lambda one: one.env_id),
        "by_difficulty": _grouped(samples, k, lambda one: one.difficulty, _level),
        "by_tag": {tag: figures(by_tag[tag], k) for tag in sorted(by_tag, key=_natural)},
        # Answers to one task differ in length, so k answers of one length are not a chance of k.
        "by_length": _grouped(
            scored,
            1,
            lambda one: _length_group((one.response_tokens or 0) if in_tokens else one.characters),
            lambda name: int(name.strip("<=>")) + name.startswith(">"),
        ),
        "length_unit": "tokens" if in_tokens else "characters",
        "faults_by_cause": dict(causes.most_common()),
    }


def _grouped(
    samples: Sequence[EpisodeScore],
    k: int,
    group_of: Callable[[EpisodeScore], str],
    order: Callable[[str], Any] = str,
) -> dict[str, Any]:
    groups: defaultdict[str, list[EpisodeScore]] = defaultdict(list)
    for sample in samples:
        groups[group_of(sample)].append(sample)
    return {name: figures(groups[name], k) for name in sorted(groups, key=order)}


def _level(name: str) -> tuple[int, str]:
    number = NAMES.get(name, int(name) if name.isdecimal() else 0)
    return (number, name)


def _natural(tag: str) -> list[tuple[int, str]]:
    """Return a sort key that orders numbers within text by their value."""
    parts = re.split(r"([0-9]+)", tag)
    return [(int(part), "") if i % 2 else (-1, part) for i, part in enumerate(parts)]


def _length_group(length: int) -> str:
    return next((f"<={end}" for end in _LENGTHS if length <= end), f">{_LENGTHS[-1]}")


def count_tokens(
    samples: Iterable[EpisodeScore], price_in: float | None, price_out: float | None
) -> dict[str, Any]:
    """Return the tokens of all samples, faulted ones included, and their cost, as plain data.

    Prices are per million tokens. The cost is None without prices, and if some answers were not counted.
    """
    rows = list(samples)
    counted = [
        one for one in rows if one.prompt_tokens is not None and one.response_tokens is not None
    ]
    prompts = sum(one.prompt_tokens or 0 for one in counted)
    responses = sum(one.response_tokens or 0 for one in counted)
    cost = None
    if (price_in is not None or price_out is not None) and len(counted) == len(rows):
        cost = (prompts * (price_in or 0.0) + responses * (price_out or 0.0)) / 1e6
    return {
        "prompt": prompts,
        "response": responses,
        "uncounted_samples": len(rows) - len(counted),
        "price_in": price_in,
        "price_out": price_out,
        "cost": cost,
    }


def _total(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total
