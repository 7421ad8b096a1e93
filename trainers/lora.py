"""Low-rank adapters on the policy, by peft: the base stays frozen, and only the adapter is saved.

Source: Hu et al. 2022, arXiv 2106.09685.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from verigym.agents.policies.loading import without_progress_bars
from verigym.errors import MissingError, RequestError
from verigym.trainers.config import LoraSection


def add_adapter(model: Any, section: LoraSection, seed: int) -> None:
    """Add an adapter to `model` in place; it starts as the identity, drawn from `seed`.

    Raises MissingError without peft, RequestError if a target is not in the model.
    """
    try:
        from peft import LoraConfig
    except ImportError as error:
        raise MissingError("policy.lora needs peft; pip install 'verigym[lora]'") from error
    targets = section.targets if isinstance(section.targets, str) else list(section.targets)
    config = LoraConfig(
        r=section.rank,
        lora_alpha=section.alpha,
        target_modules=targets,
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            model.add_adapter(config)
        except ValueError as error:
            raise RequestError(f"policy.lora.targets: {error}") from error


def write_merged(adapter: Path, out: Path) -> None:
    """Write the base model with the adapter of folder `adapter` added to its weights into `out`."""
    from peft import PeftModel

    base = json.loads((adapter / "adapter_config.json").read_text())["base_model_name_or_path"]
    with without_progress_bars():
        model = AutoModelForCausalLM.from_pretrained(
            base, local_files_only=True, use_safetensors=True
        )
    with warnings.catch_warnings():
        # peft asks transformers for an attribute under its old name.
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        merged = PeftModel.from_pretrained(model, adapter).merge_and_unload()
    with without_progress_bars():
        merged.save_pretrained(out)
