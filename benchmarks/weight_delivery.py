"""Delivery of a sharded learner's weights: from all processes, each its own rows, against one that gathers them all.

    python benchmarks/weight_delivery.py

A Llama with random weights (0.1 billion parameters, bfloat16) is trained by `trainers/sharded.py` in two processes of
gloo, at a learning rate of 1e-5. After each of six optimiser steps its weights are written to a folder, as
`engine.transfer` "disk" (whole) or "delta" does, and read as vLLM's worker reads them:

- `gathered`: rank 0 gathers the weights into a copy of the model and writes all of it, as before this was measured;
- `sharded`: each rank writes its own rows.

For each rank, the peak of the resident size in step and delivery, and what it is above that of the same steps without
delivery or copy (near 0 if the step's own peak is higher). For the reader, the largest anonymous memory above its start while it gives out one
tensor after the other. Medians over the updates after the first. Prints a table and writes JSON (`--out`).
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

STEPS = 6
RANKS = 2
WAYS = ("none", "gathered", "sharded")
KINDS = ("disk", "delta")
_MIB = 2**20


def memory(name: str) -> float:
    """Return a figure of this process in MiB."""
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(text.partition(f"{name}:")[2].split()[0]) / 1024


def trim() -> None:
    """Give back what was freed, which would hide what is taken next."""
    ctypes.CDLL(None).malloc_trim(0)


def build(layers: int, width: int, vocabulary: int) -> Any:
    """Return the model."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=3 * width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        num_key_value_heads=width // 64,
        tie_word_embeddings=False,
        eos_token_id=2,
    )
    return LlamaForCausalLM(config).to(torch.bfloat16).eval()


def run_rank(way: str, kind: str, sizes: dict[str, int], folder: Path) -> None:
    """Train and deliver in one of the processes; rank 0 writes all figures."""
    import torch

    from verigym.trainers.ranks import Ranks
    from verigym.trainers.sharded import ShardedEngine

    torch.set_num_threads(1)

    class Measured(ShardedEngine):
        """Shows the peak of each rank's memory since the last look."""

        def peaks(self) -> list[float]:
            found: list[float] = self._all("_peaks")
            return found

        def _peaks(self) -> list[float]:
            peak = memory("VmHWM")
            trim()
            Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
            return self.ranks.collect(peak)

    if os.environ["RANK"] != "0":
        ranks = Ranks()
        engine = Measured.of(ranks, **ranks.share(None))
        engine.follow()
        engine.leave()
        return
    lead(Measured, way, kind, sizes, folder)


def lead(engine_type: Any, way: str, kind: str, sizes: dict[str, int], folder: Path) -> None:
    """Do the work of rank 0."""
    from verigym.agents.engines.shard_files import ShardWriter
    from verigym.agents.engines.shards import Holders, OneHolder
    from verigym.trainers.config import AlgorithmSection, TrainSection
    from verigym.trainers.delivery import probe_rows
    from verigym.trainers.learner import Imitation

    engine = engine_type.lead(
        build(**sizes),
        keeps=way == "gathered",
        pad_id=0,
        temperature=1.0,
        train=TrainSection(lr=1e-5),
        algorithm=AlgorithmSection(name="grpo", kl_coef=0.0),
        max_tokens=8,
    )
    tensors = engine.weights(0).tensors
    holders: Holders = engine.holders if way == "sharded" else OneHolder(lambda: tensors)
    if way != "none":
        holders.open(ShardWriter, kind == "delta")
    rows = probe_rows(sizes["vocabulary"], 0)
    found = []
    engine.peaks()
    for version in range(STEPS):
        engine.train_step(rows, Imitation(smoothing=0.0, used_ids=[5]))
        began = time.perf_counter()
        sent = holders.send(version, folder / str(version)) if way != "none" else []
        seconds = time.perf_counter() - began
        found.append({"sent": sent, "seconds": seconds, "peaks_mib": engine.peaks()})
    shapes = {name: list(one.shape) for name, one in tensors.items()}
    whole = sum(one.numel() * one.element_size() for one in tensors.values())
    (folder / "found.json").write_text(
        json.dumps({"updates": found, "whole": whole, "shapes": shapes, "n": holders.n}),
        encoding="utf-8",
    )
    engine.close()


