"""`SamplerCopy`: a policy on weights of its own, so that it can play while the learner changes the others."""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence

import torch

from verigym.agents.policies.hf import HFPolicy
from verigym.agents.policy import Completion, Request


class SamplerCopy(HFPolicy):
    """Samples from a copy of the model of `policy`. Its weights change between batches, never within one, so each
    completion has one version."""

    def __init__(self, policy: HFPolicy, temperature: float) -> None:
        super().__init__(
            copy.deepcopy(policy.model).requires_grad_(False).eval(),
            copy.deepcopy(policy.tokenizer),
            max_new_tokens=policy.max_new_tokens,
            temperature=temperature,
            think=policy.think,
            max_batch=policy.max_batch,
            name=policy.name,
        )
        self.prompts = policy.prompts
        self.version = policy.version
        self._source = policy
        self._lock = threading.Lock()

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Sample one response per request; see `HFPolicy.complete`."""
        with self._lock:
            return super().complete(requests)

    @torch.no_grad()
    def take_weights(self) -> None:
        """Take the weights of the policy that this one copies, once the batch under way has ended."""
        learner = [p for p in self._source.model.parameters() if p.requires_grad]
        frozen = [p.requires_grad for p in self._source.model.parameters()]
        own = [p for p, on in zip(self.model.parameters(), frozen, strict=True) if on]
        with self._lock:
            torch._foreach_copy_(own, learner)
            self.version = self._source.version
