"""The torch engine as a sampler: a transformers policy, whose model may be the learner's own."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch

from verigym.agents.engines.sampler import (
    Sample,
    SamplingParams,
    Span,
    UpdateRefused,
    Watch,
    Weights,
)
from verigym.agents.engines.shapes import misfit
from verigym.agents.policies.hf import HFPolicy
from verigym.agents.policy import Request


class TorchSampler:
    """Samples with `policy`'s model.

    Weights that are the model's own tensors need no delivery: sampler and learner then have one set.
    """

    precision_nats = 1e-5

    def __init__(self, policy: HFPolicy) -> None:
        self.policy = policy
        self.name = policy.name
        self.max_context = policy.max_context
        # Held to compute and to change weights, so that each sample is of one version.
        self._lock = threading.Lock()

    @property
    def version(self) -> int:
        """Version of the policy."""
        return self.policy.version

    @version.setter
    def version(self, number: int) -> None:
        self.policy.version = number

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        params: SamplingParams,
        keys: Sequence[Sequence[int]],
    ) -> list[Sample]:
        """Continue each prompt; a key draws the same tokens in any batch."""
        return self._sample(prompts, params, keys, None)

    def sample_watched(
        self,
        prompts: Sequence[Sequence[int]],
        params: SamplingParams,
        keys: Sequence[Sequence[int]],
        watch: Watch,
    ) -> list[Sample]:
        """Return the same as `sample`; `watch` gets each token before."""
        return self._sample(prompts, params, keys, watch)

    def _sample(
        self,
        prompts: Sequence[Sequence[int]],
        params: SamplingParams,
        keys: Sequence[Sequence[int]],
        watch: Watch | None,
    ) -> list[Sample]:
        with self._lock:
            return self._sample_alone(prompts, params, keys, watch)

    def _sample_alone(
        self,
        prompts: Sequence[Sequence[int]],
        params: SamplingParams,
        keys: Sequence[Sequence[int]],
        watch: Watch | None,
    ) -> list[Sample]:
        version = self.version
        view = HFPolicy(
            self.policy.model,
            self.policy.tokenizer,
            max_new_tokens=params.max_tokens,
            temperature=params.temperature,
            top_p=params.top_p,
            max_batch=self.policy.max_batch,
        )
        view.end_ids = params.end_ids
        view.watch = watch
        found = view.complete(
            [
                Request(messages=[], prompt_ids=list(prompt), key=tuple(key))
                for prompt, key in zip(prompts, keys, strict=True)
            ]
        )
        self.policy.computed_tokens += view.computed_tokens
        return [
            Sample(
                ids=one.response_ids,
                logprobs=one.logprobs,
                versions=[Span(version, 0, len(one.response_ids))],
                finish_reason=one.finish_reason,
            )
            for one in found
        ]

    @torch.inference_mode()
    def logprobs(
        self,
        prompts: Sequence[Sequence[int]],
        answers: Sequence[Sequence[int]],
        params: SamplingParams,
    ) -> list[list[float]]:
        """Return the log-probability of each token of each answer."""
        device = self.policy.model.device
        out = []
        for prompt, answer in zip(prompts, answers, strict=True):
            ids_1T = torch.tensor([[*prompt, *answer]], device=device)
            with self._lock:
                logits_1TV = self.policy.model(input_ids=ids_1T).logits
            logits_TV = logits_1TV[0, len(prompt) - 1 : -1].float()
            logp_TV = (logits_TV / (params.temperature or 1.0)).log_softmax(-1)
            out.append(logp_TV.gather(-1, ids_1T[0, len(prompt) :, None])[:, 0].tolist())
        return out

    @torch.no_grad()
    def update(self, weights: Weights) -> None:
        """Copy what is not the model's own tensor already."""
        own = dict(self.policy.model.named_parameters())
        if weights.is_adapter:
            own = {name: own[name] for name in own if name in weights.tensors}
        shapes = {name: tuple(tensor.shape) for name, tensor in own.items()}
        if found := misfit(weights.tensors, shapes):
            raise UpdateRefused(f"{self.name} cannot take version {weights.version}: {found}")
        with self._lock:
            for name, tensor in weights.tensors.items():
                if own[name].data_ptr() != tensor.data_ptr():
                    own[name].copy_(tensor)
            self.version = weights.version

    def revive(self) -> bool:
        """Lose nothing: the model is in this process."""
        return False

    def sleep(self) -> bool:
        """Hold no memory besides the model."""
        return False

    def close(self) -> None:
        """Keep the model: it is the policy's."""
