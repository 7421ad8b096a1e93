"""Regrades stored episodes with another version or other parameters of their verifier.

The environment is made again from the episode's record (`replay.make_world`) and the recorded actions are
played: each move is proposed, committed with the recorded verdict, so that the replay follows the recorded
trajectory, and judged anew. An episode that cannot be replayed (another version of the environment, a missing
task file) is reported as `unplayable`, neither a flip nor a fault. `replay.replay` proves that nothing differs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from verigym.agents.replay import make_world
from verigym.env import Env, Move
from verigym.episode import Episode
from verigym.errors import RequestError, TaskError
from verigym.judge import Judge
from verigym.verdict import Verdict, VerifierFault


@dataclass(frozen=True, kw_only=True)
class Regraded:
    """Old and new verdict on one turn of an episode."""

    episode: str
    env_id: str
    turn: int
    old: Verdict
    new: Verdict

    @property
    def outcome(self) -> str:
        """`fault` if there is no new score, `flip` if the score differs, else `same`."""
        if self.new.score is None:
            return "fault"
        return "same" if self.new.score == self.old.score else "flip"

    def to_builtins(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "episode": self.episode,
            "env_id": self.env_id,
            "turn": self.turn,
            "outcome": self.outcome,
            "old": self.old.to_builtins(),
            "new": self.new.to_builtins(),
        }


class Regrader:
    """Regrades episodes; `judge_for` returns the judge to ask in place of an environment's own."""

    def __init__(self, judge_for: Callable[[Judge], Judge] = lambda own: own) -> None:
        self._judge_for = judge_for

    def regrade(self, episode: Episode) -> list[Regraded]:
        """Return old and new verdicts of an episode in order; none for a faulted episode.

        Raises TaskError if it cannot be replayed.
        """
        if episode.status == "fault" or not any(turn.verdict for turn in episode.turns):
            return []
        env = _world(episode)
        try:
            judged = _play(env, episode)
            items = [(move.task, move.submission) for _, _, move in judged]
            verdicts = self._judge_for(env.verifier).verify_batch(items)
        finally:
            env.close()
        return [
            Regraded(episode=episode.id, env_id=episode.env_id, turn=number, old=old, new=new)
            for (number, old, _), new in zip(judged, verdicts, strict=True)
        ]


def judged_moves(episode: Episode) -> list[tuple[int, Verdict, Move[Any]]]:
    """Replay an episode and return each judged turn: its number, its verdict, and its move.

    Raises TaskError if the episode cannot be replayed.
    """
    env = _world(episode)
    try:
        return _play(env, episode)
    finally:
        env.close()


def _world(episode: Episode) -> Env[Any]:
    env, _, info = make_world(episode)
    if info["task_id"] != episode.task_id or info["state_key"] != episode.turns[0].state_key:
        env.close()
        raise TaskError(
            f"seed {episode.seed} now gives another task than {episode.task_id}; was the "
            "environment changed?"
        )
    return env


def _play(env: Env[Any], episode: Episode) -> list[tuple[int, Verdict, Move[Any]]]:
    judged: list[tuple[int, Verdict, Move[Any]]] = []
    for number, turn in enumerate(episode.turns):
        if env.state_key() != turn.state_key:
            raise TaskError(f"turn {number} starts in another state than was recorded")
        try:
            move = env.propose(turn.action)
            if move.submission is None and turn.verdict is not None:
                raise TaskError(f"turn {number} is not judged any more")
            if move.submission is not None and turn.verdict is None:
                raise TaskError(f"turn {number} is judged now, and no verdict was recorded")
            env.commit(move, turn.verdict)
        except (RequestError, VerifierFault) as error:
            raise TaskError(f"turn {number} cannot be played: {error}") from error
        if turn.verdict is not None:
            judged.append((number, turn.verdict, move))
    return judged
