"""Weight transfers with a fault: one drops an update, one breaks off in the middle. The first update of a
process arrives, so that the engine has weights to fall back to."""

from __future__ import annotations

from itertools import islice

from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory

from verigym.agents.engines.vllm_worker import Extension, GlooTransfer

_FIRST_TENSORS = 3


class DropsUpdates(GlooTransfer):
    """Receives all tensors, loads none, and says that it did."""

    updates = 0

    def start_weight_update(self):
        self.updates += 1
        if self.updates == 1:
            super().start_weight_update()

    def receive_weights(self, update_info):
        if self.updates == 1:
            super().receive_weights(update_info)
        else:
            list(self.tensors(update_info))

    def finish_weight_update(self):
        if self.updates == 1:
            super().finish_weight_update()


class BreaksOff(GlooTransfer):
    """Fails after a few tensors."""

    updates = 0

    def receive_weights(self, update_info):
        self.updates += 1
        if self.updates == 1:
            super().receive_weights(update_info)
        else:
            self.model.load_weights(islice(self.tensors(update_info), _FIRST_TENSORS))
            raise OSError("the connection broke off")


class Dropping(Extension):
    """Worker extension of the first."""


class Breaking(Extension):
    """Worker extension of the second."""


def install(transfer):
    """Let `transfer` take the place of the real one, in the worker's process."""
    WeightTransferEngineFactory._registry["gloo"] = lambda: transfer
