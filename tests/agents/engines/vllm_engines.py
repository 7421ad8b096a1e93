"""The real vLLM on CPU, as a child of the test and as a server."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time

import httpx2

from verigym.agents.engines.vllm import VllmSampler
from verigym.agents.engines.vllm_process import WORKER, ProcessLink
from verigym.agents.engines.vllm_server import ServerLink


def start_process(
    folder, *, transfer="gloo", worker=WORKER, dtype="float32", deadline_s=120.0, **options
):
    """A sampler on a child of this process."""
    link = ProcessLink(
        folder,
        dtype=dtype,
        transfer=transfer,
        max_sequences=16,
        cache_gib=0.25,
        deadline_s=deadline_s,
        start_deadline_s=600.0,
        worker_extension_cls=worker,
        **options,
    )
    return VllmSampler(link, folder, dtype=dtype, transfer=transfer, deadline_s=deadline_s)


class ServedSampler(VllmSampler):
    """A sampler with a server of its own, which ends with it."""

    server = None

    def close(self):
        super().close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.server.pid, signal.SIGKILL)  # its engine and worker, too
        self.server.wait()


def start_server(folder, port, *, transfer="gloo", worker=WORKER):
    """Start the server; return its process when it answers."""
    server = subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-m",
            "vllm.entrypoints.openai.api_server",
            *("--model", str(folder), "--host", "127.0.0.1", "--port", str(port)),
            *("--dtype", "float32", "--enforce-eager", "--max-num-seqs", "16"),
            *("--kv-cache-memory-bytes", str(1 << 28), "--generation-config", "vllm"),
            *("--logprobs-mode", "processed_logprobs", "--enable-scale-out"),
            *("--weight-transfer-config", f'{{"backend": "{transfer}"}}'),
            *("--worker-extension-cls", worker),
        ],
        env={
            **os.environ,
            "VLLM_SERVER_DEV_MODE": "1",
            "HF_HUB_OFFLINE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "VLLM_HOST_IP": "127.0.0.1",
            "VLLM_CPU_OMP_THREADS_BIND": "nobind",
            "VLLM_LOGGING_LEVEL": "WARNING",
        },
        start_new_session=True,
    )
    until = time.monotonic() + 600
    with httpx2.Client(trust_env=False) as client:
        while True:
            try:
                if client.get(f"http://127.0.0.1:{port}/health").status_code == 200:
                    return server
            except httpx2.HTTPError:
                if server.poll() is not None or time.monotonic() > until:
                    raise
            time.sleep(0.5)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start(kind, folder):
    """A sampler by the name of its kind."""
    if kind != "vllm-server":
        ways = [way for way in ("disk", "delta") if way in kind]
        return start_process(folder, transfer=[*ways, "gloo"][0])
    port = free_port()
    server = start_server(folder, port)
    link = ServerLink(f"http://127.0.0.1:{port}", deadline_s=120.0)
    sampler = ServedSampler(link, folder, dtype="float32", transfer="gloo", deadline_s=120.0)
    sampler.server = server
    return sampler
