"""The policy of a run whose model is on a Tinker server: tokenizer, prompts and the shape of the model, no weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from verigym.agents.policies.hf import HFPolicy
from verigym.agents.prompts import write_prompts
from verigym.errors import RequestError


class TinkerPolicy(HFPolicy):
    """Encodes and decodes for a model that is elsewhere; `save_weights` writes where it is."""

    save_weights: Callable[[Path], None]

    @staticmethod
    def outline(folder: Path, **options: Any) -> TinkerPolicy:
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
                f"model folder {folder} has no tokenizer and config.json of the server's model: {error}"
            ) from error
        return TinkerPolicy(model, tokenizer, name=f"tinker:{folder.name}", **options)

    def save(self, folder: Path) -> None:
        """Write the address of the weights, the tokenizer and the prompts."""
        self.save_weights(folder)
        self.tokenizer.save_pretrained(folder)
        if self.prompts is not None:
            write_prompts(folder, self.prompts, self.think)
