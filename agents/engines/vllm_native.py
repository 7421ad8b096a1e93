"""vLLM's own senders of weights, for GPUs: NCCL between devices, IPC on one device that both share.

Not run yet: neither works without a GPU. The learner's process needs vLLM for them.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any, Literal

from verigym.agents.engines.sampler import Weights
from verigym.agents.engines.vllm_link import Link


class NativeChannel:
    """Sends through vLLM's trainer-side engine, which drives `link` as its client."""

    def __init__(self, link: Link, transfer: Literal["nccl", "ipc"], host: str) -> None:
        from vllm.distributed.weight_transfer.base import ParamMeta, WeightSource
        from vllm.distributed.weight_transfer.factory import WeightTransferTrainerFactory

        class Source(WeightSource):  # type: ignore[misc]
            """The weights to send next."""

            weights: Weights

            def metadata(self) -> list[Any]:
                return [
                    ParamMeta(name, tensor.dtype, tuple(tensor.shape))
                    for name, tensor in self.weights.tensors.items()
                ]

            def __iter__(self) -> Iterator[tuple[str, Any]]:
                return iter(self.weights.tensors.items())

        self._link = link
        self._source = Source()
        info: Any
        if transfer == "nccl":
            from vllm.distributed.weight_transfer.nccl_engine import NCCLTrainerInitInfo

            with socket.socket() as free:
                free.bind((host, 0))
                port = free.getsockname()[1]
            info = NCCLTrainerInitInfo(
                rank=0, master_address=host, master_port=port, world_size=1 + link.world_size()
            )
        else:
            from vllm.distributed.weight_transfer.ipc_engine import IPCTrainerInitInfo

            info = IPCTrainerInitInfo(rank=0)
        self._engine = WeightTransferTrainerFactory.trainer_init(
            info, client=link, source=self._source
        )

    def prepare(self, weights: Weights) -> None:
        """Prepare nothing."""

    def send(self, weights: Weights) -> int:
        """Send all tensors, and label them."""
        self._source.weights = weights
        self._engine.send_weights()
        self._link.label(str(weights.version))
        return weights.n_bytes
