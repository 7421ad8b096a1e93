"""Rewards from a group verifier: the submissions of a group's episodes, judged together.

The episode's reward becomes the group verifier's score. Its recorded verdict stays the environment's own,
so that success, reports and regrading mean the same as without a group verifier.
"""

from __future__ import annotations

from collections.abc import Sequence

from verigym.agents.plan import FaultLimit
from verigym.agents.regrade import judged_moves
from verigym.canonical import JSON
from verigym.episode import Episode, Fault
from verigym.errors import RequestError
from verigym.group import GroupVerifier
from verigym.task import Task


def reward_groups(
    episodes: Sequence[Episode], group: GroupVerifier, *, fault_limit: float = 1.0
) -> None:
    """Replace the reward of each episode's judged turn by its score in its group.

    A member without a score becomes a faulted episode. Faulted episodes and those without a submission
    take no part, and groups of fewer than 2 others keep their rewards. Raises RequestError if an episode
    has more than one submission, TaskError if it cannot be replayed, and FaultLimit if the share of
    faulted episodes is above `fault_limit`.
    """
    by_group: dict[str, list[Episode]] = {}
    for episode in episodes:
        if episode.status != "fault" and any(turn.verdict for turn in episode.turns):
            by_group.setdefault(episode.group_id or episode.id, []).append(episode)
    for members in by_group.values():
        if len(members) > 1:
            _reward(members, group)
    faulted = sum(episode.status == "fault" for episode in episodes)
    if faulted > fault_limit * len(episodes):
        raise FaultLimit(list(episodes), fault_limit)


def _reward(members: Sequence[Episode], group: GroupVerifier) -> None:
    asked = [_submission(episode) for episode in members]
    verdicts = group.verify_group(asked[0][1], [submission for _, _, submission in asked])
    for episode, (turn, _, _), verdict in zip(members, asked, verdicts, strict=True):
        if verdict.score is None:
            episode.status = "fault"
            episode.fault = Fault(cause=verdict.reason, detail=f"{group.name}: {verdict.evidence}")
        else:
            episode.turns[turn].reward = verdict.score


def _submission(episode: Episode) -> tuple[int, Task, JSON]:
    """Return the number of the turn that was judged, the task, and the submission."""
    judged = judged_moves(episode)
    if len(judged) != 1:
        raise RequestError(
            f"a group verifier rewards one submission an episode, but {episode.env_id} judges {len(judged)} "
            "turns; choose an environment that judges at the end"
        )
    ((turn, _, move),) = judged
    return turn, move.task, move.submission
