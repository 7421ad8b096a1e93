"""The sandbox routes: the wire as it is, refusals, leases, and programs that go with their requests."""

import asyncio
import contextlib
import json
import os
import socket
import time
import uuid
from pathlib import Path

import httpx2
import msgspec
import pytest

from verigym import ConfigError, SandboxError
from verigym.sandbox import wire
from verigym.sandbox.job import Job, JobStatus, Limits, Result
from verigym.sandbox.local import LocalSandbox
from verigym.server.app import create_app
from verigym.server.process import ServerProcess
from verigym.server.settings import ServerSettings

_GOLDEN = Path(__file__).parents[1] / "golden" / "sandbox_wire.jsonl"
GOLDEN = [json.loads(line) for line in _GOLDEN.read_text(encoding="utf-8").splitlines()]
LONG_S = 60.0


@pytest.fixture(scope="module", autouse=True)
def _sandbox_works():
    try:
        LocalSandbox(max_jobs=1).close()
    except SandboxError as error:
        pytest.skip(f"the local backend refuses this machine: {error}")


@pytest.fixture(scope="module")
def server():
    options = ["--sandbox", "--sandbox-jobs", "2", "--sandbox-max-wall-s", "300"]
    with ServerProcess(verifiers=["math"], workers=1, options=options) as server:
        yield server


@pytest.fixture
def http(server):
    with httpx2.Client(base_url=server.url, trust_env=False, timeout=LONG_S) as client:
        yield client


@contextlib.asynccontextmanager
async def running(**settings):
    app = create_app(
        ServerSettings(workers=1, verifiers=("math",), sandbox=True, sandbox_jobs=1, **settings)
    )
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", timeout=LONG_S
        ) as client,
    ):
        yield app, client


@pytest.fixture
def seconds():
    """A duration for `sleep` that no other process of this machine has."""
    return f"98764.{uuid.uuid4().int % 10**12:012d}"


def sleepers(seconds):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if seconds.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def wait_until(what):
    deadline = time.monotonic() + LONG_S
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def program(source, **rest):
    return {"source": {"text": source}, **rest}


def sleep(seconds, **rest):
    return {"command": ["sleep", seconds], "limits": {"wall_s": 300.0}, **rest}


# The wire


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["why"])
def test_the_wire_is_as_it_was(http, case):
    answer = http.post("/v1/sandbox/run", json=case["request"])
    assert answer.status_code == 200, answer.text
    got = answer.json()
    for measured in ("wall_s", "cpu_s", "memory_mib"):
        assert got.pop(measured) >= 0
    got["refused"] = sorted(got["refused"])  # the reasons are for people
    assert got == case["answer"]


def test_the_clients_words_are_those_of_the_wire():
    job = Job(
        source="\ud800",
        args=("a",),
        stdin=b"\xff",
        files={"a": b"b"},
        env={"A": "b"},
        fetch=("*",),
        limits=Limits(wall_s=3),
    )
    body = msgspec.json.encode(wire.job_body(job))
    assert msgspec.json.decode(body, type=wire.JobBody).to_job() == job
    assert json.loads(body)["stdin"] == {"base64": "/w=="}
    command = Job(command=("true",))
    body = msgspec.json.encode(wire.job_body(command))
    assert msgspec.json.decode(body, type=wire.JobBody).to_job() == command
    result = Result(
        status=JobStatus.SIGNAL, signal=9, stdout=b"\xff", stderr=b"\0", files={"f": b"\x80"}
    )
    body = msgspec.json.encode(wire.result_body(result))
    assert msgspec.json.decode(body, type=wire.ResultBody).to_result() == result
    odd = Result(status=JobStatus.OK, files={"\udcff": b""}, refused={"\udcfe": "a link"})
    sent = msgspec.json.decode(msgspec.json.encode(wire.result_body(odd)), type=wire.ResultBody)
    assert (list(sent.files), list(sent.refused)) == (["\\udcff"], ["\\udcfe"])


def test_it_says_what_it_runs(http):
    card = http.get("/v1/sandbox").json()
    assert {"python", "bash"} <= set(card["languages"])
    assert card["caps"]["wall_s"] == 300.0
    assert (card["max_jobs"], card["max_sessions"], card["lease_s"]) == (2, 16, 300.0)
    assert card["about"]["backend"] == "local"
    assert msgspec.json.decode(json.dumps(card), type=wire.SandboxCard)


