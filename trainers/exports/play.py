"""`EpisodePlayer`: episodes that another library steps, in which a fault never becomes a reward (law 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from verigym.agents.native_tools import ToolSchemas, published_by
from verigym.env import Env
from verigym.errors import RequestError
from verigym.trainers.exports.rows import TaskRow, open_env, start
from verigym.verdict import Verdict, VerifierFault

OVER = "The episode is over; nothing happened."
"""Answer to an action after the end."""
FAULTED = "The verifier failed; the episode is over and does not count."
"""Last observation of a faulted episode."""


@dataclass(kw_only=True)
class Outcome:
    """Outcome of one action. `reward` is None if the verifier gave no score; the episode is then over."""

    observation: str
    reward: float | None
    terminated: bool
    truncated: bool
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """True if the episode has ended."""
        return self.terminated or self.truncated


class EpisodePlayer:
    """Plays one episode after another. A step whose verifier gives no score is repeated `retries` times.

    Environments are kept for further episodes, so an instance belongs to one thread at a time.
    """

    def __init__(self, retries: int = 2) -> None:
        self.retries = retries
        self.verdict: Verdict | None = None
        """Last verdict of the episode; one without a score after a fault."""
        self.turns = 0
        """Number of actions played in the episode."""
        self._envs: dict[tuple[str, str], Env[Any]] = {}
        self._env: Env[Any] | None = None
        self._row: TaskRow | None = None
        self._earned = 0.0
        self._over = True

    @property
    def env(self) -> Env[Any]:
        """Environment of the current episode. Raises RequestError before the first `start`."""
        if self._env is None:
            raise RequestError("call start() first")
        return self._env

    @property
    def over(self) -> bool:
        """True if the episode has ended or none has begun."""
        return self._over

    @property
    def faulted(self) -> bool:
        """True if the episode has no outcome, since its verifier gave no score."""
        return self.verdict is not None and self.verdict.fault

    @property
    def reward(self) -> float | None:
        """Sum of the rewards so far; None for a faulted episode, which no statistic may count."""
        return None if self.faulted else self._earned

    @property
    def max_turns(self) -> int:
        """Turn limit of the current task."""
        return self.env.max_turns or self.env.turns_allowed(self.env.task)

    @property
    def tools(self) -> ToolSchemas | None:
        """Tools of the current task as the chat API takes them; None if it has none."""
        return published_by(self.env)

    def start(self, row: TaskRow) -> tuple[str, dict[str, Any]]:
        """Begin the task of a row; return its first observation, with the prompt, and `info`."""
        place = (row["env"], row["options"])
        self._env = self._envs.get(place) or self._envs.setdefault(place, open_env(row))
        self._row = row
        self.verdict, self.turns, self._earned, self._over = None, 0, 0.0, False
        return start(self._env, row)

    def step(self, reply: str) -> Outcome:
        """Play one action. Raises RequestError after the end of the episode."""
        if self._over:
            raise RequestError("the episode is over, or none has begun: call start()")
        for _ in range(self.retries):
            try:
                return self._played(reply)
            except VerifierFault:
                continue
        try:
            return self._played(reply)
        except VerifierFault as error:
            self.verdict, self._over = error.verdict, True
            return Outcome(
                observation=FAULTED,
                reward=None,
                terminated=False,
                truncated=True,
                info={"verdict": error.verdict},
            )

    def step_or_raise(self, reply: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one action for a caller that takes nothing but numbers for rewards; return Gymnasium's five values.

        Raises VerifierFault if the verifier gives no score.
        """
        outcome = self.step(reply)
        if outcome.reward is None:
            raise VerifierFault(outcome.info["verdict"])
        return (
            outcome.observation,
            outcome.reward,
            outcome.terminated,
            outcome.truncated,
            outcome.info,
        )

    def copy(self) -> EpisodePlayer:
        """Return a play of the same episode in the same state, with an environment of its own.

        Raises RequestError before the first `start`.
        """
        snapshot = self.env.snapshot()
        assert self._row is not None
        made = EpisodePlayer(self.retries)
        made.start(self._row)
        made.env.restore(snapshot)
        made.verdict, made.turns = self.verdict, self.turns
        made._earned, made._over = self._earned, self._over
        return made

    def _played(self, reply: str) -> Outcome:
        observation, reward, terminated, truncated, info = self.env.step(reply)
        self.turns += 1
        self._earned += float(reward)
        self._over = terminated or truncated
        if info["verdict"] is not None:
            self.verdict = info["verdict"]
        return Outcome(
            observation=observation,
            reward=float(reward),
            terminated=terminated,
            truncated=truncated,
            info=info,
        )

    def close(self) -> None:
        """Close the environments."""
        for env in self._envs.values():
            env.close()
        self._envs.clear()
        self._env, self._over = None, True
