"""Environments for TRL's GRPOTrainer: `VerigymSpec`. Tested with trl 1.16.

    spec = VerigymSpec("math/*", n=512, difficulty="easy")
    GRPOTrainer(..., train_dataset=spec.train_dataset, reward_funcs=spec.reward_funcs)

Tasks of one turn need no more. Tasks of several turns are played by TRL's own tool loop
(`environment_factory=spec.environment_factory`, one tool `act`) or as plain chat, for any chat template that keeps
earlier messages (`rollout_func=spec.rollout_func`). A fault is the reward None, which TRL leaves out of the group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from verigym.levels import Difficulty
from verigym.trainers.exports.packages import raise_missing
from verigym.trainers.exports.play import OVER, EpisodePlayer
from verigym.trainers.exports.rows import TaskRow, first_prompt, grade, row_of, task_rows
from verigym.trainers.exports.tokens import TokenPlay, chat_tokens

if TYPE_CHECKING:
    from datasets import Dataset

_TASK = "verigym_task"
"""Key of a prompt's last message that holds its row: TRL gives a rollout function nothing but prompts."""
_REWARD = "verigym_reward"
_HOW = "\n\nCall the tool `act` with each of your actions; it returns what happens."


class VerigymSpec:
    """Tasks of environments as the arguments of a trainer; picklable.

    `envs` are ids or patterns, `n` the number of tasks, taken from the environments in turn with seeds from `seed`
    on. `options` are arguments of the environments. `retries` is how often a step is repeated if its verifier
    gives no score, `threads` how many environments a rollout steps at once.
    """

    def __init__(
        self,
        *envs: str,
        n: int = 256,
        split: str = "train",
        difficulty: Difficulty | None = None,
        seed: int = 0,
        options: Mapping[str, Any] | None = None,
        retries: int = 2,
        threads: int = 16,
    ) -> None:
        self.rows = task_rows(
            *envs, n=n, split=split, difficulty=difficulty, seed=seed, options=options
        )
        self.retries = retries
        self.threads = threads

    @cached_property
    def train_dataset(self) -> Dataset:
        """Data set with `prompt`, the first observation as a chat, and the columns that name the task."""
        try:
            from datasets import Dataset
        except ImportError as error:
            raise_missing(error)
        prompts = [_prompt(row) for row in self.rows]
        return Dataset.from_list(
            [{"prompt": prompt, **row} for prompt, row in zip(prompts, self.rows, strict=True)]
        )

    @property
    def environment_factory(self) -> Callable[[], ActEnvironment]:
        """Maker of environments for TRL's tool loop. The chat template must be one whose tool calls TRL reads."""
        return partial(ActEnvironment, self.retries)

    @property
    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """Reward function for all three ways to play; None for a fault."""
        return [partial_named(verigym_reward, self.retries)]

    def rollout_func(self, prompts: Sequence[Any], trainer: Any) -> dict[str, list[Any] | None]:
        """Play the episodes of `prompts` as plain chat, each one row of token ids.

        Observations have `env_mask` 0. A response holds at most `max_completion_length` tokens, observations
        included. Raises RequestError if the chat template changes earlier messages.
        """
        chat = chat_tokens(trainer.processing_class, **(trainer.args.chat_template_kwargs or {}))
        size = int(trainer.max_completion_length)

        def begin(prompt: Any) -> TokenPlay:
            row = row_of(prompt[-1][_TASK])
            return TokenPlay(row, chat, max_tokens=size, play=EpisodePlayer(self.retries))

        with_logprobs = True
        with ThreadPoolExecutor(self.threads, thread_name_prefix="verigym-trl") as threads:
            plays = list(threads.map(begin, prompts))
            while live := [play for play in plays if not play.over]:
                # 1: each episode has its own history.
                made, logprobs = trainer._generate_single_turn(
                    [play.ids for play in live], None, {}, 1
                )
                with_logprobs = with_logprobs and logprobs is not None
                given = logprobs or [[0.0] * len(ids) for ids in made]
                list(threads.map(TokenPlay.answer, live, made, given))
        for play in plays:
            play.play.close()
        return {
            "prompt_ids": [play.prompt_ids for play in plays],
            "completion_ids": [play.response_ids for play in plays],
            "logprobs": [play.logprobs for play in plays] if with_logprobs else None,
            "env_mask": [play.mask for play in plays],
            _REWARD: [play.reward for play in plays],
        }


class ActEnvironment:
    """One episode at a time for TRL's tool loop, with one tool, `act`."""

    def __init__(self, retries: int = 2) -> None:
        self._play = EpisodePlayer(retries)

    def reset(self, **columns: Any) -> str:
        """Begin the task of a data set's row; return what is added to its prompt."""
        self._play.start(row_of(columns))
        return _HOW

    def act(self, action: str) -> str:
        """
        Send the next action, or the answer, to the environment.

        Args:
            action: The action or answer, written as the task describes.

        Returns:
            The next observation.
        """
        return OVER if self._play.over else self._play.step(action).observation

    @property
    def reward(self) -> float | None:
        """Sum of the rewards so far; None for a faulted episode."""
        return self._play.reward


def verigym_reward(
    retries: int,
    *,
    completions: Sequence[Any],
    environments: Sequence[ActEnvironment] | None = None,
    **columns: Any,
) -> list[float | None]:
    """Return the reward of each episode; None for a fault.

    It comes from the environments of the tool loop, from the rollout, or, for tasks of one turn, from grading the
    completion.
    """
    if environments is not None:
        return [one.reward for one in environments]
    if (played := columns.get(_REWARD)) is not None:
        return list(played)
    rows = [
        row_of({name: values[i] for name, values in columns.items() if isinstance(values, list)})
        for i in range(len(completions))
    ]
    replies = [
        one if isinstance(one, str) else str(one[-1].get("content") or "") for one in completions
    ]
    return [verdict.score for verdict in grade(rows, replies, retries)]


def partial_named(function: Callable[..., Any], *given: Any) -> Callable[..., Any]:
    """Return a partial that keeps the function's name, which TRL logs."""
    made = partial(function, *given)
    made.__name__ = function.__name__  # type: ignore[attr-defined]
    return made


def _prompt(row: TaskRow) -> list[dict[str, Any]]:
    return [{**message, _TASK: dict(row)} for message in first_prompt(row)]
