"""A training step of ours against TRL's GRPOTrainer: the same model, prompts, group size and tokens.

    make peers-trl
    python benchmarks/trainer_vs_trl.py

Both sides are processes of one run, on CPU, which take steps in turns. A step is all of it: generation, the
environment, rewards, credit and the update, of which no row is skipped: rewards are drawn so that every one has
an advantage. Answers have a fixed length. Cases: `single` turns of 8 prompts, 8 answers each of 32 tokens; episodes
of six turns of 16 tokens, whose observations of 24 letters follow from what the member has said, so that members of a
group share the task's prompt alone, which TRL trains as one row each by its `rollout_func`, and we in both encodings,
`transcript` and `steps`; and `7m`, the single turns with 7 million parameters. Prints the medians' ratios, TRL's
seconds over ours, and writes JSON (`--out`, by default results/trainer_vs_trl.json). Peak memory is above the
resident size after loading.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CASES: dict[str, dict[str, Any]] = {
    "single": {"width": 192, "layers": 2, "turns": 1, "answer_tokens": 32, "encoding": "transcript"},
    "transcript": {
        "width": 192, "layers": 2, "turns": 6, "answer_tokens": 16, "encoding": "transcript",
    },
    "steps": {"width": 192, "layers": 2, "turns": 6, "answer_tokens": 16, "encoding": "steps"},
    "7m": {"width": 352, "layers": 4, "turns": 1, "answer_tokens": 32, "encoding": "transcript"},
}  # fmt: skip
GROUPS, GROUP_SIZE, PROMPT_LETTERS, SHOWN_LETTERS = 8, 8, 64, 24
PEER = Path(__file__).with_name("vs_trl_peer.py")
HERE = Path(__file__).parent


def ours(job: dict[str, Any]) -> None:
    """Train as `job` says, through the ordinary loop of `verigym train`; a step for each line of input."""
    register(Path(job["out"]))
    import torch

    from verigym.agents.policies import hf
    from verigym.trainers.config import parse_config
    from verigym.trainers.run import Progress, train

    torch.set_num_threads(job["threads"])
    hf._end_ids = lambda model, tokenizer: iter(())  # answers of full length, as on the other side
    config = parse_config(
        {
            "name": "bench",
            "env": {
                "id": "bench/monologue",
                "options": {
                    "prompt_letters": PROMPT_LETTERS,
                    "shown_letters": SHOWN_LETTERS,
                    "turns": job["turns"],
                },
            },
            "policy": {
                "model": job["model"],
                "max_new_tokens": job["answer_tokens"],
                "encoding": job["encoding"],
                "show_legal": False,
            },
            # The environment costs nothing, so there is nothing to overlap generation with.
            "play": {"cohorts": 1},
            "algorithm": {"name": "grpo"},
            "warmup": {"episodes": 0},
            "train": {
                "steps": job["steps"],
                "groups": GROUPS,
                "group_size": GROUP_SIZE,
                "lr": 1e-4,
                "minibatch_rows": 4096,
                "threads": job["threads"],
            },
            "eval": {"every": 1_000_000, "episodes": 1},
            "checkpoint": {"every": 1_000_000},
        }
    )
    clock: list[float] = []

    def begin() -> None:
        sys.stdin.readline()
        clock[:] = time.perf_counter(), time.process_time()

    def listen(progress: Progress) -> None:
        if progress.stage == "reinforcement" and progress.line is not None:
            line = progress.line
            say(
                {
                    "wall_s": time.perf_counter() - clock[0],
                    "cpu_s": time.process_time() - clock[1],
                    **{name: value for name, value in line.items() if "tokens" in name},
                    "time": line["time"],
                    **memory(),
                }
            )
            begin()
        elif progress.stage == "evaluation" and progress.line is not None and not clock:
            say({"ready": True, **memory()})
            Path("/proc/self/clear_refs").write_text("5")
            begin()

    train(config, Path(job["out"]) / "run", listen=listen)


def register(folder: Path) -> None:
    """Make the environment known to this process as an installed package's."""
    info = folder / "verigym_bench-0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: verigym-bench\nVersion: 0\n")
    (info / "entry_points.txt").write_text(
        "[verigym.envs]\nbench/monologue-v0 = vs_trl_env:Monologue\n"
        "[verigym.verifiers]\nbench/hat = vs_trl_env:Hat\n"
    )
    sys.path[:0] = [str(folder), str(HERE)]


