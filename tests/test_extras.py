"""Each extra alone: the wheel with it, in an environment with nothing else, does what the extra is for.

`make test-extras` runs it, for the Python that VERIGYM_EXTRAS_PYTHON names: it installs gigabytes from the package index.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHON = os.environ.get("VERIGYM_EXTRAS_PYTHON") or sys.executable
PLAY = """
import verigym

def play(name, **options):
    with verigym.make(name, **options) as env:
        env.reset(seed=1)
        over, reward = False, 0.0
        while not over:
            _, reward, terminated, truncated, _ = env.step(env.oracle())
            over = terminated or truncated
        assert reward == 1.0, (name, reward)

def step(name, action=None):
    with verigym.make(name) as env:
        _, info = env.reset(seed=1)
        assert env.step(action or info["legal_actions"][0])[4]["valid_action"]

def judge(verifier, reference, reply, **params):
    from verigym import Task, make_verifier
    named = dict(id="1", env_id="mine/one", seed=0, prompt="?", difficulty="easy", split="train")
    task = Task(reference=reference, **named)
    verdict = make_verifier(verifier, **params).verify(task, reply)
    assert verdict.score == 1.0, verdict
"""
TRAIN = '''
import subprocess, sys
from pathlib import Path
Path("t.toml").write_text("""
name = "t"
[env]
id = "games/keydoor"
difficulty = "tiny"
[policy]
model = "tiny"
max_new_tokens = 2
show_task = false
[warmup]
episodes = 4
[train]
steps = 1
groups = 2
group_size = 2
[eval]
every = 1
episodes = 2
""" + MORE)
for command in (["train", "t.toml", "--out", "run"], ["verify-run", "run"], ["report", "run"]):
    subprocess.run([str(Path(sys.executable).with_name("verigym")), *command], check=True)
assert Path("run/report.html").stat().st_size > 10_000
'''
NEAR = '''
import json, subprocess, sys
from pathlib import Path
rows = [{"question": f"What is {n} times seven, in words and in digits, please?", "answer": str(7 * n)} for n in range(3)]
Path("rows.jsonl").write_text("".join(json.dumps(row) + "\\n" for row in rows))
Path("t.toml").write_text("""
id = "verigym/mine/t-v0"
verifier = "qa/answer"
[source]
path = "rows.jsonl"
[fields]
prompt = "{question}"
reference = { answer = "{answer}" }
""")
subprocess.run([str(Path(sys.executable).with_name("verigym")), "dataset", "t.toml"], check=True)
'''
MCP = """
import asyncio
from mcp import Client
from verigym.envs.tools.mcp_server import serve

env = verigym.make("games/keydoor")
env.reset(seed=1)

async def moved():
    async with Client(serve(env)) as client:
        return await client.call_tool("act", {"action": env.oracle()})

assert asyncio.run(moved()).structured_content["reward"] == 0.0
"""
PROGRAMS = {
    "": "play('keydoor'); play('math/countdown'); play('code/functions'); play('search/lookup')",
    "server": """
from verigym.server.process import ServerProcess
with ServerProcess(verifiers=["games"], workers=1) as server:
    play("keydoor", verifier=server.url)
""",
    "otel": "import opentelemetry.sdk.trace, opentelemetry.exporter.otlp.proto.http",
    "train": TRAIN.replace("MORE", '""'),
    "lora": TRAIN.replace("MORE", repr("\n[policy.lora]\nrank = 2\n")),
    "wandb": TRAIN.replace("MORE", repr('\n[log]\nwandb = "offline"\n')),
    "math": """
judge("math/answer", {"answer": "1/2"}, "It is \\\\boxed{0.5}.")
judge("math/math-verify", {"answer": "1/2"}, "It is \\\\boxed{0.5}.")
""",
    "sql": "play('sql/questions'); play('sql/tables')",
    "postgres": "import psycopg; psycopg.pq.version()",
    "schema": """
judge("text/schema", {"kind": "json", "schema": {"type": "object", "required": ["a"]}}, '{"a": 1}')
""",
    "text": "import py3langid; assert py3langid.classify('This is a plain English sentence.')[0] == 'en'",
    "dataset": NEAR,
    "hub": "import datasets; assert len(datasets.Dataset.from_list([{'a': 1}])) == 1",
    "mcp": MCP,
    "minigrid": "step('minigrid/Empty', 'forward')",
    "openspiel": "step('openspiel/tic_tac_toe')",
    "reasoning-gym": "play('reasoning-gym/chain_sum')",
    "textarena": "step('textarena/TicTacToe', '[4]')",
    "textworld": "play('textworld/coins')",
    "tinker": "import os; os.environ['TINKER_API_KEY'] = 'tml-none'; from verigym.agents.engines.tinker import import_sdk; import_sdk()",
    "docker": "import docker.errors, verigym.sandbox.docker.engine",
    "remote": "import websockets, verigym.sandbox.remote",
    "bench": "import matplotlib.pyplot",
    "browser": "play('web/forms', browser='chromium')",
    "docs": "import furo, myst_parser, sphinx",
}
"""Programs that need what the extra installs; the empty name is the wheel alone."""
BESIDE = {"lora": "train", "wandb": "train"}
"""Extras that add to another one."""
ELSEWHERE = {"vllm": "make test-vllm", "ray": "make test-ray", "dev": "make test"}
NEEDS_TORCH = {"train", "lora", "wandb"}
"""Extras for which this machine has packages for Python 3.11 alone."""
PROGRAM_NEEDED = {"browser": "chromium"}


def test_every_extra_is_tried():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = set(tomllib.loads(text)["project"]["optional-dependencies"])
    assert extras == (set(PROGRAMS) | set(ELSEWHERE)) - {""}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel of this tree."""
    source = tmp_path_factory.mktemp("wheel") / "source"
    ignored = shutil.ignore_patterns(
        ".*", "tests", "docs", "runs", "results", "build", "*.egg-info"
    )
    shutil.copytree(ROOT, source, symlinks=True, ignore=ignored)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "."]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    (found,) = (source / "dist").glob("*.whl")
    return found


@pytest.mark.slow
@pytest.mark.net
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("extra", PROGRAMS)
def test_an_extra_works_alone(extra, wheel, tmp_path):
    version = subprocess.run([PYTHON, "-V"], capture_output=True, text=True, check=True).stdout
    if extra in NEEDS_TORCH and "3.11." not in version:
        pytest.skip("torch for the CPU is here for Python 3.11 alone")
    if extra in PROGRAM_NEEDED and not shutil.which(PROGRAM_NEEDED[extra]):
        pytest.skip(f"no {PROGRAM_NEEDED[extra]}")
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    asked = ",".join(filter(None, (BESIDE.get(extra), extra)))
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
    target = f"{wheel}[{asked}]" if asked else str(wheel)
    clean = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    index = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    run([*pip, "--constraint", ROOT / "constraints.txt", target], tmp_path, clean | index)
    run([python, "-I", "-c", PLAY + PROGRAMS[extra]], tmp_path, clean)


def run(command, folder, variables):
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
