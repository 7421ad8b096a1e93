"""The learner over two processes of gloo: the gradient, the run and the resumed run of one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from verigym import ConfigError
from verigym.trainers import sharded
from verigym.trainers.config import parse_config, read_config
from verigym.trainers.run import train

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CONFIG = """
name = "two"
seed = 3
env = {{ id = "games/keydoor", max_turns = 5 }}
policy = {{ max_new_tokens = 2, show_task = false }}
warmup = {{ episodes = 20, epochs = 1, batch_rows = 32 }}
train = {{ steps = {steps}, groups = 2, group_size = 3, lr = 1e-3, minibatch_rows = 16, threads = 1 }}
algorithm = {{ kl_coef = 0.01 }}
eval = {{ every = 10, episodes = 3 }}
checkpoint = {{ every = 1, transcripts = 2 }}
"""


def command(*program):
    """Return the command that starts a program in two processes."""
    two = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return [sys.executable, "-m", *two, *map(str, program)]


def environment():
    more = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "GLOO_SOCKET_IFNAME": "lo"}
    return {**os.environ, **more}


def torchrun(*program, deadline_s=500):
    """Run a program in two processes; raise with what it printed if it fails."""
    child = subprocess.run(
        command(*program),
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=deadline_s,
    )
    assert child.returncode == 0, child.stdout[-3000:] + child.stderr[-6000:]
    return child


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_processes_have_the_gradient_of_one(tmp_path):
    torchrun(HERE / "sharded_program.py", tmp_path)
    for name, one in json.loads((tmp_path / "found.json").read_text()).items():
        rounding = 1e-3 if name == "bfloat16" else 1e-6
        for part in ("gradient", "weights", "logprobs", "moments", "resumed", "reference"):
            assert one.get(part, 0.0) <= rounding, (name, part, one[part])
        two, alone = one["stats"]
        assert two == pytest.approx(alone, rel=1e-5), name


def weights_of(folder):
    found = load_file(folder / "model.safetensors")
    return torch.cat([found[name].flatten().double() for name in sorted(found)])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_run_of_two_processes_is_that_of_one_and_can_be_resumed(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(CONFIG.format(steps=3))
    torchrun("-m", "verigym", "train", path, "--out", tmp_path / "two")
    train(read_config(path), tmp_path / "one")
    want, found = (weights_of(tmp_path / name / "last") for name in ("one", "two"))
    assert float((found - want).norm() / want.norm()) <= 1e-4
    lines = [
        [json.loads(raw) for raw in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("one", "two")
    ]
    assert [line["success_rate"] for line in lines[0]] == [
        line["success_rate"] for line in lines[1]
    ]

    path.write_text(CONFIG.format(steps=2))
    torchrun("-m", "verigym", "train", path, "--out", tmp_path / "again")
    path.write_text(CONFIG.format(steps=3))
    torchrun("-m", "verigym", "train", path, "--out", tmp_path / "again", "--resume")
    assert torch.equal(weights_of(tmp_path / "again" / "last"), found)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_killed_process_stops_the_run_which_resumes(tmp_path):
    psutil = pytest.importorskip("psutil")
    path, out = tmp_path / "config.toml", tmp_path / "run"
    train_it = ["-m", "verigym", "train", path, "--out", out]
    path.write_text(CONFIG.format(steps=500))
    with subprocess.Popen(
        command(*train_it),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as child:
        until = time.monotonic() + 300
        metrics = out / "metrics.jsonl"
        while not metrics.exists() or len(metrics.read_text().splitlines()) < 3:
            assert child.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        (other,) = (
            one for one in psutil.Process(child.pid).children() if one.environ().get("RANK") == "1"
        )
        other.kill()
        said, _ = child.communicate(timeout=120)
    assert child.returncode != 0
    assert "a process of the learner is gone" in said
    assert "resume goes on from" in said or "with --resume" in said
    last = int(max(path.name for path in (out / "checkpoints").iterdir()).removeprefix("step-"))
    path.write_text(CONFIG.format(steps=last + 1))
    torchrun(*train_it, "--resume")
    steps = [json.loads(raw)["step"] for raw in (out / "metrics.jsonl").read_text().splitlines()]
    assert steps == list(range(1, last + 2))


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"engine": {"name": "tinker", "url": "http://a"}, "policy": {"lora": {}}}, "name tinker"),
        ({"engine": {"name": "vllm", "transfer": "nccl"}}, "engine.transfer nccl"),
        ({"policy": {"lora": {}}}, "policy.lora"),
        ({"algorithm": {"name": "ppo"}}, "critic"),
        ({"algorithm": {"name": "sdpo"}}, "distils"),
    ],
)
def test_what_several_processes_cannot_do_is_refused(monkeypatch, sections, words):
    for name, value in (("TORCHELASTIC_RUN_ID", "1"), ("WORLD_SIZE", "2"), ("RANK", "0")):
        monkeypatch.setenv(name, value)
    config = parse_config({"env": {"id": "games/keydoor"}, **sections})
    with pytest.raises(ConfigError, match=words):
        sharded.join(config)


def test_a_single_process_joins_nobody(monkeypatch):
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    assert not sharded.join(parse_config({"env": {"id": "games/keydoor"}}))
