"""The training loop end to end, with real processes for what goes wrong."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from typer.testing import CliRunner

from verigym import RequestError
from verigym.agents.chat import StepRows
from verigym.agents.policies.hf import HFPolicy
from verigym.agents.prompts import PromptChoices, encoding_for
from verigym.cli.main import app
from verigym.server.process import ServerProcess
from verigym.trainers import checkpoint
from verigym.trainers.certificate import verify_run
from verigym.trainers.config import Config, parse_config
from verigym.trainers.run import Interrupted, Progress, train
from verigym.trainers.run_folder import RecordError, RunFolder


def tiny_config(**sections: dict[str, object]) -> Config:
    """A run of seconds: few, short episodes and a barely warmed model."""
    tree: dict[str, object] = {
        "name": "test",
        "seed": 3,
        "env": {"id": "games/keydoor", "max_turns": 6},
        "policy": {"max_new_tokens": 2, "show_task": False},
        "warmup": {"episodes": 40, "epochs": 2, "batch_rows": 32},
        "train": {
            "steps": 4,
            "groups": 2,
            "group_size": 3,
            "lr": 1e-3,
            "minibatch_rows": 16,
            "threads": 1,
        },
        "eval": {"every": 4, "episodes": 4},
        "checkpoint": {"every": 2, "transcripts": 1},
    }
    for name, section in sections.items():
        tree[name] = {**tree.get(name, {}), **section}  # type: ignore[dict-item]
    return parse_config(tree)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """Of the last checkpoint."""
    saved = checkpoint.find(folder / "checkpoints")[-1]
    (file,) = (saved / "policy").glob("*.safetensors")
    return load_file(file)


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four steps at once."""
    return train(tiny_config(), tmp_path_factory.mktemp("whole") / "run")


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(raw) for raw in path.read_text().splitlines()]


def test_a_run_leaves_what_the_report_needs(whole: Path) -> None:
    facts = json.loads((whole / "run.json").read_text())
    assert facts["finished"]
    assert [stage["name"] for stage in facts["stages"]] == ["warm-up", "reinforcement"]
    metrics = lines(whole / "metrics.jsonl")
    assert [line["step"] for line in metrics] == [1, 2, 3, 4]
    assert all(line["logp_gap_max"] < 1e-4 for line in metrics)
    # Without a gradient the tests of exact resume would compare weights that never moved.
    assert all(line["grad_norm"] > 0 for line in metrics)
    assert {line["split"] for line in lines(whole / "eval.jsonl")} == {"validation", "test"}
    shown = lines(whole / "episodes" / "step-000004.jsonl")[0]
    for turn, credit, logprobs, tokens in zip(
        shown["episode"]["turns"],
        shown["credit"],
        shown["train_logprobs"],
        shown["tokens"],
        strict=True,
    ):
        assert set(credit) == {
            "episode_advantage",
            "step_advantage",
            "advantage",
            "step_group_size",
            "tokens",
            "targets",
        }
        assert len(logprobs) == len(tokens) == len(turn["response_ids"])
        assert logprobs == pytest.approx(turn["logprobs"], abs=1e-4)
    assert list((whole / "tensorboard").iterdir())


@pytest.mark.slow
def test_a_run_draws_how_often_a_planted_loophole_is_used(tmp_path: Path) -> None:
    env = {"id": "math/arithmetic", "max_turns": 1, "options": {"planted": "blank"}}
    config = tiny_config(env=env, train={"steps": 2}, policy={"show_task": True}, eval={"every": 2})
    folder = train(config, tmp_path / "run")
    rates = [line["hack_rate"] for line in lines(folder / "metrics.jsonl")]
    assert all(0.0 <= rate <= 1.0 for rate in rates)
    assert len(rates) == 2
    report = CliRunner().invoke(app, ["report", str(folder), "--out", str(tmp_path / "r.html")])
    assert report.exit_code == 0
    assert "used the planted loophole" in (tmp_path / "r.html").read_text()


@pytest.mark.slow  # the next but one, resumed, shows as much
def test_the_trained_model_is_a_folder_that_loads(whole: Path) -> None:
    """The last policy loads as any transformers model, with its tokenizer and chat template."""
    policy = HFPolicy.load(whole / "last", max_new_tokens=2)
    found = policy.model.state_dict()
    assert same(weights(whole), {name: found[name] for name in weights(whole)})
    assert policy.render([{"role": "user", "content": "up"}]).startswith("<|user|>up")
    # It is played with the prompts that it was trained on, unless others are asked for.
    assert encoding_for(policy, None) == StepRows(history=0, show_task=False)
    assert encoding_for(policy, PromptChoices(history=3)) == StepRows(history=3, show_task=False)


