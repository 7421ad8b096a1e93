"""Hints for tasks that a whole group failed: the beginning of the oracle's play, shown in the prompt.

Source: GHPO, arXiv 2507.10628, which shows the first 25, 50 and 75 % of a reference solution's characters.
Of a play of several turns we show that share of its actions instead, never all. Evaluation has no hints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from verigym.agents.plan import Plan
from verigym.episode import Episode
from verigym.trainers.curriculum import ghpo_hint


def hint(actions: Sequence[str], failed_rounds: int) -> str:
    """Return the hint after so many failures, from 1 to 3, of a task that `actions` solve."""
    if len(actions) == 1:
        shown = ghpo_hint(actions[0], failed_rounds)
        return f"Hint: a solution begins with:\n{shown}" if shown else ""
    n = min(len(actions) - 1, math.ceil(0.25 * failed_rounds * len(actions)))
    return f"Hint: a solution begins with these actions, one a turn: {'; '.join(actions[:n])}"


def play_hinted(
    plans: Sequence[Plan],
    episodes: Sequence[Episode],
    rounds: int,
    play: Callable[[Sequence[Plan]], list[Episode]],
    play_oracle: Callable[[Sequence[Plan]], list[Episode]],
) -> tuple[list[Plan], list[Episode]]:
    """Return the plans and episodes of all groups that were played with hints, up to `rounds` times each.

    `play_oracle` returns the oracle's episode of each group's first plan, in order. A task that the oracle
    did not solve, as after a fault, gets no hint. The last round of a group is the one to train on.
    """
    failed = _failed(plans, episodes)
    shown = play_oracle([members[0] for members in failed]) if failed else []
    solved = [
        (members, [turn.action for turn in oracle.turns])
        for members, oracle in zip(failed, shown, strict=True)
        if oracle.success
    ]
    out: tuple[list[Plan], list[Episode]] = ([], [])
    for number in range(1, rounds + 1):
        again = [
            replace(
                plan,
                id=f"{plan.id}h{number}",
                group_id=f"{plan.group_id}h{number}",
                key=(*plan.key, -number),
                hint=hint(actions, number),
            )
            for members, actions in solved
            for plan in members
        ]
        if not again:
            break
        found = play(again)
        out = [*out[0], *again], [*out[1], *found]
        still = {members[0].group_id for members in _failed(again, found)}
        solved = [one for one in solved if f"{one[0][0].group_id}h{number}" in still]
    return out


def trained(plans: Sequence[Plan], hinted: Sequence[Plan]) -> set[str]:
    """Return the ids of the groups to train on: the last round of a hinted task, and all others."""
    latest = {plan.group_id: plan.group_id for plan in plans}
    for plan in hinted:
        name, _, _ = plan.group_id.rpartition("h")
        latest[name] = plan.group_id
    return set(latest.values())


def _failed(plans: Sequence[Plan], episodes: Sequence[Episode]) -> list[list[Plan]]:
    """Return the plans of each group in which somebody played to the end, and nobody had success."""
    members: dict[str, list[Plan]] = {}
    hopeless: dict[str, bool] = {}
    for plan, episode in zip(plans, episodes, strict=True):
        members.setdefault(plan.group_id, []).append(plan)
        if episode.status != "fault":
            hopeless[plan.group_id] = hopeless.get(plan.group_id, True) and not episode.success
    return [group for name, group in members.items() if hopeless.get(name, False)]


def unhinted(plans: Sequence[Plan], episodes: Sequence[Episode]) -> list[Episode]:
    """Return the episodes that were played without a hint, which tell what the policy can do."""
    return [e for plan, e in zip(plans, episodes, strict=True) if not plan.hint]


def hint_counts(plans: Sequence[Plan], episodes: Sequence[Episode]) -> dict[str, Any]:
    """Return what was played with hints, for the step's line of metrics; empty if nothing was."""
    rounds: dict[str, list[float]] = {}
    for plan, episode in zip(plans, episodes, strict=True):
        if plan.hint and episode.status != "fault":
            rounds.setdefault(plan.group_id, []).append(float(episode.success))
    if not rounds:
        return {}
    found: dict[str, dict[str, Any]] = {}
    for name, success in rounds.items():
        one = found.setdefault(name.rpartition("h")[2], {"groups": 0, "solved": 0})
        one["groups"] += 1
        one["solved"] += any(success)
    return {"hints": found}
