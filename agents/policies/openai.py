"""Any OpenAI-compatible chat endpoint as a policy: vLLM, SGLang, llama.cpp, hosted services.

Token ids and log-probabilities are kept if the server returns both (vLLM does, with
`token_ids=True`); episodes are then suitable for training. Otherwise they carry text only.

Needs the extra `openai`. Time limits here are for each read from the socket; a server that drips one
byte at a time is stopped by `Settings.generate_deadline_s` of the episode loop.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeGuard
from urllib.parse import urlsplit

import openai

from verigym.agents.policies.thinking import Think
from verigym.agents.policy import Completion, PolicyRefusal, Request
from verigym.agents.sampling import generator
from verigym.canonical import to_json
from verigym.errors import PolicyError, RequestError

_OPENAI_HOST = "api.openai.com"
# What no repetition will change, and what concerns every request alike: the run stops.
_CALLERS_FAULT = (401, 403, 404)
# What no repetition will change for this request, while others may do: a prompt too long, say.
_REFUSED = (400, 413, 422)


class OpenAIPolicy:
    """Asks `model` at `base_url` (such as `http://127.0.0.1:8000/v1`).

    The key is `api_key`, else the variable VERIGYM_POLICY_KEY, else, for OpenAI's own host only,
    OPENAI_API_KEY: a key is never sent to another host. Each request's `seed` comes from its key; the
    server may ignore it. `think` on or off is sent as `chat_template_kwargs`. `extra_body` goes into every request. With `tools`, the functions that an
    environment publishes are offered through the chat API, and a reply that calls them becomes the
    action, as JSON of the message.
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
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
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
        self._fields: dict[str, Any] = {
            "model": model,
            "max_tokens": max_new_tokens,
            "temperature": temperature,
            "top_p": top_p,
        }
        extra = dict(extra_body or {})
        if think != "auto":
            # As vLLM and SGLang take it; they ignore what a template has no use for.
            on = think == "on"
            extra["chat_template_kwargs"] = {
                "enable_thinking": on,
                "thinking": on,
                **extra.get("chat_template_kwargs", {}),
            }
        if token_ids:
            extra["return_token_ids"] = True
            self._fields["logprobs"] = True
        if extra:
            self._fields["extra_body"] = extra
        # The episode loop repeats and waits; repeats inside repeats would hide an outage.
        self._client = openai.OpenAI(
            api_key=api_key or _key_for(parts.hostname),
            base_url=base_url,
            timeout=timeout_s,
            max_retries=0,
        )

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, sending `concurrency` at a time.

        Raises PolicyError for temporary faults, PolicyRefusal if the server refuses the request,
        RequestError for a wrong key, model or address.
        """
        if len(requests) == 1:
            return [self._ask(requests[0])]
        with ThreadPoolExecutor(min(self.concurrency, max(1, len(requests)))) as threads:
            return list(threads.map(self._ask, requests))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, request: Request) -> Completion:
        began = time.perf_counter()
        seed = int(generator(request.key).integers(2**31))
        try:
            reply: Any = self._client.chat.completions.create(
                messages=[dict(message) for message in request.messages],
                seed=seed,
                **self._offered(request),
                **self._fields,
            )
        except openai.APIStatusError as error:
            raise self._from_status(error) from error
        except (openai.OpenAIError, ValueError) as error:
            # ValueError: a reply of status 200 whose body is not JSON.
            raise PolicyError(
                f"{self.base_url} gave no completion: {type(error).__name__}: {error}"
            ) from error
        return self._read(reply, time.perf_counter() - began)

    def _offered(self, request: Request) -> dict[str, Any]:
        published = getattr(request.env, "tools", None) if self._tools else None
        return {} if published is None else {"tools": published()}

    def _from_status(self, error: openai.APIStatusError) -> Exception:
        said = f"{self.base_url} answered {error.status_code}: {error.message}"
        if error.status_code in _CALLERS_FAULT:
            return RequestError(f"{said}; check model name, address and key")
        if error.status_code in _REFUSED:
            return PolicyRefusal(said)
        return PolicyError(said)

    def _read(self, reply: Any, generate_s: float) -> Completion:
        try:
            choice = reply.choices[0]
            text = choice.message.content or ""
            calls = getattr(choice.message, "tool_calls", None)
            if calls:
                text = _as_json(choice.message)
            finish = choice.finish_reason
        except (AttributeError, IndexError, TypeError) as error:
            raise PolicyError(
                f"{self.base_url} sent a completion of the wrong shape: {str(reply)[:200]}"
            ) from error
        if not isinstance(text, str):
            raise PolicyError(f"{self.base_url} sent content that is not text: {str(text)[:200]}")
        prompt_ids, response_ids, logprobs = _tokens(reply, choice)
        usage = getattr(reply, "usage", None)
        return Completion(
            text=text,
            prompt_ids=prompt_ids,
            response_ids=response_ids,
            logprobs=logprobs,
            mask=[1] * len(response_ids),
            prompt_tokens=_count(getattr(usage, "prompt_tokens", None)),
            response_tokens=_count(getattr(usage, "completion_tokens", None)),
            finish_reason="length" if finish == "length" else "stop",
            policy_version=self.version,
            generate_s=generate_s,
        )


def _as_json(message: Any) -> str:
    """Return a message that calls tools as JSON, in the form that environments read."""
    calls = [
        {
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments},
        }
        for call in message.tool_calls
    ]
    said = {"role": "assistant", "content": message.content, "tool_calls": calls}
    return to_json(said).decode()


def _tokens(reply: Any, choice: Any) -> tuple[list[int], list[int], list[float]]:
    """Return prompt ids, response ids and log-probabilities; all empty unless all exist and agree."""
    prompt_ids = getattr(reply, "prompt_token_ids", None)
    response_ids = getattr(choice, "token_ids", None)
    content = getattr(getattr(choice, "logprobs", None), "content", None)
    if not (_is_ids(prompt_ids) and _is_ids(response_ids) and isinstance(content, list)):
        return [], [], []
    logprobs = [float(p) for p in (getattr(e, "logprob", None) for e in content) if _is_logprob(p)]
    if not len(logprobs) == len(content) == len(response_ids):
        return [], [], []
    return prompt_ids, response_ids, logprobs


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _is_logprob(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _is_ids(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and bool(value) and all(type(item) is int for item in value)


def _key_for(host: str) -> str:
    key = os.environ.get("VERIGYM_POLICY_KEY")
    if key is None and host == _OPENAI_HOST:
        key = os.environ.get("OPENAI_API_KEY")
    # The library insists on a key; servers without one ignore it.
    return key or "none"
