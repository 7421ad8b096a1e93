"""Started by torchrun: two ranks send their rows to a sampler. Writes what was proved, and what faults of rank 1 said."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch

from tests.agents.engines.engine_kinds import (
    TakesShards,
    delivery_of,
    learner_of,
    load_policy,
    teach,
)
from tests.trainers.sharded_program import gloo_threads
from verigym.agents.engines.gloo import GlooSender
from verigym.agents.engines.sampler import EngineDead, UpdateRefused
from verigym.agents.engines.shard_files import ShardWriter, file_of
from verigym.agents.engines.vllm import PRECISION_NATS
from verigym.trainers.config import AlgorithmSection, TrainSection
from verigym.trainers.delivery import distance, probe_rows
from verigym.trainers.ranks import Ranks
from verigym.trainers.sharded import ShardedEngine

WHOLE_UPDATES = 3
ROWS = probe_rows(100, 3)


def fill_up(path):
    raise OSError(28, "No space left on device")


FAULTS = {
    "missing": lambda path: path.unlink(),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "checksum": lambda path: path.write_bytes(path.read_bytes()[:-9] + bytes(9)),
    "version": lambda path: path.with_name("older").rename(path),
    "full": fill_up,
}


def break_files():
    """Let the updates of rank 1 after the first ones break, each in another way."""
    send = ShardWriter.send

    def broken(self, version, shards, folder):
        sent = send(self, version, shards, folder)
        path = file_of(folder, 1, 2)
        if 0 <= (number := version - WHOLE_UPDATES) < len(FAULTS):
            if (name := list(FAULTS)[number]) == "version":
                send(ShardWriter(1, 2, False), version - 1, shards, folder)
                path.rename(path.with_name("older"))
            FAULTS[name](path)
        return sent

    ShardWriter.send = broken


def break_sending():
    """Let rank 1 fail in the middle of an update over gloo."""
    send = GlooSender._send
    left = [2]

    def broken(self, shard):
        if self.version == WHOLE_UPDATES:
            left[0] -= 1
            if left[0] < 0:
                raise OSError("the cable was pulled")
        return send(self, shard)

    whole = GlooSender.send

    def with_version(self, version, shards):
        self.version = version
        return whole(self, version, shards)

    GlooSender._send, GlooSender.send = broken, with_version


def sampler_of(kind, folder, dtype):
    if kind == "torch":
        sampler = TakesShards(load_policy(folder, dtype), folder / "shards")
        sampler.precision_nats = PRECISION_NATS[dtype]
        return sampler
    from tests.agents.engines.vllm_engines import start_process

    return start_process(folder, transfer=kind, dtype=dtype)


def lead(kind, folder, dtype):
    policy = load_policy(folder, dtype)
    engine = ShardedEngine.lead(
        load_policy(folder, dtype).model,
        keeps=False,
        pad_id=0,
        temperature=1.0,
        train=TrainSection(lr=1e-2 if dtype == "float32" else 1e-5),
        algorithm=AlgorithmSection(name="grpo", kl_coef=0.0),
        max_tokens=8,
    )
    sampler = sampler_of(kind, folder, dtype)
    version, proofs, errors, sent = [0], [], [], []
    delivery = delivery_of(engine, sampler, policy, version, proofs)
    n_faults = 1 if kind == "gloo" else len(FAULTS)
    for number in range(WHOLE_UPDATES + n_faults + 2):
        version[0] = number
        try:
            delivery.ensure()
            sent.append(sampler.sent_bytes)
        except (UpdateRefused, EngineDead) as error:
            errors.append(f"{type(error).__name__}: {error}")
        teach(engine, number)
    delivery.ensure()
    engine.save(folder / "saved")
    policy.tokenizer.save_pretrained(folder / "saved")
    saved = load_policy(folder / "saved", dtype)
    found = {
        "proofs": [vars(proof) for proof in proofs],
        "errors": errors,
        "sent": sent,
        "whole": sum(p.numel() * p.element_size() for p in saved.model.parameters()),
        "keeps_whole": engine.whole is not None,
        "saved": max(
            map(distance, engine.logprobs(ROWS), learner_of(saved, dtype=dtype).logprobs(ROWS))
        ),
    }
    (folder / "found.json").write_text(json.dumps(found))
    sampler.close()
    engine.close()


def run(path, out):
    """Train by the configuration at `path`."""
    from verigym.cli.main import run as start

    sys.argv = ["verigym", "train", path, "--out", out]
    start()


if __name__ == "__main__":
    torch.set_num_threads(1)
    kind, dtype, *places = sys.argv[1:]
    if os.environ["RANK"] == "1":
        break_sending() if kind == "gloo" else break_files()
    if kind == "run":
        run(*places)
    elif os.environ["RANK"] == "0":
        lead(kind, Path(*places), dtype)
    else:
        ranks = Ranks()
        engine = ShardedEngine.of(ranks, **ranks.share(None))
        engine.follow()
        engine.leave()
    # One that lets go of a tensor as Python ends aborts the process.
    assert kind == "run" or not gloo_threads()
