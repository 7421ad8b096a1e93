"""The transformers policy: exact log-probabilities, honest sampling, clear refusals."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from verigym import PolicyError, RequestError  # noqa: E402
from verigym.agents.policies.hf import HFPolicy, _buckets, _common_prefix  # noqa: E402
from verigym.agents.policy import Request, Templating  # noqa: E402


def ask(ids, *key):
    return Request(messages=[], prompt_ids=list(ids), key=key)


def prompts(rng, sizes):
    return [[int(i) for i in rng.integers(3, 300, size=n)] for n in sizes]


def full_logprobs(model, prompt, response, temperature=1.0):
    """Log-probabilities of `response` from one unpadded pass without a cache."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([prompt + response])).logits[0].float()
    logp = (logits / temperature).log_softmax(-1)
    return [logp[len(prompt) - 1 + i, token].item() for i, token in enumerate(response)]


@pytest.fixture
def policy(model, tokenizer):
    return HFPolicy(model, tokenizer, max_new_tokens=6)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize(
    "sizes",
    [[5] * 4, [3, 17, 9, 30, 4], [1, 2, 200]],
    ids=["equal", "ragged", "far"],
)
def test_logprobs_are_those_of_one_unpadded_pass(model, tokenizer, sizes, temperature):
    policy = HFPolicy(model, tokenizer, max_new_tokens=6, temperature=temperature)
    asked = prompts(np.random.default_rng(1), sizes)
    for prompt, made in zip(
        asked, policy.complete([ask(p, 5, i) for i, p in enumerate(asked)]), strict=True
    ):
        assert made.prompt_ids == prompt
        assert made.mask == [1] * len(made.response_ids)
        expected = full_logprobs(model, prompt, made.response_ids, temperature)
        assert made.logprobs == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("tails", [[4, 4, 4, 4], [1, 9, 4, 6]], ids=["equal", "ragged"])
def test_a_shared_beginning_and_equal_prompts_change_nothing(model, tokenizer, tails):
    policy = HFPolicy(model, tokenizer, max_new_tokens=6)
    rng = np.random.default_rng(2)
    head = prompts(rng, [150])[0]
    asked = [head + tail for tail in prompts(rng, tails)]
    asked += asked[:2]  # members of a group
    assert _common_prefix(asked) >= 150
    together = policy.complete([ask(p, 5, i) for i, p in enumerate(asked)])
    for index, (prompt, made) in enumerate(zip(asked, together, strict=True)):
        alone = policy.complete([ask(prompt, 5, index)])[0]
        assert made.response_ids == alone.response_ids
        expected = full_logprobs(model, prompt, made.response_ids)
        assert made.logprobs == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("unshared", [None, "a model that shares nothing"])
def test_tokens_are_shown_as_they_are_sampled(model, tokenizer, unshared):
    policy = HFPolicy(model, tokenizer, max_new_tokens=6, max_batch=3)
    policy.__dict__["_unshared"] = unshared
    asked = [ask(p, 5, i) for i, p in enumerate(prompts(np.random.default_rng(4), [9, 40, 3, 9]))]
    shown = [[] for _ in asked]

    def watch(rows, ids):
        for row, token in zip(rows, ids, strict=True):
            shown[row].append(token)

    policy.watch = watch
    assert [one.response_ids for one in policy.complete(asked)] == shown


def test_a_key_gives_the_same_tokens_in_any_company(policy):
    rng = np.random.default_rng(3)
    asked = [ask(p, 1, i) for i, p in enumerate(prompts(rng, rng.integers(2, 60, size=24)))]
    together = policy.complete(asked)
    backwards = policy.complete(asked[::-1])[::-1]
    alone = [policy.complete([request])[0] for request in asked]
    for a, b, c in zip(together, backwards, alone, strict=True):
        assert a.response_ids == b.response_ids == c.response_ids
        assert a.text == b.text == c.text
    assert len({tuple(a.response_ids) for a in together}) > 12


