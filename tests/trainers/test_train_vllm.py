"""`verigym train` on the real vLLM. Runs where vLLM is: `make test-vllm`."""

from __future__ import annotations

import json

import pytest

from tests.agents.engines.engine_kinds import HAS_VLLM, build_folder
from verigym.trainers.certificate import verify_run
from verigym.trainers.config import parse_config
from verigym.trainers.run import train

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
        # None for the first of a run, and of a run that was resumed; 0 if the step taught nothing.
        if change := line["delivery"]["change_nats"]:
            assert line["delivery"]["gap_nats"] < change / 10
    assert not verify_run(folder)
    assert json.loads((folder / "run.json").read_text())["finished"]


def test_keydoor_is_trained_on_vllm(tmp_path):
    check_run(train(config_of(), tmp_path / "run"), 2)
    # A resumed run has an engine with the first weights; those of the checkpoint are delivered to it.
    check_run(train(config_of(steps=3), tmp_path / "run", resume=True), 3)


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
    )
    check_run(train(config, tmp_path / "run"), 2)
