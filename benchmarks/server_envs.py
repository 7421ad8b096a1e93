"""Environment steps a second over WebSocket, beside OpenEnv's own server on its echo environment.

    python benchmarks/server_envs.py --seconds 5 --repeats 5 --out results/server_envs.json

Each server is a process of its own on loopback, all of them up for the whole run and asked one after the
other in turns; one client process speaks to it over as many WebSockets as there are clients, each of which sends its next step when the
answer to the last has come (a few lines of frames by hand, the same for both). `openenv-core` is
installed into a virtual environment of its own under a temporary folder unless `--openenv-python`
names one that has it. OpenEnv's echo environment is asked by its tool `echo_message`, as its client
does, and also as a plain environment without tools, which costs it less. A server that gives every
message the same bytes (canned_server.py) shows how far a server without any work would get: the limit of the
ratios. At last OpenEnv's own client (`GenericEnvClient`, one at a time) steps both echo environments without
tools, and the canned one. Prints steps a second (median, least and most), milliseconds a step, processor time
of the server a step, failures, and the ratios of rates and of processor time; exits with 1 where a step failed
or the ratio to OpenEnv's tool is below 10. `--precedence -10` has the scheduler put server and client before
other sessions of the machine (root may, where the kernel has autogroups).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from raw_socket import Socket

CLIENTS = (1, 16, 64, 256)
BAR = 10.0
WARM_S = 0.5
START_S = 60.0
_OWN_URL = {"verigym": "/openenv/echo/echo-v0", "openenv plain": "", "canned": ""}
"""Base URL of what OpenEnv's own client plays."""

_OPENENV = '''
import sys
import uvicorn
from fastmcp import FastMCP
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.env_server.types import Action, Observation, State


class Said(Action):
    message: str


class Heard(Observation):
    echoed_message: str = ""
    message_length: int = 0


class Plain(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self.steps = 0

    def reset(self, seed=None, episode_id=None, **kwargs):
        return Heard(echoed_message="ready")

    def step(self, action, timeout_s=None, **kwargs):
        self.steps += 1
        text = action.message
        return Heard(echoed_message=text, message_length=len(text), reward=0.1 * len(text))

    @property
    def state(self):
        return State(step_count=self.steps)


class Tool(MCPEnvironment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        mcp = FastMCP("echo_env")

        @mcp.tool
        def echo_message(message: str) -> str:
            """Echo the message."""
            return message

        super().__init__(mcp)

    def reset(self, seed=None, episode_id=None, **kwargs):
        return Observation()

    def _step_impl(self, action, timeout_s=None, **kwargs):
        return Observation()

    @property
    def state(self):
        return State()


kinds = {"tool": (Tool, CallToolAction, CallToolObservation), "plain": (Plain, Said, Heard)}
app = create_fastapi_app(*kinds[sys.argv[1]], max_concurrent_envs=1 << 16)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning", ws_ping_interval=None)
'''

_ECHO = '''
from verigym.env import Draft, Env, Transition
from verigym.verdict import scored
from verigym.verifier import Verifier


class Nothing(Verifier):
    id = "echo/nothing"
    version = 1

    def judge(self, task, submission):
        return scored(1.0, "heard")


class Echo(Env):
    """Says what it hears."""

    id = "verigym/echo/echo-v0"
    verifier_id = "echo/nothing"
    difficulties = ("one", "two", "three")

    def generate(self, rng, level):
        number = int(rng.integers(10**6))
        return Draft(prompt=f"Speak. {number}", reference=number)

    def initial(self, task):
        return ""

    def observe(self, state):
        return state

    def transition(self, state, action):
        return Transition(state=action)

    def key(self, state):
        return state

    def turns_allowed(self, task):
        return 10**9

    def solve(self, state):
        return ""
'''


