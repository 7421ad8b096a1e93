"""Features that vLLM has beyond the protocol: updates under way, aborts, sleep."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
import torch

from tests.agents.engines.engine_kinds import (
    HAS_VLLM,
    build_folder,
    delivery_of,
    learner_of,
    load_policy,
    params_of,
    teach,
)
from verigym.trainers.delivery import distance

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not HAS_VLLM, reason="vLLM has a venv of its own: make test-vllm"),
]
PROMPT = [7, 8, 9, 20, 30, 31, 32]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build_folder(tmp_path_factory.mktemp("model"), tied=True)


@pytest.fixture(scope="module")
def sampler(folder):
    from tests.agents.engines.vllm_engines import start_process

    made = start_process(folder)
    yield made
    made.close()


def logprobs_of(policy, ids):
    with torch.no_grad():
        logits = policy.model(input_ids=torch.tensor([PROMPT + ids])).logits[
            0, len(PROMPT) - 1 : -1
        ]
    logp = logits.float().log_softmax(-1)
    return logp.gather(-1, torch.tensor(ids)[:, None])[:, 0].tolist()


def under_way(sampler, params):
    """Start a sample in a thread; return the list that it will be in, and the thread."""
    found = []
    thread = threading.Thread(
        target=lambda: found.extend(sampler.sample([PROMPT], params, [(1, 2)]))
    )
    thread.start()
    time.sleep(1.0)
    return found, thread


def test_an_update_in_the_middle_of_a_sample(folder, sampler):
    """Each part has the log-probabilities of its own version, keys and values included."""
    policy = load_policy(folder)
    learner = learner_of(policy)
    version, proofs = [0], []
    delivery = delivery_of(learner, sampler, policy, version, proofs)
    delivery.ensure()
    found, thread = under_way(sampler, params_of(policy, max_tokens=900, end_ids=frozenset()))
    old = load_policy(folder)
    teach(learner)
    version[0] = 1
    delivery.ensure()
    thread.join(300)
    (sample,) = found
    first, second = sample.versions
    assert (first.version, first.start, second.version, second.end) == (0, 0, 1, 900)
    assert first.end == second.start > 0
    at = first.end
    before, after = logprobs_of(old, sample.ids), logprobs_of(policy, sample.ids)
    assert distance(sample.logprobs[:at], before[:at]) <= 1e-5
    assert distance(sample.logprobs[at:], after[at:]) <= 1e-5
    assert distance(before[at:], after[at:]) > 1e-3


def test_an_aborted_sample_says_so(folder, sampler):
    policy = load_policy(folder)
    found, thread = under_way(sampler, params_of(policy, max_tokens=900, end_ids=frozenset()))
    sampler.link.pause("abort")
    thread.join(300)
    sampler.link.resume()
    assert found[0].finish_reason == "abort"
    assert 0 < len(found[0].ids) < 900


def test_one_sample_is_aborted_and_others_go_on(folder, sampler, monkeypatch):
    policy = load_policy(folder)
    params = params_of(policy, max_tokens=900, end_ids=frozenset())
    sampler.sample([PROMPT], params_of(policy, max_tokens=2, end_ids=frozenset()), [(1, 1)])  # warm
    generate, asked, both = sampler.link.generate, [], threading.Event()

    def noting(calls, watch=None):
        asked.extend(call.request_id for call in calls)
        if len(asked) == 2:
            both.set()
        return generate(calls, watch)

    monkeypatch.setattr(sampler.link, "generate", noting)
    first, one = under_way(sampler, params)
    second = []
    other = threading.Thread(
        target=lambda: second.extend(sampler.sample([PROMPT], params, [(1, 3)]))
    )
    other.start()
    assert both.wait(60)
    sampler.link.abort(asked[:1])
    one.join(300)
    other.join(300)
    assert first[0].finish_reason == "abort"
    assert 0 < len(first[0].ids) < 900
    assert (second[0].finish_reason, len(second[0].ids)) == ("length", 900)


@pytest.mark.parametrize("level", [1, 2])
def test_a_sleeping_engine_is_woken_and_proved(folder, sampler, level):
    policy = load_policy(folder)
    version, proofs = [sampler.version + 1], []
    delivery = delivery_of(learner_of(policy), sampler, policy, version, proofs)
    sampler.sleep_level = level
    delivery.ensure()
    delivery.sleep()
    delivery.ensure()
    assert len(proofs) == 2
    assert sampler.sample([PROMPT], params_of(policy), [(1,)])[0].finish_reason != "abort"
    sampler.sleep_level = 0


def test_an_engine_ends_with_the_process_that_started_it(folder):
    """Killed, that process stops nothing itself."""
    program = "from tests.agents.engines.vllm_engines import start_process as start\n"
    program += (
        "if __name__ == '__main__':\n    kept = start(FOLDER)\n    print(flush=True)\n    input()\n"
    )
    path = folder / "program.py"
    path.write_text(program.replace("FOLDER", f"__import__('pathlib').Path({str(folder)!r})"))
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, path],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as owner:
        assert owner.stdout.readline()
        started = psutil.Process(owner.pid).children(recursive=True)
        assert [one for one in started if "VLLM" in one.name()]
        owner.kill()
    _, left = psutil.wait_procs(started, timeout=120)
    assert not left


@pytest.mark.parametrize("transfer", ["gloo", "delta"])
def test_each_of_two_workers_takes_its_part_of_the_weights(tmp_path, transfer):
    """Tensor parallelism: the probe is right only if both have theirs."""
    from tests.agents.engines.vllm_engines import start_process

    build_folder(tmp_path, tied=True, width=192)
    policy = load_policy(tmp_path)
    learner, version, proofs = learner_of(policy), [0], []
    sampler = start_process(tmp_path, transfer=transfer, tensor_parallel_size=2)
    try:
        assert sampler.link.world_size() == 2
        delivery = delivery_of(learner, sampler, policy, version, proofs)
        delivery.ensure()
        teach(learner)
        version[0] += 1
        delivery.ensure()
    finally:
        sampler.close()
    assert [proof.version for proof in proofs] == [0, 1]
    assert proofs[1].gap_nats <= 1e-5
    assert proofs[1].gap_nats < proofs[1].change_nats / 10
