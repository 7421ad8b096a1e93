"""Measures the cost of HTTP per verification: the service beside the same pool of workers in process.

    python benchmarks/server_load.py --rounds 9 --out docs/results/server_load.json

Both sides judge the same submissions with as many workers, in short rounds that take turns, so that a
machine that is busy with other things slows both: what counts is the ratio of each pair of rounds.

- Batches: `--clients` callers, each with one batch of `--batch` under way: threads that call
  `VerifierPool.verify_batch`, and connections that POST to /v1/verify/batch.
- Single submissions: they arrive at random at half of what the service does at most, whether or not
  the former are answered, for `verify_async` and for /v1/verify; times are from when one was due.

The client sends bytes that were made beforehand and does not read what comes but for its length and
whether all is scored; it has the same cores as the service, and what it takes of them is given. So are
microseconds of processor time a verdict, in process (pool and workers) and of the service (all its
processes): they hardly depend on what else runs. Verdicts of both sides are compared once, whole.
`math/answer` judges a natural mix of replies (see math_verifier.py), for `math/countdown`, which takes
microseconds, HTTP is the larger part. Environment steps are in server_envs.py.

`--precedence -15` has the scheduler put the processes of both sides before those of other sessions on
the machine (root may, where the kernel has autogroups), which a plain `nice` does not.

Exits with 1 where math/answer keeps less than 70 % of its throughput in process, or the 99th percentile
of single submissions is more than 5 ms above.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvloop
from math_verifier import natural_mix
from server_envs import processor_s, tree
from server_overload import Line, scored

from verigym import Task
from verigym.canonical import to_json
from verigym.server.process import ServerProcess
from verigym.verdict import Verdict
from verigym.verifiers.math.cases import task_of
from verigym.verifiers.pool import VerifierPool

KEPT = 0.70
"""Minimum share of the throughput in process."""
LATER_MS = 5.0
"""Maximum increase of a single submission's 99th percentile latency, in milliseconds."""

SPARE = 32
"""Connections that single submissions find open."""

Item = tuple[Task, str]


def items_of(verifier: str, count: int) -> list[Item]:
    """Submissions, of which half are right."""
    if verifier == "math/answer":
        return [(task_of(row), row["answer"]) for row in natural_mix(count)]
    found = []
    for i in range(1, count + 1):
        reference = {"numbers": [i, 5, 7], "target": 5 * i + 7}
        task = Task(id=f"t{i}", env_id="", seed=i, prompt="", difficulty="", reference=reference)
        found.append((task, f"Let us see.\n<answer>{i}*5{'+' if i % 2 else '-'}7</answer>"))
    return found


def request(host: str, path: str, body: object) -> bytes:
    """A request as it goes over the wire."""
    data = to_json(body)
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


def ask_of(verifier: str, item: Item) -> dict[str, Any]:
    return {"verifier": verifier, "task": item[0], "submission": item[1]}


class Sides:
    """One verifier, in a pool of this process and in a service, with all that is sent to it."""

    def __init__(self, verifier: str, pool: VerifierPool, server: ServerProcess, batch: int):
        self.verifier = verifier
        self.pool = pool
        self.server = server
        items = items_of(verifier, 25 * batch)
        self.batches = [items[at : at + batch] for at in range(0, len(items), batch)]
        self.host = server.url.removeprefix("http://")
        self.batch_requests = [
            request(self.host, "/v1/verify/batch", {"items": [ask_of(verifier, i) for i in each]})
            for each in self.batches
        ]
        random.Random(11).shuffle(items)
        self.items = items
        self.requests = [request(self.host, "/v1/verify", ask_of(verifier, i)) for i in items]

    async def connect(self) -> Line:
        host, _, port = self.host.partition(":")
        _, line = await asyncio.get_running_loop().create_connection(Line, host, int(port))
        return line


