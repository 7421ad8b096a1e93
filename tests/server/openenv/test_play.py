"""Behaviour beyond the recorded messages: faults, capacity, shared sessions, and resources left
behind."""

import json
import threading
from contextlib import ExitStack

import pytest
from starlette.testclient import WebSocketDenialResponse

from verigym.errors import ConfigError, RequestError
from verigym.server.app import create_app
from verigym.server.settings import ServerSettings

BASE = "/openenv/games/keydoor-v0"
STAGE = "/openenv/stage/obeys-v0"


def test_a_fault_is_no_reward_and_the_step_may_be_repeated(staged):
    with staged() as service, service.socket(f"{STAGE}/ws") as socket:
        socket.reset(seed=1)
        socket.step("one")
        told = socket.step("fault")
        assert (told["reward"], told["done"]) == (None, False)
        assert told["observation"]["message"] == "1 one"
        fault = told["metadata"]["fault"]
        assert (fault["status"], fault["reason"]) == ("infra", "away")
        assert told["observation"]["metadata"] == told["metadata"]
        assert "hush" not in json.dumps(told)
        crashed = socket.step("crash")
        assert crashed["metadata"]["fault"]["status"] == "verifier_error"
        assert "hush" not in json.dumps(crashed)
        assert socket.step("two")["observation"]["message"] == "2 two"
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        params = {"name": "act", "arguments": {"message": "fault"}}
        result = socket.ask({"type": "mcp", "data": {**asked, "params": params}})["data"]["result"]
        assert result["data"]["reward"] is None
        assert result["data"]["metadata"]["fault"]["reason"] == "away"


def test_a_truncated_episode_is_done_and_says_so(service):
    with service.socket(f"{BASE}/ws") as socket:
        socket.reset(seed=7)
        told = {"done": False}
        while not told["done"]:
            told = socket.step("nonsense")
        assert (told["metadata"]["terminated"], told["metadata"]["truncated"]) == (False, True)
        assert told["reward"] == 0.0


def test_what_to_play_is_chosen_by_reset(service):
    with service.socket(f"{BASE}/ws") as socket:
        told = socket.reset(index=3, split="test", difficulty="hard")
        assert told["metadata"]["task_id"] == "verigym/games/keydoor-v0:test:hard:3"
        (task,) = service.post(
            f"{BASE}/keydoor-v0/task_range", {"split": "test", "start": 3, "stop": 4}
        ).json()["tasks"]
        assert (task["index"], task["id"]) == (3, "verigym/games/keydoor-v0:test:tiny:3")
        assert "reference" not in task
        wrong = socket.ask({"type": "reset", "data": {"split": "secret"}})
        assert wrong["data"]["code"] == "EXECUTION_ERROR"
        assert socket.reset()["metadata"]["task_id"] != told["metadata"]["task_id"]


def test_a_step_over_http_is_of_the_seed_that_it_names(service):
    told = service.post("/openenv/math/countdown-v0/reset", {"seed": 3}).json()
    assert "Target" in told["observation"]["message"]
    answer = {"action": {"message": "<answer>1</answer>"}, "seed": 3}
    judged = service.post("/openenv/math/countdown-v0/step", answer).json()
    assert (judged["reward"], judged["done"]) == (0.0, True)
    assert judged["metadata"]["task_id"] == told["metadata"]["task_id"]
    assert judged["metadata"]["verdict"]["status"] in ("ok", "policy_fault")


@pytest.mark.slow
def test_when_all_sessions_are_taken(serve):
    with ExitStack() as stack:
        full = stack.enter_context(serve(max_sessions_per_key=2))
        first = stack.enter_context(full.socket(f"{BASE}/ws"))
        first.reset(seed=1)
        stack.enter_context(full.socket(f"{BASE}/ws")).reset(seed=1)
        third = stack.enter_context(full.socket(f"{BASE}/ws"))
        told = json.loads(third.socket.receive_text())
        assert told["type"] == "error"
        assert told["data"]["code"] == "CAPACITY_REACHED"
        assert (told["data"]["active_sessions"], told["data"]["max_sessions"]) == (2, 2)
        error = full.rpc(BASE, "openenv/session/create")["error"]
        assert (error["code"], error["data"]) == (-32000, {"active_sessions": 2, "max_sessions": 2})
        assert full.post(f"{BASE}/reset", {}).status_code == 429
        fourth = stack.enter_context(full.socket(f"{BASE}/mcp"))
        assert json.loads(fourth.socket.receive_text())["error"]["code"] == -32000
        assert full.sessions == 2
        assert first.step("down")["reward"] == 0.0


