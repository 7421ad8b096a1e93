"""Prompts of a session's calls: replies of the model that a client sends back become the ids that were sampled.

A client sends its whole conversation with each call. Where it begins with an earlier call and that call's
reply, the prompt is the earlier prompt's ids, the sampled ids and the template's glue; nothing is decoded and
encoded again. Where the chat template changes earlier text (strips thoughts, say), and where the client changed
it (compaction, edited replies), the prompt is the template's output, and a new training row begins:
`rows.token_rows` compares ids. Two calls that follow the same reply are a fork; each gives a row.

Thoughts that a client leaves out of what it sends back do not matter: replies are compared without them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from jinja2 import TemplateError

from verigym.agents.chat import Prompt, continued
from verigym.agents.gateway.chat import ChatCall, ChatMessage, ContextFull
from verigym.agents.policies.chat_tokens import ChatTokens
from verigym.agents.policy import Completion
from verigym.envs.tools.calls import as_text
from verigym.errors import RequestError
from verigym.verifiers.tools.read_calls import ReadCall

_DIGEST_BYTES = 16


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A call that was answered. `messages` and `reply` are as the client knows them, the prompt's as rendered."""

    messages: Sequence[ChatMessage]
    reply: ChatMessage
    prompt: Prompt
    completion: Completion


class CallMemory:
    """The answered calls of one session. For one thread."""

    def __init__(self, tokens: ChatTokens, max_context: int) -> None:
        self._tokens = tokens
        self._max_context = max_context
        self._after: dict[bytes, Answered] = {}
        self._by_id: dict[str, Answered] = {}
        self._takes_calls = "tool_calls" in str(tokens.tokenizer.chat_template)

    def whole(self, call: ChatCall) -> ChatCall:
        """Return `call` with the conversation that it continues by the id of a reply, if it does."""
        if call.continues is None:
            return call
        before = self._by_id.get(call.continues)
        if before is None:
            raise RequestError(f"this session has no reply {call.continues!r} to go on from")
        # Instructions are those of the new call alone.
        opening = [m for m in call.messages if m.role == "system"]
        new = [m for m in call.messages if m.role != "system"]
        old = before.messages
        if opening and old and old[0].role == "system":
            old = old[1:]
        return msgspec.structs.replace(
            call, messages=[*opening, *old, before.reply, *new], continues=None
        )

    def prompt(self, call: ChatCall) -> Prompt:
        """Return the prompt of a whole call.

        Raises RequestError if the chat template does not take it, ContextFull if it is too long.
        """
        before, n_known = self._before(call)
        new = [self._rendered(message) for message in call.messages[n_known:]]
        messages: list[Mapping[str, Any]] = new
        if before is not None:
            said: Mapping[str, Any] = {"role": "assistant", "content": before.completion.text}
            messages = [*before.prompt.messages, said, *new]
        try:
            text = self._tokens.render(messages, call.tools)
        except (TemplateError, TypeError, ValueError) as error:
            raise RequestError(
                f"the chat template of {self._tokens.name} does not take these messages: {error}"
            ) from error
        ids = None
        if before is not None:
            ids = continued(before.prompt, before.completion, text, self._tokens)
        extends = ids is not None
        ids = self._tokens.encode(text) if ids is None else ids
        if len(ids) >= self._max_context:
            raise ContextFull(
                f"the prompt has {len(ids)} tokens, and the model's context length is "
                f"{self._max_context}, its answer included"
            )
        return Prompt(messages=messages, ids=ids, text=text, extends=extends, grows=True)

    def remember(
        self, call: ChatCall, prompt: Prompt, completion: Completion, reply: ChatMessage, id: str
    ) -> None:
        """Keep an answered call, for calls that follow it."""
        answered = Answered(
            messages=call.messages, reply=reply, prompt=prompt, completion=completion
        )
        digest = b""
        for digest in _digests(call.tools, [*call.messages, reply]):  # noqa: B007
            pass
        self._after[digest] = answered
        self._by_id[id] = answered

    def _before(self, call: ChatCall) -> tuple[Answered | None, int]:
        """Return the longest answered call that `call` goes on from, and how many messages it covers."""
        found, n_known = None, 0
        for number, digest in enumerate(_digests(call.tools, call.messages), start=1):
            if call.messages[number - 1].role == "assistant" and digest in self._after:
                found, n_known = self._after[digest], number
        return found, n_known

    def _rendered(self, message: ChatMessage) -> Mapping[str, Any]:
        """Return `message` as the chat template takes it."""
        if message.role == "tool" and self._tokens.role_of_results == "user":
            return {"role": "user", "content": message.content}
        out: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.role == "tool" and message.answers:
            out["tool_call_id"] = message.answers
        if message.tools and self._takes_calls:
            out["tool_calls"] = [
                {
                    "id": one.id,
                    "type": "function",
                    "function": {"name": one.name, "arguments": one.arguments},
                }
                for one in message.tools
            ]
        elif message.tools:
            written = as_text(
                *(
                    ReadCall(one.name, one.arguments if isinstance(one.arguments, dict) else {})
                    for one in message.tools
                )
            )
            out["content"] = "\n".join(part for part in (message.content, written) if part)
        return out


def _digests(
    tools: Sequence[Mapping[str, Any]], messages: Sequence[ChatMessage]
) -> Iterator[bytes]:
    """Yield a digest of the conversation up to each message, as far as a client keeps it as it was."""
    digest = hashlib.blake2b(msgspec.json.encode(tools), digest_size=_DIGEST_BYTES).digest()
    for message in messages:
        kept = [
            message.role,
            message.content.strip(),
            [(one.name, one.arguments) for one in message.tools],
        ]
        data = msgspec.json.encode(kept, order="deterministic")
        digest = hashlib.blake2b(digest + data, digest_size=_DIGEST_BYTES).digest()
        yield digest
