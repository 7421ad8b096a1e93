"""`SamplerHost`: the engine of one actor of Ray, and the engines that it may be. Plain Python: the driver makes it an actor."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from torch import Tensor

from verigym.agents.engines.sampler import Sampler, Weights
from verigym.agents.engines.shards import OneHolder


class SamplerHost:
    """The engine that `make` starts. Its methods are called from several threads."""

    def __init__(self, make: Callable[[], Sampler]) -> None:
        self._sampler = make()
        self._tensors: Mapping[str, Tensor] = {}
        # One for all updates: an engine opens a channel to each that it sees.
        self._holders = OneHolder(lambda: self._tensors)

    def ping(self) -> None:
        """Return at once."""

    def facts(self) -> tuple[str, int, float]:
        """Return the engine's name, its context and its precision."""
        return self._sampler.name, self._sampler.max_context, self._sampler.precision_nats

    def ask(self, method: str, *arguments: Any) -> Any:
        """Return what a method of the engine returns: `sample` or `logprobs`."""
        return getattr(self._sampler, method)(*arguments)

    def update(self, version: int, tensors: Mapping[str, Tensor]) -> str:
        """Take weights; return where this is, for messages."""
        self._tensors = tensors
        self._sampler.update(
            Weights(version=version, tensors=tensors, save=_refuse, holders=self._holders)
        )
        self._tensors = {}
        return f"in process {os.getpid()} on {socket.gethostname()}"

    def close(self) -> None:
        """Stop the engine."""
        self._sampler.close()


def _refuse(folder: Path) -> None:
    raise NotImplementedError(f"an engine on Ray has no learner that writes {folder}")


@dataclass(frozen=True, kw_only=True)
class StartTorch:
    """Starts the torch engine on the model in `folder`."""

    folder: Path
    dtype: str
    device: str
    max_batch: int

    def __call__(self) -> Sampler:
        """Load the model."""
        from verigym.agents.engines.torch import TorchSampler
        from verigym.agents.policies.hf import HFPolicy

        return TorchSampler(
            HFPolicy.load(
                self.folder,
                max_new_tokens=1,
                dtype=self.dtype,
                device=self.device,
                max_batch=self.max_batch,
            )
        )


@dataclass(frozen=True, kw_only=True)
class StartVllm:
    """Starts vLLM on the model in `folder`, as a child of the actor."""

    folder: Path
    dtype: str
    transfer: Literal["gloo", "disk", "delta", "nccl", "ipc"]
    max_sequences: int
    cache_gib: float
    deadline_s: float
    start_deadline_s: float
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> Sampler:
        """Start the engine."""
        from verigym.agents.engines.vllm import VllmSampler
        from verigym.agents.engines.vllm_process import ProcessLink

        link = ProcessLink(
            self.folder,
            dtype=self.dtype,
            transfer=self.transfer,
            max_sequences=self.max_sequences,
            cache_gib=self.cache_gib,
            deadline_s=self.deadline_s,
            start_deadline_s=self.start_deadline_s,
            **self.options,
        )
        return VllmSampler(
            link,
            self.folder,
            dtype=self.dtype,
            transfer=self.transfer,
            deadline_s=self.deadline_s,
        )