def in_process(sides: Sides, clients: int, seconds: float) -> dict[str, float]:
    """Verdicts a second by threads that call `verify_batch`."""
    end = time.perf_counter() + seconds
    done = [0] * clients

    def call(which: int) -> None:
        at = which
        while time.perf_counter() < end:
            batch = sides.batches[at % len(sides.batches)]
            verdicts = sides.pool.verify_batch(sides.verifier, batch)
            assert all(verdict.score is not None for verdict in verdicts)
            done[which] += len(verdicts)
            at += clients

    callers = [threading.Thread(target=call, args=(i,)) for i in range(clients)]
    began, busy = time.perf_counter(), own_s(sides.server)
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    took, busy = time.perf_counter() - began, own_s(sides.server) - busy
    return {"per_s": sum(done) / took, "cpu_us": 1e6 * busy / sum(done)}


async def over_http(
    sides: Sides, requests: Sequence[bytes], size: int, clients: int, seconds: float
) -> dict[str, float]:
    """Verdicts a second by connections that each send the next of `requests`, of `size` submissions."""
    lines = [await sides.connect() for _ in range(clients)]
    end = time.perf_counter() + seconds
    done = 0

    async def call(which: int) -> None:
        nonlocal done
        at = which
        while time.perf_counter() < end:
            status, body = await lines[which].ask(requests[at % len(requests)])
            check(status, body)
            done += size
            at += clients

    began, busy, own = time.perf_counter(), processor_s(sides.server.pid), time.process_time()
    await asyncio.gather(*(call(i) for i in range(clients)))
    took, busy = time.perf_counter() - began, processor_s(sides.server.pid) - busy
    client = time.process_time() - own
    for line in lines:
        line.close()
    return {"per_s": done / took, "cpu_us": 1e6 * busy / done, "client_cpu_us": 1e6 * client / done}


