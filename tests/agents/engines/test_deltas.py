"""Deltas bring a reader bit for bit to what was written, in fewer bytes if that can be, and refuse all else."""

from __future__ import annotations

import copy
import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from tests.agents.engines.engine_kinds import TakesShards, build_folder, learner_of, load_policy
from verigym.agents.engines.deltas import checksum
from verigym.agents.engines.shard_files import ShardError, ShardReader, ShardWriter, file_of
from verigym.agents.engines.shards import Shard, rows_of
from verigym.trainers.delivery import probe_rows
from verigym.trainers.engine import Imitation


class Way:
    """The writers of `n` processes and their reader."""

    def __init__(self, folder, n=1, *, keeps=True):
        self.folder, self.n, self.version = folder, n, 0
        self.writers = [ShardWriter(rank, n, keeps) for rank in range(n)]
        self.reader = ShardReader(keeps)
        self.shapes = {}

    def write(self, tensors):
        """Write an update; return the bytes by rank."""
        self.version += 1
        self.shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
        sent = []
        for rank, writer in enumerate(self.writers):
            shards = {
                name: Shard(rows_of(tensor, self.n, rank), tuple(tensor.shape))
                for name, tensor in tensors.items()
            }
            sent.append(writer.send(self.version, shards, self.folder))
        return sent

    def read(self):
        self.reader.check(self.folder, self.version, self.n, self.shapes)
        return dict(self.reader.tensors())

    def file(self, rank=0):
        return file_of(self.folder, rank, self.n)


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


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64, torch.uint8])
def test_a_reader_follows_bit_for_bit(tmp_path, dtype, n):
    first = weights(dtype)
    way = Way(tmp_path, n)
    whole = sum(t.numel() * t.element_size() for t in first.values())
    assert sum(way.write(first)) == whole
    assert equal(way.read(), first)
    second = changed(first)
    sent = sum(way.write(second))
    assert 0 < sent < whole / 4
    forms = {name.partition("|")[2] for rank in range(n) for name in load_file(way.file(rank))}
    assert forms == {"", "values", "index", "mask"}
    assert equal(way.read(), second)
    assert sum(way.write(second)) == 0  # nothing changed
    assert equal(way.read(), second)


def test_bits_count_and_not_values(tmp_path):
    """-0.0 equals 0.0, and NaN nothing; both are what they are."""
    first = {"a": torch.zeros(100), "s": torch.tensor(1.5)}
    way = Way(tmp_path)
    way.write(first)
    way.read()
    second = {"a": first["a"].clone(), "s": torch.tensor(2.5)}
    second["a"][5], second["a"][6] = -0.0, float("nan")
    assert sum(way.write(second)) < 100
    base = way.read()
    assert torch.signbit(base["a"][5])
    assert torch.isnan(base["a"][6])
    assert base["s"] == 2.5


def test_all_is_sent_where_a_delta_is_not_smaller(tmp_path):
    first = weights()
    way = Way(tmp_path)
    whole = way.write(first)
    other = {name: tensor + 1 for name, tensor in first.items()}
    assert way.write(other) == whole
    assert equal(way.read(), other)  # by a reader that has not seen the first


def test_each_process_chooses_what_is_smaller(tmp_path):
    first = weights()
    way = Way(tmp_path, 2)
    whole = way.write(first)
    way.read()
    second = copy.deepcopy(first)
    for tensor in second.values():
        rows_of(tensor, 2, 0).add_(1)
    sent = way.write(second)
    assert sent == [whole[0], 0]
    assert equal(way.read(), second)


def test_two_names_for_one_tensor(tmp_path):
    """A file takes no two tensors that share memory, as tied heads and views do."""
    one, body = torch.zeros(60, 2), torch.zeros(3000)
    tied = {"embed": one, "head": one, "part": one[30:], "body": body}
    for n in (1, 2):
        way = Way(tmp_path / str(n), n)
        way.write(tied)
        assert equal(way.read(), tied)
        one += 1
        assert 0 < sum(way.write(tied)) < 4 * one.numel() * 4
        assert equal(way.read(), tied)


