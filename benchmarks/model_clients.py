"""Requests a second to a model server that answers at once: ours, the `openai` package, a plain connection.

    python benchmarks/model_clients.py --rounds 5 --out results/model_clients.json

The server is a process of its own on loopback (model_server.py). The `openai` package is asked as it comes, from
as many threads as there are requests at once; the plain connection is `http.client` with `json`, one for
each thread. Prints requests a second and microseconds of this process's processor time per request, medians
over rounds, and the median over rounds of our ratio to each in the same round. The machine should be quiet.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import openai

from verigym.agents.policies.openai import OpenAIPolicy
from verigym.agents.policy import Request

MESSAGES = [{"role": "user", "content": "You are in a maze of twisty little passages. " * 10}]
FIELDS = {"model": "m", "max_tokens": 512, "temperature": 1.0, "top_p": 1.0, "seed": 5}
Measured = tuple[float, float]


def timed(work: Callable[[], None], n: int) -> Measured:
    """Return requests a second, and microseconds of processor time per request."""
    began, used = time.perf_counter(), time.process_time()
    work()
    return n / (time.perf_counter() - began), (time.process_time() - used) / n * 1e6


def ours(url: str, at_once: int, n: int) -> Measured:
    policy = OpenAIPolicy("m", url, concurrency=at_once)
    requests = [Request(messages=MESSAGES, key=(1, i)) for i in range(n)]

    def work() -> None:
        if at_once == 1:
            for request in requests:
                policy.complete([request])
        else:
            policy.complete(requests)

    policy.complete(requests[:1])
    try:
        return timed(work, n)
    finally:
        policy.close()


def in_threads(ask: Callable[[int], object], at_once: int, n: int) -> Measured:
    ask(0)

    def work() -> None:
        if at_once == 1:
            for i in range(n):
                ask(i)
        else:
            with ThreadPoolExecutor(at_once) as threads:
                list(threads.map(ask, range(n)))

    return timed(work, n)


def package(url: str, at_once: int, n: int) -> Measured:
    with openai.OpenAI(api_key="none", base_url=url, max_retries=0) as client:
        return in_threads(
            lambda _: client.chat.completions.create(messages=MESSAGES, **FIELDS), at_once, n
        )


def plain(url: str, at_once: int, n: int) -> Measured:
    parts, own = urlsplit(url), threading.local()
    opened = []

    def ask(_: int) -> object:
        if not hasattr(own, "http"):
            own.http = http.client.HTTPConnection(parts.hostname or "", parts.port)
            opened.append(own.http)
        body = json.dumps({"messages": MESSAGES, **FIELDS}).encode()
        headers = {"Content-Type": "application/json"}
        own.http.request("POST", f"{parts.path}/chat/completions", body, headers)
        return json.loads(own.http.getresponse().read())

    try:
        return in_threads(ask, at_once, n)
    finally:
        for one in opened:
            one.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    ways = {"ours": ours, "openai package": package, "plain connection": plain}
    found: dict[str, dict[str, list[Measured]]] = {}
    with subprocess.Popen(
        [sys.executable, "-P", str(Path(__file__).with_name("model_server.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        for at_once in (1, 64):
            found[str(at_once)] = {way: [] for way in ways}
            for _ in range(given.rounds):
                for way, ask in ways.items():
                    found[str(at_once)][way].append(ask(url, at_once, given.requests))
        server.terminate()
    result: dict[str, object] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": os.getloadavg()[0],
        "openai": openai.__version__,
        "at_once": {},
    }
    for at_once, by_way in found.items():
        row: dict[str, object] = {}
        for way, measured in by_way.items():
            rates, used = zip(*measured, strict=True)
            pairs = list(zip(by_way["ours"], measured, strict=True))
            row[way] = {
                "requests_per_s": round(statistics.median(rates)),
                "range": [round(min(rates)), round(max(rates))],
                "cpu_us": round(statistics.median(used)),
                "ours_times": round(statistics.median(a[0] / b[0] for a, b in pairs), 2),
                "ours_times_cpu": round(statistics.median(b[1] / a[1] for a, b in pairs), 2),
            }
            print(f"{at_once:>3} at once  {way:<17} {row[way]}")
        result["at_once"][at_once] = row  # type: ignore[index]
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
