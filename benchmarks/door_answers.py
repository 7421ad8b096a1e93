"""Measures what the tasks of the doors pay for nothing: constants, echoes, wrong answers and actions repeated.

    python benchmarks/door_answers.py ['reasoning-gym/*'] [--seeds 4]

Tries every task of every door whose library is installed. A constant is paid now and then where few answers
are all there are; "wrong" (not right by construction) and "fault" must never be: then the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from fnmatch import fnmatch

from verigym.doors import DOORS
from verigym.envs.doors.audit import audit


def main() -> int:
    """Audit, and print a line for each task."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pattern", nargs="?", default="*", help="like 'reasoning-gym/*'")
    parser.add_argument("--seeds", type=int, default=4, help="seeds of each difficulty")
    args = parser.parse_args()
    bad = 0
    for door in DOORS:
        for game in door.games if door.installed else ():
            name = f"{door.name}/{game}"
            if not fnmatch(name, args.pattern):
                continue
            start = time.perf_counter()
            paid, played = audit(name, args.seeds)
            worst = ", ".join(f"{how} {n}" for how, n in paid.most_common(6)) or "nothing"
            print(f"{name}: of {played} ({time.perf_counter() - start:.1f} s): {worst}", flush=True)
            bad += sum(n for how, n in paid.items() if how.startswith(("wrong", "fault")))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
