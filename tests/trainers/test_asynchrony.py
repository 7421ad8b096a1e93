"""Play ahead of training, end to end: what repeats, what resumes, what a fault costs."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import msgspec
import pytest
import torch

from tests.trainers.test_train import lines, same, tiny_config, weights
from verigym import ConfigError
from verigym.agents.policies.hf import HFPolicy
from verigym.agents.policy import Request
from verigym.envs.games.keydoor import KeyDoor
from verigym.trainers import checkpoint, tiny
from verigym.trainers import run as loop
from verigym.trainers.batch import Row
from verigym.trainers.certificate import verify_run
from verigym.trainers.config import Config, parse_config
from verigym.trainers.credited import credit_step
from verigym.trainers.objective import Objective
from verigym.trainers.run import Interrupted, train
from verigym.trainers.sampler_copy import SamplerCopy


def config_of(mode: str, **sections: dict[str, object]) -> Config:
    algorithm = {"loss": "decoupled", "old_logprobs": "loglinear"} if mode == "async" else {}
    return tiny_config(
        **{
            "train": {"mode": mode},
            "algorithm": algorithm,
            "canary": {"every": 0},
            **sections,
        }
    )


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"train": {"max_staleness": 3}}, "train.max_staleness is for train.mode"),
        ({"train": {"mode": "asink"}}, "did you mean"),
        ({"train": {"mode": "async"}, "sampling": {"hints": 1}}, "sampling.hints"),
        ({"train": {"mode": "async"}, "sampling": {"dars": "et"}}, "sampling.dars"),
        ({"train": {"mode": "one-step-off"}, "algorithm": {"name": "branch"}}, "continuations"),
        (
            {"train": {"mode": "async"}, "engine": {"name": "vllm", "sleep_level": 1}},
            "engine.sleep_level",
        ),
        ({"algorithm": {"old_logprobs": "loglinear"}}, "is for loss decoupled"),
    ],
)
def test_what_cannot_be_played_ahead_is_refused(tree: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_config({"env": {"id": "games/nim"}, **tree})


def test_a_copy_samples_as_the_policy_of_its_version(tmp_path: Path) -> None:
    folder = tiny.build(tmp_path / "model", seed=0, width=32, layers=1)
    policy = HFPolicy.load(folder, max_new_tokens=3)
    copied = SamplerCopy(policy, 1.0)
    asked = [Request(messages=[], prompt_ids=[9, 8, 7], key=(0, 0), grows=True)]
    before = policy.complete(asked)[0]
    with torch.no_grad():
        for parameter in policy.model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.manual_seed(1)))
    policy.version = 1
    old = copied.complete(asked)[0]
    assert (old.response_ids, old.logprobs, old.policy_version) == (
        before.response_ids,
        before.logprobs,
        0,
    )
    copied.take_weights()
    new, wanted = copied.complete(asked)[0], policy.complete(asked)[0]
    assert (new.response_ids, new.logprobs, new.policy_version) == (
        wanted.response_ids,
        wanted.logprobs,
        1,
    )
    assert new.logprobs != old.logprobs


def test_the_proximal_policy_is_read_off_the_age_of_each_token() -> None:
    algorithm = config_of("async").algorithm
    objective = Objective(algorithm)
    assert not objective.recomputes
    row = Row(
        ids=[1, 2, 3, 4],
        mask=[0, 1, 1, 1],
        logprobs=[0.0, -1.0, -1.0, -1.0],
        turn=[-1, 0, 0, 0],
        trajectory=0,
        advantage=[0.0, 1.0, 1.0, 1.0],
        old=[0.0, -1.0, -1.0, -1.0],
        staleness=[0, 0, 1, 4],
    )
    from verigym.trainers.batch import Batch

    batch = Batch.of([row], 0, torch.device("cpu"))
    now = torch.tensor([[0.0, -1.1, -1.1, -1.1]])
    found = objective.token_loss(batch, now, torch.zeros(1, 4), None).loss_BT[0]
    # prox = behaviour at ages 0 and 1; at age 4 three quarters of the way to the current policy.
    ratio, moved = torch.exp(torch.tensor(-0.1)), torch.exp(torch.tensor(-0.075))
    wanted = [0.0, -ratio, -ratio, -moved * torch.exp(torch.tensor(-0.025))]
    assert found.tolist() == pytest.approx([float(x) for x in wanted], rel=1e-6)


_KILLED = """
import os, signal, sys, time
from pathlib import Path
from verigym.envs.games.keydoor import KeyDoor
from verigym.trainers.config import parse_config
from verigym.trainers.run import train
step = KeyDoor.step
def slow(self, action):
    time.sleep(0.01)
    return step(self, action)
KeyDoor.step = slow
def listen(progress):
    if progress.stage == "reinforcement" and progress.done == 3:
        os.kill(os.getpid(), signal.SIGKILL)
