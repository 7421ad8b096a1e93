"""Missing packages are named with the command that installs them, and without a traceback."""

import json
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from verigym.missing import EXTRA_OF, explain

ROOT = Path(__file__).parents[2]
CORE = (
    "bm25s",
    "gymnasium",
    "httpx2",
    "msgspec",
    "numpy",
    "pydantic",
    "rich",
    "typer",
    "typing_extensions",
)

HIDE = textwrap.dedent(
    """
    import importlib.abc, os, sys

    class Hidden(importlib.abc.MetaPathFinder):
        names = set(os.environ["HIDDEN"].split())

        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in self.names:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    sys.meta_path.insert(0, Hidden())

    import shutil  # programs, too

    which = shutil.which
    shutil.which = lambda name, *rest, **options: (
        None if name in Hidden.names else which(name, *rest, **options)
    )
    """
)


@pytest.fixture(scope="session")
def hidden(tmp_path_factory):
    """A folder whose sitecustomize hides packages, in every process that is started with it."""
    folder = tmp_path_factory.mktemp("hidden")
    (folder / "sitecustomize.py").write_text(HIDE)
    return folder


def without(hidden, names, *command):
    """A run of the command line where `names` are not installed."""
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(hidden),
        "XDG_STATE_HOME": str(hidden),
        "PYTHONPATH": str(hidden),
        "HIDDEN": " ".join(names),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(
        [sys.executable, *command],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def verigym_(hidden, names, *words):
    return without(hidden, names, "-c", "from verigym.cli.main import run; run()", *words)


def test_every_extra_is_one_that_there_is():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert set(EXTRA_OF.values()) <= set(extras)


def test_every_package_that_is_imported_is_core_or_of_an_extra():
    imported = set()
    for folder in ("verigym", "verifiers", "envs", "agents", "trainers", "server", "sandbox"):
        for file in (ROOT / folder).rglob("*.py"):
            if {"selfcheck", "new"} & set(file.parts):
                continue
            for name in re.findall(r"^\s*(?:from|import) (\w+)", file.read_text(), re.MULTILINE):
                imported.add(name)
    prose = {
        "a",
        "an",
        "the",
        "it",
        "its",
        "that",
        "which",
        "one",
        "them",
        "this",
        "where",
        "there",
    }
    third = imported - set(sys.stdlib_module_names) - {"verigym", "__future__"} - prose
    found = {name for name in third if is_installed(name)}
    assert found <= {*EXTRA_OF, *CORE}, found - {*EXTRA_OF, *CORE}


def is_installed(name):
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def test_what_no_extra_brings_stays_a_bug():
    assert explain(ModuleNotFoundError("x", name="my_plugin_s_library")) is None
    assert "verigym[sql]" in str(explain(ModuleNotFoundError("x", name="sqlglot.optimizer")))


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "words", "wanted"),
    [
        ("sqlglot duckdb", ("run", "sql/questions", "-n", "1"), "verigym[sql]"),
        slow("sqlglot duckdb", ("run", "sql/explore", "-n", "1"), "verigym[sql]"),
        slow("duckdb", ("run", "sql/scale", "-n", "1"), "verigym[sql]"),
        slow("sqlglot duckdb", ("check", "sql/questions", "--seeds", "2"), "verigym[sql]"),
        slow("sqlglot duckdb", ("play", "sql/questions"), "verigym[sql]"),
        slow("sqlglot duckdb", ("audit", "sql/query"), "verigym[sql]"),
        slow("jsonschema_rs", ("run", "tools/call", "-n", "1"), "verigym[schema]"),
        slow("textarena", ("run", "textarena/TicTacToe", "-n", "1"), "verigym[textarena]"),
        ("fastapi starlette uvicorn", ("serve",), "verigym[server]"),
        slow("uvicorn", ("serve",), "verigym[server]"),
        slow("prometheus_client", ("serve",), "verigym[server]"),
        ("torch transformers", ("train", "config.toml"), "verigym[train]"),
        slow(
            "transformers", ("run", "keydoor", "--policy", "hf:model", "-n", "1"), "verigym[train]"
        ),
        slow("psycopg", ("serve", "--store", "postgresql://h/d"), "verigym[postgres]"),
        slow("opentelemetry", ("serve", "--trace"), "verigym[otel]"),
    ],
)
def test_commands_say_what_to_install(hidden, tmp_path, names, words, wanted):
    words = [str(config(tmp_path)) if word == "config.toml" else word for word in words]
    done = verigym_(hidden, names.split(), *words)
    said = done.stdout + done.stderr
    assert done.returncode in (2, 3), said
    assert "Traceback" not in said
    assert wanted in said.replace("\n", "")


