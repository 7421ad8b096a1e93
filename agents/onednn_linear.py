"""Linear layers by oneDNN, on processors that it serves better than the matrix products of torch's builds.

Those builds multiply float32 matrices by MKL, which uses AVX-512 on processors of Intel alone. On an AMD EPYC of 2024 one core
reached 110 GFLOP/s with it and 165 to 260 with oneDNN, which torch has too. Rounding differs, precision does not.
Which is used depends on the machine alone, so that a run repeats.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

_PIECES = (512, 128, 64, 32)
"""Numbers of rows that are multiplied at once. oneDNN makes a program of up to 3 MiB for every shape, and micro-batches have many
lengths. With fewer rows than the last a call costs more than it gains."""


@cache
def is_faster() -> bool:
    """Return True if oneDNN has kernels for this processor that MKL has not."""
    if not hasattr(torch.ops.mkldnn, "_linear_pointwise"):  # a build without oneDNN
        return False
    if not torch.backends.cpu.get_cpu_capability().startswith("AVX512"):
        return False
    try:
        return "AuthenticAMD" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def use_onednn(model: nn.Module) -> None:
    """Let the float32 linear layers of `model` multiply by oneDNN where it is faster; parameters stay as they are."""
    if not is_faster():
        return
    for module in model.modules():
        if type(module) is nn.Linear:
            module.__class__ = OneDnnLinear


class OneDnnLinear(nn.Linear):
    """A linear layer that multiplies by oneDNN what is float32, on a processor and not tiny."""

    def forward(self, x: Tensor) -> Tensor:
        """Return x W^T + b."""
        weight, bias = self.weight, self.bias
        if (
            x.dtype is not torch.float32
            or weight.dtype is not torch.float32
            or not x.is_cpu
            or x.numel() < _PIECES[-1] * self.in_features
        ):
            return super().forward(x)
        if torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad):
            out: Tensor = _Product.apply(x, weight, bias)  # type: ignore[no-untyped-call]
            return out
        return _product(x, weight, bias)


def _product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x W^T + b for x [..., K] and W [N, K]."""
    x_MK = x.reshape(-1, x.shape[-1])
    rows = x_MK.shape[0]
    if rows in _PIECES:
        return _multiply(x_MK, weight, bias).view(*x.shape[:-1], -1)
    out_MN = x.new_empty(rows, weight.shape[0])
    for begin, end in _pieces(rows):
        # The last piece reaches back over rows that are done already.
        begin = min(begin, rows - _PIECES[-1])
        out_MN[begin:end] = _multiply(x_MK[begin:end], weight, bias)
    return out_MN.view(*x.shape[:-1], -1)


def _sum_of_outer(a_MN: Tensor, b_MK: Tensor) -> Tensor:
    """Return A^T B."""
    rows = a_MN.shape[0]
    out_NK = a_MN.new_zeros(a_MN.shape[1], b_MK.shape[1])
    for begin, end in _pieces(rows):
        a_NM, b_KM = a_MN[begin:end].t(), b_MK[begin:end].t()
        if end - begin in _PIECES:
            out_NK += _multiply(a_NM, b_KM, None)
        else:
            out_NK.addmm_(a_NM, b_KM.t())
    return out_NK


def _pieces(rows: int) -> Iterator[tuple[int, int]]:
    """Yield beginning and end of pieces of so many rows; all but the last are as long as `_PIECES` say."""
    begin = 0
    for size in _PIECES:
        for _ in range((rows - begin) // size):
            yield begin, begin + size
            begin += size
    if begin < rows:
        yield begin, rows


def _multiply(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    out: Tensor = torch.ops.mkldnn._linear_pointwise.default(x, weight, bias, "none", [], "")
    return out


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _product(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        needs_x, needs_weight, needs_bias = ctx.needs_input_grad
        grad_MN, x_MK = grad.reshape(-1, grad.shape[-1]), x.reshape(-1, x.shape[-1])
        for_weight = None
        if needs_weight and grad_MN.shape[1] > x_MK.shape[1]:
            # The wider of the two in the second place is up to a third faster.
            for_weight = _sum_of_outer(x_MK, grad_MN).t()
        elif needs_weight:
            for_weight = _sum_of_outer(grad_MN, x_MK)
        return (
            _product(grad, weight.t()) if needs_x else None,
            for_weight,
            grad_MN.sum(0) if needs_bias else None,
        )
