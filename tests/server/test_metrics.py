"""`/metrics` as Prometheus reads it, and that nobody can blow it up."""

import asyncio
import contextlib
import json
import os
import signal

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from verigym import Task
from verigym.server.app import create_app
from verigym.server.keys import add
from verigym.server.process import ServerProcess
from verigym.server.settings import ServerSettings

TASK = json.loads(
    Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference="hush").to_json()
)


def ask(do):
    return {"verifier": "unruly/obeys", "task": TASK, "submission": {"do": do}}


@contextlib.asynccontextmanager
async def running(**settings):
    settings = {"workers": 1, "verifiers": ("unruly/obeys",), **settings}
    app = create_app(ServerSettings(**settings))
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http,
    ):
        yield app, http


async def numbers(http, **headers):
    """Samples by name and values of labels, in the order of the labels' names."""
    answer = await http.get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.text
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_requests_verdicts_queue_and_workers_are_counted(unruly):
    async def main():
        async with running(timeout_s=1.0, cache_mib=1) as (_, http):
            items = [ask(do) for do in ("die", "hang", "nothing", "raise")]
            await http.post("/v1/verify/batch", json={"items": items})
            await http.post("/v1/verify", json=ask("nothing"))
            await http.post("/v1/verify", json={})
            return await numbers(http)

    found = asyncio.run(main())
    assert found["verigym_http_requests_total", "POST", "/v1/verify", "200"] == 1
    assert found["verigym_http_requests_total", "POST", "/v1/verify", "422"] == 1
    assert found["verigym_http_request_seconds_count", "/v1/verify/batch"] == 1
    verdicts = {
        name[1]: value
        for name, value in found.items()
        if name[0] == "verigym_verification_seconds_count"
    }
    assert verdicts == {"infra": 1, "ok": 2, "timeout": 1, "verifier_error": 1}
    assert found["verigym_verification_seconds_sum", "timeout", "unruly/obeys"] == 1.0
    assert found["verigym_queue_length",] == 0
    assert found["verigym_queue_wait_seconds_count",] == 2  # of requests; the last was cached
    assert found["verigym_workers_alive",] == found["verigym_workers",] == 1
    assert found["verigym_workers_started_total",] == 4
    assert found["verigym_workers_killed_total",] == 1
    assert found["verigym_workers_died_total",] == 2
    assert found["verigym_workers_resident_memory_bytes",] > 1 << 20
    assert found["verigym_cache_hits_total",] == 1
    assert found["process_resident_memory_bytes",] > 1 << 20
    assert found["verigym_http_requests_under_way",] == 1  # this one


def test_labels_come_from_closed_lists(unruly):
    async def main():
        async with running() as (_, http):
            for i in range(30):
                await http.get(f"/nope/{i}", headers={"X-Request-ID": f"id{i}"})
                await http.request(f"ODD{i}", "/healthz")
                await http.get(f"/v1/verifiers/unknown/{i}/card")
                await http.post("/v1/verify", json={**ask("nothing"), "verifier": f"no/{i}"})
            return await numbers(http)

    found = asyncio.run(main())
    requests = {name for name in found if name[0] == "verigym_http_requests_total"}
    assert {name[2] for name in requests} == {
        *("(none)", "/healthz", "/v1/verifiers/{verifier:path}/card", "/v1/verify"),
    }
    assert len(requests) == 4
    assert len(found) < 200


def test_the_open_format_is_spoken_where_asked_for(unruly):
    async def main():
        async with running() as (_, http):
            return await http.get("/metrics", headers={"Accept": "application/openmetrics-text"})

    answer = asyncio.run(main())
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


@pytest.mark.parametrize(("scope", "status"), [(None, 401), ("verify", 403), ("admin", 200)])
def test_an_admin_key_is_needed_where_there_are_keys(unruly, tmp_path, scope, status):
    path = tmp_path / "keys.json"
    keys = {name: add(path, name=name, scopes={name}) for name in ("verify", "admin")}
    headers = {"Authorization": f"Bearer {keys[scope]}"} if scope else {}

    async def main():
        async with running(keys=str(path)) as (_, http):
            return await http.get("/metrics", headers=headers)

    assert asyncio.run(main()).status_code == status


