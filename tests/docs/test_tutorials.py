"""The tutorials work: their files are written, their commands and programs run, in the order of the page."""

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
FILES = ("python", "js", "toml", "json")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


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
    variables = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "OMP_NUM_THREADS": "1",
    }
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
            elif kind == "sh":
                run(["bash", "-euo", "pipefail", "-c", content], tmp_path, variables)
            elif kind in FILES and name:
                (tmp_path / name).write_text(content, encoding="utf-8")
            elif kind == "python":
                program += content
                run([sys.executable, "-P", "-c", program], tmp_path, variables)
    finally:
        for process in running:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def run(command, folder, variables):
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