def test_the_openapi_document_lists_the_routes(http):
    document = http.get("/openapi.json").json()
    assert {path for path in document["paths"] if "sandbox" in path} == {
        "/v1/sandbox",
        "/v1/sandbox/run",
        "/v1/sandbox/jobs/{id}",
        "/v1/sandbox/sessions",
        "/v1/sandbox/sessions/{id}",
        "/v1/sandbox/sessions/{id}/run",
        "/v1/sandbox/sessions/{id}/files",
        "/v1/sandbox/sessions/{id}/interrupt",
    }
    schemas = document["components"]["schemas"]
    refs = [part.split('"')[0] for part in json.dumps(document).split('"$ref": "')[1:]]
    assert all(ref.removeprefix("#/components/schemas/") in schemas for ref in refs)
    assert "JobBody" in http.get("/docs").text


# Refusals

REFUSED = {
    "neither": ({}, 422, "invalid_request", "$"),
    "both": (program("1", command=["true"]), 422, "invalid_request", "$"),
    "a source that is bare text": ({"source": "1"}, 422, "invalid_request", "$.source"),
    "bytes that are both": (
        program("1", stdin={"text": "", "base64": ""}),
        422,
        "invalid_request",
        "$",
    ),
    "bytes that are neither": (program("1", stdin={}), 422, "invalid_request", "$"),
    "bad base64": (program("1", stdin={"base64": "?"}), 422, "invalid_request", "$.stdin.base64"),
    "a source that is no text": (
        {"source": {"base64": "/w=="}},
        422,
        "invalid_request",
        "$",
    ),
    "a misspelt field": (program("1", stdn={}), 422, "invalid_request", "$"),
    "a misspelt limit": (
        program("1", limits={"walls": 1}),
        422,
        "invalid_request",
        "$.limits",
    ),
    "a negative limit": (program("1", limits={"wall_s": -1}), 422, "invalid_request", "$.limits"),
    "a fraction of a process": (
        program("1", limits={"processes": 1.5}),
        422,
        "invalid_request",
        "$.limits.processes",
    ),
    "above a cap": (
        program("1", limits={"wall_s": 301}),
        422,
        "above_cap",
        "$.limits.wall_s",
    ),
    "traversal": (program("1", files={"../x": {"text": ""}}), 422, "invalid_request", "$"),
    "an unknown language": (program("1", language="pyton"), 422, "invalid_request", "$"),
    "a network": (program("1", network=True), 422, "invalid_request", "$"),
    "a number in args": (program("1", args=[1]), 422, "invalid_request", "$.args[0]"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_run_is_told_what_and_where(http, name):
    body, status, code, where = REFUSED[name]
    answer = http.post("/v1/sandbox/run", json=body)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert (error["code"], error["where"]) == (code, where)
    assert error["message"]


def test_caps_hold_for_sessions_too(http):
    answer = http.post("/v1/sandbox/sessions", json={"limits": {"wall_s": 301}})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "above_cap")
    assert "wall_s may be at most 300 at this service, got 301" in answer.text
    started = http.post("/v1/sandbox/sessions", json={}).json()
    assert started["limits"]["wall_s"] == 300.0  # of 600 by default
    http.delete(f"/v1/sandbox/sessions/{started['id']}")


def test_the_routes_are_only_there_when_asked_for(service):
    with httpx2.Client(base_url=service.url, trust_env=False) as http:
        for answer in (http.get("/v1/sandbox"), http.post("/v1/sandbox/run", json=program("1"))):
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_the_guard_stands_before_them(http):
    for method, path in (("GET", "/v1/sandbox"), ("POST", "/v1/sandbox/run")):
        answer = http.request(method, path, headers={"Host": "evil.example"})
        assert answer.json()["error"]["code"] == "forbidden_host"
    answer = http.post("/v1/sandbox/run", content=b"{}", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


def test_a_key_is_needed_where_one_is_set():
    async def main():
        async with running(key="sesame") as (_, http):
            bare = await http.post("/v1/sandbox/run", json=program("1"))
            headers = {"Authorization": "Bearer sesame"}
            known = await http.post("/v1/sandbox/run", json=program("print(1)"), headers=headers)
            return bare, known

    bare, known = asyncio.run(main())
    assert bare.status_code == 401
    assert known.json()["stdout"] == {"text": "1\n"}
    with pytest.raises(ConfigError, match="a key is needed"):
        ServerSettings(host="0.0.0.0", sandbox=True)


def test_bodies_are_bounded():
    async def main():
        async with running(sandbox_body_bytes=1000) as (_, http):
            fits = await http.post("/v1/sandbox/run", json=program("print(1)#" + "x" * 900))
            large = await http.post("/v1/sandbox/run", json=program("#" * 1000))
            return fits, large

    fits, large = asyncio.run(main())
    assert fits.json()["stdout"] == {"text": "1\n"}
    assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")


def test_a_large_body_is_read_off_the_loop(http):
    text = "é" * (1 << 20)
    answer = http.post(
        "/v1/sandbox/run",
        json=program("import sys; print(len(sys.stdin.read()))", stdin={"text": text}),
    )
    assert answer.json()["stdout"] == {"text": f"{1 << 20}\n"}


# Programs go with their requests


def test_a_full_queue_is_429_and_a_cancelled_program_says_so(seconds):
    async def main():
        async with running(max_queue=1, max_batch=1) as (app, http):
            first = asyncio.create_task(
                http.post("/v1/sandbox/run", json=sleep(seconds, id="first"))
            )
            await asyncio.to_thread(wait_until, lambda: sleepers(seconds))
            second = asyncio.create_task(
                http.post("/v1/sandbox/run", json=sleep(seconds, id="second"))
            )
            while not app.state.programs.waiting:
                await asyncio.sleep(0)
            refused = await http.post("/v1/sandbox/run", json=program("1"))
            twice = await http.post("/v1/sandbox/run", json=program("1", id="first"))
            for name in ("second", "first"):
                assert (await http.delete(f"/v1/sandbox/jobs/{name}")).status_code == 200
            unknown = await http.delete("/v1/sandbox/jobs/third")
            return refused, twice, unknown, await first, await second

    refused, twice, unknown, first, second = asyncio.run(main())
    for answer in (refused, twice):
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "busy")
        assert answer.headers["Retry-After"] == "1"
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "unknown_job")
    for answer in (first, second):
        assert answer.json()["status"] == "sandbox_error"
        assert answer.json()["detail"] == "cancelled by the caller"
    assert not sleepers(seconds)


