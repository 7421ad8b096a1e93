"""Grades stored episodes again, with another version or other parameters of their verifier.

The world is made again from what the episode says of it (environment, seed, difficulty, split) and
the recorded actions are played. Where the environment asks its verifier, the new one judges, and the
recorded verdict is what the environment hears: so the episode takes the course that it took. An
episode whose world comes out otherwise (another version of the environment, a task file that is not
there) is `unplayable`: it is told, and neither a flip nor a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from verigym.canonical import JSON
from verigym.env import Env
from verigym.episode import Episode, Turn
from verigym.errors import RequestError, TaskError, VerigymError
from verigym.registry import make, make_verifier
from verigym.task import Task
from verigym.verdict import Verdict, VerifierFault
from verigym.verifier import Verifier


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
        """`fault` without a new score, `flip` where it differs, else `same`."""
        if self.new.score is None:
            return "fault"
        return "same" if self.new.score == self.old.score else "flip"

    def to_builtins(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "episode": self.episode,
            "env_id": self.env_id,
            "turn": self.turn,
            "outcome": self.outcome,
            "old": self.old.to_builtins(),
            "new": self.new.to_builtins(),
        }


class _Hearing(Verifier):
    """Judges with `judge_with`, and answers with what was recorded."""

    def __init__(self, judge_with: Verifier) -> None:
        # Not super().__init__: it takes the place of the other.
        self.judge_with = judge_with
        self.id = judge_with.id  # type: ignore[misc]  # of the instance here, of the class elsewhere
        self.version = judge_with.version  # type: ignore[misc]
        self.params = judge_with.params
        self.recorded: Verdict | None = None
        self.heard: list[Verdict] = []

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """As `verify`."""
        return self.verify(task, submission)

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """The recorded verdict, once the new one is in `heard`. TaskError where none is recorded."""
        if self.recorded is None:
            raise TaskError("the environment asks for a verdict where none was recorded")
        self.heard.append(self.judge_with.verify(task, submission))
        return self.recorded


class Regrader:
    """Grades episodes; `verifier_of` gives the verifier for an environment's `verifier_id`."""

    def __init__(self, verifier_of: Callable[[str], Verifier] = make_verifier) -> None:
        self._verifier_of = verifier_of
        self._verifiers: dict[str, Verifier] = {}

    def regrade(self, episode: Episode) -> list[Regraded]:
        """Old and new verdicts of an episode, in order; none of a faulted one.

        Raises TaskError where it cannot be played again.
        """
        if episode.status == "fault" or not any(turn.verdict for turn in episode.turns):
            return []
        env = _world(episode)
        try:
            hearing = _Hearing(self._for(env))
            env.verifier = hearing
            return list(_play(env, episode, hearing))
        finally:
            env.close()

    def _for(self, env: Env[Any]) -> Verifier:
        name = env.verifier_id
        if name not in self._verifiers:
            self._verifiers[name] = self._verifier_of(name)
        return self._verifiers[name]


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


def _play(env: Env[Any], episode: Episode, hearing: _Hearing) -> Iterator[Regraded]:
    for number, turn in enumerate(episode.turns):
        if env.state_key() != turn.state_key:
            raise TaskError(f"turn {number} starts in another state than was recorded")
        hearing.recorded, hearing.heard = turn.verdict, []
        _step(env, turn, number)
        if turn.verdict is not None:
            if len(hearing.heard) != 1:
                raise TaskError(f"turn {number} is not judged any more")
            yield Regraded(
                episode=episode.id,
                env_id=episode.env_id,
                turn=number,
                old=turn.verdict,
                new=hearing.heard[0],
            )


def _step(env: Env[Any], turn: Turn, number: int) -> None:
    try:
        env.step(turn.action)
    except (RequestError, VerifierFault) as error:
        raise TaskError(f"turn {number} cannot be played: {error}") from error
