"""`verigym train` with environments, verifiers and engines in Ray actors. Runs where Ray is: `make test-ray`."""

from __future__ import annotations

import json

import pytest

from tests.agents.engines.engine_kinds import needs_vllm
from tests.agents.ray_nodes import needs_ray
from verigym import ConfigError
from verigym.trainers.certificate import verify_run
from verigym.trainers.config import parse_config
from verigym.trainers.identity import identity
from verigym.trainers.run import train


def config_of(**sections):
    tree = {
        "name": "test",
        "seed": 3,
        "env": {"id": "games/keydoor", "max_turns": 4},
        "policy": {"max_new_tokens": 2, "show_task": False},
        "warmup": {"episodes": 4, "epochs": 1},
        "train": {"steps": 2, "groups": 2, "group_size": 2},
        "eval": {"episodes": 4},
    }
    return parse_config({**tree, **sections})


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"workers": {"actors": 3}}, "workers.actors is for Ray"),
        ({"workers": {"name": "slurm"}}, "workers.name"),
        ({"workers": {"name": "ray"}, "algorithm": {"name": "branch"}}, "leave out"),
        ({"engine": {"replicas": {}}, "policy": {"lora": {}}}, "whole models, not adapters"),
        ({"engine": {"name": "vllm", "replicas": {}, "url": "http://a"}}, "leave out engine.url"),
        ({"engine": {"name": "vllm", "replicas": {}, "sleep_level": 1}}, "engine.sleep_level"),
        ({"engine": {"name": "tinker", "replicas": {}, "url": "http://a"}}, "torch or vllm"),
        ({"engine": {"timeout_s": 9}}, "engine.timeout_s is for engine"),
    ],
)
def test_workers_that_cannot_be_are_refused(sections, message):
    with pytest.raises(ConfigError, match=message):
        config_of(**sections)


def test_where_environments_run_is_no_part_of_a_runs_identity():
    assert identity(config_of()) == identity(config_of(workers={"name": "ray", "actors": 5}))


def test_verifiers_elsewhere_leave_environments_here_to_be_copied():
    branch = {"algorithm": {"name": "branch"}}
    assert config_of(workers={"name": "ray", "runs": "verifiers"}, **branch).workers.slots == 8


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("runs", ["environments", "verifiers"])
@needs_ray
def test_a_run_on_ray_learns_the_same_weights(tmp_path, runs):
    """Running in actors changes neither episodes nor batches, so all figures are the same."""
    rows = {}
    for name in ("threads", "ray"):
        workers = {"name": name, **({"runs": runs} if name == "ray" else {})}
        train(config_of(workers=workers), tmp_path / name)
        lines = (tmp_path / name / "metrics.jsonl").read_text().splitlines()
        rows[name] = [json.loads(line) for line in lines]
    assert len(rows["ray"]) == len(rows["threads"]) >= 2
    for ray, threads in zip(rows["ray"], rows["threads"], strict=True):
        for figure in ("loss", "grad_norm", "reward_mean", "success"):
            assert ray.get(figure) == threads.get(figure)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("engine", "mode"),
    [
        ("torch", "sync"),
        ("torch", "one-step-off"),
        ("torch", "async"),
        pytest.param("vllm", "sync", marks=needs_vllm),
        pytest.param("vllm", "async", marks=needs_vllm),
    ],
)
@needs_ray
def test_engines_in_actors_play_and_are_proved(tmp_path, engine, mode):
    """Engines, environments and verifiers are all elsewhere; the first two share a cluster that is started here."""
    sizes = {"max_sequences": 8, "cache_gib": 0.25} if engine == "vllm" else {}
    folder = train(
        config_of(
            engine={"name": engine, "replicas": {"actors": 2}, "timeout_s": 120, **sizes},
            workers={"name": "ray", "actors": 1},
            train={"steps": 3, "groups": 2, "group_size": 2, "mode": mode, "lr": 1e-3},
            algorithm={"loss": "decoupled"},
            canary={"every": 0},
        ),
        tmp_path / "run",
    )
    assert not verify_run(folder)
    lines = [json.loads(raw) for raw in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3]
    for line in lines:
        assert line["faults"] == {}
        assert line["delivery"]["gap_nats"] <= 1e-5
        if (change := line["delivery"]["change_nats"]) is not None:
            assert line["delivery"]["gap_nats"] < change / 10