def test_sampling_leaves_the_global_generators_alone_and_repeats(policy):
    asked = [ask([5, 6, 7], 1, 2)]
    torch.manual_seed(1)
    first = policy.complete(asked)
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    second = policy.complete(asked)
    assert torch.equal(before, torch.random.get_rng_state())
    assert first[0].response_ids == second[0].response_ids
    assert first[0].logprobs == second[0].logprobs


@pytest.mark.parametrize("top_p", [1.0, 0.6])
def test_sampled_frequencies_match_the_probabilities(model, tokenizer, top_p):
    policy = HFPolicy(model, tokenizer, max_new_tokens=1, top_p=top_p, max_batch=512)
    prompt, n = [9, 10, 11], 4096
    made = policy.complete([ask(prompt, 0, i) for i in range(n)])
    counts = Counter(m.response_ids[0] for m in made)
    said = {m.response_ids[0]: math.exp(m.logprobs[0]) for m in made}
    with torch.no_grad():
        p = model(input_ids=torch.tensor([prompt])).logits[0, -1].double().softmax(-1)
    order = p.sort(descending=True)
    size = int((order.values.cumsum(-1) < top_p).sum()) + 1 if top_p < 1 else len(p)
    nucleus = set(order.indices[:size].tolist())
    mass = order.values[:size].sum().item()
    assert set(counts) <= nucleus
    assert len(counts) > 3
    for token, count in counts.items():
        expected = p[token].item() / mass
        assert said[token] == pytest.approx(expected, rel=1e-4)
        # Five standard deviations; the keys are fixed, so this either holds or does not.
        assert abs(count - n * expected) <= 5 * math.sqrt(n * expected * (1 - expected)) + 1


def test_greedy_takes_the_likeliest(model, tokenizer):
    policy = HFPolicy(model, tokenizer, max_new_tokens=5, temperature=0.0)
    asked = prompts(np.random.default_rng(4), [7, 12, 3])
    for prompt, made in zip(asked, policy.complete([ask(p) for p in asked]), strict=True):
        ids = list(prompt)
        for token in made.response_ids:
            with torch.no_grad():
                assert model(input_ids=torch.tensor([ids])).logits[0, -1].argmax() == token
            ids.append(token)
        assert made.logprobs == pytest.approx(
            full_logprobs(model, prompt, made.response_ids), abs=1e-4
        )


def test_an_end_token_stops_a_row_and_counts_as_sampled(model, tokenizer):
    open_ended = HFPolicy(model, tokenizer, max_new_tokens=6)
    asked = [ask(p, 2, i) for i, p in enumerate(prompts(np.random.default_rng(5), [6] * 40))]
    free = open_ended.complete(asked)
    common = Counter(t for made in free for t in made.response_ids).most_common(1)[0][0]
    stopping = HFPolicy(model, tokenizer, max_new_tokens=6, stop_ids=[common])
    stopped = stopping.complete(asked)
    assert {len(made.response_ids) for made in stopped} >= {1, 6}
    for whole, made in zip(free, stopped, strict=True):
        ends = [i for i, t in enumerate(whole.response_ids) if t in stopping.end_ids]
        cut = ends[0] + 1 if ends else 6
        assert made.response_ids == whole.response_ids[:cut]
        assert made.finish_reason == ("stop" if ends else "length")
        assert len(made.logprobs) == len(made.mask) == cut
        assert made.logprobs == pytest.approx(whole.logprobs[:cut], abs=1e-4)
        assert made.text == tokenizer.decode(
            made.response_ids[: cut - 1] if ends else made.response_ids, skip_special_tokens=True
        )


def test_generation_stops_at_the_end_of_the_context(model, tokenizer):
    policy = HFPolicy(model, tokenizer, max_new_tokens=6)
    policy.max_context = 12
    made = policy.complete([ask(range(5, 5 + n), 0, n) for n in (4, 9, 11)])
    assert [len(m.response_ids) for m in made] == [6, 3, 1]
    assert made[2].finish_reason == "length"
    with pytest.raises(PolicyError, match="1 to 11 tokens, got 12"):
        policy.complete([ask(range(12))])


