"""Any OpenAI-compatible chat endpoint as a policy: vLLM, SGLang, llama.cpp, hosted services.

Token ids and log-probabilities are kept if the server returns both (vLLM does, with
`token_ids=True`); episodes are then suitable for training. Otherwise they carry text only.

Requests run on an event loop, in connections that stay open (http_connections.py): a thread and a general
client library for each would cost more processor time than the rest of an episode. The wire is
`POST /chat/completions` of the OpenAI API, with vLLM's `return_token_ids`.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from verigym.agents.event_loop import EventLoop
from verigym.agents.http_answer import BadAnswer, HttpAnswer
from verigym.agents.http_connections import HostConnections
from verigym.agents.policies.chat_wire import Reply, error_text, read_reply
from verigym.agents.policies.thinking import Think
from verigym.agents.policy import Completion, PolicyRefusal, Request
from verigym.agents.sampling import seed_of
from verigym.errors import PolicyError, RequestError

_OPENAI_HOST = "api.openai.com"
# What no repetition will change, and what concerns every request alike: the run stops.
_CALLERS_FAULT = (301, 302, 303, 307, 308, 401, 403, 404)
# What no repetition will change for this request, while others may do: a prompt too long, say.
_REFUSED = (400, 413, 422)


class OpenAIPolicy:
    """Asks `model` at `base_url` (such as `http://127.0.0.1:8000/v1`).

    The key is `api_key`, else the variable VERIGYM_POLICY_KEY, else, for OpenAI's own host only,
    OPENAI_API_KEY: a key is never sent to another host. Each request's `seed` comes from its key; the
    server may ignore it. `think` on or off is sent as `chat_template_kwargs`. `extra_body` goes into every
    request. With `tools`, the functions that an environment publishes are offered through the chat API, and
    a reply that calls them becomes the action, as JSON of the message.

    With `token_ids`, the server must give token ids and log-probabilities. `concurrency` requests are with
    the server at once; one that takes longer than `timeout_s` is broken off.
    """

    max_batch = 1
    version = 0

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        max_new_tokens: int = 512,
        temperature: float = 1.0,
        top_p: float = 1.0,
        api_key: str | None = None,
        concurrency: int = 32,
        timeout_s: float = 120.0,
        token_ids: bool = False,
        tools: bool = False,
        think: Think = "auto",
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        try:
            parts = urlsplit(base_url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
            is_address = is_address and parts.port != 0
        except ValueError:  # a port that is no number
            is_address = False
        if not is_address:
            raise RequestError(f"base_url must be like http://127.0.0.1:8000/v1, got {base_url!r}")
        if concurrency < 1:
            raise RequestError(f"concurrency must be at least 1, got {concurrency}")
        if not timeout_s > 0:
            raise RequestError(f"timeout_s must be above 0, got {timeout_s}")
        self.name = f"openai:{model}"
        self._tools = tools
        self.max_new_tokens = max_new_tokens
        self.concurrency = concurrency
        self.base_url = base_url
        self._timeout_s = timeout_s
        self._must_have_tokens = token_ids
        self._fields: dict[str, Any] = {
            "model": model,
            "max_tokens": max_new_tokens,
            "temperature": temperature,
            "top_p": top_p,
        }
        if token_ids:
            self._fields.update(logprobs=True, return_token_ids=True)
        self._fields.update(extra_body or {})
        if think != "auto":
            # As vLLM and SGLang take it; they ignore what a template has no use for.
            on = think == "on"
            self._fields["chat_template_kwargs"] = {
                "enable_thinking": on,
                "thinking": on,
                **self._fields.get("chat_template_kwargs", {}),
            }
        self._path = f"{parts.path.rstrip('/')}/chat/completions"
        if parts.query:
            self._path += f"?{parts.query}"
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            # Servers without a key ignore it.
            "Authorization": f"Bearer {api_key or _key_for(parts.hostname or '')}",
            "Content-Type": "application/json",
            "User-Agent": "verigym",
        }
        try:
            self._connections = HostConnections(base_url, headers=headers, limit=concurrency)
        except ValueError as error:
            raise RequestError(f"requests to {base_url} cannot be made: {error}") from error
        self._loop = EventLoop("verigym-policy")

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, sending `concurrency` at a time.

        Raises PolicyError for temporary faults, PolicyRefusal if the server refuses the request,
        RequestError for a wrong key, model or address.
        """
        return self._loop.run(self._complete(requests))

    def begin(
        self, requests: Sequence[Request], done: Callable[[list[Completion] | BaseException], None]
    ) -> Callable[[], None]:
        """Begin `complete` and return at once; see `Asynchronous`."""
        return self._loop.begin(self._complete(requests), done)

    def close(self) -> None:
        """Close the connections; requests under way are cancelled."""
        self._loop.close(self._connections.close)

    async def _complete(self, requests: Sequence[Request]) -> list[Completion]:
        if len(requests) == 1:
            return [await self._ask(requests[0])]
        tasks = [asyncio.ensure_future(self._ask(request)) for request in requests]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def _ask(self, request: Request) -> Completion:
        began = time.perf_counter()
        body = self._body(request)
        try:
            answer = await self._connections.post(self._path, body, self._timeout_s)
        except TimeoutError as error:
            raise PolicyError(
                f"{self.base_url} gave no completion: Timeout after {self._timeout_s:g} s"
            ) from error
        except (OSError, BadAnswer) as error:
            raise PolicyError(
                f"{self.base_url} gave no completion: {type(error).__name__}: {error}"
            ) from error
        if answer.status != 200:
            raise self._from_status(answer)
        try:
            reply = read_reply(answer.body)
        except ValueError as error:
            raise PolicyError(
                f"{self.base_url} sent a completion of the wrong shape: {error}"
            ) from error
        return self._completion(reply, time.perf_counter() - began)

    def _body(self, request: Request) -> bytes:
        fields = {"messages": request.messages, "seed": seed_of(request.key), **self._fields}
        published = getattr(request.env, "tools", None) if self._tools else None
        if published is not None:
            fields["tools"] = published()
        try:
            return msgspec.json.encode(fields)
        except UnicodeEncodeError:
            # Half of a character, which msgspec does not write.
            return json.dumps(fields).encode()

    def _from_status(self, answer: HttpAnswer) -> Exception:
        said = f"{self.base_url} answered {answer.status}: {error_text(answer.body)}"
        if answer.status in _CALLERS_FAULT:
            moved = answer.headers.get("location")
            to = f", to {moved[:200]}" if moved else ""
            return RequestError(f"{said}{to}; check model name, address and key")
        if answer.status in _REFUSED:
            return PolicyRefusal(said)
        return PolicyError(said)

    def _completion(self, reply: Reply, generate_s: float) -> Completion:
        if reply.response_ids:
            self._must_have_tokens = False
        elif self._must_have_tokens:
            raise RequestError(
                f"{self.base_url} gave no token ids with log-probabilities, which vLLM does; leave out "
                "token_ids for servers that do not"
            )
        return Completion(
            text=reply.text,
            prompt_ids=reply.prompt_ids,
            response_ids=reply.response_ids,
            logprobs=reply.logprobs,
            mask=[1] * len(reply.response_ids),
            prompt_tokens=reply.prompt_tokens,
            response_tokens=reply.response_tokens,
            finish_reason="length" if reply.finish_reason == "length" else "stop",
            policy_version=self.version,
            generate_s=generate_s,
        )


def _key_for(host: str) -> str:
    key = os.environ.get("VERIGYM_POLICY_KEY")
    if key is None and host == _OPENAI_HOST:
        key = os.environ.get("OPENAI_API_KEY")
    return key or "none"
