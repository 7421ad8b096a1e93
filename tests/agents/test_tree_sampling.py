"""Generation computes each distinct token once, and samples what a pass over the whole row would."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.agents.test_agents_hf import full_logprobs, prompts  # noqa: E402
from verigym.agents.policies.hf import HFPolicy  # noqa: E402
from verigym.agents.policy import Request  # noqa: E402


def ask(ids, episode, turn):
    return Request(messages=[], prompt_ids=list(ids), key=(5, episode, turn), grows=True)


def check(model, prompt, made):
    want = full_logprobs(model, prompt, made.response_ids)
    assert made.logprobs == pytest.approx(want, abs=1e-4)


def test_a_further_turn_computes_its_new_tokens_alone(model, tokenizer):
    policy = HFPolicy(model, tokenizer, max_new_tokens=6)
    first = prompts(np.random.default_rng(1), [20, 30, 25])
    first.append(first[0])  # a member of the first's group
    made = policy.complete([ask(p, i, 0) for i, p in enumerate(first)])
    second = [
        [*p, *m.response_ids, *glue]
        for p, m, glue in zip(
            first, made, prompts(np.random.default_rng(2), [3, 5, 4, 6]), strict=True
        )
    ]
    before = policy.computed_tokens
    again = policy.complete([ask(p, i, 1) for i, p in enumerate(second)])
    # Each row's last sampled token and glue, then all but the last new token.
    want = 4 + 3 + 5 + 4 + 6 + sum(len(m.response_ids) - 1 for m in again)
    assert policy.computed_tokens - before == want
    for prompt, one in zip(second, again, strict=True):
        check(model, prompt, one)


def test_a_prompt_that_drops_what_was_said_computes_the_rest_anew(model, tokenizer):
    policy = HFPolicy(model, tokenizer, max_new_tokens=6)
    (prompt,) = prompts(np.random.default_rng(1), [20])
    policy.complete([ask(prompt, 0, 0)])
    before = policy.computed_tokens
    changed = [*prompt[:15], 7, 8]
    (made,) = policy.complete([ask(changed, 0, 1)])
    assert policy.computed_tokens - before == 2 + len(made.response_ids) - 1
    check(model, changed, made)


def test_new_weights_and_an_ended_episode_leave_no_cache(model, tokenizer):
    policy = HFPolicy(model, tokenizer, max_new_tokens=6)
    (prompt,) = prompts(np.random.default_rng(1), [20])
    policy.complete([ask(prompt, 0, 0)])
    policy.forget((5, 0))
    assert not policy._memory.kept
    policy.complete([ask(prompt, 0, 0)])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    sum(p.sum() for p in model.parameters()).backward()
    optimizer.step()
    (made,) = policy.complete([ask([*prompt, 9], 0, 1)])
    check(model, [*prompt, 9], made)


def test_rows_that_say_the_same_are_computed_once(model, tokenizer):
    policy = HFPolicy(model, tokenizer, max_new_tokens=6, temperature=0.0)
    (prompt,) = prompts(np.random.default_rng(1), [20])
    made = policy.complete([ask(prompt, i, 0) for i in range(8)])
    assert policy.computed_tokens == 20 + len(made[0].response_ids) - 1
    assert len({tuple(m.response_ids) for m in made}) == 1


SIZES = {
    "vocab_size": 320,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "sliding_window": 6,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": 2,
}


@pytest.mark.parametrize("name", ["Qwen3", "Gemma2", "Gemma3"])
def test_windows_soft_caps_and_shared_heads_are_kept(name, tokenizer):
    config = getattr(transformers, f"{name}{'Text' if name == 'Gemma3' else ''}Config")
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}ForCausalLM")(config(**SIZES)).eval()
    policy = HFPolicy(model, tokenizer, max_new_tokens=8)
    assert policy._unshared is None
    head = prompts(np.random.default_rng(3), [9])[0]
    asked = [head + tail for tail in prompts(np.random.default_rng(4), [2, 7, 1])]
    for turn in range(2):
        made = policy.complete([ask(p, i, turn) for i, p in enumerate(asked)])
        for prompt, one in zip(asked, made, strict=True):
            check(model, prompt, one)
        asked = [[*p, *m.response_ids, 5, 6] for p, m in zip(asked, made, strict=True)]
