"""The main job in one go: a small language model learns keydoor by GiGPO, and a report shows how.

A verifier service runs as a process of its own and gives every reward over HTTP. An unfinished run
is resumed; a finished one is kept and the next goes into a folder beside it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console

from verigym.server.process import ServerProcess
from verigym.trainers.report.build import build

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / "examples" / "demo.toml"


def run_folder(below: Path) -> tuple[Path, bool]:
    """Return the run folder, and True if it holds a run to resume."""
    number = 1
    while True:
        folder = below / ("demo" if number == 1 else f"demo-{number}")
        facts = folder / "run.json"
        if not facts.exists():
            return folder, False
        if not json.loads(facts.read_bytes()).get("finished"):
            return folder, True
        number += 1


def main(below: Path, options: list[str]) -> int:
    """Serve, train, report, in a folder under `below`. `options` go to `verigym train`."""
    console = Console(highlight=False)
    folder, resume = run_folder(below)
    console.print(
        "A small Llama will learn [bold]keydoor[/bold]: fetch a key, open a door, walk to the goal."
    )
    console.print(
        f"{'Resuming' if resume else 'Running'} in {folder}; TensorBoard reads it while it goes."
    )
    began = time.monotonic()
    with ServerProcess(verifiers=["games"], workers=1) as server:
        console.print(
            f"Rewards come from the verifier service at {server.url} (its page: {server.url}/docs)."
        )
        command = [
            sys.executable,
            "-P",
            "-m",
            "verigym",
            "train",
            str(CONFIG),
            "--out",
            str(folder),
        ]
        command += ["--set", f"env.verifier={server.url}", *options]
        code = subprocess.call([*command, "--resume"] if resume else command)
    if code != 0:
        console.print(
            f"[red]Training stopped with exit code {code}; run this again to go on.[/red]"
        )
        return code
    report = build(folder)
    stages = {
        stage["name"]: stage for stage in json.loads((folder / "run.json").read_bytes())["stages"]
    }
    for name, stage in stages.items():
        low, high = stage["interval"]
        console.print(
            f"{name:<14} success on {stage['episodes']} held-out {stage['split']} tasks: "
            f"[bold]{stage['success_rate']:.1%}[/bold] (95 % interval {low:.1%} to {high:.1%})"
        )
    console.print(f"{time.monotonic() - began:.0f} s in all. The report: [bold]{report}[/bold]")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "runs", help="where runs lie")
    known, rest = parser.parse_known_args()
    sys.exit(main(known.into, rest))
