"""Tokens a second of the transformers policy on a random Llama of about a million parameters.

    OMP_NUM_THREADS=1 python benchmarks/generation_speed.py

Writes JSON with the median and the spread of the runs. `apart` prompts share nothing, `groups` are
eight equal prompts each, `rules` share their first 40 tokens, as tasks of one environment do.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from verigym.agents.policies.hf import HFPolicy
from verigym.agents.policy import Request

WORDS = ["<pad>", "<end>", "<unk>", *(f"w{i}" for i in range(125))]


def tiny_policy(n_new: int) -> HFPolicy:
    """Three layers of width 160; no end token, so that every row makes `n_new` tokens."""
    words = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>")
    tokenizer.chat_template = "{% for m in messages %}{{ m.content }} {% endfor %}"
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=160,
        intermediate_size=480,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=512,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    torch.manual_seed(0)
    return HFPolicy(LlamaForCausalLM(config), tokenizer, max_new_tokens=n_new)


def requests(kind: str, batch: int, length: int) -> list[Request]:
    """`batch` prompts of `length` tokens, or of 0.8 to 1 times `length` where `ragged`."""
    rng = np.random.default_rng(0)
    rows = rng.integers(3, len(WORDS), size=(batch, length))
    if kind == "groups":
        rows = rows[np.arange(batch) // 8]
    if kind == "rules":
        rows[:, :40] = rows[0, :40]
    cut = rng.integers(int(length * 0.8), length + 1, size=batch)
    return [
        Request(
            messages=[],
            prompt_ids=[int(i) for i in (row[:n] if kind == "ragged" else row)],
            key=(0, index, 0),
        )
        for index, (row, n) in enumerate(zip(rows, cut, strict=True))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--prompt", type=int, default=70)
    parser.add_argument("--new", type=int, default=4)
    parser.add_argument("--runs", type=int, default=11)
    args = parser.parse_args()
    policy = tiny_policy(args.new)
    result: dict[str, object] = {
        "parameters": sum(p.numel() for p in policy.model.parameters()),
        "threads": torch.get_num_threads(),
        **vars(args),
    }
    for kind in ("apart", "ragged", "rules", "groups"):
        asked = requests(kind, args.batch, args.prompt)
        policy.complete(asked)
        seconds = []
        for _ in range(args.runs):
            began = time.perf_counter()
            made = policy.complete(asked)
            seconds.append(time.perf_counter() - began)
        n_tokens = sum(len(m.response_ids) for m in made)
        result[kind] = {
            "median_ms": round(1e3 * statistics.median(seconds), 1),
            "min_ms": round(1e3 * min(seconds), 1),
            "max_ms": round(1e3 * max(seconds), 1),
            "tokens_per_s": round(n_tokens / statistics.median(seconds)),
        }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