def test_applications_do_not_share_numbers(unruly):
    async def main():
        async with running() as (_, one), running() as (_, other):
            await one.get("/nope")
            return await numbers(other)

    assert ("verigym_http_requests_total", "GET", "(none)", "404") not in asyncio.run(main())


def test_programs_are_counted_by_their_end(unruly):
    async def main():
        async with running(sandbox=True, sandbox_jobs=1) as (_, http):
            for source in ("print(1)", "1/0"):
                await http.post("/v1/sandbox/run", json={"source": {"text": source}}, timeout=60)
            made = await http.post("/v1/sandbox/sessions", json={}, timeout=60)
            assert made.status_code == 200
            return await numbers(http)

    found = asyncio.run(main())
    ended = {name[1]: n for name, n in found.items() if name[0] == "verigym_sandbox_jobs_total"}
    assert ended == {"ok": 1, "nonzero_exit": 1}
    assert found["verigym_sandbox_sessions_open",] == 1
    assert found["verigym_sandbox_queue_length",] == 0


def test_sessions_and_jobs_are_counted(unruly, tmp_path):
    async def main():
        options = {"envs": ("games/keydoor-v0",), "env_workers": 1}
        options["store"] = f"sqlite:///{tmp_path}/jobs.sqlite"
        async with running(**options) as (_, http):
            made = await http.post("/v1/sessions", json={"env": "games/keydoor-v0", "count": 2})
            sid = made.json()["sessions"][0]["session"]
            await http.post(f"/v1/sessions/{sid}/step", json={"seq": 1, "action": "up"})
            return await numbers(http)

    found = asyncio.run(main())
    assert found["verigym_env_sessions_open",] == 2
    assert found["verigym_env_moves_total", "ok"] == 1
    assert {name[1] for name in found if name[0] == "verigym_jobs"} == {"queued", "running"}
    route = "/v1/sessions/{sid}/step"
    assert found["verigym_http_requests_total", "POST", route, "200"] == 1


def test_a_service_is_not_ready_while_its_queue_is_full_or_it_ends(unruly, tmp_path):
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)
    hanging = {**ask("nothing"), "submission": {"do": "hang", "at": str(fifo)}}

    async def main():
        async with running(max_queue=1, max_batch=1) as (app, http):
            said = [(await http.get("/readyz")).status_code]
            first = asyncio.create_task(http.post("/v1/verify", json=hanging, timeout=60))
            worker = int(await asyncio.to_thread(fifo.read_text))
            second = asyncio.create_task(http.post("/v1/verify", json=ask("nothing"), timeout=60))
            while not app.state.service.pool.waiting:
                await asyncio.sleep(0)
            busy = await http.get("/readyz")
            said += [busy.status_code, (await http.get("/healthz")).status_code]
            os.kill(worker, signal.SIGKILL)
            os.kill(int(await asyncio.to_thread(fifo.read_text)), signal.SIGKILL)
            await asyncio.gather(first, second)
            app.state.gate.draining = True
            said.append((await http.get("/readyz")).status_code)
            return said, busy

    said, busy = asyncio.run(main())
    assert said == [200, 429, 200, 503]
    assert busy.headers["retry-after"]


def test_a_websocket_has_an_id_and_counts_when_it_ends():
    options = ["--envs", "games", "--env-workers", "1"]
    with ServerProcess(verifiers=["games"], workers=1, options=options) as server:
        url = server.url.replace("http", "ws", 1)
        with connect(f"{url}/v1/ws", additional_headers={"X-Request-ID": "ws-1"}) as socket:
            assert socket.response.headers["X-Request-ID"] == "ws-1"
            socket.send('{"id": 1, "op": "create", "env": "games/keydoor-v0"}')
            assert "ok" in json.loads(socket.recv())
            name = 'verigym_http_requests_total{method="WEBSOCKET",route="/v1/ws",status="101"}'
            assert name not in httpx2.get(f"{server.url}/metrics").text
        with pytest.raises(InvalidStatus):
            connect(f"{url}/nope")
        for _ in range(200):  # the service may hear of the end after us
            text = httpx2.get(f"{server.url}/metrics").text
            if f"{name} 1.0" in text:
                break
        assert f"{name} 1.0" in text
