"""SkyRL's server of the Tinker protocol, started on CPU from the virtual environment of `make peers-tinker`."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PYTHON = os.environ.get("VERIGYM_TINKER_PYTHON", "")
# The server insists on a parent process `uv run`, and starts its engine by it.
_UV = """#!/bin/bash
shift; while [ "$1" != "-m" ]; do shift; done
{python} "$@" & child=$!
trap 'kill -TERM $child' TERM INT; wait $child
"""
# On Python 3.11 its pydantic refuses the TypedDict of the standard library.
_SITE = "import typing, typing_extensions; typing.TypedDict = typing_extensions.TypedDict\n"


@dataclass(frozen=True)
class Server:
    """A running server: its address, the model's folder and where it keeps checkpoints."""

    url: str
    model: Path
    checkpoints: Path
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """End the server and its engine at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """End the server."""
        if self.process.poll() is None:
            self.kill()


@contextmanager
def serve(folder: Path, model: Path) -> Iterator[Server]:
    """Start a server of `model` that keeps its files in `folder`."""
    for name, text in (("bin/uv", _UV.format(python=PYTHON)), ("site/sitecustomize.py", _SITE)):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        path.chmod(0o755)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # A row at a time: the server compiles each new shape for half a minute.
    backend = {
        "max_lora_adapters": 8,
        "max_lora_rank": 8,
        "train_micro_batch_size": 1,
        "sample_max_num_sequences": 8,
    }
    command = [
        *("uv", "run", "-m", "skyrl.tinker.api", "--backend", "jax", "--base-model", str(model)),
        *("--backend-config", json.dumps(backend), "--host", "127.0.0.1", "--port", str(port)),
        *("--database-url", f"sqlite:///{folder}/tinker.db", "--checkpoints-base", f"{folder}/ck"),
    ]
    env = {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "PYTHONPATH": str(folder / "site"),
        "HF_HUB_OFFLINE": "1",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
        "OMP_NUM_THREADS": "1",
        # Compiling the shapes of these tests takes minutes, and they are the same each time.
        "JAX_COMPILATION_CACHE_DIR": str(Path(PYTHON).parents[1] / "jax-cache"),
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, env=env, stdout=log, stderr=log, cwd=folder, start_new_session=True
        )
    server = Server(f"http://127.0.0.1:{port}", model, folder / "ck", process)
    try:
        _wait(server, folder / "log")
        yield server
    finally:
        server.close()


def _wait(server: Server, log: Path, limit_s: float = 300.0) -> None:
    end = time.monotonic() + limit_s
    while time.monotonic() < end and server.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/api/v1/healthz", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise AssertionError(f"the server did not start: {log.read_text()[-3000:]}")
