"""Environments for SkyRL: `VerigymTextEnv`, a `BaseTextEnv`. Tested with skyrl-gym 0.4.0.

    skyrl_gym.register(id="verigym", entry_point="verigym.trainers.exports.skyrl_gym:VerigymTextEnv")
    rows = dataset_rows("math/*", n=512, difficulty="easy")

A reply is an action, an observation a user message. SkyRL has no reward for a fault, so the step raises
VerifierFault, after its retries, and the run stops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import override

from verigym.levels import Difficulty
from verigym.trainers.exports.packages import raise_missing
from verigym.trainers.exports.play import EpisodePlayer
from verigym.trainers.exports.rows import first_prompt, row_of, task_rows

try:
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
except ImportError as error:
    raise_missing(error)


class VerigymTextEnv(BaseTextEnv):
    """One episode. `extras` are the columns of a row of `dataset_rows`.

    The turn limit is that of the task; SkyRL's `max_turns` is not read, since by default it is 1.
    """

    def __init__(
        self, env_config: Any = None, extras: Mapping[str, Any] | None = None, retries: int = 2
    ) -> None:
        super().__init__()
        self._row = row_of(extras or {})
        self._play = EpisodePlayer(retries)

    @override
    def init(self, prompt: Sequence[Mapping[str, str]]) -> tuple[list[Any], dict[str, Any]]:
        """Begin the task; return the system messages of `prompt`, then the first observation, and `info`."""
        observation, info = self._play.start(self._row)
        self.turns, self.max_turns = 0, self._play.max_turns
        kept = [message for message in prompt if message["role"] == "system"]
        return [*kept, _shown(observation)], info

    @override
    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Play one reply. Raises VerifierFault if the verifier gives no score."""
        observation, reward, terminated, truncated, info = self._play.step_or_raise(action)
        self.turns += 1
        return BaseTextEnvStepOutput(
            observations=[_shown(observation)],
            reward=reward,
            done=terminated or truncated,
            metadata=info,
        )

    @override
    def get_metrics(self) -> dict[str, Any]:
        """Return the number of turns and the sum of the rewards, whose means SkyRL logs."""
        metrics: dict[str, Any] = {"turns": self.turns}
        if self._play.reward is not None:
            metrics["reward"] = self._play.reward
        return metrics

    @override
    def close(self) -> None:
        self._play.close()


def dataset_rows(
    *envs: str,
    n: int,
    split: str = "train",
    difficulty: Difficulty | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    env_class: str = "verigym",
) -> list[dict[str, Any]]:
    """Return rows of SkyRL's data set; the other arguments are those of `task_rows`.

    A row has `data_source`, `prompt`, `env_class`, the registered name of VerigymTextEnv, and the columns of the task.
    """
    rows = task_rows(*envs, n=n, split=split, difficulty=difficulty, seed=seed, options=options)
    return [
        {"data_source": row["env"], "prompt": first_prompt(row), "env_class": env_class, **row}
        for row in rows
    ]


def _shown(observation: str) -> dict[str, str]:
    return {"role": "user", "content": observation}
