"""Audits verifiers on their seeds and writes their cards anew; blind measurements of the same version stay.

python benchmarks/cards.py [VERIFIER ...]    # all that ship a card if none is named
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from verigym.registry import list_verifiers
from verigym.verifiers.audit.cases import beside

ROOT = Path(__file__).parents[1]
BESIDE_SEEDS = {"code/function": ["--hacks", str(ROOT / "tests" / "data" / "hacks")]}
"""Additional `verigym audit` options by verifier."""


def main() -> int:
    """Write the cards, one after the other; 1 if one could not be written."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("verifiers", nargs="*", metavar="VERIFIER")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    failed = []
    for name in given.verifiers or list_verifiers():
        card = beside(name, "cards", "json")
        if card is None or not card.is_file():
            continue
        if name == "judge/rubric":  # needs an endpoint
            command = [sys.executable, "-P", str(ROOT / "benchmarks" / "judge_rules.py")]
        else:
            command = [sys.executable, "-P", "-m", "verigym", "audit", name]
            command += ["--workers", str(given.workers), *BESIDE_SEEDS.get(name, [])]
        print(name, flush=True)
        done = subprocess.run(
            [*command, "--card", str(card)], stdout=subprocess.DEVNULL, check=False
        )
        if done.returncode:
            failed.append(name)
    if failed:
        print(f"not written: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
