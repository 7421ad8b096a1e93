"""`Link`: what vLLM can be asked, in this process's child (vllm_process.py) or a server (vllm_server.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from verigym.agents.engines.sampler import Watch


@dataclass(frozen=True, kw_only=True)
class EngineCall:
    """One prompt; `params` are vLLM's sampling parameters, `adapter` the number of a LoRA adapter."""

    ids: list[int]
    params: dict[str, Any]
    adapter: int | None = None
    request_id: str = ""


@dataclass(frozen=True, kw_only=True)
class EngineAnswer:
    """Sampled ids with their log-probabilities; `first` are those of the tokens asked for, at the first one.

    `versions` are the engine's labels with the tokens that they hold for.
    """

    ids: list[int]
    logprobs: list[float]
    finish_reason: str
    first: dict[int, float] = field(default_factory=dict)
    versions: list[tuple[str, int, int]] = field(default_factory=list)


class Link(Protocol):
    """Calls to one vLLM. Each raises EngineFault if it fails, EngineDead if the engine is gone or hangs.

    The four `*_weight_*` methods are those that vLLM's own trainer-side transfer engines drive.
    """

    name: str
    has_process: bool
    """True if the engine is a child of this process, which may be killed and started anew."""

    def start(self) -> None:
        """Start the engine, or look for the server."""

    def is_alive(self) -> bool:
        """Return True if the engine's process runs; of a server, if it answers."""

    def max_context(self) -> int:
        """Return the maximum number of tokens of prompt and sample."""

    def world_size(self) -> int:
        """Return the number of workers that take weights."""

    def generate(
        self, asked: Sequence[EngineCall], watch: Watch | None = None
    ) -> list[EngineAnswer]:
        """Continue all prompts, in one batch with what runs already. `watch` gets tokens as they come."""

    def init_weight_transfer_engine(self, init_info: dict[str, Any]) -> None:
        """Prepare the transfer."""

    def start_weight_update(self) -> None:
        """Begin an update."""

    def update_weights(self, update_info: Any) -> None:
        """Receive weights."""

    def finish_weight_update(self, weight_version: str | None = None) -> None:
        """End an update, and label the weights."""

    def label(self, version: str) -> None:
        """Label the weights without a change."""

    def read_label(self) -> str:
        """Return the label of the weights."""

    def pause(self, mode: Literal["keep", "abort"]) -> None:
        """Schedule nothing; requests under way are kept as they are, or end as aborted."""

    def resume(self) -> None:
        """Go on after `pause`."""

    def abort(self, request_ids: Sequence[str]) -> None:
        """End requests; they return what they have, as aborted."""

    def reset_prefix_cache(self) -> None:
        """Forget the keys and values of all prompts; requests under way compute theirs anew."""

    def sleep(self, level: int) -> None:
        """Give up the cache, and keep the weights in the host's memory (1) or nowhere (2)."""

    def wake(self) -> None:
        """Take the memory again."""

    def add_adapter(self, number: int, folder: str) -> None:
        """Load the LoRA adapter in `folder`, which the engine must be able to read."""

    def drop_adapter(self, number: int) -> None:
        """Unload an adapter."""

    def kill(self) -> None:
        """Kill the engine's processes, if they are children of this one."""

    def close(self) -> None:
        """Stop the engine if it is a child, and free what the link holds."""
