"""The language-model head over chunks of tokens, so that logits of all tokens never exist at once.

Only sampled tokens pass through it, packed without padding. In training each chunk's logits are computed
again in the backward pass, so a chunk of them is the most that is held.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from verigym.trainers.batch import Batch

_CHUNK_LOGITS = 1 << 24
"""Number of logits in a chunk: 64 MiB in float32."""
_TOLERANCE = 1e-3


class Head:
    """Log-probabilities, entropies and sums of squared probabilities at the sampled tokens of a batch.

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

    def statistics(
        self, model: Any, batch: Batch, *, entropy_gradient: bool, squares: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy of each sampled token, both [B, T] and 0 off the mask.

        With `squares`, the sum of squared probabilities takes the place of the entropy.
        """
        hidden = model.base_model(
            input_ids=batch.ids_BT, attention_mask=batch.attention_BT
        ).last_hidden_state
        # The token at a place is predicted one place before it; the first is never sampled.
        hidden_ND = hidden[:, :-1][batch.mask_BT[:, 1:]]
        ids_N = batch.ids_BT[batch.mask_BT]

        def values(part_ND: Tensor, part_N: Tensor) -> tuple[Tensor, Tensor]:
            logp_NV = (self._logits(model, part_ND) / self.temperature).log_softmax(-1)
            chosen_N = logp_NV.gather(-1, part_N[:, None])[:, 0]
            spread_NV = logp_NV if entropy_gradient else logp_NV.detach()
            if squares:
                return chosen_N, (2 * spread_NV).exp().sum(-1)
            return chosen_N, -(spread_NV.exp() * spread_NV).sum(-1)

        size = max(1, _CHUNK_LOGITS // model.get_output_embeddings().weight.shape[0])
        chunks = list(zip(torch.split(hidden_ND, size), torch.split(ids_N, size), strict=True))
        again = torch.is_grad_enabled() and len(chunks) > 1
        found = [
            checkpoint(values, *chunk, use_reentrant=False) if again else values(*chunk)
            for chunk in chunks
        ]
        zero_BT = torch.zeros(batch.mask_BT.shape, device=hidden.device)
        first, second = (
            zero_BT.masked_scatter(batch.mask_BT, torch.cat([pair[i] for pair in found]))
            for i in (0, 1)
        )
        return first, second
