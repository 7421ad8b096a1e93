"""Text to token ids and back: what policies that are given and give token ids do with a chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Literal, cast

from jinja2 import TemplateError

from verigym.agents.native_tools import ToolSchemas
from verigym.agents.policies.thinking import Think, thinking_switch
from verigym.agents.policy import Completion, Message, PolicyRefusal, Request
from verigym.errors import RequestError

_PROBE = "probe of verigym"
_CACHED_TEXTS = 2048
_SHORT_TOKENS = 16


class ChatTokens:
    """A tokenizer with its chat template. `end_ids` are the ids that end an answer.

    `think` turns thinking on or off where the chat template has a switch for it; `auto` leaves it at the
    template's own. `chat_template_kwargs` go to the template; they and the tokenizer must not change later.
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        name: str,
        n_embeddings: int,
        end_ids: frozenset[int],
        think: Think = "auto",
        chat_template_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if len(tokenizer) > n_embeddings:
            raise RequestError(
                f"the tokenizer has {len(tokenizer)} tokens and the model {n_embeddings} embeddings; "
                "they do not belong together"
            )
        if tokenizer.chat_template is None:
            raise RequestError(
                f"the tokenizer of {name} has no chat template; set tokenizer.chat_template or add "
                "chat_template.jinja to the folder"
            )
        self.tokenizer = tokenizer
        self.name = name
        self.end_ids = end_ids
        self.think = think
        self.chat_template_kwargs = {
            **thinking_switch(think, tokenizer.chat_template, name),
            **(chat_template_kwargs or {}),
        }
        # In small worlds the same prompts and answers come again and again, and a small model takes
        # no longer over them than the template and the tokenizer do.
        self._tokenize = lru_cache(_CACHED_TEXTS)(self._tokenize_items)
        self._decode_short = lru_cache(_CACHED_TEXTS)(self._decode)

    def render(self, messages: Sequence[Message], tools: ToolSchemas | None = None) -> str:
        """Return the chat template's text, generation prompt included.

        Raises RequestError if there are `tools` and the template does not show them.
        """
        if tools and "tools" not in str(self.tokenizer.chat_template):
            raise RequestError(
                f"the chat template of {self.name} takes no tools; leave native_tools off, and the model calls them "
                "as the task describes"
            )
        text = self.tokenizer.apply_chat_template(
            [dict(message) for message in messages],
            tokenize=False,
            add_generation_prompt=True,
            **({"tools": [dict(tool) for tool in tools]} if tools else {}),
            **self.chat_template_kwargs,
        )
        return cast(str, text)

    def encode(self, text: str) -> list[int]:
        """Return the ids of rendered text; special tokens in it are recognised, none is added."""
        return cast(list[int], self.tokenizer(text, add_special_tokens=False)["input_ids"])

    @cached_property
    def role_of_results(self) -> Literal["tool", "user"]:
        """Role of messages with the result of a tool: `tool` if the chat template shows it."""
        try:
            shown = self.render(
                [
                    {"role": "user", "content": "question"},
                    {"role": "assistant", "content": "call"},
                    {"role": "tool", "content": _PROBE},
                ]
            )
        except (TemplateError, TypeError, ValueError):
            return "user"
        return "tool" if _PROBE in shown else "user"

    def tokenize(self, messages: Sequence[Message], tools: ToolSchemas | None = None) -> list[int]:
        """Return the ids of the rendered messages, equal to `apply_chat_template(tokenize=True)`."""
        if tools:
            return self.encode(self.render(messages, tools))
        return list(self._tokenize(tuple(tuple(message.items()) for message in messages)))

    def prompt_ids(self, requests: Sequence[Request], max_context: int) -> list[list[int]]:
        """Return the ids of each prompt. Raises PolicyRefusal if one leaves no room in `max_context` tokens."""
        prompts = [
            list(self.tokenize(r.messages) if r.prompt_ids is None else r.prompt_ids)
            for r in requests
        ]
        for prompt in prompts:
            if not 0 < len(prompt) < max_context:
                raise PolicyRefusal(
                    f"a prompt must have 1 to {max_context - 1} tokens, got {len(prompt)}"
                )
        return prompts

    def completion(
        self,
        prompt: list[int],
        ids: list[int],
        logprobs: list[float],
        *,
        stopped: bool,
        version: int,
        seconds: float,
    ) -> Completion:
        """Return the sampled `ids` as the answer to `prompt`; `stopped` is False at the limit of tokens."""
        return Completion(
            text=self.decode(ids),
            prompt_ids=prompt,
            response_ids=ids,
            logprobs=logprobs,
            mask=[1] * len(ids),
            finish_reason="stop" if stopped else "length",
            policy_version=version,
            generate_s=seconds,
        )

    def message_ids(self, text: str) -> list[int]:
        """Return the ids of one user message, without a generation prompt."""
        rendered = self.tokenizer.apply_chat_template(
            [{"role": "user", "content": text}], tokenize=False, **self.chat_template_kwargs
        )
        return self.encode(cast(str, rendered))

    def decode(self, response_ids: Sequence[int]) -> str:
        """Return the text of a response without its end token and other special tokens."""
        ids = tuple(response_ids)
        if ids and ids[-1] in self.end_ids:
            ids = ids[:-1]
        return self._decode_short(ids) if len(ids) <= _SHORT_TOKENS else self._decode(ids)

    def _tokenize_items(self, messages: tuple[tuple[tuple[str, str], ...], ...]) -> list[int]:
        return self.encode(self.render([dict(items) for items in messages]))

    def _decode(self, ids: tuple[int, ...]) -> str:
        text = self.tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return cast(str, text)
