"""Two keys of one real service cannot see, use or starve each other, nor can who has none."""

import contextlib
import http.client
import json
import os
import select
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from verigym import Task
from verigym.server import keys
from verigym.server.process import ServerProcess

LONG_S = 120.0
TASK = json.loads(Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d").to_json())


def ask(do="nothing", **rest):
    return {"verifier": "unruly/obeys", "task": TASK, "submission": {"do": do, **rest}}


class Client:
    """One key of the service."""

    def __init__(self, server, path, name):
        self.key = keys.add(path, name=name, scopes={"verify", "step"})
        self.headers = {"Authorization": f"Bearer {self.key}"}
        self.url = server

    def send(self, method, path, said=None, **options):
        return httpx2.request(
            method, self.url() + path, json=said, headers=self.headers, timeout=LONG_S, **options
        )


@pytest.fixture(scope="module")
def service(plugin_folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    holder = []
    ann, bob = (Client(lambda: holder[0].url, path, name) for name in ("ann", "bob"))
    with ServerProcess(
        verifiers=["unruly/obeys"],
        envs=["games/keydoor-v0"],
        workers=2,
        env={"PYTHONPATH": str(plugin_folder)},
        options=[
            *("--keys", str(path), "--sandbox", "--sandbox-jobs", "2", "--sandbox-sessions", "4"),
            *("--env-workers", "1", "--max-jobs", "8", "--max-inflight-mib", "8"),
            *("--store", f"sqlite:///{path.parent}/jobs.sqlite", "--max-sessions-per-key", "8"),
        ],
    ) as server:
        holder.append(server)
        yield ann, bob, server


def error(answer):
    body = answer.json()
    found = body["error"] if "error" in body else body["detail"]
    return answer.status_code, found


def assert_unknown(client, folder, session, asked):
    """A session of another key is answered as one that there is not."""
    for method, path, said in asked:
        foreign = client.send(method, f"{folder}/{session}{path}", said)
        unknown = client.send(method, f"{folder}/{'x' * len(session)}{path}", said)
        assert error(foreign) == error(unknown)
        assert foreign.status_code == 404


# See and use.


def test_a_session_of_the_sandbox_is_unknown_to_another_key(service):
    ann, bob, _ = service
    sid = ann.send("POST", "/v1/sandbox/sessions", {}).json()["id"]
    cell = {"code": {"text": "secret = 4711"}}
    assert ann.send("POST", f"/v1/sandbox/sessions/{sid}/run", cell).status_code == 200
    look = {"code": {"text": "print(secret)"}}
    asked = [
        ("POST", "/run", look),
        ("POST", "/files", {"name": "x", "data": {"text": "1"}}),
        ("POST", "/files", {"name": "x"}),
        ("POST", "/interrupt", None),
        ("DELETE", "", None),
    ]
    assert_unknown(bob, "/v1/sandbox/sessions", sid, asked)
    result = ann.send("POST", f"/v1/sandbox/sessions/{sid}/run", look).json()["result"]
    assert result["stdout"] == {"text": "4711\n", "base64": None} or "4711" in str(result)
    assert ann.send("DELETE", f"/v1/sandbox/sessions/{sid}").status_code == 200


def test_a_running_program_is_unknown_to_another_key(service):
    ann, bob, _ = service
    program = {"id": "mine", "source": {"text": "import time; time.sleep(3); print('done')"}}
    with ThreadPoolExecutor(2) as threads:
        running = threads.submit(ann.send, "POST", "/v1/sandbox/run", program)
        time.sleep(0.5)
        foreign = bob.send("DELETE", "/v1/sandbox/jobs/mine")
        assert error(foreign) == error(bob.send("DELETE", "/v1/sandbox/jobs/yours"))
        # The same id of another key is another program.
        quick = {"id": "mine", "source": {"text": "print('bob')"}}
        assert bob.send("POST", "/v1/sandbox/run", quick).json()["stdout"]["text"] == "bob\n"
        assert running.result().json()["stdout"]["text"] == "done\n"


def test_a_session_of_an_environment_is_unknown_to_another_key(service):
    ann, bob, _ = service
    sid = ann.send("POST", "/v1/sessions", {"env": "keydoor", "seed": 1}).json()["sessions"][0][
        "session"
    ]
    asked = [
        ("GET", "", None),
        ("POST", "/step", {"seq": 1, "action": "north"}),
        ("POST", "/reset", {"seq": 1, "seed": 2}),
        ("POST", "/renew", None),
        ("DELETE", "", None),
    ]
    assert_unknown(bob, "/v1/sessions", sid, asked)
    assert bob.send("GET", "/v1/sessions").json() == {"sessions": []}
    room = "/openenv/keydoor/mcp"

    def rpc(method, **params):
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    for method, rest in (
        ("tools/call", {"name": "act", "arguments": {"message": "north"}}),
        ("tools/call", {"name": "look"}),
        ("openenv/session/close", {}),
    ):
        foreign = bob.send("POST", room, rpc(method, session_id=sid, **rest)).json()
        unknown = bob.send("POST", room, rpc(method, session_id="x", **rest)).json()
        assert foreign["error"]["message"] == unknown["error"]["message"].replace(": x", f": {sid}")
    assert ann.send("GET", f"/v1/sessions/{sid}").json()["seq"] == 0


def test_a_job_is_unknown_to_another_key(service):
    ann, bob, _ = service
    job = ann.send("POST", "/v1/jobs", ask()).json()["job"]
    for method in ("GET", "DELETE"):
        foreign = bob.send(method, f"/v1/jobs/{job}")
        assert error(foreign) == error(bob.send(method, f"/v1/jobs/{'0' * 32}"))
    assert bob.send("GET", "/v1/jobs").json() == {"jobs": []}
    done = ann.send("GET", f"/v1/jobs/{job}?wait_s=30").json()
    assert done["status"] == "done"
    assert ann.send("DELETE", f"/v1/jobs/{job}").status_code == 204


# Starve.


def test_verdicts_of_one_key_do_not_wait_for_those_of_another(service):
    ann, bob, _ = service
    slow = {"items": [ask("sleep", seconds=0.5) for _ in range(12)]}
    with ThreadPoolExecutor(4) as threads:
        flood = [threads.submit(ann.send, "POST", "/v1/verify/batch", slow) for _ in range(2)]
        time.sleep(1.0)
        for _ in range(3):
            answer = bob.send("POST", "/v1/verify", ask())
            assert answer.json()["score"] is not None, answer.text
        assert not any(one.done() for one in flood)  # it takes 6 s at least
        for one in flood:
            assert one.result().status_code == 200


def test_a_full_queue_of_one_key_leaves_room_for_another(service):
    ann, bob, _ = service
    slow = {"items": [ask("sleep", seconds=0.02) for _ in range(256)]}
    with ThreadPoolExecutor(8) as threads:
        flood = [threads.submit(ann.send, "POST", "/v1/verify/batch", slow) for _ in range(6)]
        time.sleep(1.0)
        assert bob.send("POST", "/v1/verify", ask()).status_code == 200
        codes = sorted(one.result().status_code for one in flood)
    assert codes[0] == 200
    assert codes[-1] == 429  # half of 1,024, and two batches that the workers have


def test_programs_of_one_key_do_not_wait_for_those_of_another(service):
    ann, bob, _ = service
    program = {"source": {"text": "import time; time.sleep(2)"}}
    with ThreadPoolExecutor(8) as threads:
        flood = [threads.submit(ann.send, "POST", "/v1/sandbox/run", program) for _ in range(5)]
        time.sleep(1.0)
        quick = {"source": {"text": "print('bob')"}}
        assert bob.send("POST", "/v1/sandbox/run", quick).json()["stdout"]["text"] == "bob\n"
        assert not any(one.done() for one in flood[2:])
        for one in flood:
            assert one.result().json()["status"] == "ok"


def test_sessions_of_one_key_leave_room_for_another(service):
    ann, bob, _ = service
    mine = [ann.send("POST", "/v1/sandbox/sessions", {}) for _ in range(4)]
    opened = [answer.json()["id"] for answer in mine if answer.status_code == 200]
    theirs = bob.send("POST", "/v1/sandbox/sessions", {})
    assert theirs.status_code == 200
    bob.send("DELETE", f"/v1/sandbox/sessions/{theirs.json()['id']}")
    for sid in opened:
        ann.send("DELETE", f"/v1/sandbox/sessions/{sid}")
    assert len(opened) == 2  # half of four


def test_jobs_of_one_key_leave_room_for_another_and_take_turns(service):
    ann, bob, _ = service
    slow = {"items": [ask("sleep", seconds=0.5) for _ in range(40)]}
    mine = [ann.send("POST", "/v1/jobs", slow) for _ in range(6)]
    jobs = [answer.json()["job"] for answer in mine if answer.status_code == 202]
    assert len(jobs) == 4  # half of eight
    began = time.monotonic()
    job = bob.send("POST", "/v1/jobs", ask()).json()["job"]
    done = bob.send("GET", f"/v1/jobs/{job}?wait_s=30").json()
    assert done["status"] == "done", done
    assert time.monotonic() - began < 20.0  # ann's take 40 s
    for one in jobs:
        ann.send("DELETE", f"/v1/jobs/{one}")


def test_bytes_of_one_key_leave_room_for_another(service):
    ann, bob, server = service
    address = server.url.removeprefix("http://").split(":")
    head = (
        "POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {ann.key}\r\nContent-Length: 3000000\r\n\r\n"
    )
    with contextlib.ExitStack() as stack:
        socks = []
        for _ in range(2):  # 5.8 MB, of which 4 are one key's share
            sock = stack.enter_context(socket.create_connection((address[0], int(address[1]))))
            sock.sendall(head.encode() + b" " * 2_900_000)
            socks.append(sock)
        refused, _, _ = select.select(socks, [], [], LONG_S)
        assert b"too_many_bytes" in refused[0].recv(4096)
        answer = bob.send("POST", "/v1/verify", ask(text="x" * 1_500_000))
        assert answer.status_code == 200
    assert ann.send("POST", "/v1/verify", ask(text="x" * 1_500_000)).status_code == 200


def test_connections_without_a_key_do_not_shut_others_out(service):
    ann, bob, server = service
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    soft = 1200
    with contextlib.ExitStack() as stack:
        for _ in range(soft):
            stack.enter_context(socket.create_connection((host, int(port)), timeout=LONG_S))
        for client in (ann, bob):
            assert client.send("POST", "/v1/verify", ask()).status_code == 200
        # The oldest were closed.
        held = sum(1 for name in os.listdir(f"/proc/{server.pid}/fd"))
        assert held < 1000
    assert ann.send("GET", "/v1/verifiers").status_code == 200


@pytest.mark.slow
def test_connections_without_a_key_are_short(service):
    _, _, server = service
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    client = http.client.HTTPConnection(host, int(port), timeout=LONG_S)
    client.request("GET", "/healthz")
    assert client.getresponse().read()
    began = time.monotonic()
    assert client.sock.recv(1) == b""
    assert time.monotonic() - began < 20.0
    client.close()
