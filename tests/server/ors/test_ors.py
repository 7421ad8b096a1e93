"""Environments through the Open Reward Standard: our server and our client, over a real connection."""

import json
import pickle

import httpx2
import pytest

import verigym
from verigym.envs.audit.sources import find_sources
from verigym.envs.ors.env import server_env, split_address
from verigym.errors import RequestError, SandboxError
from verigym.server.process import ServerProcess
from verigym.verdict import VerifierFault


@pytest.fixture(scope="module")
def server():
    with ServerProcess(
        envs=["games/keydoor-v0", "math/arithmetic-v0"],
        workers=1,
        options=["--ors", "--env-workers", "1"],
    ) as process:
        yield process


@pytest.mark.parametrize("name", ["games/keydoor", "math/arithmetic"])
def test_an_environment_plays_the_same_through_server_and_client(server, name):
    own = verigym.make(name)
    with server_env(server.url, f"{name.replace('/', '-')}-v0")() as served:
        prompt, _ = own.reset(seed=5)
        assert served.reset(seed=5)[0] == prompt
        over = False
        while not over:
            action = own.oracle()
            view, reward, terminated, truncated, _ = own.step(action)
            theirs = served.step(action)
            assert theirs[:2] == (view, reward)
            over = terminated or truncated
            assert (theirs[2] or theirs[3]) == over
        assert theirs[4]["verdict"].score == reward == 1.0


def test_a_snapshot_is_returned_to_by_calling_again(server):
    with server_env(server.url, "games-keydoor-v0")() as env:
        env.reset(seed=3)
        env.step("help")
        there = env.snapshot()
        first = env.step("up")[0]
        env.step("down")
        env.restore(there)
        assert env.step("up")[0] == first
        copy = pickle.loads(pickle.dumps(env))
        copy.restore(there)
        assert copy.step("up")[0] == first
        copy.close()


def test_calls_are_checked_and_ended_episodes_refuse_them(server):
    with server_env(server.url, "math-arithmetic-v0")() as env:
        env.reset(seed=1)
        name = json.dumps({"name": "fly", "arguments": {}})
        view, reward, *_, info = env.step(f"<tool_call>{name}</tool_call>")
        assert "no tool" in view
        assert (reward, info["valid_action"]) == (0.0, False)
        session = env._client.begin("train", 0)
        assert session.call("act", {"text": "x"})["reason"] == "input_validation"
        assert session.call("act", {"action": "x"})["output"]["finished"] is True
        assert session.call("act", {"action": "x"})["reason"] == "episode_finished"
        session.delete()
        with pytest.raises(SandboxError, match="404"):
            session.prompt()


def test_a_call_that_is_resumed_by_its_id_is_not_played_again(server):
    with httpx2.Client(base_url=server.url) as http:
        events = http.post("/create_session").text
        session = {"X-Session-ID": events.split("data: ")[1].split("\n")[0]}
        begin = {"env_name": "math-arithmetic-v0", "split": "train", "index": 0}
        assert http.post("/create", json=begin, headers=session).status_code == 200
        assert http.post("/create", json=begin, headers=session).status_code == 400
        call = {"name": "act", "input": {"action": "<answer>1</answer>"}, "task_id": "one"}
        first = http.post("/math-arithmetic-v0/call", json=call, headers=session).text
        assert http.post("/math-arithmetic-v0/call", json=call, headers=session).text == first
        assert (
            http.post(
                "/create", json={"env_name": "none"}, headers={"X-Session-ID": "b"}
            ).status_code
            == 404
        )


def test_a_path_without_a_name_is_that_of_the_deployment_or_of_the_only_environment(server):
    ask = {"split": "test", "index": 3}
    with httpx2.Client(base_url=server.url) as http:
        named = http.post("/games-keydoor-v0/task", json=ask).json()
        for deployment in ("games-keydoor-v0", "owner/Games-Keydoor-v0"):
            found = http.post("/task", json=ask, headers={"X-Deployment": deployment}).json()
            assert found["task"] == named["task"]
        refused = http.post("/task", json=ask, headers={"X-Deployment": "env"})
        assert refused.status_code == 404
        assert "2 environments are served, so name one" in refused.json()["detail"]
    with (
        ServerProcess(envs=["math/arithmetic-v0"], workers=1, options=["--ors"]) as process,
        httpx2.Client(base_url=process.url) as http,
    ):
        assert http.get("/tools").json() == http.get("/math-arithmetic-v0/tools").json()
        found = http.post("/task", json=ask, headers={"X-Deployment": "env"}).json()
        assert found["env_name"] == "math-arithmetic-v0"
        session = {"X-Session-ID": "one"}
        assert http.post("/create", json=ask, headers=session).status_code == 200
        (block,) = http.get("/prompt", headers=session).json()
        assert "<answer>" in block["text"]


def test_a_server_that_is_gone_is_a_fault_and_no_reward():
    with ServerProcess(envs=["math/arithmetic-v0"], workers=1, options=["--ors"]) as process:
        env = server_env(process.url, "math-arithmetic-v0")()
        env.reset(seed=1)
    with pytest.raises(VerifierFault) as failed:
        env.step("<answer>1</answer>")
    assert (failed.value.verdict.score, failed.value.verdict.status.value) == (None, "infra")
    env.close()


def test_a_file_names_a_server(server, tmp_path):
    path = tmp_path / "served.toml"
    path.write_text(
        f'id = "verigym/ors/sums-v0"\n[ors]\nurl = "{server.url}"\nenv = "math-arithmetic-v0"\n'
    )
    with verigym.make(str(path)) as env:
        assert env.id == "verigym/ors/sums-v0"
        env.reset(seed=0)


def test_addresses_and_splits_are_checked(server):
    assert split_address("ors+http://127.0.0.1:1/a") == ("http://127.0.0.1:1", "a")
    with pytest.raises(RequestError, match="HOST:PORT/ENV"):
        split_address("ors+http://a")
    with pytest.raises(RequestError, match="begins with http"):
        server_env("ftp://a", "b")()
    (source,) = find_sources(f"ors+{server.url}/games-keydoor-v0", lambda names: names, 1.0)
    with source.make() as env:
        env._client.env = "nothing"
        with pytest.raises(SandboxError, match="404"):
            env.reset(seed=0)


def test_a_key_is_sent_and_needed(monkeypatch):
    with ServerProcess(
        envs=["math/arithmetic-v0"], workers=1, key="a-key-of-some-length", options=["--ors"]
    ) as process:
        kind = server_env(process.url, "math-arithmetic-v0")
        with kind() as env, pytest.raises(SandboxError, match="401"):
            env.reset(seed=0)
        with httpx2.Client(
            base_url=process.url, headers={"X-API-Key": "a-key-of-some-length"}
        ) as http:
            assert http.get("/list_environments").json() == ["math-arithmetic-v0"]
        monkeypatch.setenv("VERIGYM_ORS_KEY", "a-key-of-some-length")
        with kind() as env:
            env.reset(seed=0)
            assert env.step("<answer>none</answer>")[1] == 0.0