def test_a_delta_for_other_weights_is_refused_whole(tmp_path):
    first = weights()
    way = Way(tmp_path, 2)
    way.write(first)
    way.read()
    way.write(changed(first))
    other = ShardReader(keeps=True)
    with pytest.raises(ShardError, match=r"rank 0 .* send all weights"):
        other.check(tmp_path, way.version, 2, way.shapes)
    rows_of(way.reader.base["many"], 2, 1)[5] += 1
    before = copy.deepcopy(way.reader.base)
    with pytest.raises(ShardError, match=r"rank 1 .* other weights of many"):
        way.read()
    assert equal(way.reader.base, before)


def rewrite(path, change):
    """Write a file again with other parts and another head."""
    with safe_open(path, framework="pt") as file:
        head = json.loads(file.metadata()["update"])
    parts = load_file(path)
    change(parts, head)
    save_file(parts, path, metadata={"update": json.dumps(head)})


def add_one(parts, head):
    parts["few|values"] = parts["few|values"] + 1


def lose_a_part(parts, head):
    del parts["few|values"]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: path.unlink(), "rank 1 for version 2 is missing"),
        (lambda path: path.write_bytes(path.read_bytes()[:-7]), "rank 1 .* is truncated"),
        (lambda path: path.write_bytes(b""), "rank 1 .* is truncated"),
        (lambda path: rewrite(path, add_one), "rank 1 .* wrong checksum: few"),
        (lambda path: rewrite(path, lose_a_part), "rank 1 .* lacks a part of few"),
        (
            lambda path: rewrite(path, lambda parts, head: head.update(version=1)),
            "rank 1 .* has version 1, not 2",
        ),
        (
            lambda path: rewrite(path, lambda parts, head: head.update(rank=0)),
            "rank 1 .* has rank 0, not 1",
        ),
    ],
)
def test_damage_on_the_way_is_seen(tmp_path, damage, words):
    first = weights()
    way = Way(tmp_path, 2)
    way.write(first)
    way.read()
    second = changed(first)
    rows_of(second["few"], 2, 1)[5, 5] += 1
    way.write(second)
    damage(way.file(1))
    with pytest.raises(ShardError, match=words):
        way.read()
    assert equal(way.reader.base, first)


def test_whole_rows_that_lack_a_tensor_or_have_another_shape_are_refused(tmp_path):
    way = Way(tmp_path, 2, keeps=False)
    way.write(weights())
    whole = copy.deepcopy(way.shapes)
    way.shapes = {**whole, "new": (4, 2)}
    with pytest.raises(ShardError, match=r"rank 0 .* lacks its rows of new"):
        way.read()
    way.shapes = {**whole, "few": (64, 99)}
    with pytest.raises(ShardError, match=r"rank 0 .* rows of few of shape \[64, 100\]"):
        way.read()


def test_without_a_base_one_tensor_is_held_at_a_time(tmp_path):
    way = Way(tmp_path, 3, keeps=False)
    way.write(weights())
    assert equal(way.read(), weights())
    assert way.reader.base == {}
    assert all(writer._base == {} for writer in way.writers)


def test_training_in_bfloat16_changes_few_bits(tmp_path):
    """With an optimiser step of usual size, most weights stay, and the sampler has the learner's."""
    build_folder(tmp_path, tied=True)
    policy = load_policy(tmp_path, "bfloat16")
    learner = learner_of(policy, lr=1e-5, dtype="bfloat16")
    sampler = TakesShards(load_policy(tmp_path, "bfloat16"), tmp_path / "deltas")
    sizes = []
    for version in range(3):
        sampler.update(learner.weights(version))
        sizes.append(sampler.sent_bytes)
        assert equal(
            sampler.reader.base, {n: p.detach() for n, p in policy.model.named_parameters()}
        )
        learner.train_step(probe_rows(100, version), Imitation(smoothing=0.0, used_ids=[5]))
    assert max(sizes[1:]) < sizes[0] / 2
    print("bytes of each update:", sizes)