_OWN_CLIENT = """
import json
import sys
import time

from openenv.core.generic_client import GenericEnvClient

url, seconds, warm = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
with GenericEnvClient(base_url=url).sync() as client:
    client.reset()
    times = []
    began = time.perf_counter()
    while (before := time.perf_counter()) < began + warm + seconds:
        client.step({"message": "hello"})
        if before > began + warm:
            times.append(time.perf_counter() - before)
    spent = time.process_time()
    for _ in range(1000):
        client.step({"message": "hello"})
    spent = time.process_time() - spent
times.sort()
print(json.dumps({
    "client_cpu_ms": round(spent, 4),
    "steps_per_s": round(len(times) / seconds, 1),
    "p50_ms": round(times[len(times) // 2] * 1e3, 3),
    "p99_ms": round(times[int(len(times) * 0.99)] * 1e3, 3),
}))
"""


class Client(Socket):
    """Steps as fast as it is answered."""

    def __init__(self, kind: str, port: int, tally: Tally) -> None:
        super().__init__(port, "/v1/ws" if kind.startswith("verigym") else "/ws")
        self.kind = kind
        self.tally = tally
        self.session = b""
        self.seq = 0
        self.sent = 0.0

    def begin(self) -> None:
        if self.kind in _ENVS:
            ask = {"op": "create", "env": _ENVS[self.kind], "seed": 1}
            self.say(json.dumps({**ask, "params": {"max_turns": 10**9}}).encode())
        else:
            self.say(b'{"type":"reset","data":{}}')

    def say(self, body: bytes) -> None:
        self.sent = time.perf_counter()
        super().say(body)

    def hear(self, body: bytes) -> None:
        if self.seq:
            # Not decoded: the client must not be what is measured.
            good = _GOOD[self.kind].replace(b"N", b"%d" % self.seq) in body
            self.tally.heard(time.perf_counter() - self.sent, good)
        elif self.kind in _ENVS:
            self.session = json.loads(body)["ok"]["sessions"][0]["session"].encode()
        self.seq += 1
        if not self.tally.over:
            self.say(_STEP[self.kind].replace(b"N", b"%d" % self.seq).replace(b"@", self.session))


_ENVS = {"verigym": "echo/echo-v0", "verigym keydoor": "games/keydoor-v0"}
_STEP = {
    "verigym": b'{"op":"step","session":"@","seq":N,"action":"hello N"}',
    "verigym keydoor": b'{"op":"step","session":"@","seq":N,"action":"left"}',
    "openenv plain": b'{"type":"step","data":{"message":"hello N"}}',
    "openenv tool": b'{"type":"step","data":{"type":"call_tool","tool_name":"echo_message",'
    b'"arguments":{"message":"hello N"}}}',
    "canned": b'{"type":"step","data":{"message":"hello N"}}',
}
_GOOD = {
    "verigym": b'"observation":"hello N"',
    "verigym keydoor": b'"seq":N,"observation"',
    "openenv plain": b'"echoed_message":"hello N"',
    "openenv tool": b'"hello N"',
    "canned": b'"canned"',
}


