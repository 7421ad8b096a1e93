"""`TokenPlay`: an episode as one growing row of token ids, for trainers that sample (law 3).

The ids that were sampled stay in the row; only what the chat template puts between two replies is encoded. A
template that changes earlier messages would need several rows and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from verigym.agents.chat import Conversation, Transcript
from verigym.agents.policies.chat_tokens import ChatTokens
from verigym.agents.policy import Completion, Policy
from verigym.errors import RequestError
from verigym.trainers.exports.play import EpisodePlayer
from verigym.trainers.exports.rows import TaskRow


def chat_tokens(tokenizer: Any, **template_options: Any) -> ChatTokens:
    """Return the chat of a tokenizer; a reply ends with its `eos_token`."""
    return ChatTokens(
        tokenizer,
        name=type(tokenizer).__name__,
        n_embeddings=len(tokenizer),
        end_ids=frozenset([tokenizer.eos_token_id]),
        chat_template_kwargs=template_options,
    )


class TokenPlay:
    """One episode in token ids.

    `prompt_ids` [P] open the row; `response_ids`, `logprobs` and `mask` [L] follow, with `mask` 1 on sampled
    tokens and 0 on observations, whose log-probability is 0. `ends`, `rewards`, `invalid` and `state_keys` have an
    entry for each turn: the place in the response of its last sampled token, its reward (None after a fault), True if the
    action had no effect, and the state in which it was sampled.
    At most `max_tokens` tokens are in the response; an episode that needs more ends there.
    """

    def __init__(
        self,
        row: TaskRow,
        chat: ChatTokens,
        *,
        max_tokens: int,
        encoding: Transcript | None = None,
        play: EpisodePlayer | None = None,
    ) -> None:
        self.play = play or EpisodePlayer()
        self.max_tokens = max_tokens
        self.response_ids: list[int] = []
        self.logprobs: list[float] = []
        self.mask: list[int] = []
        self.ends: list[int] = []
        self.rewards: list[float | None] = []
        self.invalid: list[bool] = []
        self.cut = False
        """True if a limit ended the episode."""
        self._chat = chat
        self._encoding = encoding or Transcript()
        _, info = self.play.start(row)
        env = self.play.env
        self.state_keys: list[str] = [info["state_key"]]
        self._talk = Conversation(
            task_prompt=env.task.prompt,
            observations=[env.view()],
            legal_actions=info["legal_actions"],
            max_turns=self.play.max_turns,
            tools=self.play.tools,
        )
        # An encoding asks a policy for its chat and its limit of tokens, and never for a completion.
        self._policy = cast(Policy, chat)
        self._prompt = self._encoding.prompt(self._talk, self._policy)
        assert self._prompt.ids is not None
        self.prompt_ids = list(self._prompt.ids)
        self.over = False

    @property
    def ids(self) -> list[int]:
        """Prompt of the next turn: the row so far."""
        return self.prompt_ids + self.response_ids

    @property
    def room(self) -> int:
        """Number of tokens that the response may still get."""
        return self.max_tokens - len(self.response_ids)

    @property
    def reward(self) -> float | None:
        """Sum of the rewards; None for a faulted episode."""
        return self.play.reward

    def answer(self, ids: Sequence[int], logprobs: Sequence[float]) -> None:
        """Play the reply that was sampled for `ids`; [L] ids and log-probabilities, the end token included.

        Raises RequestError if the chat template changed earlier messages.
        """
        sampled = list(ids)[: self.room]
        self._extend(sampled, list(logprobs)[: len(sampled)], 1)
        self.ends.append(len(self.response_ids) - 1)
        text = self._chat.decode(sampled)
        ended = bool(sampled) and sampled[-1] in self._chat.end_ids
        outcome = self.play.step(text)
        self.rewards.append(outcome.reward)
        self.invalid.append(not outcome.info.get("valid_action", True))
        self.over, self.cut = outcome.over, outcome.truncated
        if self.over:
            return
        self._talk.prompts.append(self._prompt)
        self._talk.completions.append(
            Completion(
                text=text,
                prompt_ids=list(self._prompt.ids or ()),
                response_ids=sampled,
                logprobs=[0.0] * len(sampled),
                mask=[1] * len(sampled),
                finish_reason="stop" if ended else "length",
            )
        )
        self._talk.actions.append(self.play.env.action_in(text))
        self._talk.observations.append(outcome.observation)
        self._talk.legal_actions = outcome.info["legal_actions"]
        self._observe(outcome.info["state_key"])

    def _observe(self, state_key: str) -> None:
        before = self.ids
        self._prompt = self._encoding.prompt(self._talk, self._policy)
        if not self._prompt.extends or self._prompt.ids is None:
            raise RequestError(
                "the chat template changes earlier messages, so the episode is no single row of tokens; take one "
                "that keeps them (for Qwen3: without stripping of thoughts)"
            )
        glue = self._prompt.ids[len(before) :]
        if len(glue) >= self.room:
            self.over = self.cut = True
            return
        self._extend(glue, [0.0] * len(glue), 0)
        self.state_keys.append(state_key)

    def _extend(self, ids: Sequence[int], logprobs: Sequence[float], mask: int) -> None:
        self.response_ids.extend(ids)
        self.logprobs.extend(logprobs)
        self.mask.extend([mask] * len(ids))