train(parse_config(__import__("json").loads(sys.argv[1])), Path(sys.argv[2]), listen=listen)
"""


def kill_in_step_3(config: Config, folder: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-P", "-c", _KILLED, config.model_dump_json(), str(folder)],
        check=False,
        capture_output=True,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()
    assert checkpoint.find(folder / "checkpoints")[-1].name == "step-000002"


def stop_before_update(config: Config, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(run, played):
        if played.number == 3:
            raise KeyboardInterrupt
        return credit_step(run, played)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "credit_step", interrupted)
        with pytest.raises(KeyboardInterrupt, match="stopped after step 2"):
            train(config, folder)


@pytest.mark.slow
def test_one_step_off_repeats_and_resumes_to_the_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of("one-step-off")
    straight, killed = train(config, tmp_path / "straight"), tmp_path / "killed"
    kill_in_step_3(config, killed)
    train(config, killed, resume=True)
    assert same(weights(straight), weights(killed))
    # A stop between play and update keeps what was played, and drops what was played after it.
    stopped = tmp_path / "stopped"
    stop_before_update(config, stopped, monkeypatch)
    train(config, stopped, resume=True)
    assert same(weights(straight), weights(stopped))
    for folder in (straight, killed, stopped):
        assert verify_run(folder) == []
        found = [line["tokens_by_version"] for line in lines(folder / "certificate.jsonl")]
        assert [list(versions) for versions in found] == [["0"], ["0"], ["1"], ["2"]]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["kill -9", "stop before an update"])
def test_async_resumes_and_counts_every_group_once(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, folder = config_of("async", train={"mode": "async", "steps": 6}), tmp_path / "run"
    if end == "kill -9":
        kill_in_step_3(config, folder)
    else:
        stop_before_update(config, folder, monkeypatch)
    saved = msgspec.json.decode(
        (checkpoint.find(folder / "checkpoints")[-1] / "ahead.json").read_bytes()
    )
    ahead = [group["plans"][0]["group_id"] for group in saved["ended"]]
    ahead += [plans[0]["group_id"] for plans in saved["running"]]
    assert ahead, "nothing was played ahead, so the drill shows nothing"
    before = [line["group_ids"] for line in lines(folder / "certificate.jsonl")][:2]
    assert not {name for names in before for name in names} & set(ahead)
    train(config, folder, resume=True)
    assert verify_run(folder) == []
    certificate = lines(folder / "certificate.jsonl")
    assert [line["group_ids"] for line in certificate][:2] == before
    last = msgspec.json.decode(
        (checkpoint.find(folder / "checkpoints")[-1] / "ahead.json").read_bytes()
    )
    left = [group["plans"][0]["group_id"] for group in last["ended"]]
    left += [plans[0]["group_id"] for plans in last["running"]]
    trained = [name for line in certificate for name in line["group_ids"]]
    # Every group that was ever drawn is trained on once, or waits in the last checkpoint.
    assert sorted([*trained, *left]) == sorted(f"2.{n}" for n in range(last["drawn"]))
    assert len(trained) == 12
    metrics = lines(folder / "metrics.jsonl")
    assert max(line["staleness"]["max"] for line in metrics) in (1, 2)
    assert all(line["groups_replaced"] == {} for line in metrics)


@pytest.mark.slow
def test_a_fault_in_the_middle_of_a_group_replaces_it_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, lock, steps = KeyDoor.step, threading.Lock(), Counter()

    def faulty(self: KeyDoor, action: str):
        with lock:
            steps[self.task.id] += self.task.split == "train"
            breaks = steps[self.task.id] == 4 and len(steps) % 3 == 0
        if breaks:
            raise ValueError("the grid is gone")
        return step(self, action)

    config = config_of(
        "async", limits={"fault_share": 0.9}, warmup={"episodes": 0}, train={"mode": "async"}
    )
    monkeypatch.setattr(KeyDoor, "step", faulty)
    folder = train(config, tmp_path / "run")
    assert verify_run(folder) == []
    metrics, certificate = lines(folder / "metrics.jsonl"), lines(folder / "certificate.jsonl")
    replaced = sum(line["groups_replaced"].get("fault", 0) for line in metrics)
    assert replaced > 0
    for line, proof in zip(metrics, certificate, strict=True):
        # Whole groups of whole episodes: none is trained on with a member missing, or scored 0.
        assert proof["groups_trained"] == 2
        assert line["episodes"] == 3 * (2 + line["groups_replaced"].get("fault", 0))
        assert sum(line["faults"].values()) >= line["groups_replaced"].get("fault", 0)
    assert "fault" not in {reason for p in certificate for reason in p["episodes_left_out"]}


@pytest.mark.slow
def test_environments_that_always_fault_stop_an_async_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = KeyDoor.step

    def faulty(self: KeyDoor, action: str):
        if self.task.split == "train":
            raise ValueError("the grid is gone")
        return step(self, action)

    monkeypatch.setattr(KeyDoor, "step", faulty)
    with pytest.raises(Interrupted, match="env_error:ValueError"):
        train(config_of("async", warmup={"episodes": 0}), tmp_path / "run")
    monkeypatch.undo()
    train(config_of("async", warmup={"episodes": 0}), tmp_path / "run", resume=True)
    assert verify_run(tmp_path / "run") == []