class Tally:
    """Answers received; `over` once no further request is to be sent."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.failed = 0
        self.over = False

    def heard(self, seconds: float, good: bool) -> None:
        self.times.append(seconds)
        self.failed += not good


async def load(kind: str, port: int, clients: int, seconds: float, pid: int) -> dict[str, Any]:
    """Step for `seconds` with `clients` at once."""
    loop = asyncio.get_running_loop()
    tally = Tally()
    everyone = []
    for _ in range(clients):
        _, client = await loop.create_connection(
            lambda: Client(kind, port, tally), "127.0.0.1", port
        )
        everyone.append(client)
    while not all(client.seq for client in everyone):
        await asyncio.sleep(0.05)
    await asyncio.sleep(WARM_S)
    tally.times.clear()
    began, busy = time.perf_counter(), processor_s(pid)
    await asyncio.sleep(seconds)
    took, busy = time.perf_counter() - began, processor_s(pid) - busy
    times = sorted(tally.times)
    tally.over = True
    await asyncio.sleep(0.3)
    for client in everyone:
        client.transport.abort()
    return {
        "steps_per_s": round(len(times) / took, 1),
        "p50_ms": round(times[len(times) // 2] * 1e3, 3) if times else None,
        "p99_ms": round(times[int(len(times) * 0.99)] * 1e3, 3) if times else None,
        "server_cpu_ms": round(busy / max(1, len(times)) * 1e3, 4),
        "failed": tally.failed,
    }


def processor_s(pid: int) -> float:
    """Seconds of processor time of a process and all below it so far, by the scheduler's own account."""
    spent = 0
    for each in tree(pid):
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{each}/task"):
                text = Path(f"/proc/{each}/task/{thread}/schedstat").read_text()
                spent += int(text.split()[0])
    return spent / 1e9


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{parent}/task"):
                children = Path(f"/proc/{parent}/task/{thread}/children").read_text()
                found += [int(child) for child in children.split()]
    return found


@contextlib.contextmanager
def serving(kind: str, folder: Path, openenv_python: str) -> Iterator[tuple[int, int]]:
    """A server of `kind`: its port and its pid."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    if kind.startswith("verigym"):
        command = [
            *(sys.executable, "-P", "-m", "verigym", "serve", "--port", str(port)),
            *("--verifiers", "none", "--envs", "echo,games/keydoor-v0", "--workers", "1"),
        ]
        env = {**os.environ, "PYTHONPATH": str(folder)}
    elif kind == "canned":
        command = [sys.executable, str(Path(__file__).with_name("canned_server.py")), str(port)]
        env = dict(os.environ)
    else:
        command = [openenv_python, str(folder / "openenv_echo.py"), kind.split()[1], str(port)]
        env = dict(os.environ)
    with open(folder / "server.log", "ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=env)
        try:
            until = time.monotonic() + START_S
            while True:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                if process.poll() is not None or time.monotonic() > until:
                    sys.exit((folder / "server.log").read_text())
                time.sleep(0.1)
            yield port, process.pid
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def prepare(folder: Path, openenv_python: str | None) -> str:
    """Write the environments into `folder`; an interpreter that has OpenEnv."""
    (folder / "openenv_echo.py").write_text(_OPENENV)
    (folder / "echo_envs.py").write_text(_ECHO)
    info = folder / "echo-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: echo\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        '[verigym.envs]\n"echo/echo-v0" = echo_envs:Echo\n'.replace('"', "")
        + "[verigym.verifiers]\necho/nothing = echo_envs:Nothing\n"
    )
    if openenv_python is not None:
        return openenv_python
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = str(folder / "venv" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "openenv-core"], check=True)
    return python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--clients", type=int, nargs="*", default=CLIENTS)
    parser.add_argument(
        "--kinds",
        nargs="*",
        default=["verigym", "openenv tool", "openenv plain", "verigym keydoor", "canned"],
    )
    parser.add_argument("--openenv-python", help="an interpreter with openenv-core")
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--precedence", type=int, default=0, help="of autogroups, as nice: -20 to 19"
    )
    # The client is this file again, in a process of its own.
    parser.add_argument("--client", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.client:
        kind, port, clients, pid = given.client
        import uvloop

        print(json.dumps(uvloop.run(load(kind, int(port), int(clients), given.seconds, int(pid)))))
        return 0
    runs: dict[str, dict[int, list[dict[str, Any]]]] = {}
    own_client: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        python = prepare(folder, given.openenv_python)
        servers = {kind: stack.enter_context(serving(kind, folder, python)) for kind in given.kinds}
        if given.precedence:
            time.sleep(START_S / 10)  # the processes of environments start in the background
            for each in (os.getpid(), *(pid for _, top in servers.values() for pid in tree(top))):
                Path(f"/proc/{each}/autogroup").write_text(str(given.precedence))
        for turn, kind in itertools.product(range(given.repeats), given.kinds):
            port, pid = servers[kind]
            for clients in given.clients:
                call = ("--client", kind, str(port), str(clients), str(pid))
                said = subprocess.run(
                    [sys.executable, __file__, "--seconds", str(given.seconds), *call],
                    stdout=subprocess.PIPE,
                    check=True,
                ).stdout
                run = json.loads(said)
                runs.setdefault(kind, {}).setdefault(clients, []).append(run)
                print(turn, kind, clients, run, file=sys.stderr, flush=True)
            if kind in _OWN_URL:
                url = f"http://127.0.0.1:{port}{_OWN_URL[kind]}"
                call = ("-c", _OWN_CLIENT, url, str(given.seconds), str(WARM_S))
                said = subprocess.run([python, *call], stdout=subprocess.PIPE, check=True).stdout
                own_client.setdefault(kind, []).append(json.loads(said))
                print(turn, kind, "OpenEnv's client", said, file=sys.stderr, flush=True)
    report = {**summary(runs, given), "own_client": of_own_client(own_client)}
    text = json.dumps(report, indent=2)
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(text + "\n")
    print(text)
    return 0 if report["ok"] else 1


def of_own_client(runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Medians of OpenEnv's own client, and our rate divided by that of OpenEnv's server.

    `limit` is the ratio that a server would reach which answers at once.
    """
    medians: dict[str, Any] = {
        kind: {name: statistics.median(run[name] for run in each) for name in each[0]}
        for kind, each in runs.items()
    }
    if len(medians) == len(_OWN_URL):
        ours, theirs, canned = (medians[kind]["steps_per_s"] for kind in _OWN_URL)
        medians.update(ratio=round(ours / theirs, 2), limit=round(canned / theirs, 2))
    return medians


