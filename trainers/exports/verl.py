"""Environments for verl: `dataset_rows`, `compute_score` and `VerigymAgentLoop`. Tested with verl 0.9.1.

    reward.custom_reward_function.path=pkg://verigym.trainers.exports.verl
    reward.custom_reward_function.name=compute_score

`compute_score` judges tasks of one turn; the agent loop plays those of several, as one row of the ids that were
sampled. verl has no reward for a fault, so both raise VerifierFault: verl's trainer marks the episode as failed and
trains on the rest of its group. `verl_credit.py` gives each turn its own advantage.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from uuid import uuid4

import torch
from typing_extensions import override

from verigym.errors import RequestError
from verigym.levels import Difficulty
from verigym.trainers.exports.packages import raise_missing
from verigym.trainers.exports.play import EpisodePlayer
from verigym.trainers.exports.rows import TaskRow, first_prompt, grade, row_of, task_rows
from verigym.trainers.exports.tokens import TokenPlay, chat_tokens
from verigym.verdict import VerifierFault

try:
    from verl.experimental.agent_loop.agent_loop import (
        AgentLoopBase,
        AgentLoopMetrics,
        AgentLoopOutput,
        register,
    )
except ImportError as error:
    raise_missing(error)

LOOP = "verigym"
"""Name of the agent loop."""


def dataset_rows(
    *envs: str,
    n: int,
    split: str = "train",
    difficulty: Difficulty | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    agent_loop: bool = False,
) -> list[dict[str, Any]]:
    """Return rows of verl's data set; the other arguments are those of `task_rows`.

    If `agent_loop`, VerigymAgentLoop plays them. `extra_info` names the task; the ground truth is empty, since
    the task is made again from its seed.
    """
    rows = task_rows(*envs, n=n, split=split, difficulty=difficulty, seed=seed, options=options)
    loop = {"agent_name": LOOP} if agent_loop else {}
    return [
        {
            "data_source": row["env"],
            "prompt": first_prompt(row),
            "reward_model": {"style": "rule", "ground_truth": ""},
            "extra_info": dict(row),
            **loop,
        }
        for row in rows
    ]


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    retries: int = 2,
    **unused: Any,
) -> dict[str, Any]:
    """Return the score of one reply, and `reason` and `digest` of its verdict.

    Raises VerifierFault if the verifier gives no score after `retries` repetitions.
    """
    (verdict,) = grade([row_of(extra_info or {})], [solution_str], retries)
    if verdict.fault:
        raise VerifierFault(verdict)
    return {"score": verdict.score, "reason": verdict.reason, "digest": verdict.digest}


class StepOutput(AgentLoopOutput):
    """An episode whose rewards stand at the last sampled token of each turn."""

    @override
    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = super().as_dict()
        found["rm_scores"] = torch.zeros(len(self.response_ids), dtype=torch.float32)
        fields = self.extra_fields
        for end, reward in zip(fields["turn_ends"], fields["turn_scores"], strict=True):
            found["rm_scores"][max(end, 0)] += reward
        return found


@register(LOOP)
class VerigymAgentLoop(AgentLoopBase):
    """Plays the task of a row as a chat: each reply is an action, each observation a user message.

    A response holds at most `rollout.response_length` tokens, observations included; an episode that needs
    more ends there, with the reward it has.
    """

    def __init__(self, *given: Any, retries: int = 2, **named: Any) -> None:
        super().__init__(*given, **named)
        self._retries = retries

    @override
    async def run(self, sampling_params: dict[str, Any], **columns: Any) -> AgentLoopOutput:
        """Play one episode. Raises VerifierFault if the verifier gives no score, and RequestError if the prompt is too
        long or the chat template changes earlier messages."""
        play = EpisodePlayer(self._retries)
        # If verl cancels the episode during a step, the single thread closes the environment after that step.
        thread = ThreadPoolExecutor(1, thread_name_prefix="verigym-verl")
        run = partial(asyncio.get_running_loop().run_in_executor, thread)
        try:
            begun = await run(self._begin, row_of(columns["extra_info"]), play)
            return await self._played(begun, sampling_params, run)
        finally:
            thread.submit(play.close)
            thread.shutdown(wait=False)

    def _begin(self, row: TaskRow, episode: EpisodePlayer) -> TokenPlay:
        chat = chat_tokens(self.tokenizer, **dict(self.apply_chat_template_kwargs or {}))
        limit = int(self.rollout_config.prompt_length)
        most = int(self.rollout_config.response_length)
        play = TokenPlay(row, chat, max_tokens=most, play=episode)
        if len(play.prompt_ids) > limit:
            raise RequestError(
                f"the prompt of {row['env']}, seed {row['seed']}, has {len(play.prompt_ids)} tokens, and "
                f"rollout.prompt_length is {limit}; set data.max_prompt_length to at least the former"
            )
        return play

    async def _played(
        self,
        play: TokenPlay,
        sampling_params: dict[str, Any],
        run: Callable[..., Awaitable[Any]],
    ) -> StepOutput:
        request_id, fields, has_logprobs = uuid4().hex, dict[str, Any](), True
        seconds = {"generate_sequences": 0.0, "tool_calls": 0.0}
        while not play.over:
            start = time.perf_counter()
            made = await self.server_manager.generate(
                request_id=request_id, prompt_ids=play.ids, sampling_params=sampling_params
            )
            sampled = time.perf_counter()
            has_logprobs = has_logprobs and bool(made.log_probs)
            logprobs = made.log_probs or [0.0] * len(made.token_ids)
            await run(play.answer, made.token_ids, logprobs)
            seconds["generate_sequences"] += sampled - start
            seconds["tool_calls"] += time.perf_counter() - sampled
            # Versions of the weights: the first turn's, and the last's as the maximum.
            later = ("max_global_steps",) if fields else tuple(made.extra_fields)
            fields |= {name: made.extra_fields[name] for name in later if name in made.extra_fields}
        verdict, reward = play.play.verdict, play.reward
        if reward is None:
            assert verdict is not None
            raise VerifierFault(verdict)
        fields |= {
            "turn_scores": play.rewards,
            "turn_ends": play.ends,
            "turn_invalid": play.invalid,
            "state_keys": play.state_keys,
            "cut": play.cut,
            "verdict": None if verdict is None else verdict.to_builtins(),
            "reward_extra_info": {"acc": reward},
        }
        return StepOutput(
            prompt_ids=play.prompt_ids,
            response_ids=play.response_ids,
            response_mask=play.mask,
            response_logprobs=play.logprobs if has_logprobs else None,
            reward_score=reward,
            num_turns=2 * len(play.ends),
            metrics=AgentLoopMetrics(**seconds),
            extra_fields=fields,
        )