async def singles(
    sides: Sides, http: bool, rate: float, seconds: float, seed: int
) -> dict[str, float]:
    """Milliseconds that single submissions take, which arrive at `rate` a second."""
    rng = random.Random(seed)
    took_s: list[float] = []
    running: set[asyncio.Task[None]] = set()
    # As a caller has them who asks all the time: what making one costs is not what is asked here.
    idle = [await sides.connect() for _ in range(SPARE)] if http else []

    async def one(at: int, due: float) -> None:
        if http:
            line = idle.pop() if idle else await sides.connect()
            status, body = await line.ask(sides.requests[at])
            check(status, body)
            idle.append(line)
        else:
            task, submission = sides.items[at]
            verdict = await sides.pool.verify_async(sides.verifier, task, submission)
            assert verdict.score is not None
        took_s.append(time.perf_counter() - due)

    began = due = time.perf_counter()
    at = 0
    while due < began + seconds:
        due += rng.expovariate(rate)
        wait_s = due - time.perf_counter()
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        task = asyncio.create_task(one(at % len(sides.items), due))
        running.add(task)
        task.add_done_callback(running.discard)
        at += 1
    await asyncio.gather(*running)
    for line in idle:
        line.close()
    took_s.sort()
    return {
        "sent": len(took_s),
        "p50_ms": 1e3 * took_s[len(took_s) // 2],
        "p99_ms": 1e3 * took_s[int(len(took_s) * 0.99)],
        "max_ms": 1e3 * took_s[-1],
    }


def check(status: int, body: bytes) -> None:
    if status != 200 or not scored(body):
        sys.exit(f"{status}: {body[:500]!r}")


def own_s(server: ServerProcess) -> float:
    """Seconds of processor time of this process and its pool so far; the service is not counted."""
    return processor_s(os.getpid()) - processor_s(server.pid)


async def same(sides: Sides) -> None:
    """Stop where the two sides do not agree on every verdict of a batch."""
    line = await sides.connect()
    for batch, data in zip(sides.batches, sides.batch_requests, strict=True):
        _, body = await line.ask(data)
        here = await sides.pool.verify_batch_async(sides.verifier, batch)
        there = [Verdict.from_json(to_json(one)) for one in json.loads(body)["verdicts"]]
        if here != there:
            sys.exit(f"verdicts of {sides.verifier} differ")
    line.close()


def measure(sides: Sides, given: argparse.Namespace) -> dict[str, Any]:
    """All rounds of one verifier."""
    uvloop.run(same(sides))  # warms both up, too
    batches: dict[str, list[dict[str, float]]] = {"in_process": [], "http": []}
    size, clients = len(sides.batches[0]), given.clients

    def inside() -> None:
        batches["in_process"].append(in_process(sides, clients, given.seconds))

    def outside() -> None:
        call = over_http(sides, sides.batch_requests, size, clients, given.seconds)
        batches["http"].append(uvloop.run(call))

    for turn in range(given.rounds):
        for side in (inside, outside) if turn % 2 else (outside, inside):
            side()
        print(sides.verifier, "batch", *(batches[s][-1] for s in batches), file=sys.stderr)
    most = [uvloop.run(over_http(sides, sides.requests, 1, 16, given.seconds)) for _ in range(3)]
    rate = 0.5 * statistics.median(run["per_s"] for run in most)
    single: dict[str, list[dict[str, float]]] = {"in_process": [], "http": []}
    for turn in range(given.rounds):
        order = ("in_process", "http") if turn % 2 else ("http", "in_process")
        for side in order:
            call = singles(sides, side == "http", rate, 2 * given.seconds, turn)
            single[side].append(uvloop.run(call))
        print(sides.verifier, "single", *(single[s][-1] for s in single), file=sys.stderr)
    return {
        "batches": {
            "in_process": over(batches["in_process"]),
            "http": over(batches["http"]),
            "kept": spread(
                [b["per_s"] / a["per_s"] for a, b in zip(*batches.values(), strict=True)]
            ),
            "kept_by_cpu": spread(
                [a["cpu_us"] / b["cpu_us"] for a, b in zip(*batches.values(), strict=True)]
            ),
        },
        "singles": {
            "most_over_http": over(most),
            "rate_per_s": round(rate, 1),
            "in_process": over(single["in_process"]),
            "http": over(single["http"]),
            "p99_later_ms": spread(
                [b["p99_ms"] - a["p99_ms"] for a, b in zip(*single.values(), strict=True)]
            ),
            "p50_later_ms": spread(
                [b["p50_ms"] - a["p50_ms"] for a, b in zip(*single.values(), strict=True)]
            ),
        },
    }


def over(runs: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    return {name: spread([run[name] for run in runs]) for name in runs[0]}


def spread(values: list[float]) -> dict[str, float]:
    middle = statistics.median(values)
    return {
        k: round(v, 3)
        for k, v in zip(
            ("median", "least", "most"), (middle, min(values), max(values)), strict=True
        )
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--verifiers", nargs="*", default=["math/answer", "math/countdown"])
    parser.add_argument(
        "--precedence", type=int, default=0, help="of autogroups, as nice: -20 to 19"
    )
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    load = [os.getloadavg()[0]]
    found: dict[str, Any] = {}
    with (
        VerifierPool(given.workers, preload=given.verifiers) as pool,
        open(os.devnull, "wb") as log,
        ServerProcess(verifiers=given.verifiers, workers=given.workers, log=log) as server,
    ):
        for verifier in given.verifiers:
            pool.describe(verifier)  # so that there is a worker at least
        for pid in tree(os.getpid()) if given.precedence else ():
            Path(f"/proc/{pid}/autogroup").write_text(str(given.precedence))
        for verifier in given.verifiers:
            found[verifier] = measure(Sides(verifier, pool, server, given.batch), given)
            load.append(os.getloadavg()[0])
    judged = found.get("math/answer")
    passed = judged is None or (
        judged["batches"]["kept"]["median"] >= KEPT
        and judged["singles"]["p99_later_ms"]["median"] <= LATER_MS
    )
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    machine = {
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "load": [round(each, 1) for each in load],
        "commit": commit,
    }
    settings = {name: str(v) if isinstance(v, Path) else v for name, v in vars(given).items()}
    text = json.dumps(
        {"settings": settings, "machine": machine, **found, "passed": passed}, indent=1
    )
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(text + "\n")
    print(text)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
