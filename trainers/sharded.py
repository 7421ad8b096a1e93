"""The torch engine over several processes, by FSDP2: each holds a shard of the weights, gradients and optimiser.

    torchrun --nproc-per-node 2 -m verigym train config.toml

Rank 0 runs the whole program: it plays and writes. The other ranks take part in what its engine does: rank 0 sends
them the name of a method with its arguments, and all call it at once. All have all rows and cut them alike; a rank
computes its share of the micro-batches, and fillers, from which nothing is learnt, where another has one more.
Denominators are those of all rows, and gradients are added up, so the cut changes no gradient.

If rank 0 samples with torch, it has a whole copy of the model, into which the weights are gathered after each optimiser
step, tensor by tensor. Another engine gets the weights from all ranks, each its own rows (shard_holders.py), and no rank
has the whole model then, but while a checkpoint is read or written. Checkpoints are whole, and may be resumed with
another number of processes. Run with gloo on CPU; with NCCL it has not been run.
Source: PyTorch FSDP2, Zhao et al. 2023, arXiv 2304.11277.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from transformers import AutoModelForCausalLM
from typing_extensions import override

from verigym.agents.engines.sampler import EngineFault, Weights
from verigym.agents.engines.shards import Holders, Shard, ShardSender, rows_of
from verigym.agents.policies.loading import without_progress_bars
from verigym.agents.prefix_tree import count_distinct
from verigym.errors import ConfigError
from verigym.trainers.batch import Row, TokenStatistics, microbatches
from verigym.trainers.config import Config
from verigym.trainers.engine import Engine, recompute_activations
from verigym.trainers.forward import MicroBatch
from verigym.trainers.learner import DivergedError, StepKind, StepStats
from verigym.trainers.ranks import Outcomes, Ranks, n_processes
from verigym.trainers.reading import LARGE_TOKENS
from verigym.trainers.shard_holders import RankHolders


def join(config: Config) -> bool:
    """Take part in the run of another process until it ends, and return True; False in the process that leads.

    Raises ConfigError there if `config` asks for what several processes cannot do.
    """
    if n_processes() == 1 or os.environ["RANK"] == "0":
        if n_processes() > 1:
            _check(config)
        return False
    ranks = Ranks()
    options = ranks.share(None)
    for name in (signal.SIGINT, signal.SIGTERM):
        # From here on rank 0 decides when the run stops; its death breaks the connection.
        signal.signal(name, signal.SIG_IGN)
    engine = ShardedEngine.of(ranks, **options)
    engine.follow()
    engine.leave()
    return True


def _check(config: Config) -> None:
    algorithm, engine = config.algorithm, config.engine
    reasons = {
        f"engine.name {engine.name}; use torch or vllm": engine.name not in ("torch", "vllm"),
        f"engine.transfer {engine.transfer}; use gloo, disk or delta": (
            engine.transfer not in ("gloo", "disk", "delta")
        ),
        "engine.replicas; each process sends its own rows to one engine": engine.replicas
        is not None,
        "policy.lora; train all weights": config.policy.lora is not None,
        f"algorithm.name {algorithm.name}, which has a critic; choose one without": bool(
            algorithm.estimator.heads
        ),
        f"algorithm.loss {algorithm.loss_name}, which distils; choose another": (
            algorithm.policy_loss.distils
        ),
    }
    for reason, applies in reasons.items():
        if applies:
            raise ConfigError(f"a run of several processes does not support {reason}")


class ShardedEngine(Engine):
    """`Engine` on a sharded copy of `whole`, which rank 0 keeps as the model that it plays with. The callers are on
    rank 0.

    If it does not keep it, and on other ranks, where it is an outline, `whole` is dropped.
    """

    def __init__(self, ranks: Ranks, whole: Any, *, keeps: bool = True, **options: Any) -> None:
        super().__init__(whole, **options)
        self.ranks = ranks
        self.whole: Any = whole if ranks.rank == 0 else None
        self.keeps = keeps
        self.holders: Holders = RankHolders(ranks.world, self.open_senders, self.send_shards)
        self._sender: ShardSender | None = None
        self._busy = ranks.rank > 0
        self._failed = False
        self._turn = threading.RLock()
        # They must all read rows in the same way.
        self.unshared = ranks.share(self.unshared)
        self._config, self._dtype, self._device = whole.config, whole.dtype, whole.device
        self._generation_config = getattr(whole, "generation_config", None)
        self._mesh = ranks.mesh(whole.device.type)
        self.model = self._make_shards()
        # The head and the embedding are one shard if they are tied, so neither is computed by itself.
        self.head.fits = False
        self.optimizer = self._adamw(self.train.lr)
        self._scatter()

    @classmethod
    def lead(cls, whole: Any, *, keeps: bool = True, **options: Any) -> ShardedEngine:
        """Return the engine of rank 0, and have the other ranks make theirs."""
        ranks = Ranks()
        said = {"config": whole.config, "device": whole.device.type, "dtype": whole.dtype}
        ranks.share({**said, "keeps": keeps, **options})
        return cls(ranks, whole, keeps=keeps, **options)

    @classmethod
    def of(
        cls, ranks: Ranks, *, config: Any, device: str, dtype: torch.dtype, **options: Any
    ) -> ShardedEngine:
        """Return the engine of another rank."""
        return cls(ranks, _outline(config, torch.device(device), dtype), **options)

    def follow(self) -> None:
        """Do what rank 0 does, until it closes its engine."""
        while (call := self.ranks.share(None)) is not None:
            name, arguments = call
            try:
                getattr(self, name)(*arguments)
            except DivergedError:
                # All ranks have it, and rank 0 decides what follows.
                continue

    @override
    def close(self) -> None:
        if not self._failed:
            self.ranks.share(None)
            self.leave()

    def leave(self) -> None:
        """Let go of the shards, and leave the group of processes. The engine is of no use afterwards."""
        self.model = self.reference = self._sender = None
        del self.optimizer
        self.ranks.leave()

    @override
    def start_reinforcement(self) -> None:
        self._all("_start_reinforcement")

    @override
    def set_lr(self, lr: float) -> None:
        self._all("_set_lr", lr)

    @override
    def logprobs(self, rows: Sequence[Row]) -> list[list[float]]:
        found: list[list[float]] = self._all("_logprobs", rows)
        return found

    @override
    def entropies(self, rows: Sequence[Row]) -> list[list[float]]:
        found: list[list[float]] = self._all("_entropies", rows)
        return found

    @override
    def statistics(self, rows: Sequence[Row]) -> TokenStatistics:
        found: TokenStatistics = self._all("_statistics", rows)
        return found

    @override
    def tax(self, rows: Sequence[Row]) -> list[list[float]]:
        found: list[list[float]] = self._all("_tax", rows)
        return found

    @override
    def reference_state(self) -> dict[str, Any]:
        found: dict[str, Any] = self._all("_reference_state")
        return found

    @override
    def load_reference_state(self, state: dict[str, Any]) -> None:
        self._all("_load_reference_state", state)

    @override
    def train_step(self, rows: Sequence[Row], kind: StepKind) -> StepStats:
        found: StepStats = self._all("_train_step", rows, kind)
        return found

    @override
    def weights(self, version: int) -> Weights:
        tensors: dict[str, Tensor] = {
            name: torch.empty(p.shape, dtype=p.dtype, device="meta")
            for name, p in self.model.named_parameters()
        }
        if self.whole is not None:
            tensors = {name: p.detach() for name, p in self.whole.named_parameters()}
        return Weights(version=version, tensors=tensors, save=self.save, holders=self.holders)

    @override
    def save(self, folder: Path) -> None:
        whole = self.whole if self.keeps else self._all("_assemble")
        with without_progress_bars():
            whole.save_pretrained(folder)

    @override
    def load(self, folder: Path) -> None:
        if self.keeps:
            sharded, self.model = self.model, self.whole
            try:
                super().load(folder)
            finally:
                self.model = sharded
        else:
            with without_progress_bars():
                self.whole = AutoModelForCausalLM.from_pretrained(
                    folder, local_files_only=True, use_safetensors=True, dtype=self._dtype
                )
        self._all("_scatter")

    @override
    def optimizer_state(self) -> dict[str, Any]:
        found: dict[str, Any] = self._all("_optimizer_state")
        return found

    @override
    def load_optimizer_state(self, state: dict[str, Any]) -> None:
        self._all("_load_optimizer_state", state)

    def _all(self, name: str, *arguments: Any) -> Any:
        """Call a method of this class on all ranks; inside such a call, on this one alone."""
        with self._turn:
            if self._busy:
                return getattr(self, name)(*arguments)
            return self._all_at_once(name, arguments)

    def _all_at_once(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if self._failed:
            raise EngineFault(
                "a call was broken off in the middle; all processes end with this one"
            )
        self._busy = self._failed = True
        try:
            self.ranks.share((name, arguments))
            found = getattr(self, name)(*arguments)
            self._failed = False
        except DivergedError:
            self._failed = False
            raise
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            # Gloo has no error of its own.
            raise EngineFault(f"a process of the learner is gone: {error}") from error
        finally:
            self._busy = False
        return found

    def _start_reinforcement(self) -> None:
        super().start_reinforcement()

    def _set_lr(self, lr: float) -> None:
        super().set_lr(lr)

    def _logprobs(self, rows: Sequence[Row]) -> list[list[float]]:
        return super().logprobs(rows)

    def _entropies(self, rows: Sequence[Row]) -> list[list[float]]:
        return super().entropies(rows)

    def _statistics(self, rows: Sequence[Row]) -> TokenStatistics:
        return super().statistics(rows)

    def _tax(self, rows: Sequence[Row]) -> list[list[float]]:
        return super().tax(rows)

    def _reference_state(self) -> dict[str, Any]:
        found = super().reference_state()
        return {
            kind: {name: _whole(value) for name, value in one.items()}
            for kind, one in found.items()
        }

    @torch.no_grad()
    def _load_reference_state(self, state: dict[str, Any]) -> None:
        if self.reference is not None:
            for name, own in self.reference.state_dict().items():
                _local(own).copy_(_local(_shard_like(own, state["reference"][name])))

    @torch.no_grad()
    @override
    def _frozen_copy(self) -> Any:
        copy = self._make_shards()
        for new, own in zip(
            [*copy.parameters(), *copy.buffers()],
            [*self.model.parameters(), *self.model.buffers()],
            strict=True,
        ):
            _local(new).copy_(_local(own))
        return copy.requires_grad_(False)

    def _make_shards(self) -> Any:
        model = _outline(self._config, self._device, self._dtype)
        if self.train.gradient_checkpointing:
            recompute_activations(model)
        _shard(model, self._mesh)
        return model

    def _train_step(self, rows: Sequence[Row], kind: StepKind) -> StepStats:
        found = super().train_step(rows, kind)
        if self.keeps:
            self._gather(self.whole)
        return found

    def _optimizer_state(self) -> dict[str, Any]:
        """Return the state as one process would have it."""
        return _mapped(self.optimizer.state_dict(), lambda place, value: _whole(value))

    def _load_optimizer_state(self, state: dict[str, Any]) -> None:
        trained = [p for group in self.optimizer.param_groups for p in group["params"]]
        shards = _mapped(
            state,
            lambda place, value: value if value.dim() == 0 else _shard_like(trained[place], value),
        )
        self.optimizer.load_state_dict(shards)

    @torch.no_grad()
    def _scatter(self) -> None:
        """Give the weights of rank 0's whole model to the shards, and drop it unless it is kept."""
        places = [*self.model.parameters(), *self.model.buffers()]
        given: list[Any] = [None] * len(places)
        if self.whole is not None:
            given = [*self.whole.parameters(), *self.whole.buffers()]
        for own, found in zip(places, given, strict=True):
            full = torch.empty(own.shape, dtype=own.dtype, device=own.device)
            if found is not None:
                full.copy_(found)
            if isinstance(own, DTensor):
                own.to_local().copy_(
                    distribute_tensor(full, own.device_mesh, own.placements).to_local()
                )
            else:
                dist.broadcast(full, 0)
                own.copy_(full)
        if not self.keeps:
            self.whole = None

    @torch.no_grad()
    def _gather(self, whole: Any) -> None:
        """Give the weights of the shards to rank 0's `whole`."""
        places = [None] * len([*self.model.parameters()])
        if whole is not None:
            places = [*whole.parameters()]
        for own, copy in zip(self.model.parameters(), places, strict=True):
            full = _whole(own)
            if copy is not None:
                copy.copy_(full)

    def _assemble(self) -> Any:
        """Return the whole model on rank 0, for a checkpoint."""
        whole = None
        if self.ranks.rank == 0:
            whole = _outline(self._config, torch.device("cpu"), self._dtype)
            whole.generation_config = self._generation_config
        self._gather(whole)
        return whole

    def shards(self) -> dict[str, Shard]:
        """Return the rows that this rank has of each tensor."""
        out = {}
        for name, parameter in self.model.named_parameters():
            shard = Shard(_local(parameter).detach(), tuple(parameter.shape))
            outline = torch.empty(shard.shape, device="meta")
            wanted = rows_of(outline, self.ranks.world, self.ranks.rank)
            if shard.rows.shape != wanted.shape:
                raise RuntimeError(
                    f"FSDP2 gave this rank {tuple(shard.rows.shape)} of {name} {shard.shape}, not "
                    f"{tuple(wanted.shape)}"
                )
            out[name] = shard
        return out

    def open_senders(
        self, make: Callable[..., ShardSender], arguments: tuple[Any, ...]
    ) -> Outcomes:
        """Give each rank a sender of its rows; return why it failed on some."""
        found: Outcomes = self._all("_open_sender", make, arguments)
        return found

    def send_shards(self, version: int, arguments: tuple[Any, ...]) -> Outcomes:
        """Have each rank's sender send its rows; return the sizes, and why it failed on some."""
        found: Outcomes = self._all("_send_shard", version, arguments)
        return found

    def _open_sender(
        self, make: Callable[..., ShardSender], arguments: tuple[Any, ...]
    ) -> Outcomes:
        def open_it() -> None:
            self._sender = make(self.ranks.rank, self.ranks.world, *arguments)

        return self.ranks.attempt(open_it)

    def _send_shard(self, version: int, arguments: tuple[Any, ...]) -> Outcomes:
        def send() -> int:
            assert self._sender is not None, "no sender was opened"
            return self._sender.send(version, self.shards(), *arguments)

        return self.ranks.attempt(send)

    @override
    def parts(self, rows: Sequence[Row]) -> Iterator[MicroBatch]:
        """Yield this rank's micro-batches; as many on each rank, since they compute them together."""
        tree = self.unshared is None
        ids = [row.ids for row in rows]
        n_tokens = count_distinct(ids) if tree else sum(map(len, ids))
        share = max(1, -(-n_tokens // self.ranks.world))
        limit = min(self.train.microbatch_tokens or LARGE_TOKENS, share)
        parts = microbatches(rows, limit, self.model.device, tree=tree)
        for first in range(0, len(parts), self.ranks.world):
            own = first + self.ranks.rank
            yield self.part(parts[own]) if own < len(parts) else self._filler(parts[0])

    def _filler(self, rows: Sequence[Row]) -> MicroBatch:
        """Return a micro-batch of which nothing is trained."""
        part = self.part(rows)
        nothing_BT = torch.zeros_like(part.batch.mask_BT)
        return replace(
            part,
            batch=replace(part.batch, mask_BT=nothing_BT),
            edges=part.reading.edges(part.batch.ids_BT, nothing_BT),
            is_filler=True,
        )

    @override
    def over_ranks(
        self, sums: dict[str, float], gaps: list[Tensor]
    ) -> tuple[dict[str, float], list[Tensor]]:
        found = self.ranks.collect((sums, [gap.cpu() for gap in gaps]))
        return (
            {name: sum(one[name] for one, _ in found) for name in sums},
            [gap for _, some in found for gap in some],
        )

    @override
    def all_rows(self, lines: dict[int, list[Any]]) -> dict[int, list[Any]]:
        return {place: line for some in self.ranks.collect(lines) for place, line in some.items()}


def _outline(config: Any, device: torch.device, dtype: torch.dtype) -> Any:
    """Return a model without meaningful weights."""
    with without_progress_bars():
        return AutoModelForCausalLM.from_config(config, dtype=dtype).to(device).eval()


def _shard(model: Any, mesh: DeviceMesh) -> None:
    layers = set(model._no_split_modules or ())
    precise = MixedPrecisionPolicy(reduce_dtype=torch.float32)
    for module in [one for one in model.modules() if type(one).__name__ in layers]:
        fully_shard(module, mesh=mesh, mp_policy=precise)
    # Left whole after a forward pass, its parameters would be others than the optimiser's.
    fully_shard(model, mesh=mesh, reshard_after_forward=True, mp_policy=precise)
    for module in model.modules():
        if isinstance(module, FSDPModule):
            # Add gradients up: each rank has the loss of its share of the batch. Gloo cannot scale.
            module.set_gradient_divide_factor(1.0)
            module.set_force_sum_reduction_for_comms(True)


def _mapped(state: dict[str, Any], change: Callable[[int, Any], Any]) -> dict[str, Any]:
    """Return an optimiser's state with `change` of the number of a parameter and of each tensor of its state."""
    if "masters" in state:
        masters = [change(place, value) for place, value in enumerate(state["masters"])]
        return {"inner": _mapped(state["inner"], change), "masters": masters}
    found = {
        place: {name: change(place, value) for name, value in one.items()}
        for place, one in state["state"].items()
    }
    return {**state, "state": found}


def _local(tensor: Any) -> Any:
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def _whole(tensor: Any) -> Any:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def _shard_like(parameter: Any, whole: Tensor) -> Tensor:
    """Return this rank's shard of a tensor that all ranks have, as that of `parameter`."""
    placed = whole.to(parameter.device)
    if not isinstance(parameter, DTensor):
        return placed
    return distribute_tensor(
        placed, parameter.device_mesh, parameter.placements, src_data_rank=None
    )