def memory() -> dict[str, int]:
    """Return the resident size now and its peak, in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    found = dict(line.split(":", 1) for line in lines)
    return {key: int(found[name].split()[0]) for key, name in (("rss", "VmRSS"), ("peak", "VmHWM"))}


def say(figures: dict[str, object]) -> None:
    """Print one line for the driver."""
    print("@" + json.dumps(figures), flush=True)


class Side:
    """A process that takes steps when asked."""

    def __init__(self, command: list[str], log: Path) -> None:
        self.log = log
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
            env={**os.environ, "PYTHONPATH": ""},
        )
        self.start: dict[str, Any] = {}
        self.steps: list[dict[str, Any]] = []

    def read(self) -> dict[str, Any]:
        """Return the next figures. Raises SystemExit with the log if the process has died."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("@"):
                found: dict[str, Any] = json.loads(line[1:])
                return found
        raise SystemExit(f"{self.process.args} ended:\n{self.log.read_text()[-3000:]}")

    def step(self) -> dict[str, Any]:
        """Take one step."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.steps.append(self.read())
        return self.steps[-1]

    def summary(self) -> dict[str, Any]:
        """Return medians without the first step, and the peak of memory above that after loading."""
        counted = self.steps[1:]
        found = {k: statistics.median(s[k] for s in counted) for k in ("wall_s", "cpu_s")}
        peak = max(step["peak"] for step in self.steps) - self.start["rss"]
        tokens = {k: v for k, v in self.steps[-1].items() if "tokens" in k or k == "time"}
        return {**found, "peak_mib": peak / 1024, **tokens}


def compare(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run one case with both sides in turns."""
    from verigym.trainers import tiny

    case = CASES[name]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        tiny.build(folder / "model", seed=0, width=case["width"], layers=case["layers"])
        sys.path.insert(0, str(HERE))
        from vs_trl_texts import letters

        prompts = [letters(i, PROMPT_LETTERS) for i in range(GROUPS)]
        job = {
            **case,
            "model": str(folder / "model"),
            "groups": GROUPS,
            "group_size": GROUP_SIZE,
            "threads": options.threads,
            "steps": options.rounds + 2,
            "prompts": prompts,
            "shown_letters": SHOWN_LETTERS,
        }
        sides = {}
        for side, command in (
            ("ours", [sys.executable, "-P", __file__, "--job"]),
            ("trl", [str(options.trl), "-P", str(PEER)]),
        ):
            out = folder / side
            out.mkdir()
            given = json.dumps({**job, "out": str(out)})
            sides[side] = Side([*command, given], folder / f"{side}.log")
        try:
            for one in sides.values():
                one.start = one.read()
            for number in range(options.rounds + 1):
                order = list(sides) if number % 2 else list(sides)[::-1]
                for side in order:
                    sides[side].step()
        finally:
            for one in sides.values():
                one.process.kill()
                one.process.wait()
        return report({side: one.summary() for side, one in sides.items()}, sides)


def report(found: dict[str, Any], sides: dict[str, Side]) -> dict[str, Any]:
    """Return the figures of both sides and their ratios; medians of the rounds' own ratios."""
    rounds = list(zip(sides["trl"].steps[1:], sides["ours"].steps[1:], strict=True))
    own = found["ours"]
    return {
        **found,
        "cpu_ratio": statistics.median(trl["cpu_s"] / our["cpu_s"] for trl, our in rounds),
        "wall_ratio": statistics.median(trl["wall_s"] / our["wall_s"] for trl, our in rounds),
        "memory_ratio": own["peak_mib"] / found["trl"]["peak_mib"],
        "update_computed_over_distinct": own["tokens_computed"] / own["tokens_distinct"],
        "generation_computed_over_distinct": own["generation_tokens_computed"]
        / own["generation_tokens_distinct"],
    }


def main() -> None:
    """Measure every case and print the ratios."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--trl", type=Path, default=cache / "verigym-peers/trl/bin/python")
    parser.add_argument("--out", type=Path, default=Path("results/trainer_vs_trl.json"))
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        ours(json.loads(options.job))
        return
    if not options.trl.exists():
        parser.error(f"{options.trl} does not exist; make peers-trl")
    found: dict[str, Any] = {"threads": options.threads, "rounds": options.rounds}
    for name in options.cases:
        found[name] = one = compare(name, options)
        print(
            f"{name:<11} TRL/ours: {one['cpu_ratio']:.2f} processor, {one['wall_ratio']:.2f} wall; "
            f"ours/TRL memory {one['memory_ratio']:.2f}; computed/distinct "
            f"{one['update_computed_over_distinct']:.2f} update, "
            f"{one['generation_computed_over_distinct']:.2f} generation",
            flush=True,
        )
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
