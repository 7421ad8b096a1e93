"""`Ranks`: the processes of a run that torchrun started, and what they tell each other."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeAlias

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

Outcomes: TypeAlias = list[tuple[Any, str | None]]
"""For each rank its result, or why it failed."""

# Ranks wait so long while rank 0 plays; torchrun ends them if it dies.
_PATIENCE = timedelta(days=7)


def n_processes() -> int:
    """Return the number of processes that torchrun started, 1 without it."""
    return int(os.environ["WORLD_SIZE"]) if dist.is_torchelastic_launched() else 1


class Ranks:
    """The processes of a run. `talk` is their group for Python objects."""

    def __init__(self) -> None:
        has_gpus = torch.cuda.is_available()
        if has_gpus:
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("cpu:gloo,cuda:nccl" if has_gpus else "gloo")
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.talk = dist.new_group(backend="gloo", timeout=_PATIENCE)
        self._meshes: list[DeviceMesh] = []

    def mesh(self, device: str) -> DeviceMesh:
        """Return the processes as one line on `device`."""
        self._meshes.append(init_device_mesh(device, (self.world,)))
        return self._meshes[-1]

    def leave(self) -> None:
        """Leave the group, and wait for the end of its threads. Whatever was computed in it must be let go of before.

        A group's threads end with the last reference to it, not with `destroy_process_group`. One that lets go of a
        tensor while the interpreter ends needs the interpreter's lock, and C++ answers by an abort: "terminate called
        without an active exception".
        """
        dist.destroy_process_group()
        self.talk = None
        for mesh in self._meshes:
            # Caches of DTensor keep the mesh to the end, and it keeps its group.
            getattr(mesh, "_pg_registry", {}).clear()
        # Parts of FSDP refer to each other.
        gc.collect()

    def share(self, message: Any) -> Any:
        """Return rank 0's message, on all ranks."""
        box = [message]
        dist.broadcast_object_list(box, 0, self.talk)
        return box[0]

    def collect(self, message: Any) -> list[Any]:
        """Return the messages of all ranks in their order, on all ranks."""
        found: list[Any] = [None] * self.world
        dist.all_gather_object(found, message, self.talk)
        return found

    def attempt(self, work: Callable[[], Any]) -> Outcomes:
        """Do `work` on all ranks; return the outcomes, on all ranks."""
        found, why = None, None
        try:
            found = work()
        except (OSError, RuntimeError) as error:
            why = f"{type(error).__name__}: {error}"
        return self.collect((found, why))
