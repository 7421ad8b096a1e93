"""Memory of one update with a large vocabulary: logits of all tokens at once, against chunks of them.

    python benchmarks/trainer_memory.py

A Llama with random weights, 0.1 billion parameters and a vocabulary of 150,000, takes one optimiser step on
8 rows of 512 tokens, of which all but the first are trained. Each way runs in a process of its own. The peak
is that of the resident size above what the process held with the model loaded. Prints a table and writes JSON
(`--out`, by default results/trainer_memory.json).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

WAYS = ("whole", "chunks", "chunks and recomputed activations")


def measure(way: str, layers: int, width: int, vocabulary: int, rows: int, tokens: int) -> None:
    """Take the step `way` and print its figures as JSON."""
    import numpy as np
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from verigym.trainers.batch import Row
    from verigym.trainers.config import AlgorithmSection, TrainSection
    from verigym.trainers.engine import Engine, PolicyLoss

    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=width,
            intermediate_size=3 * width,
            num_hidden_layers=layers,
            num_attention_heads=width // 64,
            num_key_value_heads=width // 64,
            tie_word_embeddings=True,
        )
    ).eval()
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
    before = _resident()
    began = time.perf_counter()
    stats = engine.train_step(batch, PolicyLoss())
    figures = {
        "parameters": sum(p.numel() for p in model.parameters()),
        "peak_above_model_mib": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        / 1024,
        "seconds": time.perf_counter() - began,
        "grad_norm": stats.grad_norm,
    }
    print(json.dumps(figures))


def _resident() -> float:
    """Return the resident size now, in KiB."""
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    return float(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1])


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
    options = parser.parse_args()
    sizes = [options.layers, options.width, options.vocabulary, options.rows, options.tokens]
    if options.way:
        measure(options.way, *sizes)
        return
    found = {}
    names = ("layers", "width", "vocabulary", "rows", "tokens")
    given = [x for name, size in zip(names, sizes, strict=True) for x in (f"--{name}", str(size))]
    for way in WAYS:
        command = [sys.executable, "-P", __file__, "--way", way, *given]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found[way] = json.loads(done.stdout.splitlines()[-1])
        share = found[way]["peak_above_model_mib"] / found["whole"]["peak_above_model_mib"]
        print(
            f"{way:<36} {found[way]['peak_above_model_mib']:8.0f} MiB  {share:5.2f}  "
            f"{found[way]['seconds']:6.1f} s  gradient norm {found[way]['grad_norm']:.6f}",
            flush=True,
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"sizes": vars(options) | {"out": None}, **found}, indent=1))


if __name__ == "__main__":
    main()