def test_more_requests_than_a_batch_are_split(model, tokenizer):
    asked = [ask([4 + i % 7, 9, 8], 0, i) for i in range(21)]
    small = HFPolicy(model, tokenizer, max_new_tokens=3, max_batch=4).complete(asked)
    large = HFPolicy(model, tokenizer, max_new_tokens=3).complete(asked)
    assert [m.response_ids for m in small] == [m.response_ids for m in large]
    assert HFPolicy(model, tokenizer, max_new_tokens=3).complete([]) == []


def test_buckets_hold_every_row_once_and_little_padding():
    lengths = [int(n) for n in np.random.default_rng(6).integers(1, 900, size=200)]
    buckets = list(_buckets(lengths, 16))
    assert sorted(row for bucket in buckets for row in bucket) == list(range(200))
    for bucket in buckets:
        sizes = [lengths[row] for row in bucket]
        assert len(sizes) <= 16
        assert max(sizes) <= 1.5 * min(sizes) + 32


def test_tokenize_is_the_templates_own(policy, tokenizer):
    messages = [{"role": "system", "content": "Say up"}, {"role": "user", "content": "at 3 é 中"}]
    assert isinstance(policy, Templating)
    assert policy.tokenize(messages) == tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, tokenize=True, return_dict=False
    )
    made = policy.complete([Request(messages=messages, key=(1,))])[0]
    assert made.prompt_ids == policy.tokenize(messages)


def test_training_mode_and_version_are_kept(policy, model):
    policy.version = 7
    model.train()
    try:
        assert policy.complete([ask([5, 6])])[0].policy_version == 7
        assert model.training
    finally:
        model.eval()


def test_broken_weights_are_a_fault_of_the_policy(model, tokenizer):
    import copy

    broken = copy.deepcopy(model)
    broken.lm_head.weight.data[:] = float("nan")
    with pytest.raises(PolicyError, match="not finite"):
        HFPolicy(broken, tokenizer, max_new_tokens=2).complete([ask([5, 6])])


def test_a_saved_folder_plays_the_same(policy, model, tokenizer, tmp_path):
    folder = tmp_path / "a model"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    loaded = HFPolicy.load(folder, max_new_tokens=6)
    asked = [ask([5, 6, 7], 0, i) for i in range(8)]
    assert [m.response_ids for m in loaded.complete(asked)] == [
        m.response_ids for m in policy.complete(asked)
    ]
    assert loaded.name == "hf:a model"


def test_a_folder_that_lacks_something_says_what(model, tokenizer, tmp_path, refused):
    with refused("does not exist"):
        HFPolicy.load(tmp_path / "nowhere", max_new_tokens=2)
    bare = tmp_path / "bare"
    model.save_pretrained(bare)
    with refused(r"lacks a tokenizer.*save_pretrained"):
        HFPolicy.load(bare, max_new_tokens=2)
    words = tmp_path / "words"
    tokenizer.save_pretrained(words)
    with refused("config.json.*weights"):
        HFPolicy.load(words, max_new_tokens=2)
    tokenizer.save_pretrained(bare)
    (bare / "config.json").write_text(json.dumps({"model_type": "no-such-model"}))
    with refused("cannot be loaded"):
        HFPolicy.load(bare, max_new_tokens=2)


def test_a_tokenizer_that_does_not_fit_is_refused(model, tokenizer, refused):
    import copy

    larger = copy.deepcopy(tokenizer)
    larger.add_tokens([f"<extra{i}>" for i in range(3)])
    with refused("do not belong together"):
        HFPolicy(model, larger, max_new_tokens=2)
    silent = copy.deepcopy(tokenizer)
    silent.chat_template = None
    with refused("no chat template"):
        HFPolicy(model, silent, max_new_tokens=2)


@pytest.mark.parametrize(
    "options", [{"max_new_tokens": 0}, {"temperature": -1}, {"top_p": 0}, {"max_batch": 0}]
)
def test_impossible_options_are_refused(model, tokenizer, options):
    with pytest.raises(RequestError, match="out of range"):
        HFPolicy(model, tokenizer, **{"max_new_tokens": 2, **options})
