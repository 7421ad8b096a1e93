"""The small model is an ordinary transformers folder."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM, AutoTokenizer

from verigym.trainers import tiny

TOKENIZER = tiny.build_tokenizer()


@given(st.text(alphabet=st.characters(codec="ascii", categories=("L", "N", "P", "S", "Zs"))))
def test_the_tokenizer_loses_nothing_of_ascii(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER(text)["input_ids"]) == text


def test_a_word_matches_nothing_but_itself() -> None:
    tokenizer = tiny.build_tokenizer([" You", "Stop.", "a+b"])
    for text in ("here\nYou", "Stop!", "aab", " You Stop. a+b"):
        ids = tokenizer(text)["input_ids"]
        assert tokenizer.unk_token_id not in ids
        assert tokenizer.decode(ids) == text
    assert len(tokenizer(" You Stop. a+b")["input_ids"]) == 5


def test_moves_are_one_token() -> None:
    for word in ("up", "down", "left", "right", "none"):
        assert len(TOKENIZER(word)["input_ids"]) == 1


def test_the_folder_loads_by_auto_classes_and_repeats(tmp_path: Path) -> None:
    first = tiny.build(tmp_path / "first", seed=5)
    second = tiny.build(tmp_path / "second", seed=5)
    other = tiny.build(tmp_path / "other", seed=6)
    data = [(f / "model.safetensors").read_bytes() for f in (first, second, other)]
    assert data[0] == data[1] != data[2]
    model = AutoModelForCausalLM.from_pretrained(first)
    tokenizer = AutoTokenizer.from_pretrained(first)
    assert 0.9e6 < sum(p.numel() for p in model.parameters()) < 3e6
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": "@.*"}], tokenize=False, add_generation_prompt=True
    )
    assert text == "<|user|>@.*<|end|><|assistant|>"
