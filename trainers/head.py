"""The language-model head over chunks of tokens, so that logits of all tokens never exist at once.

Only sampled tokens pass through it, packed without padding. In training each chunk's logits are computed
again in the backward pass, so a chunk of them is the most that is held.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

_CHUNK_LOGITS = 1 << 24
"""Number of logits in a chunk: 64 MiB in float32."""
_TOLERANCE = 1e-3

TokenValues: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, ...]]
"""Values [N] of log-probabilities [N, V] and the tokens [N]."""


def entropy(logp_NV: Tensor, ids_N: Tensor, *, gradient: bool) -> tuple[Tensor, Tensor]:
    """Return log-probability and entropy of each token; the latter with a gradient if wanted."""
    chosen_N = logp_NV.gather(-1, ids_N[:, None])[:, 0]
    spread_NV = logp_NV if gradient else logp_NV.detach()
    return chosen_N, -(spread_NV.exp() * spread_NV).sum(-1)


def squares(logp_NV: Tensor, ids_N: Tensor) -> tuple[Tensor, Tensor]:
    """Return log-probability and sum of squared probabilities of each token."""
    return logp_NV.gather(-1, ids_N[:, None])[:, 0], (2 * logp_NV).exp().sum(-1)


class Head:
    """Log-probabilities of the tokens after given hidden states.

    `fits` is False if `model` does more between its body and its logits than a linear layer and a soft cap;
    the caller then takes the model's own logits.
    """

    def __init__(self, model: Any, temperature: float) -> None:
        self.temperature = temperature
        self.cap = getattr(model.config.get_text_config(), "final_logit_softcapping", None)
        self.fits = self._fits(model)

    @torch.no_grad()
    def _fits(self, model: Any) -> bool:
        """Compare with the model's own logits on a few tokens."""
        if model.base_model is model or model.get_output_embeddings() is None:
            return False
        ids = (
            torch.arange(1, 9, device=model.device)[None]
            % model.config.get_text_config().vocab_size
        )
        own = model(input_ids=ids).logits.float()
        found = self._logits(model, model.base_model(input_ids=ids).last_hidden_state)
        return bool((own - found).abs().max() <= _TOLERANCE * own.abs().max().clamp(min=1.0))

    def _logits(self, model: Any, hidden: Tensor) -> Tensor:
        logits: Tensor = model.get_output_embeddings()(hidden).float()
        return logits if self.cap is None else self.cap * torch.tanh(logits / self.cap)

    def distribution(self, model: Any, hidden_ND: Tensor) -> Tensor:
        """Return the log-probabilities [N, V] after each hidden state."""
        return (self._logits(model, hidden_ND) / self.temperature).log_softmax(-1)

    def over_chunks(
        self, model: Any, hidden_ND: Tensor, ids_N: Tensor, values: TokenValues
    ) -> tuple[Tensor, ...]:
        """Return `values`, computed a chunk of tokens at a time."""

        def one(part_ND: Tensor, part_N: Tensor) -> tuple[Tensor, ...]:
            return values(self.distribution(model, part_ND), part_N)

        size = max(1, _CHUNK_LOGITS // model.get_output_embeddings().weight.shape[0])
        chunks = list(zip(torch.split(hidden_ND, size), torch.split(ids_N, size), strict=True))
        again = torch.is_grad_enabled() and len(chunks) > 1
        found = [
            checkpoint(one, *chunk, use_reentrant=False) if again else one(*chunk)
            for chunk in chunks
        ]
        return tuple(torch.cat(column) for column in zip(*found, strict=True))
