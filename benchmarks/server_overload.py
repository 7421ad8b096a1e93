"""Measures a service under several times the load that it can serve.

    python benchmarks/server_overload.py --seconds 60 --times 5
    python benchmarks/server_overload.py --verifier math/countdown --batch 16  # as dear as refusals can be

Starts `verigym serve` and finds its peak: verdicts a second for closed-loop clients that keep it just
busy. Then requests arrive at `--times` that rate, at random, whether or not the former are answered.
Prints one JSON object: `peak_per_s`; `goodput_per_s` (scored answers; with `--deadline-s` those that
came in time) and its share of the peak; how many were refused, with which status and code, and how
soon; memory of the service (all its processes) before, at the end and at most; and what failed.
Exits with 1 where the goodput is under 80 % of the peak, the 99.9th percentile of refusals is above
100 ms, anything failed, or memory grew by more than 200 MiB.

Client and service share the machine: the client is one process of plain asyncio with requests made
beforehand, and `client_busy` says how much of a core it took. Above 0.9 the figures are the client's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import sys
import time
from collections import Counter, deque
from pathlib import Path
from typing import Any

from math_verifier import natural_mix

from verigym import Task
from verigym.server.process import ServerProcess
from verigym.verifiers.math.cases import task_of

MAX_CONNECTIONS = 400


def request(host: str, verifier: str, batch: int, deadline_s: float | None) -> bytes:
    """One request of `batch` submissions, of which about half are right."""
    items: list[dict[str, Any]] = []
    if verifier == "math/answer":
        for row in natural_mix(batch):
            task = json.loads(task_of(row).to_json())
            items.append({"verifier": verifier, "task": task, "submission": row["answer"]})
    else:
        for i in range(1, batch + 1):
            reference = {"numbers": [i, 5, 7], "target": 5 * i + 7}
            task = Task(
                id=f"t{i}", env_id="", seed=i, prompt="", difficulty="", reference=reference
            )
            answer = f"<answer>{i}*5{'+' if i % 2 else '-'}7</answer>"
            plain = json.loads(task.to_json())
            items.append({"verifier": verifier, "task": plain, "submission": answer})
    body = json.dumps({"items": items}).encode()
    lines = [
        "POST /v1/verify/batch HTTP/1.1",
        f"Host: {host}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    if deadline_s is not None:
        lines.append(f"Verigym-Deadline-S: {deadline_s:g}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Line(asyncio.Protocol):
    """One connection; `ask` sends a request, whose answer ends the future."""

    def __init__(self) -> None:
        self._got = bytearray()
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self.alive = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def ask(self, data: bytes) -> asyncio.Future[tuple[int, bytes]]:
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(data)  # type: ignore[attr-defined]
        return self._answer

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, gap, body = self._got.partition(b"\r\n\r\n")
        if not gap:
            return
        at = head.lower().index(b"content-length:")
        length = int(head[at + 15 :].split(b"\r\n", 1)[0])
        if len(body) >= length and self._answer is not None and not self._answer.done():
            self._got.clear()
            self._answer.set_result((int(head[9:12]), bytes(body)))

    def close(self) -> None:
        self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self.alive = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError("the service hung up"))


class Lines:
    """Connections that are reused, the last first."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._idle: deque[Line] = deque()
        self.made = 0

    async def take(self) -> Line:
        while self._idle:
            line = self._idle.pop()
            if line.alive:
                return line
        self.made += 1
        _, line = await asyncio.get_running_loop().create_connection(Line, *self._address)
        return line

    def put(self, line: Line) -> None:
        self._idle.append(line)


def scored(body: bytes) -> bool:
    """Return True if every verdict of the answer has a score."""
    return b'"score":null' not in body


async def peak(lines: Lines, data: bytes, clients: int, seconds: float) -> float:
    """Scored answers a second, for clients that each wait for theirs."""
    end = time.monotonic() + seconds
    done = 0

    async def client() -> None:
        nonlocal done
        line = await lines.take()
        while time.monotonic() < end:
            status, body = await line.ask(data)
            done += status == 200 and scored(body)
        lines.put(line)

    began = time.monotonic()
    await asyncio.gather(*(client() for _ in range(clients)))
    return done / (time.monotonic() - began)


