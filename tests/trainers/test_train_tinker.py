"""Training on the real server of SkyRL, on CPU: `make test-tinker`."""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors import safe_open
from transformers import AutoModelForCausalLM
from typer.testing import CliRunner

from tests.trainers.tinker_server import PYTHON, serve
from verigym.agents.engines.tinker import PRECISION_NATS, TinkerSampler
from verigym.agents.sampling import generator
from verigym.cli.main import app
from verigym.trainers import tiny
from verigym.trainers.batch import Row
from verigym.trainers.certificate import verify_run
from verigym.trainers.config import parse_config
from verigym.trainers.delivery import distance
from verigym.trainers.engine import Engine
from verigym.trainers.learner import Reinforcement
from verigym.trainers.run import Interrupted, train
from verigym.trainers.tinker_start import sampler_of, start_tinker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not PYTHON, reason="the server has a venv of its own: make test-tinker"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tinker")
    model = tiny.build(tmp_path_factory.mktemp("model"), seed=1, width=64)
    with serve(folder, model) as one:
        yield one


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("TINKER_API_KEY", "tml-none")


def tree_of(server, steps=2, **sections):
    tree = {
        "name": "test",
        "seed": 3,
        "env": {"id": "games/keydoor", "max_turns": 5},
        "policy": {
            "model": str(server.model),
            "max_new_tokens": 2,
            "show_task": False,
            "lora": {"rank": 8},
        },
        "engine": {
            "name": "tinker",
            "url": server.url,
            "reduction": "row-mean",
            "max_sequences": 8,
            "timeout_s": 600,
        },
        "train": {"steps": steps, "groups": 2, "group_size": 3, "lr": 1e-3, "minibatch_rows": 16},
        "eval": {"every": 10, "episodes": 3},
        "checkpoint": {"every": 1},
        "canary": {"every": 0},
    }
    for name, section in sections.items():
        tree[name] = {**tree.get(name, {}), **section}
    return tree


def lines(path):
    return [json.loads(raw) for raw in path.read_text().splitlines()]


def make_row(i, length, answer, advantage, logprobs):
    rng = generator((7, i))
    mask = [0] * (length - answer) + [1] * answer
    return Row(
        ids=rng.integers(6, 100, length).tolist(),
        mask=mask,
        logprobs=[p * on for p, on in zip(logprobs, mask, strict=True)],
        turn=[on - 1 for on in mask],
        trajectory=i,
        advantage=[advantage * on for on in mask],
        old=[p * on for p, on in zip(logprobs, mask, strict=True)],
    )


def adapted(server, learner, tmp_path):
    """The model as torch computes it, with the adapter that the server has saved."""
    address = learner.server.save_sampler(f"for-{tmp_path.name[:20]}").removeprefix("tinker://")
    run, name = address.split("/")[0], address.split("/")[-1]
    found = next((server.checkpoints / run).rglob(f"{name}.tar.gz"))
    with tarfile.open(found) as archive:
        archive.extractall(tmp_path / name, filter="data")
    # The server writes no names of layers, and peft would take its defaults for them.
    with safe_open(tmp_path / name / "adapter_model.safetensors", "pt") as tensors:
        layers = {key.split(".lora_")[0].rsplit(".", 1)[1] for key in tensors.keys()}  # noqa: SIM118
    config = tmp_path / name / "adapter_config.json"
    said = json.loads(config.read_text())
    config.write_text(json.dumps({**said, "target_modules": sorted(layers)}))
    model = AutoModelForCausalLM.from_pretrained(server.model)
    model.load_adapter(str(tmp_path / name), is_trainable=True)
    return model


