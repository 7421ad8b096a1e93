"""A language model small enough to learn on two CPU cores, made on the spot.

It is an ordinary transformers folder: a Llama, a tokenizer and a chat template. Whatever loads it
through `AutoModelForCausalLM` loads a Qwen or Llama folder the same way.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from verigym.agents.policies.loading import without_progress_bars

PAD, UNKNOWN, END = "<|pad|>", "<|unknown|>", "<|end|>"
ROLES = ("system", "user", "assistant")
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "<|{{ message['role'] }}|>{{ message['content'] }}<|end|>"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
KEYDOOR_WORDS = ("up", "down", "left", "right", "Keys: ", "none", "Legal actions: ", ", ")


def build_tokenizer(words: Sequence[str] = KEYDOOR_WORDS) -> PreTrainedTokenizerFast:
    """Return a tokenizer of whole `words` and single printable ASCII characters; lossless on those."""
    special = [PAD, UNKNOWN, END, *(f"<|{role}|>" for role in ROLES)]
    vocabulary = {token: i for i, token in enumerate([*special, *words, *string.printable])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    alternatives = [re.escape(word) for word in sorted(words, key=len, reverse=True)]
    pattern = Regex("|".join([*alternatives, r"[\s\S]"]))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(pattern, behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        unk_token=UNKNOWN,
        eos_token=END,
        additional_special_tokens=special[3:],
        clean_up_tokenization_spaces=False,
        padding_side="left",
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def build_model(
    n_tokens: int, *, seed: int, width: int = 192, layers: int = 2, end_id: int, pad_id: int
) -> LlamaForCausalLM:
    """Return a Llama with random weights, 1.0 million parameters at the default size."""
    config = LlamaConfig(
        vocab_size=n_tokens,
        hidden_size=width,
        intermediate_size=10 * width // 3,
        num_hidden_layers=layers,
        num_attention_heads=width // 32,
        num_key_value_heads=width // 32,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=end_id,
        pad_token_id=pad_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)


def build(
    folder: str | Path,
    *,
    seed: int,
    words: Sequence[str] = KEYDOOR_WORDS,
    width: int = 192,
    layers: int = 2,
) -> Path:
    """Write model, tokenizer and chat template into `folder`; the same seed gives the same bytes."""
    tokenizer = build_tokenizer(words)
    assert tokenizer.eos_token_id is not None
    assert tokenizer.pad_token_id is not None
    model = build_model(
        len(tokenizer),
        seed=seed,
        width=width,
        layers=layers,
        end_id=tokenizer.eos_token_id,
        pad_id=tokenizer.pad_token_id,
    )
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with without_progress_bars():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
