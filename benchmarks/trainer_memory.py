"""Memory of one update with a large vocabulary: ours, ours at an earlier commit, and TRL's.

    make peers-trl
    python benchmarks/trainer_memory.py --before 178d5a5

A Llama with random weights, 0.1 billion parameters and a vocabulary of 150,000, takes one optimiser step on
8 rows of 512 tokens, of which all but the first are trained. Each way runs in a process of its own: `whole` holds the
logits of all tokens at once, `chunks` never does; `TRL` is its GRPOTrainer on as many random tokens. The peak is
that of the resident size above what the process held with the model loaded. Prints a table and writes JSON
(`--out`, by default results/trainer_memory.json).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WAYS = ("whole", "chunks", "chunks and recomputed activations", "before")
ROOT = Path(__file__).resolve().parents[1]


def build(layers: int, width: int, vocabulary: int) -> Any:
    """Return the model."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=width,
            intermediate_size=3 * width,
            num_hidden_layers=layers,
            num_attention_heads=width // 64,
            num_key_value_heads=width // 64,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=2,
            pad_token_id=0,
        )
    ).eval()


def measure(way: str, layers: int, width: int, vocabulary: int, rows: int, tokens: int) -> None:
    """Take the step `way` and print its figures as JSON."""
    import numpy as np

    from verigym.trainers.batch import Row
    from verigym.trainers.config import AlgorithmSection, TrainSection
    from verigym.trainers.engine import Engine
    from verigym.trainers.learner import Reinforcement

    model = build(layers, width, vocabulary)
    train = TrainSection(
        lr=1e-5, microbatch_tokens=rows * tokens, gradient_checkpointing=way.endswith("activations")
    )
    engine = Engine(
        model,
        pad_id=0,
        temperature=1.0,
        train=train,
        algorithm=AlgorithmSection(name="grpo"),
        max_tokens=tokens,
    )
    if way == "whole":
        engine.head.fits = False
    rng = np.random.default_rng(0)
    batch = [
        Row(
            ids=rng.integers(1, vocabulary, tokens).tolist(),
            mask=[0] + [1] * (tokens - 1),
            logprobs=[-12.0] * tokens,
            turn=[-1] + [0] * (tokens - 1),
            trajectory=i,
            advantage=[(-1.0) ** i] * tokens,
            old=[-12.0] * tokens,
        )
        for i in range(rows)
    ]
    Path("/proc/self/clear_refs").write_text("5")
    before = _memory("VmRSS")
    began = time.perf_counter()
    stats = engine.train_step(batch, Reinforcement())
    figures = {
        "parameters": sum(p.numel() for p in model.parameters()),
        "peak_above_model_mib": (_memory("VmHWM") - before) / 1024,
        "seconds": time.perf_counter() - began,
        "grad_norm": stats.grad_norm,
    }
    print(json.dumps(figures))


def _memory(name: str) -> int:
    """Return a figure of this process in KiB."""
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(text.partition(f"{name}:")[2].split()[0])


def beside_trl(python: Path, sizes: dict[str, int]) -> dict[str, float]:
    """Take the step with TRL."""
    from verigym.trainers import tiny

    with tempfile.TemporaryDirectory() as scratch:
        build(sizes["layers"], sizes["width"], sizes["vocabulary"]).save_pretrained(scratch)
        tiny.build_tokenizer().save_pretrained(scratch)
        peer = Path(__file__).with_name("vs_trl_memory.py")
        return _figures([str(python), "-P", str(peer), json.dumps({**sizes, "model": scratch})])


def earlier(commit: str, arguments: list[str]) -> dict[str, float]:
    """Take the step with the package of `commit`."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run(
            [*git, "add", "--detach", str(tree), commit], check=True, capture_output=True
        )
        try:
            subprocess.run(["make", "-s", "types"], cwd=tree, check=True, capture_output=True)
            command = [sys.executable, "-P", __file__, "--way", "before", *arguments]
            return _figures(command, PYTHONPATH=str(tree / ".types"))
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def _figures(command: list[str], **environment: str) -> dict[str, float]:
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}
    )
    if done.returncode:
        raise SystemExit(f"{command[:3]} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    # TRL prints its own figures after the peer's, not as JSON.
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"')]
    found: dict[str, float] = json.loads(lines[-1])
    return found


def main() -> None:
    """Measure every way and print them side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/trainer_memory.json"))
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--vocabulary", type=int, default=150_000)
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument(
        "--ways", nargs="+", choices=[*WAYS[:-1], "TRL"], default=[*WAYS[:-1], "TRL"]
    )
    parser.add_argument("--before", metavar="COMMIT", help="also measure this commit")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    parser.add_argument("--trl", type=Path, default=cache / "verigym-peers/trl/bin/python")
    options = parser.parse_args()
    names = ("layers", "width", "vocabulary", "rows", "tokens")
    sizes = {name: getattr(options, name) for name in names}
    if options.way:
        measure(options.way, *sizes.values())
        return
    if not options.trl.exists():
        parser.error(f"{options.trl} does not exist; make peers-trl")
    given = [x for name, size in sizes.items() for x in (f"--{name}", str(size))]
    found: dict[str, dict[str, float]] = {}
    for way in [*options.ways, *([options.before] if options.before else [])]:
        if way == "TRL":
            found[way] = beside_trl(options.trl, sizes)
        elif way == options.before:
            found[way] = earlier(way, given)
        else:
            found[way] = _figures([sys.executable, "-P", __file__, "--way", way, *given])
        print(
            f"{way:<36} {found[way]['peak_above_model_mib']:8.0f} MiB  {found[way]['seconds']:6.1f} s  "
            f"gradient norm {found[way].get('grad_norm', float('nan')):.6f}",
            flush=True,
        )
    if {"chunks", "TRL"} <= found.keys():
        for way in found.keys() - {"chunks"}:
            share = found["chunks"]["peak_above_model_mib"] / found[way]["peak_above_model_mib"]
            print(f"chunks / {way}: {share:.2f}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"sizes": sizes, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
