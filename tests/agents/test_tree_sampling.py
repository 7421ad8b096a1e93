"""Generation computes each distinct token once, and samples what a pass over the whole row would."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.agents.test_agents_hf import full_logprobs, prompts  # noqa: E402
from verigym.agents.policies.hf import HFPolicy  # noqa: E402
from verigym.agents.policies.shared_decoding import find_trunks  # noqa: E402
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


@pytest.mark.parametrize(
    ("prompts", "counts", "cluster", "trunks"),
    [
        # Members of one group, another group, a prompt of its own.
        (
            [[1] * 20, [2] * 18 + [3], [2] * 18 + [4], [5] * 30],
            [4, 1, 1, 1],
            [0, 1, 1, -1],
            [20, 18],
        ),
        # A beginning that is not worth it, and rules that two groups share: the groups' own are longer.
        ([[1, 2, 3], [1, 2, 4]], [1, 1], [-1, -1], []),
        ([[1] * 20 + [2] * 40, [1] * 20 + [3] * 40], [8, 8], [0, 1], [60, 60]),
        # Clusters of very different size would mostly be padding.
        ([[i] * 16 for i in range(9)], [30, *[2] * 8], [-1] * 9, []),
    ],
)
def test_rows_that_begin_alike_share_a_trunk(prompts, counts, cluster, trunks):
    found = find_trunks(prompts, np.array(counts))
    assert [x.tolist() for x in found] == [cluster, trunks]


def test_members_of_groups_of_any_size_sample_what_a_pass_over_the_row_would(model, tokenizer):
    policy = HFPolicy(model, tokenizer, max_new_tokens=9)
    alone, *heads = prompts(np.random.default_rng(3), [5, 20, 31])
    tails = prompts(np.random.default_rng(4), [2, 7, 1, 3, 3])
    asked = [heads[0] + tails[0], heads[1], alone, heads[0] + tails[1], heads[1], heads[1]]
    asked += [heads[0] + tails[2]]
    for turn in range(3):
        made = policy.complete([ask(p, i, turn) for i, p in enumerate(asked)])
        for prompt, one in zip(asked, made, strict=True):
            check(model, prompt, one)
        asked = [
            [*p, *m.response_ids, 5, 6 + i]
            for i, (p, m) in enumerate(zip(asked, made, strict=True))
        ]


def test_places_of_ended_episodes_are_used_again(model, tokenizer):
    policy = HFPolicy(model, tokenizer, max_new_tokens=4)
    lasting = prompts(np.random.default_rng(1), [12])[0]
    for turn in range(12):
        other = prompts(np.random.default_rng(turn + 2), [40])[0]
        made = policy.complete([ask(lasting, 0, turn), ask(other, turn + 1, 0)])
        check(model, lasting, made[0])
        check(model, other, made[1])
        policy.forget((5, turn + 1))
        lasting = [*lasting, *made[0].response_ids, 5]
    assert policy._memory.nodes.places < 4 * (len(lasting) + 48)


def test_a_row_without_a_cluster_outlives_all_clusters(model, tokenizer):
    often = range(0, len(tokenizer), 5)
    policy = HFPolicy(model, tokenizer, max_new_tokens=24, stop_ids=often)
    pair, lone = prompts(np.random.default_rng(5), [30, 28])
    asked = [pair[:-1], pair, lone]
    for key in range(40):
        made = policy.complete(
            [Request(messages=[], prompt_ids=list(p), key=(key, i)) for i, p in enumerate(asked)]
        )
        first, second, last = (len(one.response_ids) for one in made)
        if max(first, second) < last - 1:
            for prompt, one in zip(asked, made, strict=True):
                check(model, prompt, one)
            return
    pytest.fail("no draw lets the lone row go on for longest")


def test_an_episode_that_ends_during_a_batch_is_forgotten_after_it(model, tokenizer):
    policy = HFPolicy(model, tokenizer, max_new_tokens=6)
    (prompt,) = prompts(np.random.default_rng(1), [20])
    policy.complete([ask(prompt, 0, 0)])
    pick = policy._pick

    def interrupted(logits, draw):
        policy.forget((5, 0))  # as the loop's thread does for an episode that ended meanwhile
        assert (5, 0) in policy._memory.kept
        return pick(logits, draw)

    policy._pick = interrupted
    (made,) = policy.complete([ask(prompt, 1, 0)])
    check(model, prompt, made)
    assert list(policy._memory.kept) == [(5, 1)]


def test_rows_with_nothing_in_common_end_one_by_one(model, tokenizer):
    policy = HFPolicy(model, tokenizer, max_new_tokens=6)
    policy.end_ids = frozenset(range(0, 2000, 3))
    asked = prompts(np.random.default_rng(4), [9, 8, 7, 6, 5, 4])
    asked = [[10 + i, *prompt] for i, prompt in enumerate(asked)]
    made = policy.complete([ask(p, i, 0) for i, p in enumerate(asked)])
    assert len({len(one.response_ids) for one in made}) > 1
    for prompt, one in zip(asked, made, strict=True):
        check(model, prompt, one)
