"""Cost of thousands of open environment sessions, beside OpenEnv's own server.

    python benchmarks/server_sessions.py --openenv-python .venv-openenv/bin/python --out results/server_sessions.json

Each server runs as a process of its own on loopback, one after the other. Sessions are opened up to a
quarter, a half and all of `--sessions` (2,000 a core), and none is closed in between. At each number all of them
idle for `--idle-s`; then random ones are stepped at `--rate` steps a second for `--step-s`, whether or not the last
answer has come. The time of a step counts from when it was due. At last every session is stepped at once. A server
that fails to open a session or to answer one of the random steps, or whose 99th percentile is above 2 s twice in
succession, is asked for no more. Its figures are those of the last number that it held.

`verigym http` has sessions over HTTP, whose client holds 32 connections, and `verigym keydoor` has a game over them;
`verigym sockets` has one WebSocket a session and speaks OpenEnv's protocol, as both OpenEnv servers must. Servers run
with their default limits (OpenEnv's has none here). Memory is the proportional set size of all processes of the
service, above what it was with the first 32 sessions. Exits with 1 if Verigym's server could not hold all sessions.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import uvloop
from open_sessions import OPENING, Failed, HttpSessions, Sessions, SocketSessions
from server_envs import prepare, processor_s, serving, tree

A_CORE = 2000
BAR_S = 2.0
FIRST = 32
"""Sessions that are opened and stepped before memory is counted."""
OPEN_S = 120.0
"""Seconds in which all sessions of one number must be open."""
ANSWER_S = 10.0
"""Seconds after which a step has failed."""
BURST_S = 60.0
"""The same where all sessions are stepped at once."""

KINDS = ("verigym http", "verigym sockets", "verigym keydoor", "openenv plain", "openenv tool")
_PLAIN = b'{"type":"step","data":{"message":"hello"}}'
_TOOL = (
    b'{"type":"step","data":{"type":"call_tool","tool_name":"echo_message",'
    b'"arguments":{"message":"hello"}}}'
)
_SOCKETS = {
    "verigym sockets": ("/openenv/echo/echo-v0/ws", _PLAIN),
    "openenv plain": ("/ws", _PLAIN),
    "openenv tool": ("/ws", _TOOL),
}
"""Path and step of the kinds that need a WebSocket a session."""
_ENVS = {"verigym http": ("echo/echo-v0", "hello"), "verigym keydoor": ("games/keydoor-v0", "left")}


class Tally:
    """Outcomes of requests."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.failed = 0
        self.first_failure = ""

    async def count(self, due: float, request: Awaitable[None], limit_s: float) -> None:
        """Wait for a request and count it; its time is since `due`."""
        try:
            async with asyncio.timeout(limit_s):
                await request
        except (Failed, TimeoutError) as error:
            self.failed += 1
            self.first_failure = self.first_failure or repr(error)[:500]
        else:
            self.times.append(time.perf_counter() - due)


async def open_up_to(sessions: Sessions, before: int, number: int) -> Tally:
    """Open sessions until there are `number`; stop at the first failure."""
    tally = Tally()
    todo = iter(range(before, number))
    until = time.perf_counter() + OPEN_S

    async def work() -> None:
        for _ in todo:
            now = time.perf_counter()
            if tally.failed or now > until:
                return
            await tally.count(now, sessions.open(), until - now)

    await asyncio.gather(*(work() for _ in range(OPENING)))
    return tally


async def step_some(
    sessions: Sessions, number: int, rate: float, seconds: float, rng: random.Random
) -> Tally:
    """Step random sessions that have no step under way, at random times, `rate` a second."""
    tally = Tally()
    idle = list(range(number))
    running = set()

    async def step(which: int, due: float) -> None:
        await tally.count(due, sessions.step(which), ANSWER_S)
        idle.append(which)

    due = time.perf_counter()
    end = due + seconds
    while (due := due + rng.expovariate(rate)) < end:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        at = rng.randrange(len(idle))
        idle[at], idle[-1] = idle[-1], idle[at]
        task = asyncio.create_task(step(idle.pop(), due))
        running.add(task)
        task.add_done_callback(running.discard)
    await asyncio.gather(*running)
    return tally


def memory_kib(pid: int) -> int:
    """Proportional set size of a process and all below it."""
    total = 0
    for each in tree(pid):
        with contextlib.suppress(OSError):
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text()
            total += int(rollup.partition("\nPss:")[2].split()[0])
    return total


async def step_all(sessions: Sessions, number: int) -> tuple[float, int]:
    """Step every session at once; return the seconds until the last answer, and the number of failures."""
    tally = Tally()
    began = time.perf_counter()
    steps = (tally.count(began, sessions.step(which), BURST_S) for which in range(number))
    await asyncio.gather(*steps)
    return max(tally.times, default=0.0), tally.failed


async def idle_cpu_s(pid: int, seconds: float) -> float:
    """Processor time of the service while nobody asks anything."""
    await asyncio.sleep(1.0)  # what the last requests left to do
    before = processor_s(pid)
    await asyncio.sleep(seconds)
    return processor_s(pid) - before


