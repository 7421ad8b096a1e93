"""AdamW on float32 copies of the weights, for a model that computes in bfloat16.

A step of usual size is below the resolution of bfloat16 and would be lost in the weights themselves.
Source: Micikevicius et al. 2018, arXiv 1710.03740, section 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


class MasterAdamW:
    """AdamW whose weights are float32 copies of `parameters`, copied back after each step."""

    def __init__(self, parameters: Sequence[Tensor], **options: Any) -> None:
        self.parameters = list(parameters)
        self.masters = [p.detach().float().clone().requires_grad_(True) for p in self.parameters]
        self.inner = torch.optim.AdamW(self.masters, **options)
        self.param_groups = self.inner.param_groups

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop all gradients."""
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update the copies by the gradients of the weights, then the weights."""
        for p, master in zip(self.parameters, self.masters, strict=True):
            master.grad = None if p.grad is None else p.grad.float()
        self.inner.step()
        self.inner.zero_grad(set_to_none=True)
        for p, master in zip(self.parameters, self.masters, strict=True):
            p.copy_(master)

    def state_dict(self) -> dict[str, Any]:
        """Return the optimiser's state and the copies."""
        return {"inner": self.inner.state_dict(), "masters": [m.detach() for m in self.masters]}

    @torch.no_grad()
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state of `state_dict`."""
        self.inner.load_state_dict(state["inner"])
        self.param_groups = self.inner.param_groups
        for master, saved in zip(self.masters, state["masters"], strict=True):
            master.copy_(saved)
