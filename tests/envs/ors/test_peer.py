"""The package openreward: its client with our server, and its server with our client (`make peers-trl`)."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from verigym.envs.ors.env import server_env
from verigym.server.process import ServerProcess

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
PYTHON = CACHE / "verigym-peers" / "trl" / "bin" / "python"
HERE = Path(__file__).parent

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="make peers-trl installs openreward"),
]


def clean(**more):
    """An environment of few variables, in which the package asks nobody for updates."""
    return {"PATH": os.environ["PATH"], "OPENREWARD_DISABLE_UPDATE_CHECK": "1", **more}


def test_the_real_client_plays_our_server():
    with ServerProcess(
        envs=["games/keydoor-v0", "math/arithmetic-v0"], workers=1, options=["--ors"]
    ) as server:
        done = subprocess.run(
            [PYTHON, "-P", HERE / "client_program.py", server.url],
            env=clean(OPENREWARD_SESSION_URL=server.url, OPENREWARD_API_URL=server.url),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "played"


@pytest.fixture
def their_server():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen([PYTHON, "-P", HERE / "server_program.py", str(port)], env=clean())
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"{url}/health", timeout=2).close()
                break
            except (urllib.error.URLError, OSError):
                assert process.poll() is None
                time.sleep(0.2)
        yield url
    finally:
        process.kill()
        process.wait()


def test_our_client_plays_the_real_server(their_server):
    with server_env(their_server, "corridor")() as env:
        prompt, _ = env.reset(seed=5)
        assert "task 1" in prompt
        assert '"move"' in prompt
        call = (
            '<tool_call>{"name": "move", "arguments": {"direction": "up", "steps": 1}}</tool_call>'
        )
        assert env.step(call)[:3] == ("moved up", 0.0, False)
        there = env.snapshot()
        view, reward, terminated, _, info = env.step(call)
        assert (reward, terminated) == (1.0, True)
        assert "over" in view  # not the same text again
        assert info["verdict"].reason == "reported"
        env.restore(there)
        assert env.step(call)[1] == 1.0
        env.reset(seed=0)
        wrong = env.step('<tool_call>{"name": "move", "arguments": {"direction": 1}}</tool_call>')
        assert (wrong[1], wrong[4]["valid_action"]) == (0.0, False)
        assert env.step("no call at all")[4]["valid_action"] is False