def test_the_bookkeeping_of_a_run_adds_up_and_tampering_shows(whole: Path, tmp_path: Path) -> None:
    assert verify_run(whole) == []
    run = shutil.copytree(whole, tmp_path / "run")
    certificate = lines(run / "certificate.jsonl")
    assert all(line["tokens_sampled"] > 0 for line in certificate)
    certificate[0]["tokens_in_rows"] -= 1
    certificate[1]["tokens_by_version"]["0"] = 0
    certificate[2]["gap"]["max"] = 0.5
    (run / "certificate.jsonl").write_text("".join(json.dumps(line) + "\n" for line in certificate))
    saved = checkpoint.find(run / "checkpoints")[-1]
    (file,) = (saved / "policy").glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-1] + b"\x01")
    found = verify_run(run)
    for said in (
        "step 1: ",
        "sampled by versions [0, 1]",
        "differ by 0.5 nats",
        "the weights have checksum",
    ):
        assert any(said in problem for problem in found), found
    outcome = CliRunner().invoke(app, ["verify-run", str(run)])
    assert outcome.exit_code == 1
    assert "differ by 0.5 nats" in outcome.output


@pytest.mark.parametrize("left", [("best", ".best.old"), (".best.old",), (".best.part",)])
def test_a_kill_while_a_model_is_published_loses_none(
    left: tuple[str, ...], tmp_path: Path
) -> None:
    for name in left:
        (tmp_path / name).mkdir()
        (tmp_path / name / "model").write_text("earlier")
    folder = RunFolder(tmp_path, None)

    def fail(path: Path) -> None:
        raise OSError("disk full")

    def write(path: Path) -> None:
        path.mkdir()
        (path / "model").write_text("later")

    with pytest.raises(RecordError, match="disk full"):
        folder.publish("best", fail, merge=False)
    kept = tmp_path / "best" / "model"
    assert left == (".best.part",) or kept.read_text() == "earlier"
    folder.publish("best", write, merge=False)
    folder.close()
    assert kept.read_text() == "later"
    assert not list(tmp_path.glob(".best.*"))


def test_the_same_run_again_ends_in_the_same_weights(whole: Path, tmp_path: Path) -> None:
    again = train(tiny_config(), tmp_path / "run")
    assert same(weights(whole), weights(again))


@pytest.mark.slow
def test_micro_batches_do_not_change_the_gradient(whole: Path, tmp_path: Path) -> None:
    small = train(tiny_config(train={"microbatch_tokens": 64, "steps": 1}), tmp_path / "small")
    large = train(tiny_config(train={"steps": 1}), tmp_path / "large")
    for name, tensor in weights(small).items():
        torch.testing.assert_close(tensor, weights(large)[name], atol=1e-4, rtol=1e-3)


_KILLED = """
import os, signal, sys
from pathlib import Path
from verigym.trainers.config import parse_config
from verigym.trainers.run import train
def listen(progress):
    if progress.stage == "reinforcement" and progress.done == 3:
        os.kill(os.getpid(), signal.SIGKILL)
train(parse_config(__import__("json").loads(sys.argv[1])), Path(sys.argv[2]), listen=listen)
"""


