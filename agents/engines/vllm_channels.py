"""Ways of a learner's weights to vLLM: over gloo, through a folder whole or as deltas, or by vLLM's own senders.

Over gloo and through a folder each process of the learner sends its own rows (shards.py); vLLM's worker puts each tensor
together and loads it (vllm_worker.py).
"""

from __future__ import annotations

import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, Protocol

from verigym.agents.engines import gloo
from verigym.agents.engines.sampler import EngineDead, EngineFault, UpdateRefused, Weights
from verigym.agents.engines.shard_files import OTHER_BASE, ShardWriter
from verigym.agents.engines.vllm_link import Link
from verigym.agents.engines.vllm_native import NativeChannel

Transfer = Literal["gloo", "disk", "delta", "nccl", "ipc"]


class WeightChannel(Protocol):
    """The way of the weights to one engine; one that was started anew needs a new channel."""

    def prepare(self, weights: Weights) -> None:
        """Do what can be done while the engine samples. Raises UpdateRefused, and then nothing was changed."""

    def send(self, weights: Weights) -> int:
        """Load the weights into the paused engine, and label them; return how many bytes were sent."""


def open_channel(
    transfer: Transfer, link: Link, scratch: Path, host: str, deadline_s: float
) -> WeightChannel:
    """Return a channel to the engine behind `link`. Folders are made in `scratch`."""
    if transfer == "gloo":
        return GlooChannel(link, host, deadline_s)
    if transfer == "disk" or transfer == "delta":
        return FolderChannel(link, scratch, keeps=transfer == "delta")
    return NativeChannel(link, transfer, host)


class FolderChannel:
    """Through a folder that the engine and all processes of the learner can use. With `keeps`, as deltas."""

    def __init__(self, link: Link, scratch: Path, *, keeps: bool) -> None:
        self._link = link
        self._scratch = scratch
        self._keeps = keeps
        self._is_open = False
        self._sent = 0

    def prepare(self, weights: Weights) -> None:
        """Write the weights, and have the engine's workers check them."""
        try:
            try:
                self._write(weights)
                self._check(weights)
            except EngineFault as error:
                if not self._keeps or OTHER_BASE not in str(error):
                    raise
                # Others restarted the engine.
                self._is_open = False
                self._write(weights)
                self._check(weights)
        except EngineDead:
            self._clear(weights)
            raise
        except EngineFault as error:
            self._clear(weights)
            raise UpdateRefused(
                f"engine {self._link.name} did not get version {weights.version}, and goes on as it was: {error}"
            ) from error

    def send(self, weights: Weights) -> int:
        """Have the workers load what was written."""
        try:
            self._link.start_weight_update()
            self._link.update_weights({"folder": str(self._folder(weights))})
            self._link.finish_weight_update(str(weights.version))
        finally:
            self._clear(weights)
        return self._sent

    def _write(self, weights: Weights) -> None:
        if not self._is_open:
            weights.holders.open(ShardWriter, self._keeps)
            self._is_open = True
        self._sent = sum(weights.holders.send(weights.version, self._folder(weights)))

    def _check(self, weights: Weights) -> None:
        self._link.init_weight_transfer_engine(
            {
                "folder": str(self._folder(weights)),
                "version": weights.version,
                "n": weights.holders.n,
                "shapes": {name: list(one.shape) for name, one in weights.tensors.items()},
            }
        )

    def _folder(self, weights: Weights) -> Path:
        return self._scratch / f"version-{weights.version}"

    def _clear(self, weights: Weights) -> None:
        shutil.rmtree(self._folder(weights), ignore_errors=True)


class GlooChannel:
    """Over gloo, from all processes of the learner to all workers of the engine, on one machine."""

    def __init__(self, link: Link, host: str, deadline_s: float) -> None:
        self._link = link
        self._host = host
        self._deadline_s = deadline_s
        self._store: Any = None

    def prepare(self, weights: Weights) -> None:
        """Prepare nothing: the rows are sent while the engine loads them."""

    def send(self, weights: Weights) -> int:
        """Send all rows while the workers load them."""
        # Not joined: after a failure it may block in gloo until the engine is killed.
        threads = ThreadPoolExecutor(1, thread_name_prefix="verigym-send")
        try:
            if self._store is None:
                self._open(weights, threads)
            self._link.start_weight_update()
            sending = threads.submit(weights.holders.send, weights.version)
            self._receive(weights, sending)
            self._link.finish_weight_update(str(weights.version))
            return sum(sending.result())
        finally:
            threads.shutdown(wait=False)

    def _open(self, weights: Weights, threads: ThreadPoolExecutor) -> None:
        n, receivers = weights.holders.n, self._link.world_size()
        self._store = gloo.open_store(self._host, n + receivers, self._deadline_s)
        arguments = (self._host, self._store.port, receivers, self._deadline_s)
        opening = threads.submit(weights.holders.open, gloo.GlooSender, *arguments)
        self._link.init_weight_transfer_engine(
            {
                "host": self._host,
                "port": self._store.port,
                "n": n,
                "world": n + receivers,
                "timeout_s": self._deadline_s,
            }
        )
        opening.result()

    def _receive(self, weights: Weights, sending: Future[list[int]]) -> None:
        tensors = weights.tensors.values()
        try:
            self._link.update_weights(
                {
                    "names": list(weights.tensors),
                    "shapes": [list(tensor.shape) for tensor in tensors],
                    "dtypes": [str(tensor.dtype).removeprefix("torch.") for tensor in tensors],
                }
            )
        except EngineFault as error:
            if sending.done() and (why := sending.exception()):
                raise EngineFault(f"{error}; {why}") from error
            raise
