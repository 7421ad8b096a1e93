"""Alarms of a training run: signs that it learns nothing, or the wrong thing, and what to do.

Pure functions of the metrics so far. Each alarm is one sentence, raised anew only after it has been off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from verigym.trainers.canaries import CHEATS

_LATEST = 10
"""Number of training steps that an alarm looks at."""
_CHANCE = 0.2
"""Share of cheats that may succeed by luck."""


def alarms(steps: Sequence[Mapping[str, Any]], held_out: Sequence[float | None]) -> dict[str, str]:
    """Return the alarms that are on, by name.

    `steps` are the lines of metrics.jsonl so far, `held_out` the success rates on validation so far.
    """
    latest = steps[-_LATEST:]
    found = dict(_canaries(steps))
    if len(latest) < _LATEST:
        return found
    return found | dict([*_signal(latest), *_policy(steps, latest), *_held_out(steps, held_out)])


def _mean(lines: Sequence[Mapping[str, Any]], name: str) -> float:
    found = [line[name] for line in lines if line.get(name) is not None]
    return float(np.mean(found)) if found else float("nan")


def _canaries(steps: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    found: Mapping[str, float] = next(
        (line["canaries"] for line in reversed(steps) if "canaries" in line), {}
    )
    if found.get("oracle", 0.0) > 0:
        yield (
            "right replies refused",
            f"{found['oracle']:.0%} of the oracle's episodes earned no success; run verigym check on the "
            "environment and verigym audit on its verifier",
        )
    if found.get("unfinished", 0.0) > 0:
        yield (
            "too few turns",
            f"the limit of turns cut {found['unfinished']:.0%} of the oracle's episodes; raise env.max_turns",
        )
    paid = {name: found[name] for name in CHEATS if found.get(name, 0.0) > _CHANCE}
    if paid:
        shares = " and ".join(f"{share:.0%} of {name} replies" for name, share in paid.items())
        yield (
            "cheats paid",
            f"{shares} succeeded, so the policy can learn to be paid for nothing; run verigym check on the "
            "environment",
        )


def _signal(latest: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    groups = sum(line["groups"] for line in latest)
    dead = sum(line["groups_without_signal"] for line in latest) / max(groups, 1)
    if dead > 0.9:
        rate = _mean(latest, "success_rate")
        easier = "harder" if rate > 0.5 else "easier"
        yield (
            "dead groups",
            f"{dead:.0%} of the last groups teach nothing, as their members earn the same; choose {easier} "
            "tasks, a larger train.group_size, or sampling.dynamic_batches",
        )
    episodes = sum(line["episodes"] for line in latest)
    faults = sum(sum(line["faults"].values()) for line in latest) / max(episodes, 1)
    if faults > 0.05:
        causes = sorted({cause for line in latest for cause in line["faults"]})
        yield (
            "faults",
            f"{faults:.0%} of the last episodes faulted ({', '.join(causes)}); they were left out, not "
            "scored; see docs/train.md",
        )


def _policy(
    steps: Sequence[Mapping[str, Any]], latest: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    first = steps[:_LATEST]
    before, now = _mean(first, "entropy"), _mean(latest, "entropy")
    if now < 0.1 * before and _mean(latest, "success_rate") < 0.9:
        yield (
            "entropy collapse",
            f"entropy fell from {before:.3g} to {now:.3g} nats while tasks are still failed; lower train.lr, or "
            "set algorithm.entropy_coef, entropy_control or a higher clip_high",
        )
    before, now = _tokens(first), _tokens(latest)
    if now > 3 * before:
        yield (
            "length drift",
            f"sampled tokens per episode rose from {before:.0f} to {now:.0f}; set reward.overlong or "
            "reward.relative_length, or check what long answers are paid for",
        )


def _tokens(lines: Sequence[Mapping[str, Any]]) -> float:
    episodes = sum(line["episodes"] for line in lines)
    return float(sum(line["n_tokens"] for line in lines) / max(1, episodes))


def _held_out(
    steps: Sequence[Mapping[str, Any]], held_out: Sequence[float | None]
) -> Iterator[tuple[str, str]]:
    known = [rate for rate in held_out if rate is not None]
    if len(known) < 4 or len(steps) < 4 * _LATEST:
        return
    rise = _mean(steps[-_LATEST:], "return_mean") - _mean(steps[:_LATEST], "return_mean")
    gain = float(np.mean(known[-2:]) - np.mean(known[:2]))
    if rise > 0.15 and gain < 0.02:
        yield (
            "reward without success",
            f"the return rose by {rise:.2f} and success on validation by {gain:.2f}; look for a reward that is "
            "earned without solving the task (verigym audit), or for tasks that repeat",
        )
