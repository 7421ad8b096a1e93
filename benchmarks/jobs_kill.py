"""Checks that accepted jobs survive kill -9 of services and of their workers, under load.

    python benchmarks/jobs_kill.py --seconds 60 --every 1 --services 2
    python benchmarks/jobs_kill.py --store 'postgresql://me@localhost/jobs'

Several services share one store. Clients submit jobs with an Idempotency-Key and repeat what was not
answered, at any of the services; meanwhile every `--every` seconds either a whole service or one of
its worker processes, chosen at random, gets SIGKILL; a service is then started again. At the end all
jobs are fetched. Prints one JSON object: `accepted` jobs, `lost` (of those, without a verdict for
each item), `duplicated` (jobs in the store beyond the accepted ones), `changed` (verdicts other than
in process, so a score for a death would be here), kills and rates. Exits with 1 where any was lost,
duplicated or changed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2

from verigym import Task, Verdict, make_verifier
from verigym.server.process import ServerProcess

VERIFIER = "math/countdown"
CLIENTS = 16
PATIENCE_S = 120.0
"""Longest wait for the last jobs, once nothing is killed any more."""


def bodies() -> tuple[list[dict[str, Any]], list[Verdict]]:
    """Known submissions, right, wrong and unusable, and their verdicts in this process."""
    made, wanted = [], []
    verifier = make_verifier(VERIFIER)
    for i in range(1, 40):
        reference = {"numbers": [i, 5, 7], "target": 5 * i + 7}
        task = Task(id=f"t{i}", env_id="", seed=i, prompt="", difficulty="", reference=reference)
        for submission in (f"<answer>{i}*5+7</answer>", f"<answer>{i}*5-7</answer>", ""):
            plain = json.loads(task.to_json())
            made.append({"verifier": VERIFIER, "task": plain, "submission": submission})
            wanted.append(verifier.verify(task, submission))
    return made, wanted


class Killer(threading.Thread):
    """Kills services and workers, and starts services again, until stopped."""

    def __init__(self, services: list[ServerProcess], every_s: float, seed: int) -> None:
        super().__init__(daemon=True)
        self.services = services
        self.stopped = threading.Event()
        self.kills: Counter[str] = Counter()
        self._every_s = every_s
        self._random = random.Random(seed)

    def run(self) -> None:
        while not self.stopped.wait(self._every_s):
            service = self._random.choice(self.services)
            workers = descendants(service.pid)
            if workers and self._random.random() < 0.5:
                try:
                    os.kill(self._random.choice(workers), signal.SIGKILL)
                    self.kills["workers"] += 1
                except ProcessLookupError:
                    pass
            else:
                service.kill()
                self.kills["services"] += 1
                service.start()


def descendants(pid: int) -> list[int]:
    """Processes below `pid`, found by their parents."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            listing = Path(f"/proc/{pid}/task/{thread}/children").read_text()
            found += [int(child) for child in listing.split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return found + [below for child in found for below in descendants(child)]


async def submit(
    urls: list[str], made: list[dict[str, Any]], until: float, accepted: dict[str, list[int]]
) -> None:
    """Submit jobs until `until`; those that were answered go into `accepted`, with their items."""
    async with httpx2.AsyncClient(trust_env=False, timeout=30) as http:
        while time.monotonic() < until:
            places = [random.randrange(len(made)) for _ in range(random.randint(1, 8))]
            headers = {"Idempotency-Key": uuid.uuid4().hex}
            body = {"items": [made[place] for place in places]}
            while True:
                url = f"{random.choice(urls)}/v1/jobs"
                try:
                    answer = await http.post(url, json=body, headers=headers)
                except httpx2.TransportError:
                    await asyncio.sleep(0.02)
                    continue
                if answer.status_code in (200, 202):
                    accepted[answer.json()["job"]] = places
                    break
                await asyncio.sleep(0.1)  # full, or it stops


async def fetch(url: str, accepted: dict[str, list[int]]) -> dict[str, list[dict[str, Any]]]:
    """The verdicts of every job that is done, in time."""
    until = time.monotonic() + PATIENCE_S
    found: dict[str, list[dict[str, Any]]] = {}
    async with httpx2.AsyncClient(trust_env=False, timeout=90) as http:
        for id in accepted:
            wait_s = max(0.0, min(60.0, until - time.monotonic()))
            answer = await http.get(f"{url}/v1/jobs/{id}", params={"wait_s": wait_s})
            if answer.status_code == 200 and answer.json()["status"] == "done":
                found[id] = answer.json()["verdicts"]
    return found


async def count(url: str) -> int:
    """Jobs in the store."""
    total, after = 0, ""
    async with httpx2.AsyncClient(trust_env=False, timeout=90) as http:
        while True:
            answer = await http.get(f"{url}/v1/jobs", params={"limit": 1000, "after": after})
            jobs = answer.json()["jobs"]
            if not jobs:
                return total
            total, after = total + len(jobs), jobs[-1]["job"]


async def load(urls: list[str], made: list[dict[str, Any]], seconds: float) -> dict[str, list[int]]:
    accepted: dict[str, list[int]] = {}
    until = time.monotonic() + seconds
    await asyncio.gather(*(submit(urls, made, until, accepted) for _ in range(CLIENTS)))
    return accepted


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--store", help="by default a new SQLite file; it must hold no jobs")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=1.0, help="seconds between kills")
    parser.add_argument("--services", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    made, wanted = bodies()
    random.seed(args.seed)
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/log", "wb") as log:
        options = ["--store", args.store or f"sqlite:///{folder}/jobs.sqlite"]
        services = [
            ServerProcess(verifiers=[VERIFIER], workers=args.workers, options=options, log=log)
            for _ in range(args.services)
        ]
        killer = Killer(services, args.every, args.seed)
        try:
            for service in services:
                service.start()
            began = time.monotonic()
            killer.start()
            accepted = asyncio.run(load([s.url for s in services], made, args.seconds))
            killer.stopped.set()
            killer.join()
            verdicts = asyncio.run(fetch(services[0].url, accepted))
            seconds = time.monotonic() - began
            in_store = asyncio.run(count(services[0].url))
        finally:
            killer.stopped.set()
            for service in services:
                service.stop()
    lost = sum(len(verdicts.get(id, ())) != len(places) for id, places in accepted.items())
    changed = sum(
        verdict != wanted[place].to_builtins()
        for id, found in verdicts.items()
        for verdict, place in zip(found, accepted[id], strict=False)
    )
    items = sum(map(len, accepted.values()))
    print(
        json.dumps(
            {
                "store": (args.store or "sqlite").partition(":")[0],
                "services": args.services,
                "kills": dict(killer.kills),
                "accepted": len(accepted),
                "items": items,
                "lost": lost,
                "duplicated": in_store - len(accepted),
                "changed": changed,
                "jobs_per_s": round(len(accepted) / seconds, 1),
                "items_per_s": round(items / seconds, 1),
            }
        )
    )
    return 1 if lost or changed or in_store != len(accepted) else 0


if __name__ == "__main__":
    sys.exit(main())
