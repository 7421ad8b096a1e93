"""`verigym train` on the real vLLM, and what happens if it fails. Runs where vLLM is: `make test-vllm`."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import psutil
import pytest
import torch
from transformers import AutoModelForCausalLM, Qwen2Config

from tests.agents.engines.engine_kinds import HAS_VLLM, build_folder
from verigym.trainers.certificate import verify_run
from verigym.trainers.config import LoraSection, parse_config
from verigym.trainers.lora import add_adapter
from verigym.trainers.run import Interrupted, train

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not HAS_VLLM, reason="vLLM has a venv of its own: make test-vllm"),
]


def config_of(env="games/keydoor", steps=2, engine=None, **sections):
    tree = {
        "name": "test",
        "seed": 3,
        "env": {"id": env, "max_turns": 5},
        "policy": {"max_new_tokens": 2, "show_task": False},
        "engine": {
            "name": "vllm",
            "max_sequences": 16,
            "cache_gib": 0.25,
            "timeout_s": 120,
            **(engine or {}),
        },
        "warmup": {"episodes": 20, "epochs": 1, "batch_rows": 32},
        "train": {
            "steps": steps,
            "groups": 2,
            "group_size": 3,
            "lr": 1e-3,
            "minibatch_rows": 16,
            "threads": 1,
        },
        "eval": {"every": 10, "episodes": 3},
        "checkpoint": {"every": 1, "transcripts": 2},
    }
    for name, section in sections.items():
        tree[name] = {**tree.get(name, {}), **section}
    return parse_config(tree)


def lines(path):
    return [json.loads(raw) for raw in path.read_text().splitlines()]


def check_run(folder, steps):
    """All steps were played, delivered and whole; nothing faulted and nothing was scored 0 for a fault."""
    metrics = lines(folder / "metrics.jsonl")
    assert [line["step"] for line in metrics] == list(range(1, steps + 1))
    assert [line["delivery"]["version"] for line in metrics] == list(range(steps))
    for line in metrics:
        assert line["faults"] == {}
        assert line["logp_gap_max"] <= 1e-5
        assert line["delivery"]["gap_nats"] <= 1e-5
        # None for the first of a run, and of a run that was resumed.
        if (change := line["delivery"]["change_nats"]) is not None:
            assert line["delivery"]["gap_nats"] < change / 10
    assert not verify_run(folder)
    assert json.loads((folder / "run.json").read_text())["finished"]


def test_keydoor_is_trained_on_vllm(tmp_path):
    check_run(train(config_of(), tmp_path / "run"), 2)
    # A resumed run has an engine with the first weights; those of the checkpoint are delivered to it.
    check_run(train(config_of(steps=3), tmp_path / "run", resume=True), 3)
    assert not psutil.Process().children(recursive=True) or not [
        one for one in psutil.Process().children(recursive=True) if "Engine" in one.name()
    ]


def test_countdown_is_trained_by_an_adapter(tmp_path):
    model = build_folder(tmp_path / "model", tied=False, width=128)
    config = config_of(
        "math/countdown",
        policy={
            "max_new_tokens": 12,
            "show_task": True,
            "model": str(model),
            "lora": {"rank": 8, "alpha": 16},
        },
        warmup={"episodes": 0},
        # Nothing is solved in two steps, and an update must move something to be told from a dropped one.
        algorithm={"entropy_coef": 0.1},
    )
    check_run(train(config, tmp_path / "run"), 2)


def test_an_adapter_is_at_most_a_hundredth_of_the_weights():
    """Of a model as large as Qwen2.5-0.5B, as docs/engines.md says."""
    config = Qwen2Config(
        vocab_size=151_936,
        hidden_size=896,
        intermediate_size=4864,
        num_hidden_layers=24,
        num_attention_heads=14,
        num_key_value_heads=2,
        tie_word_embeddings=True,
    )
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
        whole = sum(p.numel() for p in model.parameters())
        add_adapter(model, LoraSection(rank=8, alpha=16), seed=0)
    adapter = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert whole == pytest.approx(0.494e9, rel=0.01)
    assert adapter / whole == pytest.approx(0.0089, abs=1e-4)


def engine_processes():
    """The engine and its worker, outermost first."""
    return [
        one
        for one in psutil.Process().children(recursive=True)
        if "spawn_main" in " ".join(one.cmdline()) or "VLLM" in one.name()
    ]


def test_a_killed_and_a_hung_engine_are_started_anew(tmp_path):
    """Its weights are delivered again and proved; the steps are played, none of it scored 0."""
    done = []

    def break_it(progress):
        if progress.stage != "reinforcement":
            return
        done.append(progress.done)
        if len(done) == 1:
            for one in engine_processes():
                os.kill(one.pid, signal.SIGKILL)
        if len(done) == 2:
            for one in engine_processes():
                os.kill(one.pid, signal.SIGSTOP)

    config = config_of(steps=3, engine={"timeout_s": 45})
    check_run(train(config, tmp_path / "run", listen=break_it), 3)


@pytest.fixture
def faulty_workers(monkeypatch):
    """Let vLLM's processes, which take over this one's path, import the workers of the tests."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2])


def test_an_update_that_breaks_off_is_sent_again_to_a_new_engine(tmp_path, faulty_workers):
    worker = {"worker_extension_cls": "tests.agents.engines.breaking_worker.Extension"}
    check_run(train(config_of(steps=1, engine={"options": worker}), tmp_path / "run"), 1)


def test_a_dropped_update_stops_the_run_by_its_name(tmp_path, faulty_workers):
    worker = {"worker_extension_cls": "tests.agents.engines.dropping_worker.Extension"}
    config = config_of(steps=3, engine={"options": worker})
    with pytest.raises(
        Interrupted, match=r"was sent version 1 and says that it holds version 1, .* of version 0:"
    ):
        train(config, tmp_path / "run")
    # The step that was played under proved weights is saved; the next was not played.
    assert [line["step"] for line in lines(tmp_path / "run" / "metrics.jsonl")] == [1]


def check_run_ahead(folder, mode):
    """Tokens are as old as `mode` allows, and some are old; every update was proved, and nothing faulted."""
    assert not verify_run(folder)
    ages = [
        {line["version"] - int(version) for version in line["tokens_by_version"]}
        for line in lines(folder / "certificate.jsonl")
    ]
    assert set().union(*ages) <= ({0, 1} if mode == "one-step-off" else {0, 1, 2})
    assert max(ages[-1]) > 0
    for line in lines(folder / "metrics.jsonl"):
        assert line["faults"] == {}
        assert line["delivery"]["gap_nats"] <= 1e-5
    assert json.loads((folder / "run.json").read_text())["finished"]


@pytest.mark.parametrize("mode", ["one-step-off", "async"])
def test_the_engine_plays_while_the_learner_updates(tmp_path, mode):
    config = config_of(
        steps=3, train={"mode": mode}, algorithm={"loss": "decoupled"}, canary={"every": 0}
    )
    check_run_ahead(train(config, tmp_path / "run"), mode)
