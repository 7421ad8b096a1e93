"""Refusals of the links to vLLM and of the configuration, without vLLM."""

from __future__ import annotations

import multiprocessing
import socket
import subprocess
import sys
import time

import pytest

from tests.agents.engines.engine_kinds import HAS_VLLM, build_folder
from verigym import ConfigError
from verigym.agents.engines.sampler import EngineDead
from verigym.agents.engines.vllm import VllmSampler
from verigym.agents.engines.vllm_process import ProcessLink, _kill
from verigym.agents.engines.vllm_server import ServerLink
from verigym.errors import MissingError, RequestError
from verigym.trainers.config import parse_config


@pytest.mark.skipif(HAS_VLLM, reason="vLLM is installed")
def test_a_missing_vllm_is_named_with_the_way_to_get_it(tmp_path):
    with pytest.raises(MissingError, match="make vllm"):
        ProcessLink(
            tmp_path,
            dtype="float32",
            transfer="gloo",
            max_sequences=1,
            cache_gib=1,
            deadline_s=1,
            start_deadline_s=1,
        )


def make_sampler(folder, url):
    return VllmSampler(
        ServerLink(url, deadline_s=5), folder, dtype="float32", transfer="gloo", deadline_s=5
    )


def test_a_server_that_is_not_there_is_said_so(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(EngineDead, match="cannot be reached"):
            make_sampler(build_folder(tmp_path, tied=True), url)


def test_an_adapters_folder_is_no_model_for_vllm(tmp_path):
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(RequestError, match="merge it first"):
        make_sampler(tmp_path, "http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ({"transfer": "disk"}, "engine.transfer is for engine vllm"),
        ({"name": "vllm", "url": "http://a", "options": {"seed": 1}}, "engine.options are for"),
        ({"name": "vlm"}, "engine.name"),
        ({"name": "vllm", "sleep_level": 3}, "engine.sleep_level"),
    ],
)
def test_an_engine_section_that_makes_no_sense_is_refused(engine, words):
    with pytest.raises(ConfigError, match=words):
        parse_config({"env": {"id": "games/keydoor"}, "engine": engine})


def test_killed_processes_are_known_to_be_dead():
    psutil = pytest.importorskip("psutil", reason="vLLM brings psutil, and it is not installed")
    spawned = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
    spawned.start()
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    other = psutil.Process(child.pid)
    _kill([other, spawned])
    # If psutil took the exit status of a process of multiprocessing, that would be alive for good.
    assert not spawned.is_alive()
    assert spawned.exitcode == -9
    assert not other.is_running()
    child.wait()
    _kill([other, spawned])  # they are gone already