@pytest.mark.parametrize(
    "algorithm",
    [
        {"name": "gigpo", "loss": "ppo"},
        {"name": "grpo", "loss": "gspo"},
        {"name": "gigpo", "loss": "ppo", "loss_options": {"dual_clip": 3.0}},
    ],
    ids=["the server's loss", "our gradient", "dual clip"],
)
def test_log_probabilities_and_gradient_are_those_of_torch(server, tmp_path, algorithm):
    config = parse_config(tree_of(server, algorithm=algorithm))
    policy, learner = start_tinker(config, server.model)
    sampler = sampler_of(config, policy, learner)
    try:
        shapes = [(20, 3, 1.0), (31, 2, -0.5), (14, 5, 0.25), (25, 4, 0.0)]
        rows = [make_row(i, n, k, a, [0.0] * n) for i, (n, k, a) in enumerate(shapes)]
        # Ratios on both sides of the clip: the sampler's log-probabilities are near ours, not ours.
        shift = [[0.3, -0.3, 0.05, 0.0, -0.1][t % 5] for t in range(40)]
        rows = [
            replace(row, logprobs=own, old=own)
            for row, line in zip(rows, learner.logprobs(rows), strict=True)
            for own in [[(p + s) * on for p, s, on in zip(line, shift, row.mask, strict=False)]]
        ]
        for _ in range(2):  # with the adapter as it begins, and after a step
            model = adapted(server, learner, tmp_path)
            twin = Engine(
                model,
                pad_id=0,
                temperature=1.0,
                train=config.train,
                algorithm=config.algorithm,
                max_tokens=2,
            )
            ours, theirs = learner.logprobs(rows), twin.logprobs(rows)
            assert max(distance(a, b) for a, b in zip(ours, theirs, strict=True)) <= 1e-5
            before, after = (
                one.train_step(rows, Reinforcement(seed=(0,))) for one in (twin, learner)
            )
            assert after.grad_norm == pytest.approx(before.grad_norm, rel=1e-4)
            assert after.loss == pytest.approx(before.loss, abs=1e-6)
            assert after.clip_share == pytest.approx(before.clip_share)
            assert after.gap.max == pytest.approx(before.gap.max, abs=1e-5)
            tmp_path = tmp_path / "next"
            tmp_path.mkdir()
        sampler.update(learner.weights(1))
        split = [row.mask.index(1) for row in rows]
        found = sampler.logprobs(
            [row.ids[:at] for row, at in zip(rows, split, strict=True)],
            [row.ids[at:] for row, at in zip(rows, split, strict=True)],
            None,
        )
        wanted = [line[at:] for line, at in zip(learner.logprobs(rows), split, strict=True)]
        limit = PRECISION_NATS["float32"]
        assert max(distance(a, b) for a, b in zip(found, wanted, strict=True)) <= limit
    finally:
        sampler.close()


def test_keydoor_is_trained_and_resumed(server, tmp_path):
    path, folder = tmp_path / "mine.toml", tmp_path / "run"
    text = '[env]\nid = "games/keydoor"\nmax_turns = 5\n'
    path.write_text(text)
    tree = tree_of(server, warmup={"episodes": 4, "epochs": 1, "batch_rows": 16})

    def run(steps, *more):
        tree["train"]["steps"] = steps
        chosen = [
            f"--set={section}.{key}={json.dumps(value)}"
            for section, table in tree.items()
            if isinstance(table, dict) and section != "env"
            for key, value in table.items()
            if key != "lora"
        ]
        chosen += ["--set=policy.lora.rank=8", "--set=seed=3"]
        found = CliRunner().invoke(app, ["train", str(path), "--out", str(folder), *chosen, *more])
        assert found.exit_code == 0, found.output

    run(2)
    run(3, "--resume")
    metrics = lines(folder / "metrics.jsonl")
    assert [line["step"] for line in metrics] == [1, 2, 3]
    assert [line["delivery"]["version"] for line in metrics] == [0, 1, 2]
    for line in metrics:
        assert line["faults"] == {}
        assert line["logp_gap_max"] <= 1e-5
        assert line["delivery"]["gap_nats"] <= 1e-5
        if (change := line["delivery"]["change_nats"]) is not None:
            assert line["delivery"]["gap_nats"] < change / 10
    assert not verify_run(folder)
    said = json.loads((folder / "last" / "tinker.json").read_text())
    assert said["state"].startswith("tinker://")
    assert not list(folder.rglob("*.safetensors"))


def test_other_weights_than_were_trained_stop_the_run(server, tmp_path, monkeypatch):
    """From version 1 on a client of the base model samples, which is what version 0 computes. (An earlier client
    would not do: the server keeps one adapter in memory, and samples from it whatever was saved.)"""
    real = TinkerSampler.update

    def drop(self, weights):
        real(self, weights)
        if weights.version == 1:
            service = self.model.sdk.ServiceClient(base_url=server.url)
            self._held = (1, service.create_sampling_client(base_model=str(server.model)))

    monkeypatch.setattr(TinkerSampler, "update", drop)
    tree = tree_of(server, train={"lr": 1e-2})
    with pytest.raises(Interrupted, match=r"sent version 1 .* are those of version 0"):
        train(parse_config(tree), tmp_path / "run")
    assert [line["step"] for line in lines(tmp_path / "run" / "metrics.jsonl")] == [1]


def test_a_model_that_the_server_lacks_is_named(server):
    config = parse_config(tree_of(server, engine={"base_model": "other"}))
    with pytest.raises(ValueError, match=rf"no model 'other'; .*{server.model.name}"):
        start_tinker(config, server.model)


def test_a_server_that_dies_stops_the_run_without_scores(server, tmp_path, monkeypatch):
    """Last, since it kills the server."""
    folder: Path = tmp_path / "run"

    def listen(progress):
        if progress.stage == "reinforcement" and progress.done == 1:
            server.kill()

    tree = tree_of(
        server, steps=3, engine={"timeout_s": 60}, limits={"patience_s": 1, "backoff_s": 0.1}
    )
    stopped = r"Tinker server .* step 1 could not be saved; resume goes on from step-000000"
    with pytest.raises(Interrupted, match=stopped):
        train(parse_config(tree), folder, listen=listen)
    assert [line["step"] for line in lines(folder / "metrics.jsonl")] == [1]
    assert (folder / "checkpoints" / "step-000000" / "policy" / "tinker.json").exists()
