"""Sessions that clients open and end, and the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("transformers")

from verigym.agents.gateway.recorder import Recorder
from verigym.agents.record import read_episodes

KEYDOOR = "games/keydoor"
BARE = Path(__file__).parent / "programs" / "keydoor_bare.py"


@pytest.fixture
def recorded(serve, http, tmp_path):
    """A gateway that records, as a function for requests; `episodes()` stops it and reads the file."""

    class Client:
        def __init__(self, *script, **options):
            self.out = tmp_path / "episodes.jsonl"
            self.gateway = serve(*script, opens=True, manage=self.manage, **options)
            self.recorder = Recorder(self.gateway.tokens, self.out, (KEYDOOR,), idle_s=100.0)
            self.recorder.gateway = self.gateway

        async def manage(self, *given):
            return await self.recorder.manage(*given)

        def post(self, path, data, status=200, **options):
            answer = http.post(self.gateway.url + path, json=data, **options)
            assert answer.status_code == status, answer.text
            return answer.json()

        def ask(self, session, text="hi"):
            data = {"messages": [{"role": "user", "content": text}]}
            found = self.post(f"/s/{session}/v1/chat/completions", data)
            return found["choices"][0]["message"]["content"]

        def episodes(self):
            self.recorder.close()
            return read_episodes(self.out)

    return Client


def test_a_client_pays_its_own_session(recorded):
    client = recorded("go up")
    client.ask("one")
    client.ask("two")
    ended = client.post("/s/one/end", {"reward": 0.5})
    assert ended == {"id": "one", "status": "done", "reward": 0.5, "calls": 1, "fault": None}
    client.post("/s/one/end", {}, status=404)
    first, second = client.episodes()
    assert (first.id, first.status, first.return_) == ("one", "done", 0.5)
    assert (second.id, second.status, second.return_) == ("two", "truncated", 0.0)
    assert first.turns[0].response_ids


def test_a_session_with_an_environment_is_paid_by_it(recorded):
    client = recorded("up")
    opened = client.post("/sessions", {"env": KEYDOOR, "seed": 3, "split": "train"})
    assert set(opened) >= {"id", "base_url", "env_url", "prompt", "observation", "legal_actions"}
    path = f"/s/{opened['id']}"
    state = client.post(f"{path}/env", {"action": client.ask(opened["id"], opened["observation"])})
    assert state["done"] is False
    client.post(f"{path}/end", {"reward": 1.0}, status=400)
    assert client.post(f"{path}/end", {})["status"] == "truncated"
    answered = client.post("/sessions", {"env": KEYDOOR, "seed": 4, "id": "mine"})
    client.post("/sessions", {"env": KEYDOOR, "seed": 4, "id": "mine"}, status=400)
    client.ask(answered["id"])
    client.post("/s/mine/end", {"answer": "up"})
    first, second = client.episodes()
    assert first.env_id == "verigym/games/keydoor-v0"
    assert (first.seed, first.split, [t.action for t in first.turns]) == (3, "train", ["up"])
    assert second.turns[0].valid_action is not None


@pytest.mark.parametrize(
    "data",
    [
        {"env": "/etc/passwd", "seed": 1},
        {"env": "math/arithmetic", "seed": 1},
        {"env": KEYDOOR},
        {"env": KEYDOOR, "seed": 1, "difficulty": "no-such"},
        {"env": KEYDOOR, "seed": 1, "extra": 1},
        {"env": KEYDOOR, "seed": 1, "id": "../x"},
    ],
)
def test_only_what_is_served_can_be_opened(recorded, data):
    client = recorded("up")
    client.post("/sessions", data, status=400)
    assert client.gateway.sessions == {}


def test_sessions_need_the_key_of_the_gateway(recorded):
    client = recorded("up", key="k")
    for path in ("/sessions", "/s/one/end", "/v1/chat/completions"):
        client.post(path, {}, status=401)
    assert client.gateway.sessions == {}
    client.post("/s/one/end", {}, status=404, headers={"x-api-key": "k"})


def test_idle_sessions_end(recorded):
    client = recorded("up")
    client.ask("old")
    client.gateway.sessions["old"].used_at -= 1000
    client.ask("new")
    client.gateway.run(client.recorder.end_idle())
    assert set(client.gateway.sessions) == {"new"}
    assert client.recorder.n_recorded == 1


@pytest.mark.slow
def test_the_command_serves_and_plays(tmp_path):
    from verigym.trainers import tiny

    model = tiny.build(tmp_path / "model", seed=1, width=32)
    verigym = [sys.executable, "-P", "-m", "verigym"]
    common = ["gateway", "--policy", f"hf:{model}", "--max-new-tokens", "2", "--json"]
    played = tmp_path / "played.jsonl"
    program = ["--env", "keydoor", "-n", "2", "--out", str(played), "--", sys.executable, str(BARE)]
    found = subprocess.run([*verigym, *common, *program], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["episodes"] == 2
    assert [one.status for one in read_episodes(played)] == ["truncated"] * 2
    served = tmp_path / "served.jsonl"
    with subprocess.Popen(
        [*verigym, *common, "--port", "0", "--out", str(served)], stdout=subprocess.PIPE, text=True
    ) as process:
        url = json.loads(process.stdout.readline())["url"]
        import httpx2

        data = {"messages": [{"role": "user", "content": "hi"}]}
        answer = httpx2.post(f"{url}/v1/chat/completions", json=data, timeout=60)
        assert answer.status_code == 200
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(60) == 0
    (episode,) = read_episodes(served)
    assert (episode.id, episode.status) == ("default", "truncated")
    wrong = subprocess.run(
        [*verigym, *common, "--out", str(served)], capture_output=True, text=True
    )
    assert wrong.returncode == 2
    assert "not empty" in wrong.stderr
