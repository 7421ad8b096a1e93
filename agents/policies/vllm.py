"""A model folder as a policy that vLLM samples, in a child process: fast on a GPU, with many episodes at once.

The imports are heavy; use `make_policy("vllm:PATH")`, in an environment that has vLLM.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from transformers import AutoTokenizer, GenerationConfig

from verigym.agents.engines.policy import EnginePolicy
from verigym.agents.engines.sampler import SamplingParams
from verigym.agents.engines.vllm import PRECISION_NATS, VllmSampler
from verigym.agents.engines.vllm_process import ProcessLink
from verigym.agents.policies.hf import check_folder, find_end_ids
from verigym.agents.policies.thinking import Think
from verigym.agents.prompts import read_prompts
from verigym.errors import RequestError


class VllmPolicy(EnginePolicy):
    """Starts vLLM on the model in a folder, and closes it with itself.

    `concurrency` requests are continued at once. `dtype` is the folder's own unless given. An engine that does not
    start within `start_timeout_s` is killed, and so is one whose call takes longer than `timeout_s`; the
    episode loop asks again, and the engine is then started anew. `engine` holds further arguments of vLLM.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        max_new_tokens: int = 512,
        temperature: float = 1.0,
        top_p: float = 1.0,
        concurrency: int = 64,
        think: Think | None = None,
        dtype: str | None = None,
        cache_gib: float = 4.0,
        timeout_s: float = 600.0,
        start_timeout_s: float = 600.0,
        engine: dict[str, Any] | None = None,
    ) -> None:
        folder = Path(folder)
        check_folder(folder)
        if (folder / "adapter_config.json").exists():
            raise RequestError(f"{folder} holds a LoRA adapter; merge it first, or use hf:{folder}")
        dtype = dtype or _read_dtype(folder)
        if dtype not in PRECISION_NATS:
            raise RequestError(f"dtype must be one of {', '.join(PRECISION_NATS)}, got {dtype!r}")
        trained = read_prompts(folder)
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            has_settings = (folder / "generation_config.json").exists()
            settings = GenerationConfig.from_pretrained(folder) if has_settings else None
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise RequestError(f"model folder {folder} cannot be loaded: {error}") from error
        link = ProcessLink(
            folder,
            dtype=dtype,
            transfer="disk",
            max_sequences=concurrency,
            cache_gib=cache_gib,
            deadline_s=timeout_s,
            start_deadline_s=start_timeout_s,
            **(engine or {}),
        )
        kept: Any = trained[1] if trained is not None else "auto"
        sampler = VllmSampler(link, folder, dtype=dtype, transfer="disk", deadline_s=timeout_s)
        try:
            super().__init__(
                sampler,
                tokenizer,
                SamplingParams(
                    max_tokens=max_new_tokens,
                    temperature=temperature,
                    top_p=top_p,
                    end_ids=frozenset(
                        find_end_ids(SimpleNamespace(generation_config=settings), tokenizer)
                    ),
                ),
                concurrency=concurrency,
                ready=self._revive,
                think=think or kept,
            )
        except BaseException:
            sampler.close()
            raise
        self.max_new_tokens = max_new_tokens
        self.prompts = None if trained is None else trained[0]

    def close(self) -> None:
        """Stop the engine."""
        self.sampler.close()

    def _revive(self) -> None:
        """Start the engine anew if it died; nobody sends weights, so those of the folder are right."""
        self.sampler.revive()


def _read_dtype(folder: Path) -> str:
    """Return the dtype in which the folder's weights are kept; bfloat16 for those that vLLM would change."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError) as error:
        raise RequestError(f"{folder / 'config.json'} cannot be read: {error}") from error
    found = config.get("dtype") or config.get("torch_dtype")
    return str(found) if found in PRECISION_NATS else "bfloat16"
