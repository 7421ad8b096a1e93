"""Extra message for the teacher of self-distillation: another attempt that succeeded, or feedback.

The teacher is the policy itself, with one more message in front of the row's own ids.
Source: SDPO, arXiv 2601.20802.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from verigym.episode import Episode
from verigym.trainers.batch import Row
from verigym.trainers.credit.options import Sdpo
from verigym.trainers.loss.sdpo import choose_teachers


@dataclass(frozen=True, kw_only=True)
class MessageReader:
    """The policy's tokenizer: `message` gives the ids of one user message; rows hold `context` tokens."""

    message: Callable[[str], list[int]]
    context: int


def show_teachers(
    rows: Sequence[Row], episodes: Sequence[Episode], options: Sdpo, reader: MessageReader
) -> list[Row]:
    """Return the rows with the `teacher` ids of their episode, None if there is nothing to show.

    An attempt that is too long for the context loses its first turns.
    """
    found = choose_teachers(
        [episode.return_ for episode in episodes],
        [episode.group_id for episode in episodes],
        threshold=options.threshold,
        exclude_self=options.exclude_self,
        feedback=[_feedback(episode) for episode in episodes],
        use_feedback=options.use_feedback,
        valid=[episode.status != "fault" for episode in episodes],
    )
    out = []
    for row in rows:
        i = row.trajectory
        demo = found.demo[i]
        turns = [] if demo is None else _attempt(episodes[demo])
        feedback = _feedback(episodes[i]) if found.feedback_used[i] else None
        room = reader.context - len(row.ids)
        ids = _fitting(turns, feedback, room, reader) if found.active[i] else None
        out.append(replace(row, teacher=ids))
    return out


def _fitting(
    turns: list[str], feedback: str | None, room: int, reader: MessageReader
) -> list[int] | None:
    """Return the ids of the longest end of the attempt that fits; None if nothing does."""
    for start in range(len(turns) + 1):
        said = []
        if turns[start:]:
            said.append("An attempt at this task that succeeded:\n\n" + "\n\n".join(turns[start:]))
        if feedback is not None:
            said.append(f"Feedback on your last attempt:\n\n{feedback}")
        if not said:
            return None
        ids = reader.message("\n\n".join(said))
        if len(ids) <= room:
            return ids
    return None


def _attempt(episode: Episode) -> list[str]:
    return [f"{turn.observation}\n{turn.response}".strip() for turn in episode.turns]


def _feedback(episode: Episode) -> str | None:
    verdict = episode.verdict
    if verdict is None:
        return None
    return f"{verdict.reason}: {verdict.evidence}" if verdict.evidence else verdict.reason
