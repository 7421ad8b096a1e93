"""`Sampler`: an engine that continues token ids, under weights that a learner sends it.

The other half of an engine is the learner (trainers/learner.py). An engine may be both with one set of
weights, as torch.py is, or only one of them. Every sampler passes tests/agents/engines/test_conformance.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeGuard

from verigym.agents.engines.shards import Holders
from verigym.errors import PolicyError, VerigymError


class EngineFault(PolicyError):
    """A call to the engine failed; the engine may go on."""


class EngineDead(EngineFault):
    """The engine's process ended, hung past its deadline, or was left in the middle of an update."""


class UpdateRefused(VerigymError):
    """The weights do not fit the engine's model; nothing was sent, and the engine goes on as it was."""


@dataclass(frozen=True, kw_only=True)
class SamplingParams:
    """Parameters of sampling. A sample ends with one of `end_ids`, which it contains, or at `max_tokens`.

    `temperature` 0 is greedy, with log-probabilities of temperature 1.
    """

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    end_ids: frozenset[int] = frozenset()


class Span(NamedTuple):
    """Tokens `start` to `end` of a sample, drawn under the weights of `version`."""

    version: int
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Sampled ids with their log-probabilities in nats, under the distribution that they were drawn from."""

    ids: list[int]
    logprobs: list[float]
    versions: list[Span]
    finish_reason: Literal["stop", "length", "abort"]


@dataclass(frozen=True, kw_only=True)
class Weights:
    """A learner's weights: `tensors` by their names in a checkpoint; of LoRA the adapter alone.

    `save` writes the same as a transformers folder, and `holders` send it. The tensors are the learner's own, not
    copies; if its processes hold rows of each, they are outlines on the device `meta`.
    """

    version: int
    tensors: Mapping[str, Any]
    save: Callable[[Path], None]
    holders: Holders
    is_adapter: bool = False

    @property
    def n_bytes(self) -> int:
        """Size of all tensors."""
        return sum(int(tensor.numel() * tensor.element_size()) for tensor in self.tensors.values())


Watch: TypeAlias = Callable[[Sequence[int], Sequence[int]], None]
"""Gets the numbers of rows and, for each, the token that was sampled next; called from any thread."""


class Sampler(Protocol):
    """Interface of an engine that samples. Its methods may be called from several threads."""

    name: str
    version: int
    """Version of the weights that the engine was last given."""
    max_context: int
    """Maximum number of tokens of prompt and sample together."""
    precision_nats: float
    """Bound on the difference to the log-probabilities of a learner with the same weights."""

    def sample(
        self,
        prompts: Sequence[Sequence[int]],
        params: SamplingParams,
        keys: Sequence[Sequence[int]],
    ) -> list[Sample]:
        """Continue each prompt; `keys` are the random seeds. Raises EngineDead, PolicyRefusal."""

    def logprobs(
        self,
        prompts: Sequence[Sequence[int]],
        answers: Sequence[Sequence[int]],
        params: SamplingParams,
    ) -> list[list[float]]:
        """Return the log-probability of each token of each answer, on the path that sampling takes."""

    def update(self, weights: Weights) -> None:
        """Take `weights`; requests under way go on with them. Raises UpdateRefused, EngineDead."""

    def revive(self) -> bool:
        """Return True if the engine lost the weights that it was sent: it was dead and is started anew, or
        was restarted by others. Raises EngineDead if it cannot be reached."""

    def sleep(self) -> bool:
        """Give memory to a learner on the same device; return True if weights must be proved afterwards."""

    def close(self) -> None:
        """Release the engine and all its processes."""


class Watchable(Sampler, Protocol):
    """A sampler that shows tokens as it samples them."""

    def sample_watched(
        self,
        prompts: Sequence[Sequence[int]],
        params: SamplingParams,
        keys: Sequence[Sequence[int]],
        watch: Watch,
    ) -> list[Sample]:
        """Return the same as `sample`; `watch` gets each token before."""


def is_watchable(sampler: Sampler) -> TypeGuard[Watchable]:
    """Return True if `sampler` is `Watchable`."""
    return hasattr(sampler, "sample_watched")


class Replicated(Sampler, Protocol):
    """A sampler of several engines, each of which holds the weights."""

    def logprobs_of_each(
        self,
        prompts: Sequence[Sequence[int]],
        answers: Sequence[Sequence[int]],
        params: SamplingParams,
    ) -> dict[str, list[list[float]]]:
        """Return the same as `logprobs`, by each engine that may be asked for samples, under its name."""


def is_replicated(sampler: Sampler) -> TypeGuard[Replicated]:
    """Return True if `sampler` is `Replicated`."""
    return hasattr(sampler, "logprobs_of_each")
