"""Each rank sends its own rows to the sampler, and a fault of one stops the run by its name.

The samplers of vLLM run where vLLM is installed (`make test-vllm`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.agents.engines.engine_kinds import build_folder, needs_vllm
from tests.trainers.sharded_delivery_program import FAULTS, WHOLE_UPDATES
from tests.trainers.test_sharded import torchrun
from tests.trainers.test_train_vllm import check_run, check_run_ahead, lines
from verigym.agents.engines.vllm import PRECISION_NATS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
PROGRAM = Path(__file__).with_name("sharded_delivery_program.py")
CONFIG = """
name = "two"
seed = 3
env = {{ id = "games/keydoor", max_turns = 5 }}
policy = {{ max_new_tokens = 2, show_task = false }}
engine = {{ name = "vllm", transfer = "{transfer}", max_sequences = 16, cache_gib = 0.25, timeout_s = 120 }}
warmup = {{ episodes = 20, epochs = 1, batch_rows = 32 }}
train = {{ steps = {steps}, groups = 2, group_size = 3, lr = 1e-3, minibatch_rows = 16, threads = 1 }}
eval = {{ every = 10, episodes = 3 }}
checkpoint = {{ every = 1, transcripts = 2 }}
"""
SAID = {
    "missing": "rank 1 for version 3 is missing",
    "truncated": "rank 1 for version 4 is truncated",
    "checksum": "rank 1 for version 5 has a wrong checksum: ",
    "version": "rank 1 for version 6 has version 5, not 6",
    "full": "rank 1: OSError: .* No space left",
}


@pytest.mark.parametrize(
    ("kind", "dtype", "is_tied"),
    [
        ("torch", "float32", False),
        ("torch", "bfloat16", True),
        pytest.param("gloo", "float32", False, marks=needs_vllm),
        pytest.param("disk", "float32", True, marks=needs_vllm),
        pytest.param("delta", "bfloat16", False, marks=needs_vllm),
    ],
)
def test_each_rank_sends_its_own_rows(tmp_path, kind, dtype, is_tied):
    """No rank has the whole model; all updates are proved but those that break, each of which names its rank."""
    build_folder(tmp_path, tied=is_tied)
    torchrun(PROGRAM, kind, dtype, tmp_path, deadline_s=800)
    found = json.loads((tmp_path / "found.json").read_text())
    assert not found["keeps_whole"]
    assert found["saved"] <= PRECISION_NATS[dtype]
    n_faults = 1 if kind == "gloo" else len(FAULTS)
    first, after = range(WHOLE_UPDATES), WHOLE_UPDATES + n_faults
    assert [one["version"] for one in found["proofs"]] == [*first, after, after + 1]
    for one in found["proofs"]:
        assert one["gap_nats"] <= PRECISION_NATS[dtype]
        if dtype == "float32" and one["change_nats"] is not None:
            assert one["gap_nats"] < one["change_nats"] / 10
    words = ["rows of rank 1 did not arrive"] if kind == "gloo" else [SAID[name] for name in FAULTS]
    assert len(found["errors"]) == n_faults
    for said, wanted in zip(found["errors"], words, strict=True):
        assert re.search(wanted, said), said
    sent, whole = found["sent"], found["whole"]
    assert sent[0] == sent[3] == whole
    if dtype == "bfloat16":
        assert max(sent[2], sent[4]) < whole / 3


@needs_vllm
def test_a_shard_that_does_not_arrive_stops_the_run_which_resumes(tmp_path):
    path, out = tmp_path / "config.toml", tmp_path / "run"
    path.write_text(CONFIG.format(transfer="delta", steps=WHOLE_UPDATES + 2))
    with pytest.raises(AssertionError, match="rank 1 for version 3 is missing"):
        torchrun(PROGRAM, "run", "float32", path, out, deadline_s=400)
    # All that was played is saved; no episode was scored 0 for the fault.
    metrics = lines(out / "metrics.jsonl")
    assert [line["step"] for line in metrics] == list(range(1, WHOLE_UPDATES + 1))
    assert all(line["faults"] == {} for line in metrics)
    torchrun("-m", "verigym", "train", path, "--out", out, "--resume", deadline_s=400)
    check_run(out, WHOLE_UPDATES + 2)


@needs_vllm
@pytest.mark.parametrize(("mode", "transfer"), [("one-step-off", "gloo"), ("async", "disk")])
def test_the_engine_plays_while_two_processes_update(tmp_path, mode, transfer):
    path, out = tmp_path / "config.toml", tmp_path / "run"
    text = CONFIG.format(transfer=transfer, steps=3)
    text += 'algorithm = { loss = "decoupled" }\ncanary = { every = 0 }\n'
    path.write_text(text.replace("train = {", f'train = {{ mode = "{mode}",'))
    torchrun("-m", "verigym", "train", path, "--out", out, deadline_s=400)
    check_run_ahead(out, mode)