def summary(
    runs: dict[str, dict[int, list[dict[str, Any]]]], given: argparse.Namespace
) -> dict[str, Any]:
    """Medians and spreads, the ratios to OpenEnv, and whether the bar is passed."""
    kinds: dict[str, Any] = {}
    for kind, by_clients in runs.items():
        for clients, each in by_clients.items():
            rates = [run["steps_per_s"] for run in each]
            kinds.setdefault(kind, {})[str(clients)] = {
                "steps_per_s": statistics.median(rates),
                "least": min(rates),
                "most": max(rates),
                **{
                    name: statistics.median(run[name] or 0.0 for run in each)
                    for name in ("p50_ms", "p99_ms", "server_cpu_ms")
                },
                "failed": sum(run["failed"] for run in each),
            }
    ours = kinds.get("verigym", {})
    others = {kind: each for kind, each in kinds.items() if kind.startswith("openenv") and ours}
    ratios, limits = (
        {other: quotients(over, each, "steps_per_s") for other, each in others.items()}
        for over in (ours, kinds.get("canned", {}))
    )
    failed = sum(each["failed"] for kind in ("verigym",) for each in kinds.get(kind, {}).values())
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "load": round(os.getloadavg()[0], 1),
        "seconds": given.seconds,
        "repeats": given.repeats,
        "kinds": kinds,
        "ratios": ratios,
        "ratios_of_a_canned_server": limits,
        "ratios_of_server_cpu": {
            other: quotients(each, ours, "server_cpu_ms") for other, each in others.items()
        },
        "ok": not failed
        and all(ratio is None or ratio >= BAR for ratio in ratios.get("openenv tool", {}).values()),
    }


def quotients(over: dict[str, Any], under: dict[str, Any], name: str) -> dict[str, float | None]:
    """`name` of the one by that of the other, by clients; None where the other got no step done at all."""
    return {
        clients: round(over[clients][name] / each[name], 2) if each[name] else None
        for clients, each in under.items()
        if clients in over
    }


if __name__ == "__main__":
    sys.exit(main())