@pytest.mark.slow
def test_kill_9_and_resume_end_in_bit_identical_weights(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    child = subprocess.run(
        [sys.executable, "-P", "-c", _KILLED, tiny_config().model_dump_json(), str(folder)],
        check=False,
        capture_output=True,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()
    assert checkpoint.find(folder / "checkpoints")[-1].name == "step-000002"
    assert len(lines(folder / "metrics.jsonl")) == 3
    train(tiny_config(), folder, resume=True)
    assert same(weights(whole), weights(folder))
    assert [line["step"] for line in lines(folder / "metrics.jsonl")] == [1, 2, 3, 4]


def everything_on() -> Config:
    """Two environments, three arms, a curriculum with state, a critic, extra and shaped episodes."""
    tree = tiny_config().model_dump(mode="json")
    tree["env"] = [
        {"id": "games/keydoor", "max_turns": 6, "difficulties": ["tiny", "easy"]},
        {"id": "games/nim", "max_turns": 3, "weight": 0.5},
    ]
    tree["curriculum"] = {"name": "sec"}
    tree["sampling"] = {"dars": "et", "dars_max": 4}
    tree["reward"] = {"relative_length": 0.1}
    tree["algorithm"] = {"name": "ppo"}
    tree["critic"] = {"lr": 1e-3}
    tree["policy"]["lora"] = {"rank": 4, "merge": True}
    return parse_config(tree)


@pytest.mark.slow
def test_kill_9_and_resume_with_mixture_curriculum_and_critic(tmp_path: Path) -> None:
    config, killed = everything_on(), tmp_path / "killed"
    straight = train(config, tmp_path / "straight")
    child = subprocess.run(
        [sys.executable, "-P", "-c", _KILLED, config.model_dump_json(), str(killed)],
        check=False,
        capture_output=True,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()
    train(config, killed, resume=True)
    assert same(weights(straight), weights(killed))
    one, other = (
        checkpoint.load(checkpoint.find(folder / "checkpoints")[-1])
        for folder in (straight, killed)
    )
    assert one[0].curriculum == other[0].curriculum
    assert any(one[0].curriculum["count"])
    assert same(one[1]["critic"], other[1]["critic"])
    arms = [line["arms"] for line in lines(killed / "metrics.jsonl")]
    assert arms == [line["arms"] for line in lines(straight / "metrics.jsonl")]
    assert len(arms[0]) == 3
    # What the user takes away: the adapter of each checkpoint, and merged weights at the end.
    adapter = HFPolicy.load(
        checkpoint.find(killed / "checkpoints")[-1] / "policy", max_new_tokens=2
    )
    merged = HFPolicy.load(killed / "last", max_new_tokens=2)
    ids = torch.tensor([adapter.encode("Keys: none")])
    with torch.no_grad():
        torch.testing.assert_close(adapter.model(ids).logits, merged.model(ids).logits)


@pytest.mark.slow  # the one before resumes, too
def test_ctrl_c_saves_the_last_whole_step(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"

    def listen(progress: Progress) -> None:
        if progress.stage == "reinforcement" and progress.done == 1:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="--resume"):
        train(tiny_config(), folder, listen=listen)
    assert checkpoint.find(folder / "checkpoints")[-1].name == "step-000001"
    train(tiny_config(), folder, resume=True)
    assert same(weights(whole), weights(folder))


@pytest.mark.slow  # that a player waits for a service is shown in tests/agents
def test_a_verifier_that_dies_is_waited_for_and_costs_nothing(whole: Path, tmp_path: Path) -> None:
    heard: list[Progress] = []
    with ServerProcess(verifiers=["games"], workers=1) as server:
        down = False

        def listen(progress: Progress) -> None:
            nonlocal down
            heard.append(progress)
            if progress.stage == "reinforcement" and progress.done == 1:
                server.kill()
                down = True
            # A busy machine may be told to wait once more after the service is back.
            if progress.stage == "waiting" and down:
                server.start()
                down = False

        folder = train(tiny_config(env={"verifier": server.url}), tmp_path / "run", listen=listen)
    assert any(progress.stage == "waiting" for progress in heard)
    assert all(not line["faults"] for line in lines(folder / "metrics.jsonl"))
    # The outage left no trace in what was learned.
    assert same(weights(whole), weights(folder))


@pytest.mark.slow
def test_a_verifier_that_stays_away_stops_the_run_which_resumes(
    whole: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    limits = {"patience_s": 1.0}
    with ServerProcess(verifiers=["games"], workers=1) as server:

        def listen(progress: Progress) -> None:
            if progress.stage == "reinforcement" and progress.done == 1:
                server.kill()

        with pytest.raises(Interrupted, match=r"verifier:infra.*--resume"):
            train(tiny_config(env={"verifier": server.url}, limits=limits), folder, listen=listen)
    assert len(lines(folder / "metrics.jsonl")) == 1
    train(tiny_config(), folder, resume=True)
    assert same(weights(whole), weights(folder))


def test_a_run_is_never_overwritten_nor_mixed(whole: Path) -> None:
    with pytest.raises(RequestError, match="--resume"):
        train(tiny_config(), whole)
    with pytest.raises(RequestError, match="another configuration"):
        train(tiny_config(algorithm={"options": {"gamma": 0.5}}), whole, resume=True)


_ON_A_SMALL_DISK = """
mount -t tmpfs -o size=26m none "$1" || exit 77
"$2" -P -c "$3" "$4" "$1/run"; echo "first run: $?"
ls "$1/run/checkpoints"
mount -o remount,size=400m "$1"
"$2" -P -c "$3" "$4" "$1/run" || exit 1
cp -r "$1/run" "$5"
"""
_AGAIN = """
import json, sys
from pathlib import Path
from verigym.trainers.config import parse_config
from verigym.trainers.run import train
folder = Path(sys.argv[2])
train(parse_config(json.loads(sys.argv[1])), folder, resume=folder.exists())
"""


@pytest.mark.slow
def test_a_disk_that_fills_up_stops_the_run_which_resumes(whole: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    arguments = [disk, sys.executable, _AGAIN, tiny_config().model_dump_json(), tmp_path / "copy"]
    # A mount of its own, which ends with the process.
    own = ["unshare", "--mount", *(["--map-root-user"] if os.getuid() else [])]
    child = subprocess.run(
        [*own, "sh", "-c", _ON_A_SMALL_DISK, "sh", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
    )
    if child.returncode == 77 or "unshare failed" in child.stderr:
        pytest.skip("a file system cannot be mounted here")
    assert child.returncode == 0, child.stderr
    assert "No space left on device" in child.stderr
    assert child.stdout.splitlines()[0] == "first run: 1"
    assert "step-000002" in child.stdout
    assert "step-000004" not in child.stdout
    assert same(weights(whole), weights(tmp_path / "copy"))
    assert [line["step"] for line in lines(tmp_path / "copy" / "metrics.jsonl")] == [1, 2, 3, 4]


def test_a_full_disk_at_a_checkpoint_keeps_the_one_before(whole: Path, tmp_path: Path) -> None:
    saved = checkpoint.find(whole / "checkpoints")[-1]
    state, _, optimizer = checkpoint.load(saved)
    folder = tmp_path / "checkpoints"

    def write(path: Path) -> None:
        shutil.copytree(saved / "policy", path)

    before = checkpoint.save(folder, state, write, {}, optimizer)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    # A cap on file sizes fails writes in the same place as a full disk does, with EFBIG.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limit[1]))
    try:
        later = checkpoint.TrainState(**{**vars(state), "step": state.step + 1})
        with pytest.raises(checkpoint.CheckpointError, match=before.name):
            checkpoint.save(folder, later, write, {}, optimizer)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)
    assert [path.name for path in folder.iterdir()] == [before.name]
    assert checkpoint.load(before)[0] == state


def test_a_damaged_checkpoint_is_named(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "step-000001"
    folder.mkdir()
    (folder / "state.json").write_text("{}")
    with pytest.raises(RequestError, match="step-000001 cannot be read"):
        checkpoint.load(folder)


@pytest.mark.slow
def test_grpo_and_a_kl_term_run_and_resume(tmp_path: Path) -> None:
    sections = {"algorithm": {"name": "grpo", "kl_coef": 0.1, "aggregation": "trajectory-mean"}}
    whole = train(tiny_config(**sections, train={"steps": 2}), tmp_path / "whole")
    assert lines(whole / "metrics.jsonl")[-1]["kl"] > 0
    parted = tmp_path / "parted"
    train(tiny_config(**sections, train={"steps": 1}), parted)
    train(tiny_config(**sections, train={"steps": 2}), parted, resume=True)
    assert same(weights(whole), weights(parted))


@pytest.mark.slow
def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """No thread, no child and no descriptor outlives a run."""
    config = tiny_config(train={"steps": 1})
    train(config, tmp_path / "first")
    before = threading.active_count(), len(os.listdir("/proc/self/fd"))
    train(config, tmp_path / "second")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        after = threading.active_count(), len(os.listdir("/proc/self/fd"))
        if after <= before:
            break
        threading.Event().wait(0.05)
    assert after[0] <= before[0]
    assert after[1] <= before[1]


def test_a_group_verifier_gives_the_rewards(tmp_path: Path) -> None:
    """Two members with equal scores share the one reward of the best."""
    config = tiny_config(
        env={"id": "math/arithmetic", "max_turns": None},
        group={
            "verifier": "group/best",
            "of": {"verifier": "text/length", "params": {"most": 10**6}},
        },
        warmup={"episodes": 0},
        train={"steps": 1, "groups": 1, "group_size": 2},
        eval={"episodes": 1},
    )
    (line,) = lines(train(config, tmp_path / "run") / "metrics.jsonl")
    assert (line["return_mean"], line["episodes"], line["faults"]) == (0.5, 2, {})


@pytest.mark.slow
def test_a_run_with_continuations_resumes_exactly(tmp_path: Path) -> None:
    """Measurements of branching decide the next step's budget, so it is kept."""
    branch = {"share": 1.0, "continuations": 2, "states": "entropy"}
    algorithm = {"name": "branch", "branch": branch}
    straight = train(tiny_config(algorithm=algorithm), tmp_path / "straight")
    train(tiny_config(algorithm=algorithm, train={"steps": 2}), tmp_path / "cut")
    train(tiny_config(algorithm=algorithm), tmp_path / "cut", resume=True)
    assert same(weights(straight), weights(tmp_path / "cut"))
    metrics = lines(straight / "metrics.jsonl")
    assert all(line["branch"]["env_steps"] > 0 for line in metrics)
    assert verify_run(straight) == []


@pytest.mark.slow  # wandb starts a process of its own
def test_weights_and_biases_gets_the_same_numbers_offline(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    train(tiny_config(log={"wandb": "offline"}, train={"steps": 1}), tmp_path / "run")
    (file,) = (tmp_path / "run" / "wandb").glob("offline-run-*/run-*.wandb")
    kept = file.read_bytes()
    assert b"train/success_rate" in kept
    assert b"eval_test/success_rate" in kept