def test_a_session_by_http_is_shared_with_one_socket(service):
    session = service.rpc(BASE, "openenv/session/create")["result"]["session_id"]
    path = f"{BASE}/ws?session_id={session}"
    with service.socket(path) as socket:
        socket.reset(seed=7)
        result = service.rpc(
            *(BASE, "tools/call"), name="act", arguments={"message": "down"}, session_id=session
        )["result"]
        assert result["content"][0]["text"] == result["data"]["message"]
        assert socket.ask({"type": "state"})["data"]["step_count"] == 1
        assert socket.step("down")["reward"] == 0.0
        with service.socket(path) as second:
            told = json.loads(second.socket.receive_text())
            assert told["data"]["code"] == "SESSION_ERROR"
            assert "already" in told["data"]["message"]
    look = service.rpc(BASE, "tools/call", name="look", session_id=session)["result"]
    assert look["data"]["message"].endswith("Keys: a")
    with service.socket(path):
        closing = service.rpc(BASE, "openenv/session/close", session_id=session)["result"]
        assert closing == {"session_id": session, "closed": False, "closing": True}
    with service.socket(path) as socket:
        told = json.loads(socket.socket.receive_text())
        assert told["data"]["message"] == f"Unknown session_id: {session}"
    assert service.sessions == 0


def test_a_session_lives_as_long_as_its_socket(serve):
    with serve(session_lease_s=2) as service, service.socket(f"{BASE}/ws") as socket:
        socket.reset(seed=7)
        service.rpc(BASE, "openenv/session/create")
        while service.sessions > 1:  # until the lease of the other one, which nobody uses
            service.rpc(BASE, "tools/list")
        assert socket.step("down")["reward"] == 0.0


def test_a_session_belongs_to_its_environment(service):
    session = service.rpc(BASE, "openenv/session/create")["result"]["session_id"]
    other = "/openenv/math/countdown-v0"
    error = service.rpc(other, "tools/call", name="look", session_id=session)["error"]
    assert error == {"code": -32602, "message": f"Unknown session_id: {session}", "data": None}
    assert service.rpc(BASE, "openenv/session/close", session_id=session)["result"]["closed"]


def test_tools_as_steps(service):
    with service.socket(f"{BASE}/ws") as socket:
        listed = socket.ask({"type": "step", "data": {"type": "list_tools"}})["data"]
        assert [tool["name"] for tool in listed["observation"]["tools"]] == ["act", "look"]
        assert all("input_schema" in tool for tool in listed["observation"]["tools"])
        socket.reset(seed=7)

        def use(tool, **arguments):
            data = {"type": "call_tool", "tool_name": tool, "arguments": arguments}
            return socket.ask({"type": "step", "data": data})["data"]

        told = use("act", message="down")
        assert (told["reward"], told["observation"]["error"]) == (0.0, None)
        assert told["observation"]["result"]["data"]["message"].startswith("..A..")
        for tool, arguments, kind in (
            ("fly", {}, "tool_not_found"),
            ("act", {}, "invalid_args"),
            ("act", {"message": 3}, "invalid_args"),
            ("look", {"at": "me"}, "invalid_args"),
        ):
            told = use(tool, **arguments)
            assert told["observation"]["error"]["error_type"] == kind
            assert (told["reward"], told["observation"]["result"]) == (None, None)


