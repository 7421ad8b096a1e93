"""From a loss per token to one number, with denominators that are global.

Every mode is a sum over tokens divided by a count. The count must be taken over the whole batch,
all micro-batches and all ranks of it, or gradient accumulation changes the gradient:

    whole = Denominators.of(mask_BT, max_tokens=4096)          # once per optimiser step
    for part in parts:
        aggregate(loss_bT, mask_BT[part], mode, denominators=whole).backward()

sums to the gradient of one pass over everything. Over ranks, add the `Denominators` up.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import get_args

import torch
from torch import Tensor

from verigym.trainers.losses import Mode


@dataclass(frozen=True)
class Denominators:
    """Counts of the whole batch that one optimiser step sees.

    `tokens` unmasked tokens; `live_rows` rows with at least one; `rows` all rows; `trajectories`
    those with at least one unmasked token, 0 if not said; `max_tokens` the constant L of `dr-grpo`
    and `sum-norm`.
    """

    tokens: int
    live_rows: int
    rows: int
    max_tokens: int | None = None
    trajectories: int = 0

    @staticmethod
    def of(
        mask_BT: Tensor,
        *,
        max_tokens: int | None = None,
        trajectory: Sequence[Hashable] | None = None,
    ) -> Denominators:
        """Return the counts of a batch. `trajectory` [B] names each row's, for `trajectory-mean`."""
        live = (mask_BT != 0).any(dim=-1)
        names: set[Hashable] = set()
        if trajectory is not None:
            names = {t for t, on in zip(trajectory, live.tolist(), strict=True) if on}
        return Denominators(
            tokens=int((mask_BT != 0).sum()),
            live_rows=int(live.sum()),
            rows=mask_BT.shape[0],
            max_tokens=max_tokens,
            trajectories=len(names),
        )

    def __add__(self, other: Denominators) -> Denominators:
        """Counts of two parts together, for ranks that hold whole trajectories each."""
        if self.max_tokens != other.max_tokens:
            raise ValueError(f"max_tokens differ: {self.max_tokens} and {other.max_tokens}")
        return Denominators(
            tokens=self.tokens + other.tokens,
            live_rows=self.live_rows + other.live_rows,
            rows=self.rows + other.rows,
            max_tokens=self.max_tokens,
            trajectories=self.trajectories + other.trajectories,
        )


def trajectory_tokens(mask_BT: Tensor, trajectory: Sequence[Hashable]) -> Tensor:
    """Return the unmasked tokens of the whole trajectory that each row belongs to, [B]; for
    `trajectory-mean`. Take it over the whole batch and pass each micro-batch its slice."""
    n_B = (mask_BT != 0).sum(dim=-1)
    seen: dict[Hashable, int] = {}
    ids = [seen.setdefault(name, len(seen)) for name in trajectory]
    index = torch.tensor(ids, dtype=torch.long, device=mask_BT.device)
    if len(index) != len(n_B):
        raise ValueError(f"trajectory must name {len(n_B)} rows, got {len(index)}")
    return torch.zeros(len(seen), dtype=n_B.dtype, device=n_B.device).index_add(0, index, n_B)[
        index
    ]


def aggregate(
    x_BT: Tensor,
    mask_BT: Tensor,
    mode: Mode,
    *,
    denominators: Denominators | None = None,
    trajectory_tokens_B: Tensor | None = None,
) -> Tensor:
    """Return `x_BT` over the unmasked tokens as one scalar: this part's share of the batch's loss.

    `denominators` are those of the whole batch; None takes this part for the whole. With n_i
    unmasked tokens in row i and sums over unmasked tokens only:
    - `token-mean`: sum of x / tokens. DAPO, GiGPO's code.
    - `seq-mean-token-sum`: sum of x / live rows.
    - `seq-mean-token-mean`: mean over live rows of sum x / n_i. GRPO's paper, GSPO.
    - `seq-mean-token-mean/all-rows`: the same over all rows, masked-out ones included, as TRL.
    - `dr-grpo`: sum of x / (rows * max_tokens).
    - `sum-norm`: sum of x / max_tokens, verl's seq-mean-token-sum-norm.
    - `trajectory-mean`: mean over trajectories of the mean over a trajectory's tokens, whichever
      rows they stand in; needs `trajectory_tokens_B`. For step rows, so that long episodes do not
      outweigh short ones; LOOP's too.

    Masked positions never contribute, NaN there included. A part without unmasked tokens gives 0.
    Raises ValueError if the whole batch has none, or a count that the mode needs is missing.
    """
    if mode not in get_args(Mode):
        raise ValueError(f"mode must be one of {', '.join(get_args(Mode))}, got {mode!r}")
    on = mask_BT != 0
    whole = denominators or Denominators.of(mask_BT)
    if whole.tokens == 0:
        raise ValueError("no unmasked token in the batch: there is nothing to learn from")
    sum_B = torch.where(on, x_BT, torch.zeros_like(x_BT)).sum(dim=-1)
    n_B = on.sum(dim=-1).clamp(min=1).to(x_BT.dtype)

    if mode == "token-mean":
        return sum_B.sum() / whole.tokens
    if mode == "seq-mean-token-sum":
        return sum_B.sum() / whole.live_rows
    if mode == "seq-mean-token-mean":
        return (sum_B / n_B).sum() / whole.live_rows
    if mode == "seq-mean-token-mean/all-rows":
        return (sum_B / n_B).sum() / whole.rows
    if mode == "trajectory-mean":
        if trajectory_tokens_B is None or whole.trajectories == 0:
            raise ValueError("trajectory-mean needs trajectory_tokens_B, and trajectories counted")
        per_row = sum_B / trajectory_tokens_B.clamp(min=1).to(x_BT.dtype)
        return per_row.sum() / whole.trajectories
    if whole.max_tokens is None or whole.max_tokens < 1:
        raise ValueError(f"{mode} needs denominators with max_tokens of at least 1")
    return sum_B.sum() / (whole.max_tokens * (whole.rows if mode == "dr-grpo" else 1))