def request_by_hand(server, method, path, body):
    """Send a request over a bare socket, and leave its answer to come."""
    host, port = server.url.removeprefix("http://").split(":")
    data = json.dumps(body).encode()
    connection = socket.create_connection((host, int(port)), timeout=LONG_S)
    connection.sendall(
        f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\n\r\n".encode()
        + data
    )
    return connection


def test_a_dropped_request_kills_its_program(server, seconds):
    with request_by_hand(server, "POST", "/v1/sandbox/run", sleep(seconds)):
        wait_until(lambda: sleepers(seconds))
    wait_until(lambda: not sleepers(seconds))


def test_a_dropped_request_in_the_queue_is_forgotten(server, http, seconds):
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(request_by_hand(server, "POST", "/v1/sandbox/run", sleep(seconds)))
        wait_until(lambda: len(sleepers(seconds)) == 2)
        other = f"{seconds}1"
        request_by_hand(server, "POST", "/v1/sandbox/run", sleep(other)).close()
    answer = http.post("/v1/sandbox/run", json=program("print(1)"))
    assert answer.json()["stdout"] == {"text": "1\n"}
    wait_until(lambda: not sleepers(seconds) and not sleepers(other))


@pytest.mark.slow
def test_a_stopping_service_kills_programs_and_sessions(seconds):
    options = ["--sandbox", "--sandbox-jobs", "2"]
    with ServerProcess(verifiers=["math"], workers=1, options=options) as server:
        with httpx2.Client(base_url=server.url, trust_env=False, timeout=LONG_S) as http:
            id = http.post("/v1/sandbox/sessions", json={"language": "bash"}).json()["id"]
            code = {"text": f"sleep {seconds} &"}
            http.post(f"/v1/sandbox/sessions/{id}/run", json={"code": code})
        with request_by_hand(server, "POST", "/v1/sandbox/run", sleep(seconds)):
            wait_until(lambda: len(sleepers(seconds)) == 2)
            server.kill()
        wait_until(lambda: not sleepers(seconds))
        server.restart()
        with httpx2.Client(base_url=server.url, trust_env=False, timeout=LONG_S) as http:
            id = http.post("/v1/sandbox/sessions", json={"language": "bash"}).json()["id"]
            code = {"text": f"sleep {seconds} &"}
            http.post(f"/v1/sandbox/sessions/{id}/run", json={"code": code})
        wait_until(lambda: sleepers(seconds))
        assert server.stop() == 0
        assert not sleepers(seconds)


# Sessions


