"""Every engine samples from the learner's distribution, says so truly, and takes its weights whole.

The samplers of vLLM run where vLLM is installed (`make test-vllm`), those on Ray where Ray is (`make test-ray`,
`make test-ray-vllm`).
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from tests.agents.engines.engine_kinds import (
    TakesShards,
    build_folder,
    delivery_of,
    learner_of,
    load_policy,
    needs_vllm,
    on_ray,
    params_of,
    teach,
    torch_copy,
    vllm_on_ray,
)
from tests.agents.ray_nodes import needs_ray
from verigym.agents.engines.sampler import Span, UpdateRefused, is_watchable
from verigym.agents.engines.torch import TorchSampler
from verigym.trainers.delivery import DeliveryError, distance, probe_rows

KINDS = [
    "torch-shared",
    "torch-copy",
    "torch-delta",
    *[
        pytest.param(
            kind,
            marks=[pytest.mark.slow, needs_vllm],
        )
        for kind in ("vllm-gloo", "vllm-gloo-untied", "vllm-disk", "vllm-delta", "vllm-server")
    ],
    pytest.param("ray-torch", marks=[pytest.mark.slow, needs_ray]),
    pytest.param("ray-vllm", marks=[pytest.mark.slow, needs_ray, needs_vllm]),
]


class Pair:
    """A learner, a sampler, and the delivery between them."""

    def __init__(self, kind, folder):
        self.kind = kind
        build_folder(folder, tied="untied" not in kind)
        self.policy = load_policy(folder)
        self.learner = learner_of(self.policy)
        if kind.startswith("vllm"):
            from tests.agents.engines.vllm_engines import start

            self.sampler = start(kind, folder)
        else:
            made = {
                "torch-shared": lambda: TorchSampler(self.policy),
                "torch-copy": lambda: torch_copy(folder),
                "ray-torch": lambda: on_ray(folder),
                "ray-vllm": lambda: vllm_on_ray(folder),
                "torch-delta": lambda: TakesShards(load_policy(folder), folder / "deltas"),
            }
            self.sampler = made[kind]()
        self.version = [0]
        self.proofs = []
        self.delivery = delivery_of(
            self.learner, self.sampler, self.policy, self.version, self.proofs
        )
        self.delivery.ensure()

    def advance(self):
        """One optimiser step, and a new version."""
        teach(self.learner, self.version[0])
        self.version[0] += 1

    def learners_logprobs(self, prompts, samples, temperature):
        """Return the log-probabilities of the sampled tokens, in one pass without a cache."""
        out = []
        for prompt, sample in zip(prompts, samples, strict=True):
            ids = torch.tensor([prompt + sample.ids])
            with torch.no_grad():
                logits = self.policy.model(input_ids=ids).logits[0, len(prompt) - 1 : -1]
            logp = (logits.float() / (temperature or 1.0)).log_softmax(-1)
            out += logp.gather(-1, ids[0, len(prompt) :, None])[:, 0].tolist()
        return out


@pytest.fixture(scope="module", params=KINDS)
def pair(request, tmp_path_factory):
    made = Pair(request.param, tmp_path_factory.mktemp(request.param))
    yield made
    made.sampler.close()


PROMPTS = [[7, 8, 9, 20 + i, 30, 31, 32] * 3 for i in range(4)] + [[5]]
KEYS = [(1, i) for i in range(len(PROMPTS))]


@pytest.mark.parametrize("temperature", [1.0, 0.7, 0.0])
def test_sampled_log_probabilities_are_the_learners(pair, temperature):
    params = params_of(pair.policy, temperature=temperature)
    samples = pair.sampler.sample(PROMPTS, params, KEYS)
    found = [p for sample in samples for p in sample.logprobs]
    wanted = pair.learners_logprobs(PROMPTS, samples, temperature)
    assert distance(found, wanted) <= pair.sampler.precision_nats


def test_what_is_watched_is_what_is_sampled(pair):
    if not is_watchable(pair.sampler):
        pytest.skip("it gives whole samples")
    params = params_of(pair.policy)
    shown = [[] for _ in PROMPTS]

    def watch(rows, ids):
        for row, token in zip(rows, ids, strict=True):
            shown[row].append(token)

    samples = pair.sampler.sample_watched(PROMPTS, params, KEYS, watch)
    assert shown == [sample.ids for sample in samples]
    found = [p for sample in samples for p in sample.logprobs]
    wanted = pair.learners_logprobs(PROMPTS, samples, 1.0)
    assert distance(found, wanted) <= pair.sampler.precision_nats
    spans = [[(span.start, span.end) for span in sample.versions] for sample in samples]
    assert spans == [[(0, len(sample.ids))] for sample in samples]
    if pair.kind.startswith("torch"):
        assert samples == pair.sampler.sample(PROMPTS, params, KEYS)


def test_samples_end_where_they_must(pair):
    end = next(iter(pair.policy.end_ids))
    samples = pair.sampler.sample(PROMPTS * 8, params_of(pair.policy), KEYS * 8)
    assert all(1 <= len(sample.ids) == len(sample.logprobs) <= 8 for sample in samples)
    assert all((sample.ids[-1] == end) == (sample.finish_reason == "stop") for sample in samples)
    assert all(end not in sample.ids[:-1] for sample in samples)
    first = samples[0].ids[0]
    (cut,) = pair.sampler.sample(
        PROMPTS[:1], params_of(pair.policy, temperature=0.0, max_tokens=1), KEYS[:1]
    )
    assert cut.finish_reason == "length" or cut.ids[0] in pair.policy.end_ids
    everything = frozenset(range(len(pair.policy.tokenizer)))
    (one,) = pair.sampler.sample(PROMPTS[:1], params_of(pair.policy, end_ids=everything), KEYS[:1])
    assert one.ids == [first]
    assert one.finish_reason == "stop"
    room = pair.sampler.max_context - 3
    (late,) = pair.sampler.sample([[5] * room], params_of(pair.policy, end_ids=frozenset()), [(1,)])
    assert len(late.ids) == 3
    assert late.finish_reason == "length"


def test_a_key_draws_its_own_tokens(pair):
    params = params_of(pair.policy, end_ids=frozenset())
    draw = [pair.sampler.sample(PROMPTS[:1], params, [(3, i)])[0].ids for i in range(6)]
    again = [pair.sampler.sample(PROMPTS[:1], params, [(3, i)])[0].ids for i in range(2)]
    assert len({tuple(ids) for ids in draw}) == 6
    assert draw[:2] == again


def test_answers_have_the_log_probabilities_that_they_are_sampled_with(pair):
    params = params_of(pair.policy, temperature=0.7)
    samples = pair.sampler.sample(PROMPTS, params, KEYS)
    found = pair.sampler.logprobs(PROMPTS, [sample.ids for sample in samples], params)
    for line, sample in zip(found, samples, strict=True):
        assert distance(line, sample.logprobs) <= pair.sampler.precision_nats


def test_each_update_is_delivered_whole(pair):
    for _ in range(2):
        pair.advance()
        pair.delivery.ensure()
        proof = pair.proofs[-1]
        assert proof.version == pair.version[0] == pair.sampler.version
        assert proof.gap_nats <= 1e-5
        assert proof.gap_nats < proof.change_nats / 10
        (sample,) = pair.sampler.sample(PROMPTS[:1], params_of(pair.policy), KEYS[:1])
        assert sample.versions == [Span(pair.version[0], 0, len(sample.ids))]


def test_weights_that_do_not_fit_are_refused_before_anything_is_sent(pair):
    version = pair.sampler.version
    weights = pair.learner.weights(version + 1)
    name, tensor = next(iter(weights.tensors.items()))
    others = {key: weights.tensors[key] for key in weights.tensors if key != name}
    for broken, words in (
        (others, f"{name} is missing"),
        ({**weights.tensors, "model.new": tensor}, "model.new is unknown"),
        ({**weights.tensors, name: tensor[:-1]}, "has shape"),
    ):
        with pytest.raises(UpdateRefused, match=words):
            pair.sampler.update(replace(weights, tensors=broken))
    assert pair.sampler.version == version
    pair.delivery.proved = None
    pair.delivery.ensure()


def test_a_learner_that_moved_on_is_noticed(pair):
    """The run stops, and the message names the version that the engine holds."""
    if pair.kind == "torch-shared":
        pytest.skip("sampler and learner have one set of weights")
    pair.delivery.ensure()
    before = pair.version[0]
    pair.advance()

    def drop(weights):
        pair.sampler.version = weights.version

    pair.sampler.update = drop
    try:
        with pytest.raises(
            DeliveryError, match=f"sent version {before + 1} .* of version {before}:"
        ):
            pair.delivery.ensure()
    finally:
        del pair.sampler.update
    pair.delivery.ensure()


def test_a_learner_loads_what_it_saved(pair, tmp_path):
    rows = probe_rows(100, 3)
    wanted = pair.learner.logprobs(rows)
    pair.learner.save(tmp_path)
    pair.policy.tokenizer.save_pretrained(tmp_path)
    other = learner_of(load_policy(tmp_path))
    teach(other)
    assert other.logprobs(rows) != wanted
    other.load(tmp_path)
    assert other.logprobs(rows) == wanted
