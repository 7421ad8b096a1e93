"""Measures a service: seconds to start, memory of its processes, verdicts per core, cost of monitoring.

    python benchmarks/server_start.py --out results/server_start.json

- start: `verigym serve --verifiers F --workers 2` in a process of its own, from its spawning to the
  first answer of /healthz; wall seconds, and the processor's seconds, which say more on a busy machine
- memory: resident sizes of the service and of the largest process below it, and the proportional sizes
  (what is shared is divided) of all, after the workers judged the seeds
- verdicts: batches of each verifier's seeds, right and wrong ones, through a pool of one worker; by second and by second of
  the worker's processor time
- watch: microseconds of processor time that the layer of ids, metrics and log lines adds to a request
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI, Response

from verigym import Task
from verigym.registry import list_verifiers
from verigym.server import logs
from verigym.server.metrics import Metrics
from verigym.server.page.examples import examples_of
from verigym.server.process import ServerProcess
from verigym.server.watch import Watch
from verigym.verifiers.audit.cases import seeds_of
from verigym.verifiers.pool import VerifierPool

FAMILIES = ("math", "sql", "text", "qa", "tools", "games", "code", "*")
WORKERS = 2
SEEDS = 60
_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each verifier's verdicts")
    parser.add_argument("--out", type=Path, default=Path("results/server_start.json"))
    args = parser.parse_args()
    found: dict[str, Any] = {
        "command": " ".join(["python", *sys.argv]),
        "commit": commit(),
        "machine": {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "system": platform.platform(),
            "load": os.getloadavg(),
        },
        "families": {},
        "verifiers": {},
    }
    for family in args.families.split(","):
        found["families"][family] = of_family(family, args.runs)
        print(family, json.dumps(found["families"][family]))
        for name in [name for name in list_verifiers() if family == name.partition("/")[0]]:
            found["verifiers"][name] = of_verifier(name, args.runs, args.seconds)
            print(" ", name, json.dumps(found["verifiers"][name]))
    found["watch"] = of_watch(args.runs)
    print("watch", json.dumps(found["watch"]))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(found, indent=1) + "\n")


def of_family(family: str, runs: int) -> dict[str, Any]:
    """Start and memory of a service that has one family."""
    walls, cpus, mains, others, shares = [], [], [], [], []
    for _ in range(runs):
        began = time.monotonic()
        options = ("--log-level", "error")
        with ServerProcess(verifiers=[family], workers=WORKERS, options=options) as server:
            walls.append(time.monotonic() - began)
            cpus.append(cpu_s([server.pid, *below(server.pid)]))
            use(server.url, family)
            sizes = {pid: memory_mib(pid) for pid in below(server.pid)}
            mains.append(memory_mib(server.pid)["resident"])
            others.append(max(size["resident"] for size in sizes.values()))
            shares.append(
                memory_mib(server.pid)["proportional"]
                + sum(s["proportional"] for s in sizes.values())
            )
    return {
        "start_s": spread(walls),
        "start_cpu_s": spread(cpus),
        "service_mib": spread(mains),
        "largest_worker_mib": spread(others),
        "all_processes_mib": spread(shares),
        "processes": len(sizes) + 1,
    }


def use(url: str, family: str) -> None:
    """Have every worker judge every example of the family."""
    with httpx2.Client(base_url=url, timeout=120) as http:
        for card in http.get("/v1/verifiers").json()["verifiers"]:
            if family not in ("*", card["id"].partition("/")[0]):
                continue
            items = items_of(card["id"])
            for _ in range(2 * WORKERS if items else 0):
                http.post("/v1/verify/batch", json={"items": items}).raise_for_status()


def items_of(name: str) -> list[dict[str, Any]]:
    """Seeds of a verifier, evenly chosen, else its examples, as items of a batch."""
    if name == "judge/rubric":
        return []
    seeds = seeds_of(name)
    chosen = seeds[:: max(1, len(seeds) // SEEDS)][:SEEDS]
    items = [
        {"verifier": name, "task": json.loads(one.task.to_json()), "submission": one.submission}
        for one in chosen
    ]
    return items or [
        {
            "verifier": name,
            "task": {"id": "t", "env_id": "", "seed": i, "difficulty": "", **row["task"]},
            "submission": row["submission"],
            "params": row["params"],
        }
        for i, row in enumerate(examples_of(name))
    ]


def of_verifier(name: str, runs: int, seconds: float) -> dict[str, Any]:
    """Verdicts of one worker on the items that need no parameters."""
    items = [item for item in items_of(name) if not item.get("params")]
    if not items:
        return {}
    walls, cpus = [], []
    with VerifierPool(1, timeout_s=60.0, preload=[name]) as pool:
        asked = [(Task.from_json(json.dumps(i["task"])), i["submission"]) for i in items]
        pool.verify_batch(name, asked)  # loads it
        (worker,) = pool.worker_pids()
        batch = asked * max(1, 32 // len(asked))
        for _ in range(runs):
            n, began, cpu = 0, time.monotonic(), cpu_s([worker])
            while time.monotonic() - began < seconds / runs:
                pool.verify_batch(name, batch)
                n += len(batch)
            walls.append(n / (time.monotonic() - began))
            used = cpu_s([worker]) - cpu
            if used:
                cpus.append(n / used)
    return {"per_s": spread(walls), "per_worker_cpu_s": spread(cpus) if cpus else None}


def of_watch(runs: int, n: int = 3000) -> dict[str, Any]:
    """Microseconds of this process's time a request, without a network, with and without the layer."""
    with open(os.devnull, "w") as sink:
        logs.configure("json", "info", sink)
        plain = spread([asyncio.run(ask(lambda app: None, n)) for _ in range(runs)])
        watched = spread(
            [
                asyncio.run(
                    ask(lambda app: app.add_middleware(Watch, metrics=Metrics(), tracing=None), n)
                )
                for _ in range(runs)
            ]
        )
        logs.configure("json", "warning", sink)
        quiet = spread(
            [
                asyncio.run(
                    ask(lambda app: app.add_middleware(Watch, metrics=Metrics(), tracing=None), n)
                )
                for _ in range(runs)
            ]
        )
        logs.forget()
    logging.getLogger("verigym").setLevel(logging.NOTSET)
    return {"plain_us": plain, "watched_us": watched, "watched_without_log_us": quiet}


