"""Comparison of two recorded evaluations, paired by task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from verigym.agents.scores import (
    EpisodeScore,
    by_task,
    latest,
    mean_score,
    read_samples,
    success_rate,
)
from verigym.agents.statistics import estimate_difference

ValueOf = Callable[[Sequence[EpisodeScore]], float]


def compare(a: str | Path, b: str | Path) -> dict[str, Any]:
    """Return the comparison of two folders of evaluations, or files of episodes, as plain data for JSON.

    Tasks are pairs if environment, difficulty, split, seed and content are equal. A task's value is the
    mean over its scored answers; a task with none on one side is unpaired.
    """
    samples = [read_samples(a), read_samples(b)]
    # A file may hold two runs that use the same ids; only a folder's ids are unique.
    kept = [
        latest(found) if Path(p).is_dir() else found
        for found, p in zip(samples, (a, b), strict=True)
    ]
    first, second = (by_task(one) for one in kept)
    common = [task for task in first if task in second]
    pairs = [
        (first[task], second[task])
        for task in common
        if first[task][0].content == second[task][0].content
    ]
    return {
        "a": _side(a, kept[0]),
        "b": _side(b, kept[1]),
        "success": _difference(pairs, success_rate),
        "score": _difference(pairs, mean_score),
        "by_environment": {
            env_id: {
                "success": _difference(group, success_rate),
                "score": _difference(group, mean_score),
            }
            for env_id, group in sorted(_by_environment(pairs).items())
        },
        "paired_tasks": len(pairs),
        "only_in_a": len(first.keys() - second.keys()),
        "only_in_b": len(second.keys() - first.keys()),
        "changed_tasks": len(common) - len(pairs),
        "other_verifiers": sorted(
            {
                f"{one[0].env_id}: {one[0].verifier}, {two[0].verifier}"
                for one, two in pairs
                if one[0].verifier != two[0].verifier
            }
        ),
    }


def sentence(compared: dict[str, Any]) -> str:
    """Return a sentence that says if the success rates differ for real, and how much."""
    found = compared["success"]
    if found is None:
        return "Nothing can be said: no task was scored in both."
    points = f"{abs(100 * found['value']):.1f} points"
    low, high = (100 * bound for bound in found["interval"])
    evidence = (
        f"95 % interval {low:+.1f} to {high:+.1f}, p = {found['p']:.2g}, {found['tasks']} tasks, "
        f"{found['up']} better and {found['down']} worse"
    )
    if found["is_real"]:
        better = "better" if found["value"] > 0 else "worse"
        return f"The difference is real: B is {better} by {points} ({evidence})."
    moved = found["up"] + found["down"]
    if not moved:
        return f"No difference: A and B solve each of {found['tasks']} tasks equally often."
    few = "; fewer than 6 tasks differ, too few for any test" if moved < 6 else ""
    return f"The difference may be chance: B minus A is {100 * found['value']:+.1f} points ({evidence}{few})."


def _side(path: str | Path, samples: Sequence[EpisodeScore]) -> dict[str, Any]:
    return {
        "path": str(path),
        "policy": ", ".join(sorted({sample.policy for sample in samples})),
        "samples": len(samples),
        "faults": sum(sample.score is None for sample in samples),
    }


def _difference(
    pairs: Sequence[tuple[list[EpisodeScore], list[EpisodeScore]]], value_of: ValueOf
) -> dict[str, Any] | None:
    if not pairs:
        return None
    a, b = ([value_of(pair[side]) for pair in pairs] for side in (0, 1))
    clusters = [(pair[0][0].env_id, pair[0][0].content) for pair in pairs]
    difference = estimate_difference([y - x for x, y in zip(a, b, strict=True)], clusters)
    return {"a": sum(a) / len(a), "b": sum(b) / len(b), **difference.to_builtins()}


def _by_environment(
    pairs: Sequence[tuple[list[EpisodeScore], list[EpisodeScore]]],
) -> dict[str, list[tuple[list[EpisodeScore], list[EpisodeScore]]]]:
    groups: dict[str, list[tuple[list[EpisodeScore], list[EpisodeScore]]]] = {}
    for pair in pairs:
        groups.setdefault(pair[0][0].env_id, []).append(pair)
    return groups
