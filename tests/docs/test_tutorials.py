"""The tutorials work: their files are written, their commands and programs run, in the order of the page.

Blocks `sh gpu` are left out: the pages say that they were not run.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)[ ]?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = ("python", "js", "toml", "json", "bash")
ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "verigym-peers"
PEERS = {"with-trl": "trl", "with-verl": "verl", "with-prime": "prime"}
"""Pages that use a package of others, and its virtual environment."""
SMALL = {
    'device = "cuda"': 'device = "cpu"',
    'dtype = "bfloat16"': 'dtype = "float32"',
    "max_new_tokens = 256": "max_new_tokens = 2",
}
"""Changes to the page for a GPU that let a CPU read its configuration."""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def put_small_model(folder):
    """Put a small model in place of one that is downloaded."""
    pytest.importorskip("torch")
    from verigym.trainers import tiny

    tiny.build(folder, seed=1)


def search_path(page):
    """Return PATH for a page: our own commands, and those of its package, which has Verigym beside it."""
    places = [Path(sys.executable).parent]
    if name := PEERS.get(page.stem):
        peer = CACHE / name / "bin"
        if not peer.exists():
            pytest.skip(f"make peers-{name} installs the package")
        # Prime's programs take a package that pip has installed; the other pages run Python with theirs.
        places = [*places, peer] if name == "prime" else [peer]
    return ":".join([*map(str, places), os.environ["PATH"]])


def variables_for(page, folder):
    """Return the environment variables of a page; `pip install` goes to a folder of its own."""
    found = {
        **os.environ,
        "PATH": search_path(page),
        "XDG_STATE_HOME": str(folder / "state"),
        "OMP_NUM_THREADS": "1",
    }
    if page.stem in PEERS:
        site = folder / "site"
        found |= {"PYTHONPATH": f"{site}:{ROOT / '.types'}", "PYTHONDONTWRITEBYTECODE": "1"}
        found |= {"HF_HUB_OFFLINE": "1", "TRL_EXPERIMENTAL_SILENCE": "1"}
        found |= {"PIP_TARGET": str(site), "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1"}
        found |= {
            "PIP_NO_BUILD_ISOLATION": "0"
        }  # sic: pip reads it as the value of --build-isolation
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_works_from_top_to_bottom(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    if "node " in text and shutil.which("node") is None:
        pytest.skip("the page runs JavaScript, and node is not here")
    text = text.replace("localhost:8080", f"127.0.0.1:{free_port()}")
    port = re.search(r"127\.0\.0\.1:(\d+)", text)
    if port:
        text = text.replace("--port 8080", f"--port {port[1]}")
    if page.stem == "train-on-one-gpu":
        for key, small in SMALL.items():
            assert key in text
            text = text.replace(key, small)
        put_small_model(tmp_path / "Qwen3-0.6B")
    variables = variables_for(page, tmp_path)
    running, program = [], ""
    try:
        for kind, name, content in BLOCK.findall(text):
            if kind == "sh" and name == "background":
                running.append(
                    subprocess.Popen(
                        ["bash", "-c", content],
                        cwd=tmp_path,
                        env=variables,
                        start_new_session=True,
                    )
                )
            elif kind == "sh" and name != "gpu":
                run(["bash", "-euo", "pipefail", "-c", content], tmp_path, variables)
            elif kind in FILES and name:
                (tmp_path / name).write_text(content, encoding="utf-8")
            elif kind == "python":
                program += content
                python = shutil.which("python", path=variables["PATH"])
                run([python, "-P", "-c", program], tmp_path, variables)
    finally:
        for process in running:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def run(command, folder, variables):
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
