"""A policy on an engine: chat text is turned into token ids here, and sampled there."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verigym.agents.chat import StepRows, Transcript
from verigym.agents.engines.sampler import Sampler, SamplingParams
from verigym.agents.policies.chat_tokens import ChatTokens
from verigym.agents.policies.thinking import Think
from verigym.agents.policy import Completion, Request
from verigym.errors import PolicyError


class EnginePolicy(ChatTokens):
    """Plays by `sampler`. A call has up to `max_batch` requests, and `concurrency` calls run at once. An engine that
    forms batches itself is asked for one sample a call.

    `ready` is called before each request, for an owner that restarts or updates the engine.
    """

    def __init__(
        self,
        sampler: Sampler,
        tokenizer: Any,
        params: SamplingParams,
        *,
        concurrency: int,
        max_batch: int = 1,
        ready: Callable[[], None] = lambda: None,
        think: Think = "auto",
        chat_template_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            tokenizer,
            name=sampler.name,
            n_embeddings=len(tokenizer),
            end_ids=params.end_ids,
            think=think,
            chat_template_kwargs=chat_template_kwargs,
        )
        self.sampler = sampler
        self.params = params
        self.concurrency = concurrency
        self.max_batch = max_batch
        self.ready = ready
        self.prompts: StepRows | Transcript | None = None
        """Prompts that the model was trained on; None if its folder does not say."""
        self.max_context = sampler.max_context

    @property
    def version(self) -> int:
        """Version of the engine's weights."""
        return self.sampler.version

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Sample one response per request.

        Raises PolicyRefusal if a prompt leaves no room or the weights are broken, EngineDead if the engine
        is gone, in which case the same call may be made again.
        """
        started = time.perf_counter()
        prompts = self.prompt_ids(requests, self.max_context)
        self.ready()
        samples = self.sampler.sample(prompts, self.params, [r.key for r in requests])
        if any(sample.finish_reason == "abort" for sample in samples):
            raise PolicyError(f"{self.name} aborted the request")
        share_s = (time.perf_counter() - started) / max(1, len(requests))
        return [
            self.completion(
                prompt,
                sample.ids,
                sample.logprobs,
                stopped=sample.finish_reason == "stop",
                version=min((span.version for span in sample.versions), default=0),
                seconds=share_s,
            )
            for prompt, sample in zip(prompts, samples, strict=True)
        ]
