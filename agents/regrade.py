"""Regrades stored episodes with another version or other parameters of their verifier.

The environment is made again from the episode's record (id, seed, difficulty, split) and the recorded
actions are played: each move is proposed, committed with the recorded verdict, so that the replay follows
the recorded trajectory, and judged anew. An episode that cannot be replayed (another version of the
environment, a missing task file) is reported as `unplayable`, neither a flip nor a fault.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from verigym.env import Env, Move
from verigym.episode import Episode
from verigym.errors import RequestError, TaskError, VerigymError
from verigym.judge import Judge
from verigym.making import make
from verigym.registry import make_verifier
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
    """Regrades episodes; `verifier_of` returns the verifier for an environment's `verifier_id`."""

    def __init__(self, verifier_of: Callable[[str], Judge] = make_verifier) -> None:
        self._verifier_of = verifier_of
        self._verifiers: dict[str, Judge] = {}

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
            verdicts = self._for(env).verify_batch(items)
        finally:
            env.close()
        return [
            Regraded(episode=episode.id, env_id=episode.env_id, turn=number, old=old, new=new)
            for (number, old, _), new in zip(judged, verdicts, strict=True)
        ]

    def _for(self, env: Env[Any]) -> Judge:
        name = env.verifier_id
        if name not in self._verifiers:
            self._verifiers[name] = self._verifier_of(name)
        return self._verifiers[name]


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
    n = len(episode.turns)
    # One that ended by its own rules must not be cut short here; a limit cuts where it did.
    limit = n if episode.status == "truncated" else n + 1
    try:
        env = make(episode.env_id, max_turns=limit)
    except RequestError as error:
        raise TaskError(f"environment {episode.env_id} cannot be made: {error}") from error
    try:
        options = {"difficulty": episode.difficulty, "split": episode.split}
        _, info = env.reset(seed=episode.seed, options=options)
    except (VerigymError, ValueError) as error:
        env.close()
        raise TaskError(f"the task cannot be made again: {error}") from error
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
