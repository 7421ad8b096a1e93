"""Engines in actors of Ray, on a cluster of two nodes on this machine: every one is proved, and a lost one costs no sample.

Ray lies outside the ordinary environment: `make test-ray`.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.agents.engines.engine_kinds import (
    build_folder,
    delivery_of,
    learner_of,
    load_policy,
    on_ray,
    params_of,
    teach,
    torch_copy,
)
from tests.agents.ray_nodes import cluster, needs_ray, replace_second
from verigym.agents.engines.ray_sampler_host import SamplerHost, StartTorch
from verigym.agents.engines.sampler import EngineDead
from verigym.trainers.delivery import DeliveryError

__all__ = ["cluster"]  # a fixture

PROMPTS = [[7, 8, 9, 20 + i, 30, 31, 32] for i in range(12)]


@pytest.fixture
def folder(tmp_path):
    return build_folder(tmp_path / "model", tied=True)


class Trained:
    """A learner, and its delivery to engines on Ray."""

    def __init__(self, folder, **options):
        self.folder = folder
        self.policy = load_policy(folder)
        self.learner = learner_of(self.policy)
        self.sampler, self.version, self.proofs = on_ray(folder, **options), [0], []
        self.delivery = delivery_of(
            self.learner, self.sampler, self.policy, self.version, self.proofs
        )

    def advance(self):
        teach(self.learner, self.version[0])
        self.version[0] += 1
        self.delivery.ensure()

    def sample(self, place):
        params = params_of(self.policy, end_ids=frozenset())
        (one,) = self.sampler.sample([PROMPTS[place]], params, [(1, place)])
        return one

    def wanted(self):
        """Samples of an engine in this process under the same weights."""
        own = torch_copy(self.folder)
        own.update(self.learner.weights(self.version[0]))
        params = params_of(self.policy, end_ids=frozenset())
        return [own.sample([prompt], params, [(1, i)])[0] for i, prompt in enumerate(PROMPTS)]


def first_only(folder, marker, fault):
    """A way to start torch's engine, with `fault` in the first that is started. Ray pickles it by value."""
    make = StartTorch(folder=folder, dtype="float32", device="cpu", max_batch=64)

    def start():
        sampler = make()
        try:
            marker.touch(exist_ok=False)
        except FileExistsError:
            return sampler
        return fault(sampler)

    return start


def test_a_host_gives_what_its_engine_gives(folder):
    """The host is plain Python; Ray only carries its calls."""
    learner = learner_of(load_policy(folder))
    own = torch_copy(folder)
    sizes = {"max_batch": own.policy.max_batch}
    host = SamplerHost(StartTorch(folder=folder, dtype="float32", device="cpu", **sizes))
    teach(learner)
    weights = learner.weights(1)
    own.update(weights)
    assert "in process" in host.update(1, weights.tensors)
    params = params_of(own.policy)
    keys = [(1, i) for i in range(12)]
    found = host.ask("sample", PROMPTS, params, keys)
    assert found == own.sample(PROMPTS, params, keys)
    assert {span.version for one in found for span in one.versions} == {1}
    assert host.facts() == (own.name, own.max_context, own.precision_nats)
    host.close()


@needs_ray
@pytest.mark.slow
def test_a_node_that_is_removed_costs_no_sample(cluster, folder):
    """The other samples what it was sampling; a node in its place takes part from the next update on."""
    made = Trained(folder)
    try:
        assert made.sampler.actors.wait_for_all(240) == 2
        made.advance()
        assert len(made.sampler._holders()) == 2
        ended = threading.Semaphore(0)

        def sample(place):
            if place == 6:
                for _ in range(3):
                    ended.acquire()
                cluster.remove_node(cluster.second)
            one = made.sample(place)
            ended.release()
            return one

        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(sample, range(len(PROMPTS))))
        wanted = made.wanted()
        assert [one.ids for one in found] == [one.ids for one in wanted]
        assert {span.version for one in found for span in one.versions} == {1}
        replace_second(cluster)
        assert made.sampler.actors.wait_for_all(240) == 2
        assert len(made.sampler._holders()) == 1
        made.advance()
        assert len(made.sampler._holders()) == 2
        assert all(proof.gap_nats <= 1e-5 for proof in made.proofs)
    finally:
        made.sampler.close()


@needs_ray
@pytest.mark.slow
def test_an_engine_that_hangs_is_killed_and_its_samples_made_by_another(cluster, folder, tmp_path):
    def hang(sampler):
        sampler.sample = lambda *_: time.sleep(3600)
        return sampler

    make = first_only(folder, tmp_path / "first", hang)
    made = Trained(folder, make=make, timeout_s=20.0)
    try:
        assert made.sampler.actors.wait_for_all(240) == 2
        made.advance()
        with ThreadPoolExecutor(2) as threads:
            found = list(threads.map(made.sample, range(2)))
        assert [one.ids for one in found] == [one.ids for one in made.wanted()[:2]]
        assert len(made.sampler._holders()) == 1
    finally:
        made.sampler.close()


@needs_ray
@pytest.mark.slow
def test_an_engine_that_drops_an_update_is_named(cluster, folder, tmp_path):
    """Each engine is proved, not one of them."""

    def drop(sampler):
        update, given = sampler.update, []

        def first(weights):
            if not given:
                update(weights)
            given.append(weights.version)
            sampler.version = weights.version

        sampler.update = first
        return sampler

    made = Trained(folder, make=first_only(folder, tmp_path / "first", drop))
    try:
        assert made.sampler.actors.wait_for_all(240) == 2
        made.delivery.ensure()
        with pytest.raises(
            DeliveryError, match=r"in process \d+ on .* sent version 1 .* of version 0:"
        ):
            made.advance()
    finally:
        made.sampler.close()


@needs_ray
@pytest.mark.slow
def test_engines_that_cannot_start_are_a_fault_with_the_reason(cluster, tmp_path):
    with pytest.raises(EngineDead, match="nothing"):
        on_ray(tmp_path / "nothing")
