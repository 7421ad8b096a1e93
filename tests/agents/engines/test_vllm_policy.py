"""`vllm:FOLDER` as a policy of `run` and `eval`, with the real vLLM."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import threading

import pytest

from tests.agents.engines.engine_kinds import HAS_VLLM, build_folder
from verigym.agents.engines.sampler import EngineDead
from verigym.agents.loop import plan_groups, play
from verigym.agents.make_policy import make_policy
from verigym.agents.record import read_episodes
from verigym.errors import RequestError

needs_vllm = pytest.mark.skipif(not HAS_VLLM, reason="vLLM has a venv of its own: make test-vllm")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build_folder(tmp_path_factory.mktemp("model"), tied=True)


@pytest.fixture
def engines_left():
    """The engines that are left of those started in this test; other files keep theirs for a while."""
    before = {one.pid for one in engines()}
    return lambda: [one for one in engines() if one.pid not in before]


def engines():
    return [one for one in multiprocessing.active_children() if one.name.startswith("EngineCore")]


@pytest.mark.skipif(HAS_VLLM, reason="vLLM is installed")
@pytest.mark.parametrize(
    ("options", "message"),
    [({}, "make vllm"), ({"dtype": "int8"}, "dtype must be one of"), ({"heat": 1}, "no option")],
)
def test_what_cannot_be_started_says_why(folder, options, message):
    with pytest.raises(RequestError, match=message):
        make_policy(f"vllm:{folder}", **options)


def test_a_folder_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(RequestError, match="does not exist"):
        make_policy(f"vllm:{tmp_path / 'none'}")


@needs_vllm
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_run_and_eval_play_by_vllm(folder, tmp_path):
    words = ["--policy", f"vllm:{folder}", "-d", "tiny", "--max-new-tokens", "8", "--json"]
    out = tmp_path / "episodes.jsonl"
    for command in (
        ["run", "keydoor", "-n", "6", "--concurrency", "4", "--out", str(out)],
        ["eval", "keydoor", "-n", "3", "-k", "2", "--out", str(tmp_path / "eval")],
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "verigym", *command, *words],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        found = json.loads(done.stdout)
        assert found.get("faults", 0) == 0
    episodes = read_episodes(out)
    assert len(episodes) == 6
    for turn in (turn for episode in episodes for turn in episode.turns):
        assert 0 < len(turn.response_ids) <= 8
        assert len(turn.logprobs) == len(turn.response_ids)
        assert turn.prompt_ids


@needs_vllm
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_killed_engine_is_started_anew_and_nothing_is_scored_for_it(folder, engines_left):
    policy = make_policy(f"vllm:{folder}", max_new_tokens=4, cache_gib=0.25)
    try:
        plans = plan_groups("keydoor", range(4), difficulty="tiny", split="test")
        killed = []

        def kill_once(*_):
            if not killed:
                killed.append(policy.sampler.link.kill())

        episodes = play(plans, policy, on_turn=kill_once)
        assert killed
        assert all(episode.fault is None for episode in episodes)
    finally:
        policy.close()
    assert not engines_left()


@needs_vllm
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_engine_that_does_not_start_in_time_is_killed(folder, engines_left):
    with pytest.raises(EngineDead, match="no answer to start in 6 s"):
        make_policy(f"vllm:{folder}", start_timeout_s=6.0)
    # A process that the start makes after it was given up is killed as well, until the start ends.
    for thread in threading.enumerate():
        if thread.name in ("verigym-vllm", "verigym-vllm-kill"):
            thread.join(120)
    assert not engines_left()
