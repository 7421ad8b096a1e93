"""Direct preference optimisation: a loss on pairs of responses to one prompt, one better than the other.

Source: Rafailov et al. 2023, arXiv 2305.18290, eq. 7:

    L = -E[ log sigmoid( beta log(pi(y_w|x) / pi_ref(y_w|x)) - beta log(pi(y_l|x) / pi_ref(y_l|x)) ) ]
"""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(
    better_B: Tensor,
    worse_B: Tensor,
    reference_better_B: Tensor,
    reference_worse_B: Tensor,
    beta: float,
) -> Tensor:
    """Return the loss of each pair, in nats, [B].

    Arguments are log-probabilities of whole responses, sums over their tokens, under the policy and
    under the frozen reference.
    """
    margin_B = beta * ((better_B - reference_better_B) - (worse_B - reference_worse_B))
    return -torch.nn.functional.logsigmoid(margin_B)
