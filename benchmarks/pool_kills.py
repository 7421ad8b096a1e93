"""Checks that verdicts survive the death of workers: one is killed at random every second.

    python benchmarks/pool_kills.py --verifications 10000 --every 1 --workers 2

Judges known submissions with the pool from several threads, while a thread sends SIGKILL to a worker
chosen at random. Every verdict is compared with the one of this process. Prints one JSON object:
`lost` (no verdict, or a fault), `changed` (another verdict than in process, so a score of 0 for a
death would be here), `kills`, and the rates with and without kills. Exits with 1 where any was lost
or changed. Goes on beyond `--verifications` until five workers have been killed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from typing import Any

from verigym import Task, Verdict, make_verifier
from verigym.verifiers.pool import VerifierPool

BATCH = 50
THREADS = 4
LEAST_KILLS = 5


def items(verifier: str) -> list[tuple[Task, Any]]:
    """Known submissions, right and wrong, for a verifier."""
    from verigym.verifiers.audit.cases import seeds_of
    from verigym.verifiers.audit.mutators import grow

    if verifier != "math/countdown":
        return [(case.task, case.submission) for case in grow(verifier, seeds_of(verifier))]
    made = []
    for i in range(1, 40):
        task = Task(
            id=f"t{i}",
            env_id="",
            seed=i,
            prompt="",
            difficulty="",
            reference={"numbers": [i, 5, 7], "target": 5 * i + 7},
        )
        made += [
            (task, f"<answer>{i}*5+7</answer>"),
            (task, f"<answer>{i}*5-7</answer>"),
            (task, ""),
        ]
    return made


class Killer(threading.Thread):
    """Kills a worker chosen at random every `every_s` seconds, until stopped."""

    def __init__(self, pool: VerifierPool, every_s: float, seed: int) -> None:
        super().__init__(daemon=True)
        self._pool = pool
        self._every_s = every_s
        self._random = random.Random(seed)
        self.stopped = threading.Event()
        self.kills = 0

    def run(self) -> None:
        while not self.stopped.wait(self._every_s):
            pids = self._pool.worker_pids()
            if pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._random.choice(pids), signal.SIGKILL)
                    self.kills += 1


def judge(
    pool: VerifierPool,
    verifier: str,
    known: list[tuple[Task, Any]],
    wanted: list[Verdict],
    least: int,
    killer: Killer | None,
) -> tuple[Counter[str], float]:
    """Counts of what became of at least `least` calls, and the seconds that took."""
    counts: Counter[str] = Counter()
    lock = threading.Lock()
    started = [0]

    def work() -> None:
        while True:
            with lock:
                if started[0] >= least and (killer is None or killer.kills >= LEAST_KILLS):
                    return
                places = [(started[0] + i) % len(known) for i in range(BATCH)]
                started[0] += BATCH
            verdicts = pool.verify_batch(verifier, [known[place] for place in places])
            with lock:
                counts["asked"] += len(places)
                counts["answered"] += len(verdicts)
                for place, verdict in zip(places, verdicts, strict=True):
                    if verdict.fault and not wanted[place].fault:
                        counts[f"{verdict.status.value}:{verdict.reason}"] += 1
                        counts["lost"] += 1
                    elif verdict != wanted[place]:
                        counts["changed"] += 1

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counts, time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--verifier", default="math/countdown")
    parser.add_argument("--verifications", type=int, default=10_000)
    parser.add_argument("--every", type=float, default=1.0, help="seconds between kills")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    known = items(args.verifier)
    wanted = make_verifier(args.verifier).verify_batch(known)
    with VerifierPool(args.workers, preload=[args.verifier]) as pool:
        quiet, quiet_s = judge(pool, args.verifier, known, wanted, args.verifications, None)
        killer = Killer(pool, args.every, args.seed)
        killer.start()
        counts, seconds = judge(pool, args.verifier, known, wanted, args.verifications, killer)
        killer.stopped.set()
        killer.join()
    bad = counts["lost"] + counts["changed"] + counts["asked"] - counts["answered"]
    print(
        json.dumps(
            {
                "verifier": args.verifier,
                "workers": args.workers,
                "every_s": args.every,
                "kills": killer.kills,
                "verifications": counts["answered"],
                "lost": counts["lost"] + counts["asked"] - counts["answered"],
                "changed": counts["changed"],
                "faults": {key: n for key, n in counts.items() if ":" in key},
                "per_s": round(counts["answered"] / seconds, 1),
                "per_s_without_kills": round(quiet["answered"] / quiet_s, 1),
            }
        )
    )
    return 1 if bad or quiet["lost"] or quiet["changed"] else 0


if __name__ == "__main__":
    sys.exit(main())
