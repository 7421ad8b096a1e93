"""Deltas bring a reader bit for bit to what was written, in fewer bytes if that can be, and refuse all else."""

from __future__ import annotations

import copy

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.agents.engines.engine_kinds import TakesDeltas, build_folder, learner_of, load_policy
from verigym.agents.engines.deltas import DeltaMismatch, DeltaWriter, checksum, read
from verigym.trainers.delivery import probe_rows
from verigym.trainers.engine import Imitation


def weights(dtype=torch.bfloat16):
    torch.manual_seed(0)
    return {
        "few": torch.randn(64, 100).to(dtype),
        "many": torch.randn(999).to(dtype),
        "all": torch.randn(3, 5).to(dtype),
        "same": torch.randn(70).to(dtype),
        "scalar": torch.tensor(1.5).to(dtype),
    }


def changed(tensors):
    """Change a few elements of one tensor, a sixth of another, and all of a third."""
    out = copy.deepcopy(tensors)
    out["few"][3, 7] += 1
    out["many"][::6] += 1
    out["all"] += 1
    return out


def equal(a, b):
    assert a.keys() == b.keys()
    return all(checksum(a[name]) == checksum(b[name]) for name in a)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64, torch.uint8])
def test_a_reader_follows_bit_for_bit(tmp_path, dtype):
    first = weights(dtype)
    del first["scalar"]
    writer, base = DeltaWriter(), {}
    whole = sum(t.numel() * t.element_size() for t in first.values())
    assert writer.write(first, tmp_path) == whole
    read(tmp_path, base)
    assert equal(base, first)
    second = changed(first)
    sent = writer.write(second, tmp_path)
    assert 0 < sent < whole / 4
    forms = {name.partition("|")[2] for name in load_file(tmp_path / "update.safetensors")}
    assert forms == {"", "values", "index", "mask"}
    read(tmp_path, base)
    assert equal(base, second)
    assert writer.write(second, tmp_path) == 0  # nothing changed
    read(tmp_path, base)
    assert equal(base, second)


def test_bits_count_and_not_values(tmp_path):
    """-0.0 equals 0.0, and NaN nothing; both are what they are."""
    first = {"a": torch.zeros(100), "s": torch.tensor(1.5)}
    writer, base = DeltaWriter(), {}
    writer.write(first, tmp_path)
    read(tmp_path, base)
    second = {"a": first["a"].clone(), "s": torch.tensor(2.5)}
    second["a"][5], second["a"][6] = -0.0, float("nan")
    assert writer.write(second, tmp_path) < 100
    read(tmp_path, base)
    assert torch.signbit(base["a"][5])
    assert torch.isnan(base["a"][6])
    assert base["s"] == 2.5


def test_all_is_sent_where_a_delta_is_not_smaller(tmp_path):
    first = weights()
    writer, base = DeltaWriter(), {}
    whole = writer.write(first, tmp_path)
    other = {name: tensor + 1 for name, tensor in first.items()}
    assert writer.write(other, tmp_path) == whole
    read(tmp_path, base)  # which has not seen the first
    assert equal(base, other)


def test_a_delta_for_other_weights_is_refused_whole(tmp_path):
    first = weights()
    writer, base = DeltaWriter(), {}
    writer.write(first, tmp_path)
    read(tmp_path, base)
    writer.write(changed(first), tmp_path)
    with pytest.raises(DeltaMismatch, match="send all weights"):
        read(tmp_path, {})
    base["many"][5] += 1
    before = copy.deepcopy(base)
    with pytest.raises(DeltaMismatch, match="other weights of many"):
        read(tmp_path, base)
    assert equal(base, before)


def test_damage_on_the_way_is_seen(tmp_path):
    from safetensors import safe_open

    first = weights()
    writer, base = DeltaWriter(), {}
    writer.write(first, tmp_path)
    read(tmp_path, base)
    writer.write(changed(first), tmp_path)
    path = tmp_path / "update.safetensors"
    with safe_open(path, framework="pt") as file:
        meta = file.metadata()
    parts = load_file(path)
    parts["few|values"] = parts["few|values"] + 1
    save_file(parts, path, metadata=meta)
    with pytest.raises(DeltaMismatch, match="few did not arrive"):
        read(tmp_path, base)
    assert equal(base, first)


def test_training_in_bfloat16_changes_few_bits(tmp_path):
    """With an optimiser step of usual size, most weights stay, and the sampler has the learner's."""
    build_folder(tmp_path, tied=True)
    policy = load_policy(tmp_path, "bfloat16")
    learner = learner_of(policy, lr=1e-5, dtype="bfloat16")
    sampler = TakesDeltas(load_policy(tmp_path, "bfloat16"), tmp_path / "deltas")
    sizes = []
    for version in range(3):
        sampler.update(learner.weights(version))
        sizes.append(sampler.sent_bytes)
        assert equal(sampler.base, {n: p.detach() for n, p in policy.model.named_parameters()})
        learner.train_step(probe_rows(100, version), Imitation(smoothing=0.0, used_ids=[5]))
    assert max(sizes[1:]) < sizes[0] / 2
    print("bytes of each update:", sizes)