async def overload(lines: Lines, data: bytes, rate: float, seconds: float) -> dict[str, Any]:
    """Send requests at `rate` per second and return their outcomes."""
    outcomes: Counter[str] = Counter()
    refused_s: list[float] = []
    good_s: list[float] = []
    rng = random.Random(7)
    asked: set[asyncio.Task[None]] = set()

    async def one() -> None:
        try:
            line = await lines.take()
            began = time.monotonic()
            status, body = await line.ask(data)
        except OSError as error:
            outcomes[f"failed: {type(error).__name__}"] += 1
            return
        took_s = time.monotonic() - began
        lines.put(line)
        if status == 200:
            outcomes["good" if scored(body) else "fault"] += 1
            if scored(body):
                good_s.append(took_s)
        else:
            outcomes[f"{status} {json.loads(body)['error']['code']}"] += 1
            refused_s.append(took_s)

    began = due = time.monotonic()
    client_cpu = time.process_time()
    skipped = 0
    while due < began + seconds:
        due += rng.expovariate(rate)
        wait_s = due - time.monotonic()
        if wait_s > 0.001:
            await asyncio.sleep(wait_s)
        elif len(asked) % 16 == 0:
            await asyncio.sleep(0)
        if len(asked) >= MAX_CONNECTIONS:
            skipped += 1  # the client has no more connections: an arrival that was not sent
            continue
        task = asyncio.create_task(one())
        asked.add(task)
        task.add_done_callback(asked.discard)
    lasted = time.monotonic() - began
    good_in_time = outcomes["good"]
    client_cpu = time.process_time() - client_cpu
    if asked:
        await asyncio.wait(asked, timeout=60)
    return {
        "sent": sum(outcomes.values()),
        "not_sent": skipped,
        "goodput_per_s": good_in_time / lasted,
        "outcomes": dict(outcomes),
        "unanswered": len(asked),
        "refused_ms": quantiles(refused_s),
        "good_ms": quantiles(good_s),
        "connections": lines.made,
        "client_busy": client_cpu / lasted,
    }


def quantiles(values_s: list[float]) -> dict[str, float]:
    values = sorted(values_s)
    if not values:
        return {}
    at = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
    last = len(values) - 1
    return {name: round(1000 * values[int(last * share)], 2) for name, share in at.items()}


def memory_mib(pid: int) -> float:
    """Resident memory of a process and all below it, shared pages counted once each way (PSS)."""
    total = 0
    pids = [pid]
    while pids:
        one = pids.pop()
        try:
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
            for thread in os.listdir(f"/proc/{one}/task"):
                pids += map(int, Path(f"/proc/{one}/task/{thread}/children").read_text().split())
        except OSError:
            continue  # it has ended
        total += int(rollup.partition("Pss:")[2].split()[0])
    return total / 1024


async def measure(server: ServerProcess, given: argparse.Namespace) -> dict[str, Any]:
    host, _, port = server.url.removeprefix("http://").partition(":")
    lines = Lines(host, int(port))
    plain = request(host, given.verifier, given.batch, None)
    await peak(lines, plain, given.clients, 2.0)  # warms up
    at_peak = await peak(lines, plain, given.clients, given.peak_seconds)
    before = most = memory_mib(server.pid)

    async def watch() -> None:
        nonlocal most
        while True:
            await asyncio.sleep(1.0)
            most = max(most, await asyncio.to_thread(memory_mib, server.pid))

    watching = asyncio.create_task(watch())
    data = request(host, given.verifier, given.batch, given.deadline_s)
    found = await overload(lines, data, given.times * at_peak, given.seconds)
    watching.cancel()
    again = await peak(lines, plain, given.clients, given.peak_seconds)
    memory = {"before": before, "most": most, "after": memory_mib(server.pid)}
    return {
        "peak_per_s": at_peak,
        "peak_afterwards_per_s": again,
        **found,
        "goodput_share": found["goodput_per_s"] / at_peak,
        "memory_mib": memory,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--peak-seconds", type=float, default=10.0)
    parser.add_argument("--times", type=float, default=5.0)
    parser.add_argument(
        "--verifier", default="math/answer", choices=["math/answer", "math/countdown"]
    )
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--deadline-s", type=float)
    given = parser.parse_args()
    with ServerProcess(verifiers=[given.verifier], workers=given.workers) as server:
        found = asyncio.run(measure(server, given))
        exit_code = server.stop()
    failed = {name: n for name, n in found["outcomes"].items() if name.startswith("failed")}
    passed = (
        found["goodput_share"] >= 0.8
        and found["refused_ms"].get("p99.9", 0.0) <= 100.0
        and not failed
        and not found["unanswered"]
        and exit_code == 0
        and found["memory_mib"]["most"] - found["memory_mib"]["before"] <= 200
    )
    machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
    print(json.dumps({"settings": vars(given), "machine": machine, **found, "passed": passed}))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
