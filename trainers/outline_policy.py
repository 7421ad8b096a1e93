"""`OutlinePolicy`: the policy of a run whose weights are elsewhere, on a Tinker server or in shards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from verigym.agents.policies.hf import HFPolicy
from verigym.agents.prompts import write_prompts
from verigym.errors import RequestError


class OutlinePolicy(HFPolicy):
    """Encodes and decodes for a model of which it has the shape alone; `save_weights` writes the weights into a folder,
    or where they are."""

    save_weights: Callable[[Path], None]

    @staticmethod
    def outline(folder: Path, **options: Any) -> OutlinePolicy:
        """Read tokenizer and configuration of the transformers folder; its weights need not be there.

        Raises RequestError if the folder lacks them.
        """
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            config = AutoConfig.from_pretrained(folder, local_files_only=True)
            with torch.device("meta"):
                model = AutoModelForCausalLM.from_config(config)
            if (folder / "generation_config.json").exists():
                model.generation_config = GenerationConfig.from_pretrained(folder)
        except (OSError, ValueError, KeyError) as error:
            raise RequestError(
                f"model folder {folder} has no tokenizer and config.json of the model: {error}"
            ) from error
        return OutlinePolicy(model, tokenizer, **options)

    def save(self, folder: Path) -> None:
        """Write the weights or their address, the tokenizer and the prompts."""
        self.save_weights(folder)
        self.tokenizer.save_pretrained(folder)
        if self.prompts is not None:
            write_prompts(folder, self.prompts, self.think)