def test_a_session_over_the_wire(http):
    started = http.post("/v1/sandbox/sessions", json={"files": {"a": {"text": "in"}}}).json()
    path = f"/v1/sandbox/sessions/{started['id']}"
    assert started["language"] == "python"
    ran = http.post(f"{path}/run", json={"code": {"text": "x = open('a').read()\nx"}}).json()
    assert ran["alive"] is True
    assert (ran["result"]["status"], ran["result"]["stdout"]) == ("ok", {"text": "'in'\n"})
    late = http.post(
        f"{path}/run", json={"code": {"text": "while True: y = 1"}, "wall_s": 0.3}
    ).json()
    assert (late["alive"], late["result"]["status"]) == (True, "time_limit")
    wrote = http.post(f"{path}/files", json={"name": "b", "data": {"base64": "/w=="}})
    assert wrote.status_code == 200
    assert http.post(f"{path}/files", json={"name": "b"}).json() == {"base64": "/w=="}
    absent = http.post(f"{path}/files", json={"name": "c"})
    assert (absent.status_code, absent.json()["error"]["code"]) == (422, "invalid_request")
    assert http.post(f"{path}/interrupt").status_code == 200
    ended = http.post(f"{path}/run", json={"code": {"text": "import os; os._exit(2)"}}).json()
    assert (ended["alive"], ended["result"]["exit_code"]) == (False, 2)
    gone = http.post(f"{path}/run", json={"code": {"text": "1"}})
    assert (gone.status_code, gone.json()["error"]["code"]) == (409, "session_ended")
    assert "state is lost" in gone.json()["error"]["message"]
    assert http.delete(path).status_code == 200
    for answer in (http.delete(path), http.post(f"{path}/run", json={"code": {"text": "1"}})):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_session")


def test_a_dropped_request_interrupts_its_cell(server, http):
    id = http.post("/v1/sandbox/sessions", json={"language": "python"}).json()["id"]
    path = f"/v1/sandbox/sessions/{id}"
    code = "open('began', 'w').close()\nwhile True: y = 1"
    with request_by_hand(server, "POST", f"{path}/run", {"code": {"text": code}}):
        time.sleep(0.1)  # whether it has begun makes no difference
    ran = http.post(f"{path}/run", json={"code": {"text": "'alive'"}}).json()
    assert ran["result"]["stdout"] == {"text": "'alive'\n"}
    http.delete(path)


def test_leases_end_and_are_renewed_by_use(seconds):
    async def main():
        async with running(sandbox_lease_s=2.0) as (_, http):
            ids = []
            for _ in range(2):
                started = await http.post("/v1/sandbox/sessions", json={"language": "bash"})
                ids.append(started.json()["id"])
            code = {"code": {"text": f"sleep {seconds} & sleep 1.1"}}
            path = f"/v1/sandbox/sessions/{ids[0]}/run"
            # Each takes longer than half of the lease.
            alive = [(await http.post(path, json=code)).status_code for _ in range(3)]
            other = await http.post(f"/v1/sandbox/sessions/{ids[1]}/run", json=code)
            await asyncio.to_thread(wait_until, lambda: not sleepers(seconds))
            return alive, other, await http.post(path, json=code)

    alive, other, late = asyncio.run(main())
    assert alive == [200] * 3
    for answer in (other, late):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_session")
        assert "not used for 2 s" in answer.text


def test_the_number_of_sessions_is_bounded():
    async def main():
        async with running(sandbox_sessions=2) as (_, http):
            answers = await asyncio.gather(
                *(http.post("/v1/sandbox/sessions", json={"language": "bash"}) for _ in range(4))
            )
            assert sorted(answer.status_code for answer in answers) == [200, 200, 429, 429]
            # Programs run beside them.
            ran = await http.post("/v1/sandbox/run", json=program("print(1)"))
            assert ran.json()["stdout"] == {"text": "1\n"}
            (one, _) = [a.json()["id"] for a in answers if a.status_code == 200]
            await http.delete(f"/v1/sandbox/sessions/{one}")
            again = await http.post("/v1/sandbox/sessions", json={"language": "bash"})
            return again.status_code

    assert asyncio.run(main()) == 200


@pytest.mark.slow
def test_nothing_is_left_in_this_process():
    async def main():
        async with running() as (_, http):
            await http.post("/v1/sandbox/run", json=program("1"))
            await http.post("/v1/sandbox/sessions", json={})

    asyncio.run(main())
    before = len(os.listdir("/proc/self/fd"))
    asyncio.run(main())
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.parametrize("name", ["sandbox_jobs", "sandbox_sessions", "sandbox_lease_s"])
def test_settings_that_cannot_be(name):
    with pytest.raises(ConfigError, match=name):
        ServerSettings(**{name: 0})