def read(kind: str, folder: Path) -> None:
    """Read all updates as the worker does, and print the memory of each."""
    import torch

    from verigym.agents.engines.shard_files import ShardReader

    said = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    torch.set_num_threads(1)
    reader = ShardReader(kind == "delta")
    start, peaks = memory("RssAnon"), []
    for version in range(STEPS):
        reader.check(folder / str(version), version, said["n"], said["shapes"])
        peaks.append(0.0)
        trim()
        for _, tensor in reader.tensors():
            trim()
            peaks[-1] = max(peaks[-1], memory("RssAnon") - start)
            del tensor
    print(json.dumps(peaks))


def measure(way: str, kind: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Run a way in processes of its own; return its figures, medians over the updates after the first."""
    with tempfile.TemporaryDirectory() as scratch:
        given = [__file__, "--way", way, "--kind", kind, "--scratch", scratch]
        given += [word for name, size in sizes.items() for word in (f"--{name}", str(size))]
        torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(RANKS)]
        _start([sys.executable, "-P", *torchrun, *given])
        said = json.loads((Path(scratch) / "found.json").read_text(encoding="utf-8"))
        later = said["updates"][1:]
        figures = {
            "whole_mib": said["whole"] / _MIB,
            "peak_mib": _medians([one["peaks_mib"] for one in later]),
        }
        if way == "none":
            return figures
        peaks = json.loads(_start([sys.executable, "-P", *given, "--read"]).splitlines()[-1])
        return figures | {
            "sent_mib": [sent / _MIB for sent in _medians([one["sent"] for one in later])],
            "seconds": statistics.median(one["seconds"] for one in later),
            "reader_mib": statistics.median(peaks[1:]),
        }


def _start(command: list[str]) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{command[:3]} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout


def _medians(lines: list[list[float]]) -> list[float]:
    return [statistics.median(column) for column in zip(*lines, strict=True)]


def main() -> None:
    """Measure all ways, and print them side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/weight_delivery.json"))
    parser.add_argument("--layers", type=int, default=10)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--vocabulary", type=int, default=16_000)
    for name, choices in (("--way", WAYS), ("--kind", KINDS)):
        parser.add_argument(name, choices=choices, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = {name: getattr(options, name) for name in ("layers", "width", "vocabulary")}
    if options.read:
        read(options.kind, options.scratch)
        return
    if options.way:
        run_rank(options.way, options.kind, sizes, options.scratch)
        return
    alone = measure("none", "disk", sizes)
    found: dict[str, Any] = {"sizes": sizes, "ranks": RANKS, "steps": STEPS, "without": alone}
    print(f"weights {alone['whole_mib']:.0f} MiB; a learner's process without delivery: ", end="")
    print(", ".join(f"{peak:.0f} MiB" for peak in alone["peak_mib"]))
    for kind in KINDS:
        for way in WAYS[1:]:
            one = measure(way, kind, sizes)
            one["delivery_mib"] = [
                peak - before
                for peak, before in zip(one["peak_mib"], alone["peak_mib"], strict=True)
            ]
            found[f"{way} {kind}"] = one
            print(
                f"{way:>8} {kind:>5}: sent by rank "
                + ", ".join(f"{sent:.1f}" for sent in one["sent_mib"])
                + " MiB; memory for it by rank "
                + ", ".join(f"{more:.0f}" for more in one["delivery_mib"])
                + f" MiB; reader {one['reader_mib']:.1f} MiB; {one['seconds']:.2f} s",
                flush=True,
            )
        gathered, sharded = (found[f"{way} {kind}"] for way in WAYS[1:])
        ratios = {
            "sent_by_rank_0": sharded["sent_mib"][0] / gathered["sent_mib"][0],
            "peak_of_rank_0": sharded["peak_mib"][0] / gathered["peak_mib"][0],
            "peak_less_by_weights": (gathered["peak_mib"][0] - sharded["peak_mib"][0])
            / alone["whole_mib"],
        }
        found[f"ratio {kind}"] = ratios
        print(
            f"sharded beside gathered, {kind}: "
            + ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
