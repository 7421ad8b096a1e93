"""Environments for GEM: `VerigymGemEnv` and `register`. Tested with gem-llm 0.1.0.

    register("math/*", difficulty="easy")
    env = gem.make("verigym:math/counting-v0")

GEM has no reward for a fault, so the step raises VerifierFault, after its retries. In a vector the whole step
raises, and some of its environments have moved: reset all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from typing_extensions import override

from verigym.choosing import choose_envs
from verigym.errors import RequestError
from verigym.levels import Difficulty
from verigym.trainers.exports.packages import raise_missing
from verigym.trainers.exports.play import EpisodePlayer
from verigym.trainers.exports.rows import TaskRow, task_rows

try:
    from gem.core import Env
    from gem.envs.registration import register as register_in_gem
except ImportError as error:
    raise_missing(error)


def register(*envs: str, **arguments: Any) -> list[str]:
    """Register environments, ids or patterns, and return their ids for `gem.make`, such as `verigym:math/counting-v0`.

    `arguments` are those of VerigymGemEnv; `gem.make` can override them.
    """
    made = []
    for env_id in choose_envs(envs):
        made.append("verigym:" + env_id.removeprefix("verigym/"))
        place = "verigym.trainers.exports.gem:VerigymGemEnv"
        register_in_gem(made[-1], place, env=env_id, **arguments)
    return made


class VerigymGemEnv(Env):
    """An environment of tasks. `reset(seed)` begins the task of that seed; without one, tasks are drawn from `seed`.

    `options` are arguments of the environment, `retries` is how often a step is repeated if its verifier gives no score.
    No global random generator is seeded.
    """

    def __init__(
        self,
        env: str,
        *,
        split: str = "train",
        difficulty: Difficulty | None = None,
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        retries: int = 2,
    ) -> None:
        super().__init__()
        self._arguments = {
            "env": env,
            "split": split,
            "difficulty": difficulty,
            "options": options,
            "seed": seed,
            "retries": retries,
        }
        (self._row,) = task_rows(env, n=1, split=split, difficulty=difficulty, options=options)
        self._seeds = np.random.default_rng(seed)
        self._choices = np.random.default_rng([seed, 1])
        self._play = EpisodePlayer(retries)
        self._legal_actions: list[str] | None = None

    @override
    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a task; return its first observation, with the prompt, and `info`."""
        if seed is None:
            seed = int(self._seeds.integers(2**31))
        row: TaskRow = {**self._row, "seed": seed}
        observation, info = self._play.start(row)
        self._legal_actions = info["legal_actions"]
        return observation, info

    @override
    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one reply. Raises VerifierFault if the verifier gives no score."""
        found = self._play.step_or_raise(action)
        self._legal_actions = found[4]["legal_actions"]
        return found

    @override
    def sample_random_action(self) -> str:
        """Return a legal action. Raises NotImplementedError if the environment does not list them."""
        if not self._legal_actions:
            raise NotImplementedError(f"{self._row['env']} does not list its legal actions")
        return str(self._choices.choice(self._legal_actions))

    @override
    def spawn(self, same_state: bool = False, **arguments: Any) -> VerigymGemEnv:
        """Return a new environment with the same arguments but for `arguments`; in the same state if asked for.

        Raises RequestError if `same_state` and no episode has begun, or `arguments` are given too.
        """
        if same_state and arguments:
            raise RequestError("spawn(same_state=True) takes no other arguments")
        made = VerigymGemEnv(**{**self._arguments, **arguments})
        if same_state:
            made._play = self._play.copy()
            made._legal_actions = self._legal_actions
        return made

    def close(self) -> None:
        """Close the environment."""
        self._play.close()