async def ask(prepare: Callable[[FastAPI], None], n: int) -> float:
    """Microseconds of processor time for each of `n` requests to a route that does nothing."""
    app = FastAPI()
    prepare(app)

    @app.post("/v1/verify")
    async def verify() -> Response:
        return Response(b"{}")

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/verify",
        "raw_path": b"/v1/verify",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "scheme": "http",
        "root_path": "",
        "http_version": "1.1",
        "asgi": {"version": "3.0"},
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * 200, "more_body": False}

    async def send(message: Any) -> None:
        pass

    for _ in range(100):
        await app({**scope, "state": {}}, receive, send)
    began = time.process_time()
    for _ in range(n):
        await app({**scope, "state": {}}, receive, send)
    return (time.process_time() - began) / n * 1e6


def spread(values: list[float]) -> dict[str, float]:
    """Median, least and most."""
    return {
        "median": round(statistics.median(values), 3),
        "least": round(min(values), 3),
        "most": round(max(values), 3),
    }


def below(pid: int) -> list[int]:
    """All descendants of a process."""
    found = []
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for t in tasks for child in (t / "children").read_text().split()]
    except OSError:
        return []  # it has ended meanwhile
    for child in children:
        found += [child, *below(child)]
    return found


def memory_mib(pid: int) -> dict[str, float]:
    """Resident and proportional size of a process; 0 where it has ended meanwhile."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {"resident": 0.0, "proportional": 0.0}
    fields = dict(line.split(":", 1) for line in lines)
    return {
        "resident": int(fields["Rss"].split()[0]) / 1024,
        "proportional": int(fields["Pss"].split()[0]) / 1024,
    }


def cpu_s(pids: list[int]) -> float:
    """Processor seconds that processes, and those they waited for, have used."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / _TICKS


def commit() -> str:
    """The commit that is checked out."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