def test_requests_at_once_in_one_session_are_all_played(service):
    session = service.rpc(BASE, "openenv/session/create")["result"]["session_id"]
    done = []

    def act():
        asked = {"name": "act", "arguments": {"message": "nonsense"}, "session_id": session}
        done.append("result" in service.rpc(BASE, "tools/call", **asked))

    threads = [threading.Thread(target=act) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [True] * 8
    with service.socket(f"{BASE}/ws?session_id={session}") as socket:
        assert socket.ask({"type": "state"})["data"]["step_count"] == 8
    service.rpc(BASE, "openenv/session/close", session_id=session)


@pytest.mark.parametrize(
    "text",
    ["[1]", "7", "null", '"reset"'],
)
def test_a_message_that_is_no_object_ends_the_socket_and_its_session(service, text):
    with service.socket(f"{BASE}/ws") as socket:
        assert socket.tell(text)["data"]["code"] == "SESSION_ERROR"
        assert socket.socket.receive()["type"] == "websocket.close"
    assert service.sessions == 0


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"type": "step", "data": ' + "[" * 1000 + "]" * 1000 + "}",
        '{"type": ' + "9" * 10_000 + "}",
        '{"type": "reset", "data": {"seed": NaN}}',
        '{"type": "reset", "data": {"seed": 1e999}}',
        '{"type": "reset", "data": {"seed": true, "split": ["train"]}}',
        '{"type": "step", "data": {"type": "call_tool", "tool_name": "\\ud800"}}',
        '{"type": "\\ud800"}',
        '{"type": ["step"]}',
        '{"type": "mcp", "data": {"jsonrpc": "2.0", "method": "tools/call", '
        '"params": {"name": "act", "arguments": {"message": "\\ud800"}}}}',
        '{"type": "mcp", "data": {"jsonrpc": "2.0", "method": "tools/call", '
        '"params": {"name": ["act"], "session_id": {"a": 1}}}}',
        '{"type": "mcp", "data": {"jsonrpc": "2.0", "method": "openenv/session/close", '
        '"params": {"session_id": [1]}}}',
    ],
)
def test_hostile_messages_are_answered_and_the_socket_lives_on(service, text):
    with service.socket(f"{BASE}/ws") as socket:
        assert socket.tell(text)["type"] in ("error", "mcp", "observation")
        assert socket.reset(seed=7)["reward"] is None


@pytest.mark.slow
def test_messages_count_against_the_rate_of_their_key(serve):
    with serve(rate_per_s=0.001) as service:
        service.app.state.gate._burst = 3.0  # the socket itself is the first
        with service.socket(f"{BASE}/ws") as socket:
            told = [socket.ask({"type": "state"}) for _ in range(4)]
        assert told[0]["type"] == "state"
        assert (told[-1]["type"], told[-1]["data"]["code"]) == ("error", "EXECUTION_ERROR")
        assert "requests a second" in told[-1]["data"]["message"]


def test_a_key_is_needed_where_there_is_one(serve):
    with serve(key="sesame", openenv="keydoor") as service:
        for base in (BASE, ""):
            assert service.post(f"{base}/reset", {}).status_code == 401
            with pytest.raises(WebSocketDenialResponse), service.socket(f"{base}/ws"):
                pass
            service.http.headers["Authorization"] = "Bearer sesame"
            assert service.post(f"{base}/reset", {}).status_code == 200
            with service.socket(f"{base}/ws") as socket:
                assert socket.reset(seed=7)["done"] is False
            del service.http.headers["Authorization"]


def test_unknown_environments(service):
    assert service.post("/openenv/games/nothing-v0/reset", {}).status_code == 404
    assert "did you mean" in service.http.get("/openenv/games/keydor/schema").json()["detail"]
    with pytest.raises(WebSocketDenialResponse), service.socket("/openenv/games/keydor/ws"):
        pass


def test_the_one_at_the_root_must_be_served():
    with pytest.raises(ConfigError, match="not served"):
        create_app(ServerSettings(verifiers=(), envs=("math",), openenv="keydoor"))
    with pytest.raises(RequestError, match="did you mean"):
        create_app(ServerSettings(verifiers=(), envs=("math",), openenv="keydor"))