def config(folder):
    path = folder / "config.toml"
    path.write_text('[env]\nid = "keydoor"\n')
    return path


@pytest.mark.slow
def test_a_toolchain_that_is_not_here_is_named_at_once(hidden):
    for words in (("run", "code/verilog", "-n", "2"), ("check", "code/verilog", "--seeds", "2")):
        done = verigym_(hidden, ("iverilog", "vvp"), *words)
        said = done.stdout + done.stderr
        assert done.returncode in (2, 3), said
        assert "apt-get install iverilog" in said.replace("\n", " ")
        assert "Traceback" not in said
        assert "perl" not in said


SERVICE = """
import json, sys, urllib.request
from verigym.server.process import ServerProcess
task = {"id": "t", "env_id": "e", "seed": 1, "prompt": "p", "difficulty": "d",
        "reference": {"query": "SELECT 1", "schema": {"tables": {"r": {"a": "INT"}}}}}
def ask(url, verifier, params):
    body = {"verifier": verifier, "task": task, "submission": "SELECT 1", "params": params}
    request = urllib.request.Request(url + "/v1/verify", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=60))
with ServerProcess(verifiers=["sql", "compose"], workers=1) as server:
    child = {"of": [{"verifier": "sql/query"}]}
    print(json.dumps([ask(server.url, "sql/query", {}), ask(server.url, "compose/all", child)]))
"""


@pytest.mark.slow
def test_a_service_gives_a_fault_that_says_what_to_install(hidden):
    done = without(hidden, ("sqlglot", "duckdb"), "-c", SERVICE)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for verdict in json.loads(done.stdout):
        assert (verdict["status"], verdict["score"]) == ("verifier_error", None)
        assert verdict["reason"] == "not_installed"
        assert "pip install 'verigym[sql]'" in verdict["evidence"]


IN_PROCESS = """
import verigym
from verigym import Task
try:
    verigym.make_verifier("sql/query")
except verigym.RequestError as error:
    print(error)
try:
    verigym.make("sql/questions").reset(seed=0)
except verigym.RequestError as error:
    print(error)
task = Task(id="t", env_id="e", seed=0, prompt="p", difficulty="d", reference={"kind": "json", "schema": {"type": "object"}})
print(verigym.make_verifier("text/schema").verify(task, "{}"))
"""


def test_in_a_program_it_is_an_error_of_this_package(hidden):
    done = without(hidden, ("sqlglot", "duckdb", "jsonschema_rs"), "-c", IN_PROCESS)
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert "pip install 'verigym[sql]'" in first
    assert "pip install 'verigym[sql]'" in second
    assert "not_installed" in third
    assert "pip install 'verigym[schema]'" in third


def test_a_device_that_is_not_here_is_named(tmp_path):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    from verigym import RequestError
    from verigym.agents.policies.hf import HFPolicy
    from verigym.trainers import tiny

    tiny.build(tmp_path / "model", seed=0)
    for device, wanted in (
        ("cuda", "pip install torch"),
        ("cuda:7", "'cpu'"),
        ("gpu", "cpu, cuda"),
    ):
        with pytest.raises(RequestError, match=wanted):
            HFPolicy.load(tmp_path / "model", device=device, max_new_tokens=4)