async def measure(kind: str, port: int, pid: int, given: argparse.Namespace) -> dict[str, Any]:
    """Grow to all sessions, or as far as the server bears it."""
    if kind in _ENVS:
        sessions: Sessions = HttpSessions(port, *_ENVS[kind])
    else:
        sessions = SocketSessions(port, *_SOCKETS[kind])
    rng = random.Random(given.sessions)
    rows: list[dict[str, Any]] = []
    opened, base_kib, base_cpu_s = 0, 0, 0.0
    for number in (FIRST, given.sessions // 4, given.sessions // 2, given.sessions):
        began = time.perf_counter()
        opening = await open_up_to(sessions, opened, number)
        open_s = time.perf_counter() - began
        opened += len(opening.times)
        if opened < number:
            reason = opening.first_failure or f"more than {OPEN_S:g} s"
            return {"rows": rows, "ended_by": f"{opened} sessions were opened: {reason}"}
        cpu_s = await idle_cpu_s(pid, given.idle_s)
        kib = memory_kib(pid)
        for _ in range(2):  # the machine may be at fault once
            busy_s = processor_s(pid)
            steps = await step_some(sessions, number, given.rate, given.step_s, rng)
            busy_s = processor_s(pid) - busy_s
            if steps.failed:
                return {"rows": rows, "ended_by": f"{number} sessions: {steps.first_failure}"}
            times = sorted(steps.times)
            p99_s = times[int(len(times) * 0.99)]
            if p99_s <= BAR_S:
                break
        if p99_s > BAR_S:
            return {"rows": rows, "ended_by": f"{number} sessions: p99 of a step {p99_s:.1f} s"}
        if number == FIRST:
            # After the first steps, which load what later ones share.
            base_kib, base_cpu_s = memory_kib(pid), await idle_cpu_s(pid, given.idle_s)
            continue
        burst_s, burst_failed = await step_all(sessions, number)
        idle_s = max(0.0, cpu_s - base_cpu_s) / given.idle_s
        row = {
            "sessions": number,
            "open_ms_each": open_s / (number - opened + len(opening.times)) * 1e3,
            "kib_each": (kib - base_kib) / (number - FIRST),
            "memory_mib": kib / 1024,
            "threads": sum(len(os.listdir(f"/proc/{each}/task")) for each in tree(pid)),
            "idle_cpu_us_each_s": idle_s / number * 1e6,
            "idle_cpu_percent": cpu_s / given.idle_s * 100,
            "steps": len(times),
            "p50_ms": statistics.median(times) * 1e3,
            "p99_ms": p99_s * 1e3,
            "most_ms": times[-1] * 1e3,
            "step_cpu_ms": busy_s / len(times) * 1e3,
            "all_at_once_s": burst_s,
            "all_at_once_failed": burst_failed,
        }
        rows.append({name: round(value, 2) for name, value in row.items()})
    return {"rows": rows, "ended_by": ""}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    cores = os.cpu_count() or 1
    parser.add_argument("--sessions", type=int, default=A_CORE * cores)
    parser.add_argument("--idle-s", type=float, default=5.0)
    parser.add_argument("--step-s", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    parser.add_argument("--openenv-python", help="an interpreter with openenv-core")
    parser.add_argument("--out", type=Path)
    # The client is this file again, in a process of its own.
    parser.add_argument("--client", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if given.client:
        kind, port, pid = given.client
        print(json.dumps(uvloop.run(measure(kind, int(port), int(pid), given))))
        return 0
    kinds: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = prepare(folder, given.openenv_python)
        openenv = subprocess.run(
            [python, "-c", _VERSIONS], stdout=subprocess.PIPE, text=True, check=True
        ).stdout.strip()
        for kind in given.kinds:
            loads = [os.getloadavg()[0]]
            with serving(kind, folder, python) as (port, pid):
                options = {"sessions": given.sessions, "rate": given.rate}
                options |= {"idle-s": given.idle_s, "step-s": given.step_s}
                call = [sys.executable, __file__, "--client", kind, str(port), str(pid)]
                call += [f"--{name}={value}" for name, value in options.items()]
                said = subprocess.run(call, stdout=subprocess.PIPE, check=True).stdout
            loads.append(os.getloadavg()[0])
            kinds[kind] = {
                **json.loads(said),
                "load_before_and_after": [round(x, 1) for x in loads],
            }
            print(kind, json.dumps(kinds[kind]), file=sys.stderr, flush=True)
    report = {
        "machine": f"{platform.machine()}, {cores} cores, Python {platform.python_version()}",
        "openenv": openenv,
        **{name: getattr(given, name) for name in ("sessions", "rate", "idle_s", "step_s")},
        "kinds": kinds,
        "ratios": ratios(kinds),
        "ok": all(
            kind["rows"] and kind["rows"][-1]["sessions"] == given.sessions
            for name, kind in kinds.items()
            if name.startswith("verigym")
        ),
    }
    text = json.dumps(report, indent=2)
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(text + "\n")
    print(text)
    return 0 if report["ok"] else 1


_VERSIONS = """
from importlib.metadata import PackageNotFoundError, version
for name in ("openenv", "openenv-core"):
    try:
        print(name, version(name))
        break
    except PackageNotFoundError:
        pass
"""


def ratios(kinds: dict[str, Any]) -> dict[str, Any]:
    """Figures of OpenEnv's servers divided by those of `verigym sockets`, at the most sessions that both held."""
    found: dict[str, Any] = {}
    ours = {row["sessions"]: row for row in kinds.get("verigym sockets", {"rows": []})["rows"]}
    for name, kind in kinds.items():
        both = [row for row in kind["rows"] if row["sessions"] in ours]
        if name.startswith("openenv") and both:
            theirs = both[-1]
            mine = ours[theirs["sessions"]]
            found[name] = {"sessions": theirs["sessions"]} | {
                what: round(theirs[what] / mine[what], 2) if mine[what] else None
                for what in (
                    "open_ms_each",
                    "kib_each",
                    "p50_ms",
                    "p99_ms",
                    "step_cpu_ms",
                    "all_at_once_s",
                )
            }
    return found


if __name__ == "__main__":
    sys.exit(main())
