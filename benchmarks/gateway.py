"""Cost of the gateway: 64 sessions that offer 200 calls a second together, on a sampler that only waits.

    OMP_NUM_THREADS=1 python -P benchmarks/gateway.py --out docs/results/gateway.json

Added latency is that of a call less the sampler's 20 ms; CPU is that of the server's process. Each session
is a conversation of ten calls, then another; replies have 64 tokens, and all prompts but the first go on
from the ids of an earlier one. On a machine that others use, mostly their processes are measured: a call
waits for a core about eight times. `--realtime` lets this program and the servers run before all others,
which needs root; caches are still shared with them. The same load goes to the leanest rival, in turn: a bare ASGI program on the
same uvicorn that waits as long and answers a constant. Saturation is the rate at which 64 sessions that
never pause are answered.
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
import time
from contextlib import contextmanager
from pathlib import Path

SESSIONS = 64
RATE = 200.0
DELAY_S = 0.02
TURNS = 10
N_TOKENS = 64
ROOT = Path(__file__).parents[1]
BARS = {"added_ms": 5.0, "cpu_ms": 2.0}
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TASK = (ROOT / "README.md").read_text()[:2000]
OBSERVATION = (ROOT / "CONTRIBUTING.md").read_text()[:400]


def serve_gateway() -> None:
    """Serve until standard input ends."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    from verigym.agents.engines.sampler import Sample, SamplingParams, Span
    from verigym.agents.gateway.gateway import Gateway
    from verigym.agents.policies.chat_tokens import ChatTokens

    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    special = ["<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=8000, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    pages = [path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))]
    words.train_from_iterator(pages, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<|im_end|>")
    fast.chat_template = TEMPLATE
    ids = fast(OBSERVATION, add_special_tokens=False)["input_ids"][: N_TOKENS - 1]
    ids.append(fast.eos_token_id)

    class Waiting:
        name, version, max_context, precision_nats = "waiting", 0, 32768, 0.0

        def sample(self, prompts, params, keys):
            if delay_s:
                time.sleep(delay_s)
            spans = [Span(0, 0, len(ids))]
            one = Sample(ids=ids, logprobs=[-1.0] * len(ids), versions=spans, finish_reason="stop")
            return [one for _ in prompts]

    delay_s = float(os.environ["BENCH_DELAY_S"])
    tokens = ChatTokens(
        fast, name="m", n_embeddings=len(fast), end_ids=frozenset({fast.eos_token_id})
    )
    params = SamplingParams(max_tokens=N_TOKENS, end_ids=tokens.end_ids)
    options = {"max_batch": 1, "concurrency": 64} if delay_s else {"max_batch": 64}
    with Gateway(tokens, Waiting(), params, opens=True, **options) as gateway:
        print(gateway.url, flush=True)
        sys.stdin.read()


def serve_bare() -> None:
    """Serve a program that waits and answers a constant."""
    import socket

    import uvicorn

    reply = {"choices": [{"message": {"role": "assistant", "content": OBSERVATION[:250]}}]}
    body = json.dumps(reply).encode()
    delay_s = float(os.environ["BENCH_DELAY_S"])
    headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]

    async def app(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        await asyncio.sleep(delay_s)
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def server(kind: str, delay_s: float):
    """Start a server in a process of its own; give its port and its process id."""
    env = {**os.environ, "BENCH_DELAY_S": str(delay_s), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-P", __file__, "--serve", kind]
    with subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            url = process.stdout.readline().strip()
            yield int(url.rpartition(":")[2]), process.pid
        finally:
            process.kill()


def cpu_s(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def converse(port: int, name: str, until: float, rate: float | None, waits: list) -> None:
    """Play one session until the end; add each call's seconds to `waits`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    draws = random.Random(name)
    number = 0
    messages: list[dict] = []
    due = time.monotonic() + (draws.random() / rate if rate else 0.0)
    while True:
        if rate:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due += draws.expovariate(rate)
        if time.monotonic() > until:
            writer.close()
            return
        if number % TURNS == 0:
            messages = [{"role": "user", "content": f"{TASK} {name} {number}"}]
        number += 1
        body = json.dumps({"model": "m", "messages": messages}).encode()
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-session-id: {name}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        began = time.perf_counter()
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"the server answered {answer[:200]!r}")
        size = int(answer.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        found = json.loads(await reader.readexactly(size))
        waits.append(time.perf_counter() - began)
        messages = [
            *messages,
            {"role": "assistant", "content": found["choices"][0]["message"]["content"]},
            {"role": "user", "content": OBSERVATION},
        ]


async def load(port: int, seconds: float, rate: float | None, tag: str) -> list[float]:
    """Let all sessions converse at once; return the seconds of each call."""
    waits: list[float] = []
    until = time.monotonic() + seconds
    each = rate / SESSIONS if rate else None
    await asyncio.gather(
        *(converse(port, f"{tag}-{i}", until, each, waits) for i in range(SESSIONS))
    )
    return waits


def measure(kind: str, seconds: float, rounds: int) -> list[dict[str, float]]:
    """Return the figures of each round at the offered rate."""
    out = []
    with server(kind, DELAY_S) as (port, pid):
        asyncio.run(load(port, 2.0, RATE, "warm"))
        for number in range(rounds):
            before = cpu_s(pid)
            waits = asyncio.run(load(port, seconds, RATE, f"r{number}"))
            used = cpu_s(pid) - before
            added = sorted(1000 * (wait - DELAY_S) for wait in waits)
            out.append(
                {
                    "calls": len(waits),
                    "calls_per_s": len(waits) / seconds,
                    "added_ms": statistics.median(added),
                    "added_p99_ms": added[int(0.99 * len(added))],
                    "cpu_ms": 1000 * used / len(waits),
                }
            )
    return out


def saturate(kind: str, seconds: float, rounds: int) -> list[float]:
    """Return the calls a second of sessions that never pause."""
    with server(kind, 0.0) as (port, _):
        asyncio.run(load(port, 1.0, None, "warm"))
        return [
            len(asyncio.run(load(port, seconds, None, f"s{n}"))) / seconds for n in range(rounds)
        ]


def spread(values: list[float]) -> dict[str, float]:
    """Return median, least and most."""
    return {
        "median": round(statistics.median(values), 3),
        "least": round(min(values), 3),
        "most": round(max(values), 3),
    }


def main() -> None:
    """Measure both servers, print their figures side by side, and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--serve", choices=["gateway", "bare"])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--realtime", action="store_true", help="go before other processes")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.serve:
        {"gateway": serve_gateway, "bare": serve_bare}[given.serve]()
        return
    if given.realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    found: dict[str, object] = {}
    for kind in ("gateway", "bare"):
        at_rate = measure(kind, given.seconds, given.rounds)
        found[kind] = {name: spread([one[name] for one in at_rate]) for name in at_rate[0]} | {
            "saturation_calls_per_s": spread(saturate(kind, given.seconds / 2, given.rounds))
        }
    ours, bare = found["gateway"], found["bare"]
    print(f"{'':24}{'gateway':>12}{'bare':>12}{'ratio':>9}{'bar':>8}")
    for name in ours:
        left, right = ours[name]["median"], bare[name]["median"]
        ratio = left / right if right > 0 else float("nan")
        bar = f"{BARS[name]:g}" if name in BARS else ""
        print(f"{name:24}{left:12.2f}{right:12.2f}{ratio:9.2f}{bar:>8}")
    found |= {
        "sessions": SESSIONS,
        "offered_calls_per_s": RATE,
        "sampler_s": DELAY_S,
        "bars": BARS,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load_average": os.getloadavg(),
        "realtime": given.realtime,
        "command": "benchmarks/gateway.py" + (" --realtime" if given.realtime else ""),
    }
    if given.out is not None:
        given.out.write_text(json.dumps(found, indent=1) + "\n")
    missed = [name for name, bar in BARS.items() if ours[name]["median"] > bar]
    if missed:
        raise SystemExit(f"above the bar: {', '.join(missed)}")


if __name__ == "__main__":
    main()
