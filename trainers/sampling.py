"""Episodes beyond the first of each task: dynamic sampling (DAPO) and difficulty-adaptive rollouts (DARS)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from verigym.agents.plan import Plan
from verigym.episode import Episode
from verigym.trainers.credit.dapo import has_signal
from verigym.trainers.curriculum import dars_extra
from verigym.trainers.hints import play_hinted, trained
from verigym.trainers.sections import SamplingSection

Played = tuple[list[Plan], list[Episode]]
"""Plans and their episodes, in one order."""


def play_enough(
    draw: Callable[[int], list[Plan]],
    play: Callable[[Sequence[Plan]], list[Episode]],
    section: SamplingSection,
    play_oracle: Callable[[Sequence[Plan]], list[Episode]] | None = None,
) -> tuple[Played, Played]:
    """Play the groups of one training step; return those to train on, and all that were played.

    `draw` returns the plans of batch 0, 1, and so on; `play` plays them. With dynamic sampling, groups
    whose returns are all equal are dropped and up to `dynamic_batches` batches played to replace them;
    whatever was found by then is trained on. With hints, tasks that a whole group failed are played again,
    and the group with the last hint takes the place of the first; `play_oracle` plays a task by the oracle.
    """
    plans = draw(0)
    everything: Played = ([], [])
    kept: Played = ([], [])
    wanted = len({plan.group_id for plan in plans})
    for batch in range(section.dynamic_batches):
        if batch:
            plans = draw(batch)
        episodes = play(plans)
        more = _extra_plans(plans, episodes, section)
        plans, episodes = [*plans, *more], [*episodes, *(play(more) if more else [])]
        helped: Played = ([], [])
        if section.hints and play_oracle is not None:
            helped = play_hinted(plans, episodes, section.hints, play, play_oracle)
        everything = (
            [*everything[0], *plans, *helped[0]],
            [*everything[1], *episodes, *helped[1]],
        )
        plans, episodes = _last_hints((plans, episodes), helped)
        if section.dynamic_batches == 1:
            return (plans, episodes), everything
        kept = _merged(kept, (plans, episodes), wanted)
        if len({plan.group_id for plan in kept[0]}) >= wanted:
            break
    return kept, everything


def _last_hints(played: Played, helped: Played) -> Played:
    """Replace failed groups by those that were played with the last hint."""
    names = trained(played[0], helped[0])
    both = zip([*played[0], *helped[0]], [*played[1], *helped[1]], strict=True)
    kept = [(plan, episode) for plan, episode in both if plan.group_id in names]
    return [plan for plan, _ in kept], [episode for _, episode in kept]


def _merged(kept: Played, found: Played, wanted: int) -> Played:
    """Add the groups of `found` that have unequal returns, up to `wanted` groups in all."""
    plans, episodes = found
    signal = has_signal(
        [episode.return_ for episode in episodes],
        [episode.group_id for episode in episodes],
        valid=[episode.status != "fault" for episode in episodes],
    )
    names = dict.fromkeys(plan.group_id for plan in kept[0])
    for episode, on in zip(episodes, signal.tolist(), strict=True):
        if on and len(names) < wanted:
            names.setdefault(episode.group_id)
    return (
        [*kept[0], *(plan for plan in plans if plan.group_id in names)],
        [*kept[1], *(episode for episode in episodes if episode.group_id in names)],
    )


def _extra_plans(
    plans: Sequence[Plan], episodes: Sequence[Episode], section: SamplingSection
) -> list[Plan]:
    """Return DARS's further plans of the tasks that were solved less than half of the time."""
    if section.dars == "none":
        return []
    groups: dict[str, list[Episode]] = {}
    for episode in episodes:
        if episode.status != "fault":
            groups.setdefault(episode.group_id, []).append(episode)
    members: dict[str, list[Plan]] = {}
    for plan in plans:
        members.setdefault(plan.group_id, []).append(plan)
    out = []
    for name, found in groups.items():
        last = members[name][-1]
        n = len(members[name])
        most = section.dars_max or (32 if section.dars == "et" else 64)
        accuracy = sum(episode.success for episode in found) / len(found)
        extra = dars_extra([accuracy], n=n, schedule=section.dars, n_max=max(n, most))
        head, _, _ = last.id.rpartition(".")
        out += [
            replace(last, id=f"{head}.{n + i}", key=(*last.key[:-1], n + i))
            for i in range(int(extra[0]))
        ]
    return out
